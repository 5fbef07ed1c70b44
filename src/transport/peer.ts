/**
 * The outgoing side towards one member: a connection that is kept, messages, and questions with
 * their answers. Messages may be lost: Raft repeats them. A question always gets exactly one
 * outcome.
 */
import type { NodeId } from '../raft/types.js';
import type { Connection } from './connection.js';
import type { Frame } from './frames.js';
import { dial, type WireContext } from './handshake.js';
import { WireError } from './types.js';

/** Messages kept while the connection is being made; older ones are of no use to anyone. */
const WAITING_MAX = 64;
/** A peer that refuses us is asked again less and less often, down to this. */
const REFUSED_MS_MAX = 1000;

/** The outcome of a question. `unsent`: it certainly did not reach the peer. */
export type RequestDone = (answer: Uint8Array | undefined, fate?: 'unsent') => void;

interface Pending {
  readonly done: RequestDone;
  readonly timer: NodeJS.Timeout;
  /** Until it is sent. */
  payload: Uint8Array | undefined;
}

export class Peer {
  readonly id: NodeId;
  readonly address: string;
  /** Attempts to connect that failed in a row. */
  failures = 0;
  private readonly context: WireContext;
  private connection: Connection | undefined;
  private giveUp: (() => void) | undefined;
  private retry: NodeJS.Timeout | undefined;
  private pauseMs: number;
  private waiting: Frame[] = [];
  private readonly pending = new Map<number, Pending>();
  private lastRequest = 0;
  private lastProblem = '';
  private closed = false;

  constructor(context: WireContext, id: NodeId, address: string) {
    this.context = context;
    this.id = id;
    this.address = address;
    this.pauseMs = context.limits.reconnectMinMs;
    this.connect();
  }

  get connected(): boolean {
    return this.connection !== undefined;
  }

  /** Sends a message, or keeps it for a moment while the connection is being made. */
  send(frame: Frame): void {
    if (this.connection === undefined) {
      this.waiting.push(frame);
      if (this.waiting.length > WAITING_MAX) this.waiting.shift();
      return;
    }
    if (!this.connection.send(frame, this.context.limits.queueBytes)) {
      // Not within the call of someone who is busy sending.
      setImmediate(() => this.context.handlers.onUnreachable(this.id));
    }
  }

  request(payload: Uint8Array, timeoutMs: number, done: RequestDone): void {
    const { limits } = this.context;
    const full = (this.connection?.waitingBytes ?? 0) + payload.length > limits.queueBytes;
    if (this.closed || full || this.pending.size >= limits.requests) {
      setImmediate(done, undefined, 'unsent');
      return;
    }
    this.lastRequest += 1;
    const id = this.lastRequest;
    const timer = setTimeout(() => this.settle(id, undefined), timeoutMs);
    const { connection } = this;
    this.pending.set(id, { done, timer, payload: connection === undefined ? payload : undefined });
    connection?.send({ type: 'request', id, payload });
  }

  /** A turn of the wire's timer: a connection that shows no life is given up. */
  tick(): void {
    if (this.connection === undefined) return;
    if (this.connection.countSilence() > this.context.limits.silentTurns) {
      this.connection.destroy(new Error('the peer does not answer'));
    } else this.connection.send({ type: 'ping' });
  }

  /**
   * The peer has dialled this node, so it is up: does not wait out the pause before the next
   * attempt.
   */
  hasDialled(): void {
    if (this.retry === undefined) return;
    clearTimeout(this.retry);
    this.pauseMs = this.context.limits.reconnectMinMs;
    this.connect();
  }

  /** Makes the connection anew, if there is one. */
  reconnect(why: Error): void {
    this.connection?.destroy(why);
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    clearTimeout(this.retry);
    this.retry = undefined;
    this.giveUp?.();
    this.connection?.end();
    this.failPending();
  }

  private connect(): void {
    this.retry = undefined;
    this.giveUp = dial(
      this.context,
      { address: this.address, purpose: 'messages', target: this.id },
      (connection) => this.opened(connection),
      (error) => this.failed(error),
    );
  }

  private opened(connection: Connection): void {
    this.giveUp = undefined;
    this.connection = connection;
    this.pauseMs = this.context.limits.reconnectMinMs;
    this.failures = 0;
    this.report('');
    connection.events = {
      onFrame: (frame) => {
        if (frame.type === 'reply') this.settle(frame.id, frame.payload);
        else connection.destroy(new WireError('protocol', `${frame.type} where replies belong`));
      },
      onClose: (error) => this.failed(error ?? new Error('the connection was closed')),
    };
    for (const frame of this.waiting.splice(0)) connection.send(frame);
    for (const [id, pending] of this.pending) {
      if (pending.payload === undefined) continue;
      connection.send({ type: 'request', id, payload: pending.payload });
      pending.payload = undefined;
    }
    this.context.handlers.onReachable(this.id);
  }

  private failed(error: Error): void {
    this.giveUp = undefined;
    this.connection = undefined;
    this.waiting = [];
    this.failPending();
    if (this.closed) return;
    this.report(error.message);
    this.failures += 1;
    const { random, limits } = this.context;
    this.retry = setTimeout(() => this.connect(), this.pauseMs * (0.5 + random() / 2));
    const pauseMsMax = error instanceof WireError ? REFUSED_MS_MAX : limits.reconnectMaxMs;
    this.pauseMs = Math.min(this.pauseMs * 2, pauseMsMax);
    this.context.handlers.onUnreachable(this.id);
  }

  /** Says in the log what is wrong, once per change. */
  private report(problem: string): void {
    if (problem === this.lastProblem) return;
    const where = `node ${this.id} at ${this.address}`;
    if (problem === '') this.context.log('info', `${where} is reachable`);
    else this.context.log('warn', `${where} cannot be reached: ${problem}`);
    this.lastProblem = problem;
  }

  private settle(id: number, answer: Uint8Array | undefined): void {
    const pending = this.pending.get(id);
    if (pending === undefined) return;
    this.pending.delete(id);
    clearTimeout(pending.timer);
    if (pending.payload === undefined) pending.done(answer);
    else pending.done(undefined, 'unsent');
  }

  private failPending(): void {
    for (const id of [...this.pending.keys()]) this.settle(id, undefined);
  }
}
