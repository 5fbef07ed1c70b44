/**
 * Clients that send bursts of bytes, in a worker thread, so that they do not use the event loop of
 * whoever measures. The same file is the worker.
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, Worker, workerData } from 'node:worker_threads';

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

/** Sends the bursts to all nodes for a time. Returns the number of responses. */
export function flood(plan: Plan): Promise<number> {
  const worker = new Worker(new URL(import.meta.url), { workerData: plan });
  return new Promise((done, fail) => worker.once('message', done).once('error', fail));
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
    answers += await send(url, burst, endMs);
    await sleep(PAUSE_MS);
  }
  return answers;
}

const plan = workerData as Plan | null;
if (parentPort !== null && Array.isArray(plan?.bursts)) {
  const { urls, bursts, seconds } = plan;
  const endMs = performance.now() + seconds * 1000;
  const clients = bursts.flatMap((burst) =>
    Array.from({ length: burst.connections }, (_, at) =>
      sendUntil(urls[at % urls.length]!, burst, endMs),
    ),
  );
  const counts = await Promise.all(clients);
  parentPort.postMessage(counts.reduce((sum, count) => sum + count, 0));
}
