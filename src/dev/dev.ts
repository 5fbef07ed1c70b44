/**
 * `conclave dev` and `npm start`: run a cluster of real nodes on this machine, to try the server.
 */
import { join, normalize } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { misuseText } from '../cli/arguments.js';
import { DEV_OPTIONS } from '../cli/commands/node-commands.js';
import { PORT_MAX, prepare, RAFT_OFFSET, runningPid, UsageError } from './dev-folder.js';
import { type LocalCluster, type LocalNode, quote } from './local.js';

const { nodes: NODES, port: PORT, dir: DIR, fresh: FRESH } = DEV_OPTIONS;
/** Milliseconds between two looks at the nodes. */
const WATCH_MS = 1000;
/** Milliseconds between two questions whether the nodes are ready. */
const POLL_MS = 50;
/** Ctrl-C and Ctrl-D, as a terminal sends them while keys are read one by one. */
const END_KEYS = ['\u0003', '\u0004'];

/** Who runs a cluster. */
export interface DevProgram {
  /** The command as people write it. */
  readonly command: 'npm start' | 'conclave dev';
  /** The folder of the cluster if none is named. */
  readonly dir: string;
  /** Nodes of a new cluster if no number is given. */
  readonly nodes: number;
}

interface Flags {
  readonly dir: string;
  readonly nodes?: number;
  readonly port?: number;
  readonly fresh?: boolean;
}

/** A running cluster as the terminal shows it. */
interface Shown {
  readonly cluster: LocalCluster;
  readonly dir: string;
  /** The command that goes on with this folder. */
  readonly again: string;
}

/** Runs a cluster until it is interrupted. Ends the process. */
export async function runDev(args: readonly string[], program: DevProgram): Promise<never> {
  try {
    refuseSwallowed(program, args);
    await run(parse(args, program), program);
    process.exit(0);
  } catch (error) {
    // Commander has printed what was wrong.
    if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2);
    if (!(error instanceof UsageError)) throw error;
    console.error(error.message);
    process.exit(error.exit);
  }
}

/** Options that npm takes for itself unless `--` stands before them. */
const OPTIONS = ['nodes', 'port', 'dir', 'fresh'];

/** Refuses `npm start --nodes 5`: npm keeps `--nodes` and passes on `5` alone. */
function refuseSwallowed({ command }: DevProgram, args: readonly string[]): void {
  const { env } = process;
  if (command !== 'npm start' || env['npm_lifecycle_event'] !== 'start') return;
  const swallowed = OPTIONS.find((name) => (env[`npm_config_${name}`] ?? '') !== '');
  if (swallowed === undefined && !args.some((arg, at) => at === 0 && !arg.startsWith('-'))) return;
  const option = `--${swallowed ?? 'nodes'}`;
  const value = swallowed === 'fresh' ? '' : ` ${args[0] ?? env[`npm_config_${swallowed}`]}`;
  throw new UsageError(`put -- before the options: npm start -- ${option}${value}`, 2);
}

function parse(args: readonly string[], { command, dir, nodes }: DevProgram): Flags {
  const program = new Command(command === 'npm start' ? `${command} --` : command)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(misuseText(text)) })
    .description('Run a cluster on this machine and show its state until Ctrl-C. The data is kept.')
    .option(NODES[0], `${NODES[1]} (default: ${nodes}, or as many as the data folder has)`, count)
    .option(...PORT, port)
    .option(...DIR, dir)
    .option(...FRESH)
    .addHelpText('after', `\nThe Raft ports are ${RAFT_OFFSET} above the HTTP ports.`);
  program.parse(args, { from: 'user' });
  return program.opts<Flags>();
}

function count(text: string): number {
  if (/^[135]$/.test(text)) return Number(text);
  throw new InvalidArgumentError(
    'expected 1, 3 or 5; an even number survives no more failures than one node fewer',
  );
}

function port(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= PORT_MAX) return value;
  throw new InvalidArgumentError(`expected a port from 1 to ${PORT_MAX}`);
}

async function run(flags: Flags, { command, dir: usual, nodes }: DevProgram): Promise<void> {
  const dir = normalize(flags.dir).replace(/(?<=.)\/$/, '');
  const options = (more: string): string => (command === 'npm start' ? ` -- ${more}` : ` ${more}`);
  const commandWith = (more: string): string => `${command}${options(more)}`;
  const again = dir === usual ? command : commandWith(`--dir ${quote(dir)}`);
  const cluster = await prepare({ ...flags, dir, nodesDefault: nodes, commandWith });
  const shown: Shown = { cluster, dir, again };
  const stop = new AbortController();
  const interrupt = (): void => {
    if (stop.signal.aborted) process.exit(130);
    stop.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt);
  console.log(`starting ${cluster.nodes.map(({ name }) => name).join(', ')} in ${dir}/`);
  for (const node of cluster.nodes) node.start();
  try {
    await Promise.all(cluster.nodes.map((node) => node.ready()));
  } catch (error) {
    await cluster.stop();
    if (stop.signal.aborted) return;
    throw new UsageError((error as Error).message);
  }
  await describe(shown);
  const release = readKeys((key) => {
    if (END_KEYS.includes(key)) interrupt();
    else if (key === 'r') startDead(cluster);
  });
  await watch(cluster, stop.signal);
  release();
  console.log('stopping the nodes; press Ctrl-C again to exit without waiting');
  await stopAll(cluster);
  console.log(`stopped; the data is kept in ${dir}/, and ${again} continues with it`);
}

/** Passes on the keys that are pressed. Returns a function that gives the terminal back. */
function readKeys(onKey: (key: string) => void): () => void {
  const { stdin, stdout } = process;
  // Whoever redirects the output may run this in the background, where reading a terminal stops it.
  if (stdin.isTTY && !stdout.isTTY) return () => {};
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.setEncoding('utf8').on('data', (text) => {
    for (const key of String(text)) onKey(key);
  });
  return () => {
    if (stdin.isTTY) stdin.setRawMode(false);
    stdin.pause();
  };
}

const isUp = (node: LocalNode): boolean => node.pid !== undefined || runningPid(node) !== undefined;

function startDead({ nodes }: LocalCluster): void {
  for (const node of nodes.filter((one) => !isUp(one))) {
    node.start();
    node.ready().then(
      () => note(`${node.name} is running again`),
      (error: Error) => note(error.message),
    );
  }
}

/** Stops the nodes one after the other, also those that somebody else started meanwhile. */
async function stopAll({ nodes }: LocalCluster): Promise<void> {
  for (const node of nodes) {
    await node.kill('SIGTERM');
    const pid = runningPid(node);
    if (pid === undefined) continue;
    process.kill(pid, 'SIGTERM');
    while (runningPid(node) === pid) await sleep(POLL_MS);
  }
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

const statesOf = ({ nodes, token }: LocalCluster): Promise<RaftState[]> =>
  Promise.all(nodes.map((node) => stateOf(node, token)));

async function describe({ cluster, dir }: Shown): Promise<void> {
  const { nodes } = cluster;
  const states = await statesOf(cluster);
  const rows = nodes.map(({ name, url, entry }, at) => {
    const place = `${url.padEnd(22)}  ${entry.raft.padEnd(15)}`;
    return `  ${name.padEnd(4)}  ${place}  ${states[at]!.role}\n`;
  });
  const file = (name: string): string => quote(join(dir, name));
  const last = new URL(nodes.at(-1)!.url).host;
  const keys = process.stdin.isTTY && process.stdout.isTTY ? 'r restarts dead nodes; ' : '';
  console.log(`
  node  API                     members          role
${rows.join('')}
Paste this into another terminal, in the same folder, as often as you like:
it writes an entry, changes it two seconds later, and watches the change on ${nodes.at(-1)!.name}.

. ${dotted(file('env'))}
conclave config write ${file('web.yaml')}
(sleep 2; sed s/http/grpc/ ${file('web.yaml')} | conclave config write -) &
conclave watch service-defaults/web --changes 1 --http-addr ${last}

The web UI is at ${nodes[0]!.url}/ui/.
Data, logs and the management token are in ${dir}/. ${keys}Ctrl-C stops all.
`);
}

/** The shell looks for a file in PATH unless its name has a slash. */
const dotted = (path: string): string => (path.includes('/') ? path : `./${path}`);

/** Prints a line of its own where one line is rewritten. */
function note(text: string): void {
  console.log(process.stdout.isTTY ? `\r\x1b[K${text}` : text);
}

/**
 * Shows the leader and the commit index. Rewrites one line on a terminal; otherwise prints a line
 * whenever the leader, its term or a node's state changes.
 */
async function watch(cluster: LocalCluster, stop: AbortSignal): Promise<void> {
  const live = process.stdout.isTTY;
  let last = '';
  while (!stop.aborted) {
    const states = await statesOf(cluster);
    if (stop.aborted) break;
    const text = summaryOf(cluster, states);
    const commit = states.find(({ role }) => role === 'leader')?.commit ?? '-';
    if (live) process.stdout.write(`\r\x1b[K${text}, commit ${commit} `);
    else if (text !== last) console.log(text);
    last = text;
    await sleep(WATCH_MS, undefined, { signal: stop }).catch(() => undefined);
  }
  if (live) process.stdout.write('\n');
}

function summaryOf({ nodes }: LocalCluster, states: readonly RaftState[]): string {
  const leader = states.findIndex(({ role }) => role === 'leader');
  const down = nodes.filter((_, at) => states[at]!.role === 'down').map(({ name }) => name);
  const who =
    leader < 0 ? 'no leader' : `leader ${nodes[leader]!.name}, term ${states[leader]!.term}`;
  if (down.length === 0) return who;
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const how = isTerminal ? ' (r restarts)' : '';
  return `${who}, down: ${down.join(' ')}${how}`;
}
