/**
 * Clients without a token, in a worker thread, so that they do not use the event loop of the
 * measuring client. The same file is the worker: with the data `bare` it runs a minimal server that
 * refuses all requests, otherwise it runs the clients for a number of seconds.
 */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort, Worker, workerData } from 'node:worker_threads';

/** Returns an entry of about 800 kB: 1200 subsets with filters of 30 terms. */
const bodyOf = (): Buffer => {
  const Filter = Array.from({ length: 30 }, (_, at) => `Service.Meta.v==a${at}`).join(' or ');
  const subsets = Array.from({ length: 1200 }, (_, at) => [`s${at}`, { Filter }]);
  return Buffer.from(
    JSON.stringify({
      Kind: 'service-resolver',
      Name: 'web',
      Subsets: Object.fromEntries(subsets),
    }),
  );
};

interface Attack {
  readonly urls: readonly string[];
  readonly clients: number;
  readonly seconds: number;
}

/**
 * Lets clients without a token send bodies to the nodes, each on a new connection once its last one
 * is closed. Returns the number of bodies.
 */
export function attack(plan: Attack): Promise<number> {
  const worker = new Worker(new URL(import.meta.url), { workerData: plan });
  return new Promise((done, fail) => worker.once('message', done).once('error', fail));
}

/** Calls `run` with the URL of a server that answers 403 to every request and closes. */
export async function withBareServer<T>(run: (url: string) => Promise<T>): Promise<T> {
  const worker = new Worker(new URL(import.meta.url), { workerData: 'bare' });
  const port = await new Promise((done, fail) => worker.once('message', done).once('error', fail));
  try {
    return await run(`http://127.0.0.1:${port}`);
  } finally {
    await worker.terminate();
  }
}

/** Sends the body repeatedly until `end`. Returns how often. */
async function send(url: string, body: Buffer, end: number): Promise<number> {
  let count = 0;
  for (; performance.now() < end; count += 1) {
    await new Promise<void>((resolve) => {
      const sent = request(`${url}/v1/config`, { method: 'PUT', agent: false }, (answer) => {
        answer.resume().once('close', resolve).once('error', resolve);
      });
      // Refused before it was sent completely.
      sent.once('error', () => resolve());
      sent.end(body);
    });
  }
  return count;
}

if (workerData === 'bare') {
  const server = createServer((req, res) => {
    res.writeHead(403, { Connection: 'close' }).end('Permission denied');
    req.resume();
  });
  server.listen(0, '127.0.0.1', () => {
    parentPort!.postMessage((server.address() as AddressInfo).port);
  });
} else if (parentPort !== null) {
  const { urls, clients, seconds } = workerData as Attack;
  const [body, end] = [bodyOf(), performance.now() + seconds * 1000];
  const counts = await Promise.all(
    Array.from({ length: clients }, (_, at) => send(urls[at % urls.length]!, body, end)),
  );
  parentPort.postMessage(counts.reduce((sum, count) => sum + count, 0));
}
