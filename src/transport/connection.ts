/**
 * One socket that carries frames. Frames sent in one turn of the event loop go out in one write.
 * While the peer does not read, they wait in a queue that is bounded in bytes.
 */
import type { WireClock } from './clock.js';
import type { Ends } from './fixed-frames.js';
import { FrameReader } from './frame-reader.js';
import { decodeFrame, encodeFrame, type Frame } from './frames.js';
import { bindingOf } from './proof.js';
import { ownCertificateOf, subjectOf } from './security.js';
import type { WireSocket } from './sockets.js';

/** Bytes of a frame before the handshake is complete, from a peer that has proved nothing yet. */
const GREETING_BYTES = 4096;
/** Bytes up to which the buffers of a write are copied into one. */
const JOIN_BYTES = 64 * 1024;
/** How long the peer may take to close its side. */
const CLOSE_MS = 1000;

interface Queued {
  readonly buffers: Buffer[];
  readonly bytes: number;
  /** Whether the frame may be dropped to make room, because Raft sends it again. */
  readonly droppable: boolean;
}

/** What a connection reports to its owner. */
export interface ConnectionEvents {
  onFrame(frame: Frame): void;
  /** Called once, with the error that closed the connection, if any. */
  onClose(error: Error | undefined): void;
}

/** Returns the address and port of the peer. */
export const remoteOf = ({ remoteAddress, remotePort }: WireSocket): string =>
  `${remoteAddress}:${remotePort}`;

export class Connection {
  /** Set by the owner of the connection before frames arrive. */
  events: ConnectionEvents | undefined;
  /** Called once when the socket closes, regardless of the owner. */
  onGone: (() => void) | undefined;
  /** The servers of messages that arrive; undefined if none may. */
  ends: Ends | undefined;
  readonly #socket: WireSocket;
  readonly #clock: Pick<WireClock, 'after' | 'soon' | 'microtask'>;
  readonly #reader = new FrameReader(GREETING_BYTES);
  readonly #queue: Queued[] = [];
  #queuedBytes = 0;
  #scheduled = false;
  #gathering = false;
  #error: Error | undefined;
  #silentTurns = 0;
  #closed = false;
  #answerBytesMax = GREETING_BYTES;

  constructor(socket: WireSocket, clock: Pick<WireClock, 'after' | 'soon' | 'microtask'>) {
    this.#socket = socket;
    this.#clock = clock;
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.on('drain', () => this.#flush());
    socket.on('error', (error) => {
      this.#error ??= error;
    });
    socket.on('close', () => {
      this.#closed = true;
      this.onGone?.();
      this.events?.onClose(this.#error);
    });
  }

  get remote(): string {
    return remoteOf(this.#socket);
  }

  /** See `bindingOf`. */
  get binding(): Buffer | undefined {
    return bindingOf(this.#socket);
  }

  /** See `ownCertificateOf`. */
  get ownCertificate(): ReturnType<typeof ownCertificateOf> {
    return ownCertificateOf(this.#socket);
  }

  /** See `subjectOf`. */
  get subject(): string | undefined {
    return subjectOf(this.#socket);
  }

  /** The peer is authenticated: raises the limits of frames and queue to their full size. */
  trust(limits: { readonly frameBytes: number; readonly queueBytes: number }): void {
    this.#reader.limitBytes = limits.frameBytes;
    this.#answerBytesMax = limits.queueBytes;
  }

  /** Bytes that wait for the peer to read them. */
  get waitingBytes(): number {
    return this.#queuedBytes + this.#socket.writableLength;
  }

  /**
   * Queues a frame. If the queue then exceeds `limitBytes`, drops the oldest droppable frames and
   * returns false. Returns false too if the connection is closed.
   */
  send(frame: Frame, limitBytes = Infinity): boolean {
    if (this.#closed) return false;
    const buffers = encodeFrame(frame);
    const bytes = buffers.reduce((sum, buffer) => sum + buffer.length, 0);
    const droppable = frame.type === 'message' && frame.message.type === 'append';
    this.#queue.push({ buffers, bytes, droppable });
    this.#queuedBytes += bytes;
    if (frame.type === 'request') this.#gather();
    else if (!this.#scheduled) {
      this.#scheduled = true;
      this.#clock.microtask(() => {
        this.#scheduled = false;
        this.#flush();
      });
    }
    return this.#queuedBytes <= limitBytes || this.#makeRoom(limitBytes);
  }

  /**
   * Sends an answer. Closes the connection if the peer keeps asking without reading its answers.
   */
  answer(frame: Frame): void {
    if (this.#queuedBytes > this.#answerBytesMax) {
      this.destroy(new Error('the peer does not read its responses'));
    } else this.send(frame);
  }

  /**
   * Sends what is queued, then closes. Destroys the socket if the peer does not close its side
   * soon.
   */
  end(): void {
    this.#flush();
    this.#socket.end();
    this.#socket.once(
      'close',
      this.#clock.after(CLOSE_MS, () => this.#socket.destroy()),
    );
  }

  destroy(error?: Error): void {
    this.#error ??= error;
    this.#socket.destroy();
  }

  /**
   * Counts a tick of the owner's timer. Returns the number of ticks since the peer was last heard.
   */
  countSilence(): number {
    this.#silentTurns += 1;
    return this.#silentTurns;
  }

  /**
   * Flushes after the current turn's I/O. Requests come one by one from the sockets of clients, so
   * this sends together all that this turn reads.
   */
  #gather(): void {
    if (this.#gathering) return;
    this.#gathering = true;
    this.#clock.soon(() => {
      this.#gathering = false;
      this.#flush();
    });
  }

  #makeRoom(limitBytes: number): false {
    for (let i = 0; i < this.#queue.length && this.#queuedBytes > limitBytes; ) {
      const { droppable, bytes } = this.#queue[i]!;
      if (!droppable) i += 1;
      else {
        this.#queue.splice(i, 1);
        this.#queuedBytes -= bytes;
      }
    }
    return false;
  }

  #flush(): void {
    if (this.#closed || this.#socket.writableNeedDrain || this.#queue.length === 0) return;
    const buffers = this.#queue.flatMap((queued) => queued.buffers);
    const bytes = this.#queuedBytes;
    this.#queue.length = 0;
    this.#queuedBytes = 0;
    if (bytes <= JOIN_BYTES) {
      this.#socket.write(Buffer.concat(buffers, bytes));
      return;
    }
    this.#socket.cork();
    for (const buffer of buffers) this.#socket.write(buffer);
    this.#socket.uncork();
  }

  #receive(bytes: Buffer): void {
    this.#silentTurns = 0;
    let frames: Frame[];
    try {
      frames = [...this.#reader.push(bytes)].map((frame) => decodeFrame(frame, this.ends));
    } catch (error) {
      this.destroy(error as Error);
      return;
    }
    for (const frame of frames) {
      if (this.#socket.destroyed) return;
      if (frame.type === 'ping') this.answer({ type: 'pong' });
      else if (frame.type !== 'pong') this.events?.onFrame(frame);
    }
  }
}
