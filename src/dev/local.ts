/** Real nodes as child processes on loopback. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePorts, HOST } from './ports.js';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
/** The program that runs a node, as this module sees it from `dist/src/dev` or from its bundle. */
export const PROGRAM = [at('../../program/main.js'), at('./main.js')].find(existsSync)!;
/** Milliseconds between two questions whether a node is ready. */
const POLL_MS = 50;
/** Time for the first start of three nodes on a busy machine. */
const READY_MS = 120_000;

/** A node in `cluster.json`, for programs that measure the cluster. */
export interface NodeEntry {
  readonly url: string;
  /** The address that `/v1/status/leader` returns while this node leads. */
  readonly raft: string;
  /** Shell command that runs the node in the foreground; it writes its process id to `pidFile`. */
  readonly start: string;
  readonly cwd: string;
  readonly pidFile: string;
  readonly dataDir: string;
}

/** The content of `cluster.json`. */
export interface ClusterFile {
  readonly name: string;
  readonly kind: 'service';
  readonly prefix: string;
  readonly token: string;
  readonly reset: string;
  readonly nodes: readonly NodeEntry[];
}

/** A node, and its process while it runs. */
export interface LocalNode {
  readonly name: string;
  readonly url: string;
  readonly entry: NodeEntry;
  readonly logFile: string;
  /** The id of the process that `start` started; undefined when it has ended. */
  readonly pid: number | undefined;
  /** Starts the node's process unless it runs. Does not wait until it is ready. */
  start(): void;
  /** Sends a signal. Waits for the end of the process if the signal ends it. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /**
   * Resolves when the node reports that it is ready. Rejects with the end of its log if its process
   * ends or `timeoutMs` pass.
   */
  ready(timeoutMs?: number): Promise<void>;
}

/** A cluster of nodes on loopback. */
export interface LocalCluster {
  readonly dir: string;
  readonly file: ClusterFile;
  readonly urls: readonly string[];
  /** A token with every right. */
  readonly token: string;
  readonly nodes: readonly LocalNode[];
  stop(): Promise<void>;
}

/** What a cluster is made of. */
export interface ClusterPlan {
  readonly nodes: number;
  readonly dir: string;
  /** The HTTP and Raft port of each node; free ports by default. */
  readonly ports?: readonly { readonly http: number; readonly raft: number }[];
  /** The initial management token; random by default. With '' the cluster is not bootstrapped. */
  readonly token?: string;
  /** Additional settings of every node, as in its configuration file. */
  readonly settings?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly run?: (name: string) => NodeRun;
}

/** How to run the process of a node. */
export interface NodeRun {
  /** Modules to load before the program (`node --import`). */
  readonly preload: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The Node that runs it; this process's own by default. */
  readonly node?: string;
  /** Returns the program for each start; that of this release by default. */
  readonly main?: () => string;
}

/** Writes the configuration of each node and `cluster.json` to a folder. Does not start nodes. */
export async function planCluster(plan: ClusterPlan): Promise<LocalCluster> {
  const dir = resolve(plan.dir);
  mkdirSync(dir, { recursive: true });
  const names = Array.from({ length: plan.nodes }, (_, at) => `n${at + 1}`);
  const free = plan.ports === undefined ? await freePorts(plan.nodes * 2) : [];
  const ports =
    plan.ports ?? names.map((_, at) => ({ http: free[at * 2]!, raft: free[at * 2 + 1]! }));
  const token = plan.token ?? randomUUID();
  const sharedKeyFile = sharedKeyOf(dir);
  const initial = names.map((name, at) => `${name}=${HOST}:${ports[at]!.raft}`);
  const nodes = names.map((name, at) => {
    const { http, raft } = ports[at]!;
    const node = localNode(dir, name, { http, raft }, plan.run?.(name));
    const extra = plan.settings ?? {};
    const settings = {
      ...extra,
      nodeName: name,
      dataDir: node.entry.dataDir,
      pidFile: node.entry.pidFile,
      http: { ...extra['http'], host: HOST, port: http },
      raft: { sharedKeyFile, ...extra['raft'], host: HOST, port: raft },
      cluster: { initial },
      acl: { ...extra['acl'], ...(token === '' ? {} : { initialManagement: token }) },
    };
    writePrivate(join(dir, `${name}.json`), jsonOf(settings));
    return node;
  });
  const file: ClusterFile = {
    name: 'conclave',
    kind: 'service',
    prefix: 'X-Service',
    token,
    reset: `rm -rf ${nodes.map((node) => quote(node.entry.dataDir)).join(' ')}`,
    nodes: nodes.map((node) => node.entry),
  };
  writePrivate(join(dir, 'cluster.json'), jsonOf(file));
  return clusterOf(dir, file, nodes);
}

/** Returns the path of the shared key of the members. Creates the file if it does not exist. */
function sharedKeyOf(dir: string): string {
  const file = join(dir, 'shared.key');
  if (!existsSync(file))
    writeFileSync(file, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  return file;
}

/**
 * Opens the cluster that `planCluster` wrote to a folder. Throws like `readFileSync` if none is.
 */
export function openCluster(dir: string): LocalCluster {
  const at = resolve(dir);
  const file = JSON.parse(readFileSync(join(at, 'cluster.json'), 'utf8')) as ClusterFile;
  const nodes = file.nodes.map((entry, index) => {
    const port = (address: string): number => Number(/:(\d+)$/.exec(address)![1]);
    return localNode(at, `n${index + 1}`, { http: port(entry.url), raft: port(entry.raft) });
  });
  return clusterOf(at, file, nodes);
}

/** Removes the files and folders of a cluster that does not run, and nothing else. */
export function removeCluster({ dir, nodes }: LocalCluster): void {
  const ofNodes = nodes.flatMap(({ name, entry, logFile }) => [
    entry.dataDir,
    entry.pidFile,
    logFile,
    join(dir, `${name}.json`),
  ]);
  // The last one says that there is a cluster, so that an interrupted removal can be repeated.
  for (const path of [...ofNodes, join(dir, 'shared.key'), join(dir, 'cluster.json')])
    rmSync(path, { recursive: true, force: true });
}

function clusterOf(dir: string, file: ClusterFile, nodes: readonly LocalNode[]): LocalCluster {
  return {
    dir,
    file,
    urls: nodes.map((node) => node.url),
    token: file.token,
    nodes,
    async stop() {
      // One after the other, so that a leader finds a node to transfer leadership to.
      for (const node of nodes) await node.kill('SIGTERM');
    },
  };
}

function localNode(
  dir: string,
  name: string,
  ports: { http: number; raft: number },
  run: NodeRun = { preload: [], env: {} },
): LocalNode {
  const configFile = join(dir, `${name}.json`);
  const logFile = join(dir, `${name}.log`);
  const arguments_ = ['agent', '--config', configFile];
  const url = `http://${HOST}:${ports.http}`;
  let child: ChildProcess | undefined;
  let ended: Promise<void> = Promise.resolve();
  return {
    name,
    url,
    logFile,
    entry: {
      url,
      raft: `${HOST}:${ports.raft}`,
      start: [process.execPath, PROGRAM, ...arguments_].map(quote).join(' '),
      cwd: process.cwd(),
      pidFile: join(dir, `${name}.pid`),
      dataDir: join(dir, name),
    },
    get pid() {
      return child?.pid;
    },
    start() {
      if (child !== undefined) return;
      const started = spawnNode(run, arguments_, logFile);
      child = started;
      ended = new Promise<void>((done) => {
        started.once('error', () => done());
        started.once('exit', () => done());
      }).then(() => {
        child = undefined;
      });
    },
    async kill(signal) {
      if (child === undefined) return;
      child.kill(signal);
      if (['SIGTERM', 'SIGINT', 'SIGKILL'].includes(signal)) await ended;
    },
    async ready(timeoutMs = READY_MS) {
      const until = performance.now() + timeoutMs;
      for (;;) {
        if (await isReady(url)) return;
        if (child === undefined || performance.now() > until) {
          const why = child === undefined ? 'exited' : `is not ready after ${timeoutMs} ms`;
          throw new Error(`node ${name} ${why}; its log ends with:\n${endOf(logFile)}`);
        }
        await sleep(POLL_MS);
      }
    },
  };
}

function spawnNode(run: NodeRun, arguments_: readonly string[], logFile: string): ChildProcess {
  const log = openSync(logFile, 'a', 0o600);
  const preload = run.preload.flatMap((module) => ['--import', module]);
  const main = run.main?.() ?? PROGRAM;
  const child = spawn(run.node ?? process.execPath, [...preload, main, ...arguments_], {
    // The process has a group of its own: Ctrl-C interrupts only this program, which then stops
    // the nodes in order. If this program dies, the node sees the IPC channel close.
    detached: true,
    env: { ...withoutSettings(process.env), ...run.env },
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  return child;
}

/** Variables take precedence over the file of a node: those of a shell are for another node. */
const withoutSettings = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('CONCLAVE_')));

async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/v1/health/ready`, {
      signal: AbortSignal.timeout(2000),
      // An open connection would delay the stop of the node.
      headers: { connection: 'close' },
    });
    await answer.arrayBuffer();
    return answer.status === 200;
  } catch {
    return false;
  }
}

/** Returns the last lines of a node's log. */
export function endOf(logFile: string, lines = 5): string {
  try {
    return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '(no log)';
  }
}

/** Writes a file that only its owner may read. */
export function writePrivate(path: string, text: string, mode = 0o600): void {
  writeFileSync(path, text, { mode });
  // A file that was there keeps its mode.
  chmodSync(path, mode);
}

const jsonOf = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Quotes a word for the shell. */
export function quote(word: string): string {
  return /^[\w./:@=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
