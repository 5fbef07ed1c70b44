/** `npm start`: runs a cluster of real nodes on this machine, to try the server. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { type LocalCluster, type LocalNode, openCluster, planCluster } from './local.js';

const DIR = 'data';
const NODES = 3;
const PORT = 8501;
const RAFT_OFFSET = 100;
const WATCH_MS = 1000;

/** An error that is printed in one line, without a stack. */
class UsageError extends Error {}

interface Flags {
  readonly nodes?: number;
  readonly port?: number;
  readonly fresh?: boolean;
}

const whole = (text: string): number => {
  if (!/^\d{1,5}$/.test(text)) throw new InvalidArgumentError('expected a number');
  return Number(text);
};

async function prepare({ nodes, port, fresh }: Flags): Promise<LocalCluster> {
  if (nodes !== undefined && ![1, 3, 5].includes(nodes))
    throw new UsageError(
      '--nodes: expected 1, 3 or 5; an even number of nodes survives no more failures',
    );
  const known = existsSync(join(DIR, 'cluster.json'));
  if (!known && existsSync(DIR) && readdirSync(DIR).length > 0)
    throw new UsageError(
      `${DIR}/ is not empty and does not contain a cluster of this program; move it away`,
    );
  const before = known ? openCluster(DIR) : undefined;
  if (before) refuseRunning(before);
  const kept = fresh ? undefined : before;
  const first = kept ? Number(new URL(kept.urls[0]!).port) : (port ?? PORT);
  if (kept && nodes !== undefined && nodes !== kept.nodes.length)
    throw new UsageError(
      `${DIR}/ contains a cluster of ${kept.nodes.length} nodes; ` +
        `add --fresh to replace it by one of ${nodes}`,
    );
  // The members know each other by their addresses, so the port cannot change.
  if (kept && port !== undefined && port !== first)
    throw new UsageError(
      `${DIR}/ contains a cluster on port ${first}; add --fresh to replace it by one on ${port}`,
    );
  const ports = Array.from({ length: nodes ?? kept?.nodes.length ?? NODES }, (_, at) => ({
    http: first + at,
    raft: first + RAFT_OFFSET + at,
  }));
  for (const { http, raft } of ports) for (const one of [http, raft]) await mustBeFree(one);
  if (!kept) rmSync(DIR, { recursive: true, force: true });
  return planCluster({
    nodes: ports.length,
    dir: DIR,
    ports,
    ...(kept && { token: kept.token }),
  });
}

/** Throws if a node of this folder still runs: it locks its files and ports. */
function refuseRunning(cluster: LocalCluster): void {
  for (const { name, entry } of cluster.nodes) {
    const pid = runningPid(entry.pidFile);
    if (pid !== undefined)
      throw new UsageError(
        `node ${name} is still running (process ${pid}); stop it first: kill ${pid}`,
      );
  }
}

function runningPid(pidFile: string): number | undefined {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8'));
    // Another process may have the id by now; the command line shows that.
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return command.includes('agent') && command.includes('--config') ? pid : undefined;
  } catch {
    return undefined;
  }
}

function mustBeFree(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', () =>
      reject(
        new UsageError(`port ${port} is in use by another program; choose another with --port`),
      ),
    );
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve()));
  });
}

/** The Raft state of a node, as texts to print. */
interface RaftState {
  readonly role: string;
  readonly term: string;
  readonly commit: string;
}
const DOWN: RaftState = { role: 'down', term: '', commit: '' };

/** Returns the Raft state that a node reports; DOWN if it does not answer. */
async function stateOf(node: LocalNode, token: string): Promise<RaftState> {
  try {
    const answer = await fetch(`${node.url}/v1/agent/self`, {
      headers: { 'X-Service-Token': token },
      signal: AbortSignal.timeout(WATCH_MS),
    });
    if (answer.status !== 200) return { ...DOWN, role: `answers ${answer.status}` };
    const { raft } = ((await answer.json()) as { Stats: { raft: Record<string, string> } }).Stats;
    return {
      role: raft['state']!.toLowerCase(),
      term: raft['term']!,
      commit: raft['commit_index']!,
    };
  } catch {
    return DOWN;
  }
}

async function describe(cluster: LocalCluster): Promise<void> {
  const { token, nodes } = cluster;
  const states = await Promise.all(nodes.map((node) => stateOf(node, token)));
  const [first, second, third] = [0, 1, 2].map((at) => nodes[at % nodes.length]!.url);
  const header = `-H 'X-Service-Token: ${token}'`;
  const role = '/v1/acl/role/name/hello';
  const awk = `awk 'tolower($1)=="x-service-index:"{print $2+0}'`;
  const index = `$(curl -s -D - -o /dev/null ${header} ${third}${role} | ${awk})`;
  const rows = nodes.map((node, at) => {
    const { name, url, entry } = node;
    return `  ${name.padEnd(5)} ${url.padEnd(23)} ${entry.raft.padEnd(16)} ${states[at]!.role}`;
  });
  console.log(`
  node  URL                     Raft             role
${rows.join('\n')}

  management token  ${token}
  web UI            ${first}/ui/

write a role, read it from another node, wait on a third until it changes:

curl -s -X PUT ${header} -d '{"Name":"hello","Description":"from the first node"}' ${first}/v1/acl/role
curl -s ${header} '${second}${role}?pretty'
curl -s ${header} "${third}${role}?wait=60s&index=${index}"

data, logs and cluster.json are in ${DIR}/; Ctrl-C stops the nodes\n`);
}

/**
 * Shows the leader and the commit index. Rewrites one line on a terminal; otherwise prints a line
 * whenever the leader, its term or a node's state changes.
 */
async function watch(cluster: LocalCluster, stop: AbortSignal): Promise<void> {
  const live = process.stdout.isTTY;
  let last = '';
  while (!stop.aborted) {
    const states = await Promise.all(cluster.nodes.map((node) => stateOf(node, cluster.token)));
    const leader = states.findIndex(({ role }) => role === 'leader');
    const down = cluster.nodes
      .filter((_, at) => states[at]!.role === 'down')
      .map(({ name }) => name);
    const who =
      leader < 0
        ? 'no leader'
        : `leader ${cluster.nodes[leader]!.name}, term ${states[leader]!.term}`;
    const text = `${who}${down.length > 0 ? `, down: ${down.join(' ')}` : ''}`;
    if (stop.aborted) break;
    if (live) process.stdout.write(`\r\x1b[K${text}, commit ${states[leader]?.commit ?? '-'} `);
    else if (text !== last) console.log(text);
    last = text;
    await sleep(WATCH_MS, undefined, { signal: stop }).catch(() => undefined);
  }
  if (live) process.stdout.write('\n');
}

async function run(flags: Flags): Promise<void> {
  const cluster = await prepare(flags);
  const stop = new AbortController();
  const ended = (async () => {
    await new Promise<void>((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const)
        process.on(signal, () => {
          if (stop.signal.aborted) process.exit(130);
          stop.abort();
          resolve();
        });
    });
    console.log('\nstopping the nodes');
    await cluster.stop();
  })();
  for (const node of cluster.nodes) node.start();
  try {
    await Promise.all(cluster.nodes.map((node) => node.ready()));
  } catch (error) {
    await cluster.stop();
    if (stop.signal.aborted) return;
    throw new UsageError((error as Error).message);
  }
  await describe(cluster);
  await watch(cluster, stop.signal);
  await ended;
}

const program = new Command('npm start --')
  .description('Starts a cluster on this machine and shows it until Ctrl-C')
  .option('--nodes <count>', '1, 3 or 5 nodes', whole)
  .option(
    '--port <port>',
    `HTTP port of the first node (${PORT}); Raft uses the ports ${RAFT_OFFSET} higher`,
    whole,
  )
  .option('--fresh', 'delete the data of the last cluster')
  .action(async () => {
    try {
      await run(program.opts<Flags>());
      process.exit(0);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      console.error(error.message);
      process.exit(1);
    }
  });
await program.parseAsync();
