/** `audit tail`: the newest audit records of one node or several. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { AuditRecord } from '../../api/audit-record.js';
import { type Call, type Cli, whole } from '../cli.js';
import { CliError } from '../print/error.js';
import type { Column } from '../print/output.js';
import { localTime, oneLine } from '../print/text.js';

interface Tail {
  readonly Node: string;
  readonly Records: readonly AuditRecord[];
}

interface TailOptions {
  readonly follow?: boolean;
  readonly limit?: number;
}

/** The default and the largest number of records per node: a node keeps no more. */
const LIMIT = 100;
const LIMIT_MAX = 1000;
/** Milliseconds between two polls of each node. */
const FOLLOW_MS = 1000;

const COLUMNS: readonly Column<AuditRecord>[] = [
  { head: 'TIME', isWhole: true, cell: ({ created_at: time }) => localTime(time) },
  { head: 'NODE', isWhole: true, cell: ({ payload }) => payload.node },
  { head: 'WHO', cell: ({ payload }) => whoOf(payload) },
  {
    head: 'STATUS',
    isWhole: true,
    cell: ({ payload: { response } }) =>
      response.status < '400' ? response.status : { text: response.status, paint: 'red' },
  },
  { head: 'WHAT', isWhole: true, cell: ({ payload: { request } }) => whatOf(request) },
  { head: 'REASON', cell: ({ payload: { reason } }) => reason },
];

const whatOf = ({ operation, endpoint }: AuditRecord['payload']['request']): string =>
  `${operation} ${endpoint}`.trimEnd();

function whoOf({ auth }: AuditRecord['payload']): string {
  const { identity, description, accessor_id: accessor } = auth;
  if (identity !== undefined) return `${identity.auth_method}/${identity.subject}`;
  return description || accessor.slice(0, 8);
}

export function addAudit(program: Command, cli: Cli): void {
  const audit = program.command('audit').description('who asked for what, and what was refused');
  audit
    .command('tail')
    .description('show the newest audit records of the nodes in --http-addr, the oldest first')
    .option('--follow', 'keep printing new records until interrupted')
    .option('--limit <count>', `how many records to read of each node (default: ${LIMIT})`, whole)
    .action(cli.action<TailOptions>((call) => tail(cli, call)));
}

async function tail(cli: Cli, call: Call<TailOptions>): Promise<void> {
  const { io, options, print } = call;
  const limit = Math.min(options.limit ?? LIMIT, LIMIT_MAX);
  const nodes = call.surroundings.addresses.map(
    ({ href: url }) => new NodeTail(cli.callOf<object>({ ...options, url })),
  );
  try {
    const first = await readAll(nodes, limit);
    // One that answers is enough: that of another is told.
    const [problem] = nodes.map((node) => node.problem);
    if (problem !== undefined && nodes.every((node) => node.problem)) throw problem;
    if (options.follow !== true) {
      return await print.list(first, { columns: COLUMNS, ref: ({ payload }) => payload.id });
    }
    io.endWithReader();
    print.startSeries();
    for (const record of first) await tell(call, record);
    for (;;) {
      await pause(FOLLOW_MS, undefined, { signal: io.signal });
      for (const record of await readAll(nodes, LIMIT_MAX)) await tell(call, record);
    }
  } finally {
    for (const node of nodes) await node.close();
  }
}

/** Returns what the nodes have that was not read yet, by time. */
async function readAll(nodes: readonly NodeTail[], limit: number): Promise<AuditRecord[]> {
  const read = await Promise.all(nodes.map((node) => node.fresh(limit)));
  return read.flat().sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at));
}

/** The records of one node, of which each is read once. */
class NodeTail {
  readonly #call: Call<object>;
  #seen = new Set<string>();
  /** Why it did not answer last. */
  problem: CliError | undefined;

  constructor(call: Call<object>) {
    this.#call = call;
  }

  /** Returns the records that were not returned before, the oldest first; none without answer. */
  async fresh(limit: number): Promise<readonly AuditRecord[]> {
    const { api, print, surroundings } = this.#call;
    const query = { limit: String(limit) };
    try {
      const answer = await api.get('/v1/operator/audit/tail', { query, isPlain: true });
      const { Node, Records } = answer.json<Tail>();
      this.problem = undefined;
      const at = Records.findIndex(({ payload }) => this.#seen.has(payload.id));
      const fresh = at < 0 ? Records : Records.slice(0, at);
      // it forgets the oldest, and all when it starts again
      if (at < 0 && Records.length > 0 && this.#seen.size > 0)
        print.note(`records of ${Node} may be missing here`);
      if (fresh.length > 0) this.#seen = new Set(Records.map(({ payload }) => payload.id));
      return fresh.toReversed();
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      const { host } = surroundings.addresses[0]!;
      if (this.problem === undefined) print.note(`no records of ${host}: ${error.message}`);
      this.problem = error;
      return [];
    }
  }

  close(): Promise<void> {
    return this.#call.api.close();
  }
}

async function tell({ print }: Call<TailOptions>, record: AuditRecord): Promise<void> {
  if (print.isForPrograms) return print.value(record);
  const { payload, created_at: time } = record;
  const { node, reason, request, response } = payload;
  const why = reason === '' ? '' : `: ${oneLine(reason)}`;
  const what = `${response.status} ${oneLine(whatOf(request))}`;
  const line = `${localTime(time)} ${node} ${what} by ${oneLine(whoOf(payload))}${why}\n`;
  print.text([line]);
}
