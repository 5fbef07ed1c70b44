/**
 * The outgoing side to one member: a connection that is kept open, messages, and requests with
 * their answers. Messages may be lost, since Raft repeats them. A request always gets exactly one
 * outcome.
 */
import type { NodeId } from '../raft/types.js';
import type { Connection } from './connection.js';
import type { Frame } from './frames.js';
import { dial, type WireContext } from './handshake.js';
import { WireError } from './types.js';

/** Messages kept while connecting. Older ones are outdated. */
const WAITING_MAX = 64;
/** The longest pause before dialling a peer again that has refused this node. */
const REFUSED_MS_MAX = 1000;

/** The answer to a request that was not handled, because too many of this member's are open. */
export const NOT_HANDLED = new Uint8Array(0);

/**
 * Receives the outcome of a request: the answer, or undefined if there is none. `unsent`: the
 * request certainly did not reach the peer, or the peer did not handle it.
 */
export type RequestDone = (answer: Uint8Array | undefined, fate?: 'unsent') => void;

interface Pending {
  readonly done: RequestDone;
  readonly cancelTimer: () => void;
  /** Set until the request is sent. */
  payload: Uint8Array | undefined;
}

/** See the head of this file. Connects at once, and again after every failure. */
export class Peer {
  readonly id: NodeId;
  readonly address: string;
  /** Number of consecutive failed attempts to connect. */
  failures = 0;
  readonly #context: WireContext;
  #connection: Connection | undefined;
  #giveUp: (() => void) | undefined;
  /** Cancels the next attempt to connect; undefined while there is none. */
  #cancelRetry: (() => void) | undefined;
  #pauseMs: number;
  #waiting: Frame[] = [];
  readonly #pending = new Map<number, Pending>();
  #lastRequest = 0;
  #lastProblem = '';
  #closed = false;

  constructor(context: WireContext, id: NodeId, address: string) {
    this.#context = context;
    this.id = id;
    this.address = address;
    this.#pauseMs = context.limits.reconnectMinMs;
    this.#connect();
  }

  get connected(): boolean {
    return this.#connection !== undefined;
  }

  /** Bytes that wait for the peer to read them. */
  get waitingBytes(): number {
    return this.#connection?.waitingBytes ?? 0;
  }

  /** Sends a message, or keeps it while connecting. */
  send(frame: Frame): void {
    if (this.#connection === undefined) {
      this.#waiting.push(frame);
      if (this.#waiting.length > WAITING_MAX) this.#waiting.shift();
      return;
    }
    if (!this.#connection.send(frame, this.#context.limits.queueBytes)) {
      // Not synchronously: the caller is in the middle of sending.
      this.#context.clock.soon(() => this.#context.handlers.onUnreachable(this.id));
    }
  }

  request(payload: Uint8Array, timeoutMs: number, done: RequestDone): void {
    const { clock, limits } = this.#context;
    const full = (this.#connection?.waitingBytes ?? 0) + payload.length > limits.queueBytes;
    if (this.#closed || full || this.#pending.size >= limits.requests) {
      clock.soon(() => done(undefined, 'unsent'));
      return;
    }
    this.#lastRequest += 1;
    const id = this.#lastRequest;
    const cancelTimer = clock.after(timeoutMs, () => this.#settle(id, undefined));
    const connection = this.#connection;
    const unsent = connection === undefined ? payload : undefined;
    this.#pending.set(id, { done, cancelTimer, payload: unsent });
    connection?.send({ type: 'request', id, payload });
  }

  /** Handles a tick of the wire's timer: sends a ping, or closes a connection that is dead. */
  tick(): void {
    if (this.#connection === undefined) return;
    if (this.#connection.countSilence() > this.#context.limits.silentTurns) {
      this.#connection.destroy(new Error('the peer does not answer'));
    } else this.#connection.send({ type: 'ping' });
  }

  /**
   * The peer has dialled this node, so it is up: connects without waiting for the pause to end.
   */
  hasDialled(): void {
    if (this.#cancelRetry === undefined) return;
    this.#cancelRetry();
    this.#pauseMs = this.#context.limits.reconnectMinMs;
    this.#connect();
  }

  /** Closes the connection, if there is one, so that a new one is made. */
  reconnect(why: Error): void {
    this.#connection?.destroy(why);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    this.#giveUp?.();
    this.#connection?.end();
    this.#failPending();
  }

  #connect(): void {
    this.#cancelRetry = undefined;
    this.#giveUp = dial(
      this.#context,
      { address: this.address, purpose: 'messages', target: this.id },
      (connection) => this.#opened(connection),
      (error) => this.#failed(error),
    );
  }

  #opened(connection: Connection): void {
    this.#giveUp = undefined;
    this.#connection = connection;
    this.#pauseMs = this.#context.limits.reconnectMinMs;
    this.failures = 0;
    this.#report('');
    connection.events = {
      onFrame: (frame) => {
        if (frame.type === 'reply') this.#settle(frame.id, frame.payload);
        else connection.destroy(new WireError('protocol', `${frame.type} instead of a reply`));
      },
      onClose: (error) => this.#failed(error ?? new Error('the connection was closed')),
    };
    for (const frame of this.#waiting.splice(0)) connection.send(frame);
    for (const [id, pending] of this.#pending) {
      if (pending.payload === undefined) continue;
      connection.send({ type: 'request', id, payload: pending.payload });
      pending.payload = undefined;
    }
    this.#context.handlers.onReachable(this.id);
  }

  #failed(error: Error): void {
    this.#giveUp = undefined;
    this.#connection = undefined;
    this.#waiting = [];
    this.#failPending();
    if (this.#closed) return;
    this.#report(error.message);
    this.failures += 1;
    const { clock, random, limits } = this.#context;
    const pauseMs = this.#pauseMs * (0.5 + random() / 2);
    this.#cancelRetry = clock.after(pauseMs, () => this.#connect());
    const pauseMsMax = error instanceof WireError ? REFUSED_MS_MAX : limits.reconnectMaxMs;
    this.#pauseMs = Math.min(this.#pauseMs * 2, pauseMsMax);
    this.#context.handlers.onUnreachable(this.id);
  }

  /** Logs a problem, or its end, when it changes. */
  #report(problem: string): void {
    if (problem === this.#lastProblem) return;
    const where = `node ${this.id} at ${this.address}`;
    const { log } = this.#context;
    if (problem === '') log('info', `${where} is reachable`, 'peer_reachable', this.id);
    else log('warn', `${where} cannot be reached: ${problem}`, 'peer_unreachable', this.id);
    this.#lastProblem = problem;
  }

  #settle(id: number, answer: Uint8Array | undefined): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    pending.cancelTimer();
    const isHandled = pending.payload === undefined && answer?.length !== 0;
    if (isHandled) pending.done(answer);
    else pending.done(undefined, 'unsent');
  }

  #failPending(): void {
    for (const id of [...this.#pending.keys()]) this.#settle(id, undefined);
  }
}
