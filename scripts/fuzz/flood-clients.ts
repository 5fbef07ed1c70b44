/**
 * Clients that send bursts of bytes, in a process of their own: whoever measures keeps its event
 * loop, and what they use of the machine is known. The same file is that process.
 */
import { fork } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** What connections send, each again on a new connection once it has been answered. */
export interface Burst {
  readonly bytes: Uint8Array;
  /** Requests in the bytes. */
  readonly requests: number;
  readonly connections: number;
}

interface Plan {
  readonly urls: readonly string[];
  readonly bursts: readonly Burst[];
  readonly seconds: number;
}

/** After so many milliseconds a client leaves, answered or not. */
const PATIENCE_MS = 15_000;
/** Between two bursts of one connection: the client shares the machine with the nodes. */
const PAUSE_MS = 50;
const STATUS_LINE = Buffer.from('HTTP/1.1 ');

/** What clients have done. */
export interface Flooded {
  readonly answers: number;
  /** The CPU time of the clients, as a share of one core. */
  readonly cores: number;
}

/** A task of the process. */
type Task = Plan | { readonly cores: number; readonly seconds: number };

/** Sends the bursts to all nodes for a time. */
export const flood = (plan: Plan): Promise<Flooded> => inProcess(plan);

/**
 * Uses as much of the machine as clients would, but sends nothing. What this does to a cluster on
 * the same machine, no server can prevent.
 */
export const burn = (cores: number, seconds: number): Promise<Flooded> =>
  inProcess({ cores, seconds });

const FILE = fileURLToPath(import.meta.url);

function inProcess(task: Task): Promise<Flooded> {
  const child = fork(FILE, { serialization: 'advanced' });
  return new Promise((done, fail) => {
    child.once('message', (result) => done(result as Flooded)).once('error', fail);
    child.once('exit', (code) => fail(new Error(`the clients ended with code ${code}`)));
    child.send(task);
  });
}

/** Sends a burst once. Resolves with the number of responses when all are there or it has ended. */
function send(url: string, { bytes, requests }: Burst, endMs: number): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let answers = 0;
    const socket = connect({ host: hostname, port: Number(port) });
    const patienceMs = Math.min(PATIENCE_MS, Math.max(0, endMs - performance.now()));
    const timer = setTimeout(() => socket.destroy(), patienceMs);
    socket.on('connect', () => socket.write(bytes));
    socket.on('data', (data) => {
      for (let at = data.indexOf(STATUS_LINE); at >= 0; at = data.indexOf(STATUS_LINE, at + 1))
        answers += 1;
      if (answers >= requests) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(answers);
    });
  });
}

async function sendUntil(url: string, burst: Burst, endMs: number): Promise<number> {
  let answers = 0;
  while (performance.now() < endMs) {
    // On a busy machine the first answer may take longer than the flood.
    answers += await send(url, burst, answers === 0 ? Number.POSITIVE_INFINITY : endMs);
    await sleep(PAUSE_MS);
  }
  return answers;
}

async function sendAll({ urls, bursts, seconds }: Plan): Promise<number> {
  const endMs = performance.now() + seconds * 1000;
  const clients = bursts.flatMap((burst) =>
    Array.from({ length: burst.connections }, (_, at) =>
      sendUntil(urls[at % urls.length]!, burst, endMs),
    ),
  );
  const counts = await Promise.all(clients);
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Milliseconds in which a share of a core is used at once, as by the answers to a burst. */
const CYCLE_MS = 20;

async function burnAll(cores: number, seconds: number): Promise<number> {
  for (const endMs = performance.now() + seconds * 1000; performance.now() < endMs; ) {
    const restMs = performance.now() + Math.min(1, cores) * CYCLE_MS;
    while (performance.now() < restMs);
    await sleep((1 - Math.min(1, cores)) * CYCLE_MS);
  }
  return 0;
}

if (process.argv[1] === FILE && process.send !== undefined) {
  process.once('message', async (task: Task) => {
    const [beginMs, before] = [performance.now(), process.cpuUsage()];
    const answers =
      'bursts' in task ? await sendAll(task) : await burnAll(task.cores, task.seconds);
    const { user, system } = process.cpuUsage(before);
    const cores = (user + system) / 1000 / (performance.now() - beginMs);
    process.send!({ answers, cores } satisfies Flooded, () => process.disconnect());
  });
}
