/**
 * One keep-alive connection of the measuring client: it sends prepared bytes and parses status and
 * lengths. The client shares the cores with the nodes, so it does as little as possible.
 */
import { connect, type Socket } from 'node:net';

export interface Ask {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: string;
  /** A token other than the connection's own. */
  readonly token?: string;
}

export interface Reply {
  readonly status: number;
  /** The index header; 0 if there is none. */
  readonly index: number;
  /** The body as it was sent: chunks with their lengths if it was chunked. */
  readonly body: Buffer;
}

/** The target and the token. */
export interface Target {
  readonly url: string;
  readonly token: string;
  /** The header of the token, where it is another one. */
  readonly tokenHeader?: string;
  /** The address of this machine to connect from. */
  readonly localAddress?: string;
}

/** No connection was made: nothing was sent. */
export class RefusedError extends Error {}

const END_OF_PIECES = '0\r\n\r\n';

interface Head {
  readonly status: number;
  readonly index: number;
  /** The offset at which the body begins. */
  readonly start: number;
  readonly length: number | undefined;
  /** Whether the node accepts nothing more on this connection. */
  readonly closes: boolean;
}

export class Line {
  readonly #target: Target;
  readonly #host: string;
  #socket: Socket | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #head: Head | undefined;
  #waiting: { done: (reply: Reply) => void; fail: (error: Error) => void } | undefined;

  constructor(target: Target) {
    this.#target = target;
    this.#host = new URL(target.url).host;
  }

  /** One request at a time. Rejects if the connection breaks; the next call makes a new one. */
  ask({ method, path, body = '', token = this.#target.token }: Ask): Promise<Reply> {
    const { tokenHeader = 'X-Service-Token' } = this.#target;
    const head = `${method} ${path} HTTP/1.1\r\nHost: ${this.#host}\r\n${tokenHeader}: ${token}\r\n`;
    const type = method === 'POST' ? 'Content-Type: application/json\r\n' : '';
    const size = method === 'GET' ? '' : `${type}Content-Length: ${Buffer.byteLength(body)}\r\n`;
    return new Promise((done, fail) => {
      this.#waiting = { done, fail };
      this.#chunks = [];
      this.#bytes = 0;
      this.#head = undefined;
      this.#open().write(`${head}${size}\r\n${body}`);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #open(): Socket {
    if (this.#socket !== undefined) return this.#socket;
    const { hostname: host, port } = new URL(this.#target.url);
    const { localAddress } = this.#target;
    const from = localAddress === undefined ? {} : { localAddress };
    const socket = connect({ host, port: Number(port), noDelay: true, ...from });
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    let why = new Error('the connection broke');
    socket.on('error', ({ code, syscall }: NodeJS.ErrnoException) => {
      why = syscall === 'connect' ? new RefusedError('refused') : new Error(`broke: ${code}`);
    });
    socket.on('close', () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#waiting?.fail(why);
      this.#waiting = undefined;
    });
    this.#socket = socket;
    return socket;
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#head ??= this.#readHead();
    const head = this.#head;
    if (head === undefined || !this.#isWhole(head)) return;
    const { status, index, start } = head;
    const whole = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#bytes);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (head.closes) {
      this.#socket?.destroy();
      this.#socket = undefined;
    }
    waiting?.done({ status, index, body: whole.subarray(start) });
  }

  #readHead(): Head | undefined {
    const text = Buffer.concat(this.#chunks).toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const head = text.slice(0, end);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    return {
      status: Number(head.slice(9, 12)),
      index: Number(/\r\nx-service-index: *(\d+)/i.exec(head)?.[1] ?? 0),
      start: end + 4,
      length: length === undefined ? undefined : Number(length),
      closes: /\r\nconnection: *close/i.test(head),
    };
  }

  #isWhole({ start, length }: { start: number; length: number | undefined }): boolean {
    if (length !== undefined) return this.#bytes >= start + length;
    const tail = Buffer.concat(this.#chunks.slice(-3)).subarray(-END_OF_PIECES.length);
    return tail.toString('latin1') === END_OF_PIECES;
  }
}

/** One request on a connection of its own; throws unless the response has status 200. */
export async function askOnce(target: Target, ask: Ask): Promise<Reply> {
  const line = new Line(target);
  const reply = await line.ask(ask).finally(() => line.close());
  if (reply.status !== 200) throw new Error(`${ask.path}: ${reply.status} ${reply.body}`);
  return reply;
}
