/** Sends shots, each on its own connection. */
import { connect, type Socket } from 'node:net';
import { ANSWER_MS_MAX } from './judge.js';
import { EVENT_STREAM, type Outcome, type Reply, readReplies, type Shot } from './shot.js';

/** How long to wait for responses that a shot need not get. */
const LOOSE_MS = 2000;
/** A waiting connection gives up a little after a response counts as late. */
const HANG_MS = ANSWER_MS_MAX + 2000;

export class Gun {
  readonly #ports: readonly number[];
  readonly #host: string;
  readonly #open = new Set<Socket>();

  constructor(urls: readonly string[]) {
    const all = urls.map((url) => new URL(url));
    this.#host = all[0]!.hostname;
    this.#ports = all.map(({ port }) => Number(port));
  }

  /** Never rejects: errors are in the outcome. */
  fire(shot: Shot): Promise<Outcome> {
    const began = performance.now();
    const chunks: Buffer[] = [];
    return new Promise((resolve) => {
      const socket = connect({ host: this.#host, port: this.#ports[shot.node]!, noDelay: true });
      this.#open.add(socket);
      const waitsMs = shot.leavesAfterMs ?? (shot.strict ? HANG_MS : LOOSE_MS);
      let hung = false;
      const timer = setTimeout(() => {
        hung = true;
        socket.destroy();
      }, waitsMs);
      socket.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        // a stream of events ends when its client leaves
        if (isStream(chunk)) socket.destroy();
      });
      // What arrived before a reset is judged.
      socket.on('error', () => {});
      socket.on('end', () => socket.end());
      socket.on('close', () => {
        clearTimeout(timer);
        this.#open.delete(socket);
        const ms = performance.now() - began;
        resolve({ ...repliesOf(Buffer.concat(chunks), shot), ms, hung });
      });
      socket.on('connect', () => void write(socket, shot.parts));
    });
  }

  /** Opens a connection that sends nothing; it ends with `close`. */
  hold(node: number): void {
    const socket = connect({ host: this.#host, port: this.#ports[node]! });
    this.#open.add(socket);
    socket.on('error', () => {}).on('close', () => this.#open.delete(socket));
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    const gone = [...this.#open].map((socket) => new Promise((done) => socket.once('close', done)));
    for (const socket of this.#open) socket.destroy();
    await Promise.all(gone);
  }
}

/** Whether a response begins that has no end. */
const isStream = (chunk: Buffer): boolean =>
  chunk.includes('HTTP/1.1 200') && chunk.includes(`Content-Type: ${EVENT_STREAM}`);

async function write(socket: Socket, parts: readonly Buffer[]): Promise<void> {
  for (const part of parts) {
    if (socket.destroyed) return;
    await new Promise<void>((done) => {
      socket.write(part, () => setImmediate(done));
      socket.once('close', done);
    });
  }
}

function repliesOf(bytes: Buffer, { methods }: Shot): { replies: Reply[]; problem?: string } {
  try {
    return { replies: readReplies(bytes, methods) };
  } catch (error) {
    return { replies: [], problem: (error as Error).message };
  }
}
