/** The whole state as an archive, out and in. */
import { randomUUID } from 'node:crypto';
import { reject } from '../errors.js';
import type { ClusterNode } from '../node/types.js';
import { SnapshotCheck } from '../service/snapshot-check.js';
import { nextTurn } from '../service/turns.js';
import type { Service } from '../service/types.js';
import { keys } from '../state/keys.js';
import { levelOf } from '../state/levels.js';
import { isRestored, type RestoreAdd, type RestoreCommit } from '../state/restore.js';
import type { Command, View } from '../state/types.js';
import { readArchive, writeArchive } from '../storage/archive.js';
import type { StateRecord } from '../storage/types.js';
import type { ApiRequest, Route } from './types.js';

/** Bytes of keys and values in one command: well below what would hold up the log. */
const PART_BYTES = 256 * 1024;
/** Milliseconds that applying a part may take on a slow machine. */
const PART_MS = 250;
/** Parts on their way at one time. */
const WINDOW = 4;

export interface SnapshotParts {
  readonly service: Service;
  readonly node: ClusterNode;
  /** Bytes a snapshot may unfold to. */
  readonly stateBytesMax: number;
}

export function snapshotRoutes(parts: SnapshotParts): readonly Route[] {
  return [
    {
      path: '/v1/snapshot',
      GET: (request) => save(parts, request),
      PUT: (request) => restore(parts, request),
    },
  ];
}

async function save({ service, node }: SnapshotParts, request: ApiRequest): Promise<void> {
  const outcome = await service.read(
    request.caller,
    request.readOptions(false),
    ({ view, authorizer }) => {
      const denial = authorizer.denial('acl', 'write');
      if (denial !== undefined) reject('permission_denied', denial);
      return { value: undefined, index: positionOf(view).index, keys: [] };
    },
  );
  const view = node.pin();
  try {
    const { peers } = node.status();
    const members = peers.map(({ id, name, address, voter }) => ({ id, name, address, voter }));
    const at = { ...positionOf(view), configuration: { members } };
    await request.answerStream(writeArchive(view, at, Date.now()), {
      contentType: 'application/x-gzip',
      outcome: { ...outcome, index: at.index },
    });
  } finally {
    view.close();
  }
}

/** How far a view has been applied. */
function positionOf(view: View): { index: number; term: number } {
  const { index, term } = JSON.parse(view.get(keys.machine) ?? '{"index":0,"term":0}') as {
    index: number;
    term: number;
  };
  return { index, term };
}

async function restore({ service, node, stateBytesMax }: SnapshotParts, request: ApiRequest) {
  const { caller, timeoutMs } = request;
  // so that the level in force is known here
  await service.catchUp(timeoutMs);
  await service.permit(caller, timeoutMs, (authorizer) => authorizer.denial('acl', 'write'));
  const id = randomUUID();
  const write = (command: Command, forMs = timeoutMs): Promise<string | undefined> =>
    service.write(caller, command, forMs);
  const upload = new Upload(id, write);
  try {
    await readArchive(
      request.incoming,
      { stateBytes: stateBytesMax, level: levelOf(node.view) },
      (records) => upload.add(records),
    );
    await upload.end();
  } catch (error) {
    await upload.settle();
    // what was sent is dropped; if that fails too, the next restore does it
    if (upload.parts > 0)
      await write({ type: 'restore.abort', v: 1, id } as Command).catch(() => {});
    throw error;
  }
  const { parts } = upload;
  const commit: RestoreCommit = { type: 'restore.commit', v: 1, id, parts };
  await write(commit, timeoutMs + parts * PART_MS);
  request.answerText('');
}

/** Cuts records into parts and writes a few of them at a time. */
class Upload {
  parts = 0;
  private readonly id: string;
  private readonly write: (command: Command) => Promise<unknown>;
  private readonly check = new SnapshotCheck();
  private records: StateRecord[] = [];
  private bytes = 0;
  private readonly flying = new Set<Promise<unknown>>();
  private failure: unknown;

  constructor(id: string, write: (command: Command) => Promise<unknown>) {
    this.id = id;
    this.write = write;
  }

  async add(records: readonly StateRecord[]): Promise<void> {
    for (const record of records) {
      if (!isRestored(record[0])) continue;
      this.check.add(record);
      this.records.push(record);
      this.bytes += record[0].length + record[1].length;
      if (this.bytes >= PART_BYTES) await this.send();
    }
  }

  /** Sends the rest and waits for all, if the whole is a state. */
  async end(): Promise<void> {
    for (const _ of this.check.end()) await nextTurn();
    if (this.records.length > 0 || this.parts === 0) await this.send();
    await this.settle();
    if (this.failure !== undefined) throw this.failure;
  }

  /** Resolves when nothing is on its way any more. */
  async settle(): Promise<void> {
    await Promise.all(this.flying);
  }

  private async send(): Promise<void> {
    const { id, records } = this;
    const part = this.parts++;
    this.records = [];
    this.bytes = 0;
    const command: RestoreAdd = { type: 'restore.add', v: 1, id, part, records };
    const sent = this.write(command)
      .catch((error) => {
        this.failure ??= error;
      })
      .finally(() => this.flying.delete(sent));
    this.flying.add(sent);
    // the first part makes room for the others
    if (part === 0) await sent;
    else if (this.flying.size >= WINDOW) await Promise.race(this.flying);
    if (this.failure !== undefined) throw this.failure;
  }
}
