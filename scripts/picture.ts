/**
 * `npm run picture` writes docs/explained.svg: a terminal in which a request is refused, and
 * explained. The commands run against a real node.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster } from '../cluster/local.js';
import { runClient } from '../src/cli/client.js';
import type { Io, Sink } from '../src/cli/io.js';
import { type Line, terminalSvg } from './picture/svg.js';

const COLUMNS = 98;
const RULES = 'service_prefix "" { policy = "read" }\nservice "web" { policy = "write" }\n';

const dir = mkdtempSync(join(tmpdir(), 'conclave-picture-'));
const lines: Line[] = [];

/** Runs a command as a terminal would. Returns what it printed. */
async function run(
  args: readonly string[],
  input: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  let printed = '';
  const sink: Sink = {
    write: (text) => {
      printed += text;
    },
    isTerminal: true,
    columns: COLUMNS,
  };
  const io: Io = {
    env,
    out: sink,
    err: sink,
    canAsk: false,
    home: dir,
    version: '0',
    signal: new AbortController().signal,
    endWithReader: () => {},
    input: async () => input,
    ask: async () => '',
    async *lines() {},
    archive: async () => ({ index: 0, objects: {} }),
    run: async () => 1,
    feed: async () => 1,
  };
  await runClient(args, io);
  return printed;
}

/** Runs a command and records it. `typed` is how a person writes it. */
async function record(
  typed: string,
  args: readonly string[],
  input: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const printed = (await run(args, input, env)).replaceAll(`${dir}/`, '');
  const shown = printed.trimEnd().split('\n');
  lines.push({ text: typed, isTyped: true }, ...shown.map((text) => ({ text })), { text: '' });
  return printed;
}

const cluster = await startCluster({ nodes: 1, dir: join(dir, 'c') });
try {
  const where = { CONCLAVE_HTTP_ADDR: cluster.urls[0]! };
  const admin = { ...where, CONCLAVE_HTTP_TOKEN: cluster.token };
  const create = ['acl', 'policy', 'create', '--name', 'web-team', '--rules', '-'];
  await run(create, RULES, admin);
  const token = await run(
    ['acl', 'token', 'create', '--policy-name', 'web-team', '-o', 'json'],
    '',
    admin,
  );
  const own = {
    ...where,
    CONCLAVE_HTTP_TOKEN: (JSON.parse(token) as { SecretID: string }).SecretID,
  };
  const file = join(dir, 'billing.yaml');
  writeFileSync(file, 'Kind: service-defaults\nName: billing\n');
  const refused = await record(
    'conclave config write billing.yaml',
    ['config', 'write', file],
    '',
    own,
  );
  const [, decision] = /decision ([^\s)]+)/.exec(refused)!;
  await record(`conclave acl decision ${decision}`, ['acl', 'decision', decision!], '', admin);
  await record(
    'conclave acl explain service:write:billing service:read:billing service:write:web',
    ['acl', 'explain', 'service:write:billing', 'service:read:billing', 'service:write:web'],
    '',
    own,
  );
  lines.pop();
  const title = 'A write is refused; conclave acl decision and acl explain name the rule and why';
  writeFileSync('docs/explained.svg', terminalSvg(lines, COLUMNS, title));
  console.log('wrote docs/explained.svg');
} finally {
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
}
