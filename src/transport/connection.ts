/**
 * One socket that carries frames. Frames sent in one turn of the event loop go out in one write;
 * while the other side does not take bytes they wait in a queue bounded in bytes.
 */
import type { Socket } from 'node:net';
import { FrameReader } from './frame-reader.js';
import { decodeFrame, encodeFrame, type Frame } from './frames.js';
import { subjectOf } from './security.js';

/** A frame before the handshake is done: nobody has proved anything yet. */
const GREETING_BYTES = 4096;
/** Small writes are joined to one; larger ones are handed over as they are. */
const JOIN_BYTES = 64 * 1024;

/** Time for the other side to close as well. */
const CLOSE_MS = 1000;

interface Queued {
  readonly buffers: Buffer[];
  readonly bytes: number;
  /** May be dropped to make room: Raft sends it again. */
  readonly droppable: boolean;
}

export interface ConnectionEvents {
  onFrame(frame: Frame): void;
  /** Called once. */
  onClose(error: Error | undefined): void;
}

/** Address and port of the other side. */
export const remoteOf = ({ remoteAddress, remotePort }: Socket): string =>
  `${remoteAddress}:${remotePort}`;

export class Connection {
  /** Set by whoever owns the connection, before frames arrive. */
  events: ConnectionEvents | undefined;
  /** Called once when the socket is closed, whoever owns the connection then. */
  onGone: (() => void) | undefined;
  private readonly socket: Socket;
  private readonly reader = new FrameReader(GREETING_BYTES);
  private readonly queue: Queued[] = [];
  private queuedBytes = 0;
  private scheduled = false;
  private gathering = false;
  private error: Error | undefined;
  private silentTurns = 0;
  private closed = false;
  private answerBytesMax = GREETING_BYTES;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => this.receive(bytes));
    socket.on('drain', () => this.flush());
    socket.on('error', (error) => {
      this.error ??= error;
    });
    socket.on('close', () => {
      this.closed = true;
      this.onGone?.();
      this.events?.onClose(this.error);
    });
  }

  get remote(): string {
    return remoteOf(this.socket);
  }

  /** See `subjectOf`. */
  get subject(): string | undefined {
    return subjectOf(this.socket);
  }

  /** The other side is known now: frames and queue may have their full size. */
  trust(limits: { readonly frameBytes: number; readonly queueBytes: number }): void {
    this.reader.limitBytes = limits.frameBytes;
    this.answerBytesMax = limits.queueBytes;
  }

  /** Bytes that wait for the other side to take them. */
  get waitingBytes(): number {
    return this.queuedBytes + this.socket.writableLength;
  }

  /**
   * Queues a frame. With a limit, makes room by dropping the oldest droppable frames; false when
   * something was dropped.
   */
  send(frame: Frame, limitBytes = Infinity): boolean {
    if (this.closed) return false;
    const buffers = encodeFrame(frame);
    const bytes = buffers.reduce((sum, buffer) => sum + buffer.length, 0);
    const droppable = frame.type === 'message' && frame.message.type === 'append';
    this.queue.push({ buffers, bytes, droppable });
    this.queuedBytes += bytes;
    if (frame.type === 'request') this.gather();
    else if (!this.scheduled) {
      this.scheduled = true;
      queueMicrotask(() => {
        this.scheduled = false;
        this.flush();
      });
    }
    return this.queuedBytes <= limitBytes || this.makeRoom(limitBytes);
  }

  /** Sends what was asked for. Who asks on and on and takes no answer loses the connection. */
  answer(frame: Frame): void {
    if (this.queuedBytes > this.answerBytesMax) {
      this.destroy(new Error('the peer does not take its answers'));
    } else this.send(frame);
  }

  /**
   * Sends what is queued, then closes; a peer that does not close its side is not waited for long.
   */
  end(): void {
    this.flush();
    this.socket.end();
    const timer = setTimeout(() => this.socket.destroy(), CLOSE_MS).unref();
    this.socket.once('close', () => clearTimeout(timer));
  }

  destroy(error?: Error): void {
    this.error ??= error;
    this.socket.destroy();
  }

  /**
   * Counts a turn of the owner's timer in which nothing was heard; returns how many there were in a
   * row.
   */
  countSilence(): number {
    this.silentTurns += 1;
    return this.silentTurns;
  }

  /**
   * Questions come one by one from the sockets of clients: all that were read in this turn go
   * together.
   */
  private gather(): void {
    if (this.gathering) return;
    this.gathering = true;
    setImmediate(() => {
      this.gathering = false;
      this.flush();
    });
  }

  private makeRoom(limitBytes: number): false {
    for (let i = 0; i < this.queue.length && this.queuedBytes > limitBytes; ) {
      const { droppable, bytes } = this.queue[i]!;
      if (!droppable) i += 1;
      else {
        this.queue.splice(i, 1);
        this.queuedBytes -= bytes;
      }
    }
    return false;
  }

  private flush(): void {
    if (this.closed || this.socket.writableNeedDrain || this.queue.length === 0) return;
    const buffers = this.queue.flatMap((queued) => queued.buffers);
    const bytes = this.queuedBytes;
    this.queue.length = 0;
    this.queuedBytes = 0;
    if (bytes <= JOIN_BYTES) {
      this.socket.write(Buffer.concat(buffers, bytes));
      return;
    }
    this.socket.cork();
    for (const buffer of buffers) this.socket.write(buffer);
    this.socket.uncork();
  }

  private receive(bytes: Buffer): void {
    this.silentTurns = 0;
    let frames: Frame[];
    try {
      frames = [...this.reader.push(bytes)].map(decodeFrame);
    } catch (error) {
      this.destroy(error as Error);
      return;
    }
    for (const frame of frames) {
      if (this.socket.destroyed) return;
      if (frame.type === 'ping') this.answer({ type: 'pong' });
      else if (frame.type !== 'pong') this.events?.onFrame(frame);
    }
  }
}
