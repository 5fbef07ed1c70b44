/** `npm start`: a cluster of real nodes on this machine, to try things on. */
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

/** What the user is told in one line, without a stack. */
class Refused extends Error {}

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
    throw new Refused(
      '--nodes: a cluster has 1, 3 or 5 nodes: an even number survives no more failures',
    );
  const known = existsSync(join(DIR, 'cluster.json'));
  if (!known && existsSync(DIR) && readdirSync(DIR).length > 0)
    throw new Refused(
      `${DIR}/ holds something that no cluster of this program left there; move it away`,
    );
  const before = known ? openCluster(DIR) : undefined;
  if (before) refuseRunning(before);
  const kept = fresh ? undefined : before;
  const first = kept ? Number(new URL(kept.urls[0]!).port) : (port ?? PORT);
  if (kept && nodes !== undefined && nodes !== kept.nodes.length)
    throw new Refused(
      `${DIR}/ holds a cluster of ${kept.nodes.length} nodes; add --fresh to begin anew with ${nodes}`,
    );
  // the members know each other by their addresses
  if (kept && port !== undefined && port !== first)
    throw new Refused(
      `${DIR}/ holds a cluster on port ${first}; add --fresh to begin anew on ${port}`,
    );
  const ports = Array.from({ length: nodes ?? kept?.nodes.length ?? NODES }, (_, at) => ({
    http: first + at,
    raft: first + RAFT_OFFSET + at,
  }));
  for (const { http, raft } of ports) for (const one of [http, raft]) await mustBeFree(one);
  if (!kept) rmSync(DIR, { recursive: true, force: true });
  return planCluster({
    ...{ nodes: ports.length, dir: DIR, ports },
    ...(kept && { token: kept.token }),
  });
}

/** A node of this folder that still runs holds its files and ports. */
function refuseRunning(cluster: LocalCluster): void {
  for (const { name, entry } of cluster.nodes) {
    const pid = runningPid(entry.pidFile);
    if (pid !== undefined)
      throw new Refused(`node ${name} already runs (process ${pid}); stop it first: kill ${pid}`);
  }
}

function runningPid(pidFile: string): number | undefined {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8'));
    // a process id may have gone to somebody else since; its command line tells
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
      reject(new Refused(`port ${port} is in use by another program; choose others with --port`)),
    );
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve()));
  });
}

interface Seen {
  readonly role: string;
  readonly term: string;
  readonly commit: string;
}
const DOWN: Seen = { role: 'down', term: '', commit: '' };

/** What a node says of itself; `down` when it does not answer. */
async function look(node: LocalNode, token: string): Promise<Seen> {
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

async function announce(cluster: LocalCluster): Promise<void> {
  const { token, nodes } = cluster;
  const seen = await Promise.all(nodes.map((node) => look(node, token)));
  const [first, second, third] = [0, 1, 2].map((at) => nodes[at % nodes.length]!.url);
  const header = `-H 'X-Service-Token: ${token}'`;
  const role = '/v1/acl/role/name/hello';
  const index = `$(curl -s -D - -o /dev/null ${header} ${third}${role} | awk 'tolower($1)=="x-service-index:"{print $2+0}')`;
  console.log(`
  node  URL                     Raft             role
${nodes.map((node, at) => `  ${node.name.padEnd(5)} ${node.url.padEnd(23)} ${node.entry.raft.padEnd(16)} ${seen[at]!.role}`).join('\n')}

  management token  ${token}

write a role, read it from another node, wait on a third until it changes:

curl -s -X PUT ${header} -d '{"Name":"hello","Description":"from the first node"}' ${first}/v1/acl/role
curl -s ${header} '${second}${role}?pretty'
curl -s ${header} "${third}${role}?wait=60s&index=${index}"

data, logs and cluster.json are in ${DIR}/; Ctrl-C stops the nodes\n`);
}

/**
 * Shows leader and commit index: one line rewritten on a terminal, else a line whenever roles
 * change.
 */
async function watch(cluster: LocalCluster, stop: AbortSignal): Promise<void> {
  const live = process.stdout.isTTY;
  let last = '';
  while (!stop.aborted) {
    const seen = await Promise.all(cluster.nodes.map((node) => look(node, cluster.token)));
    const leader = seen.findIndex(({ role }) => role === 'leader');
    const down = cluster.nodes.filter((_, at) => seen[at]!.role === 'down').map(({ name }) => name);
    const who =
      leader < 0
        ? 'no leader'
        : `leader ${cluster.nodes[leader]!.name}, term ${seen[leader]!.term}`;
    const text = `${who}${down.length > 0 ? `, down: ${down.join(' ')}` : ''}`;
    if (stop.aborted) break;
    if (live) process.stdout.write(`\r\x1b[K${text}, commit ${seen[leader]?.commit ?? '-'} `);
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
    throw new Refused((error as Error).message);
  }
  await announce(cluster);
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
  .option('--fresh', 'forget the data of the last cluster')
  .action(async () => {
    try {
      await run(program.opts<Flags>());
      process.exit(0);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      console.error(error.message);
      process.exit(1);
    }
  });
await program.parseAsync();
