/**
 * Writes of this server's clients. Each is sent to the leader, and to the next one under the same
 * request id, until its outcome is known or its deadline passes; the state machine makes sure that
 * it takes effect once. Attempts with an open outcome are counted: while there are none, the write
 * certainly did not happen.
 */
import { type Refusal, refusal } from '../../base/errors.js';
import type { Index, NodeId, RoleChange } from '../../raft/types.js';
import { encodeProposal } from '../../state/proposal.js';
import type { Command, Proposal, Result } from '../../state/types.js';
import type { Deadlines } from '../deadlines.js';
import type { ClockPort } from '../ports.js';
import type { AppliedIndex } from '../reads/applied-index.js';
import { noLeader, type Rpc } from '../rpc.js';
import type { RpcResponse } from '../rpc-codec.js';
import type { WriteRequest } from '../types.js';
import { type LeaderWrites, sizeProblem } from './leader-writes.js';

/** The result of apply, or the reason there is none. */
export type WriteOutcome = { readonly result: Result } | { readonly refusal: Refusal };
/** Gets the outcome. Called once. */
export type WriteDone = (outcome: WriteOutcome) => void;

export interface ClientWritesParts {
  readonly id: NodeId;
  readonly rpc: Rpc;
  readonly leaderWrites: LeaderWrites;
  readonly clock: ClockPort;
  readonly deadlines: Deadlines;
  readonly applied: AppliedIndex;
  /** The highest index that is known to be committed. This server may not have applied it. */
  readonly committedIndex: () => Index;
  readonly role: () => RoleChange;
  /** Returns a new request id, unique in the cluster and for ever. */
  readonly newId: () => string;
  /** Requests a call of `retry` after a while. */
  readonly retryLater: () => void;
  /** Writes that may wait here, and bytes of their commands. More are refused. */
  readonly waitingWrites: number;
  readonly waitingBytes: number;
  /** The result of a request that this server has applied; see MachinePort. */
  readonly remembered: (id: string) => Result | undefined;
  /** Milliseconds after which the response of a leader, or a tick, counts as late. */
  readonly lateMs: number;
  /** Waits for a read barrier. `done` gets false at the deadline. */
  readonly barrier: (timeoutMs: number, done: (passed: boolean) => void) => void;
}

/** A command under a request id. */
interface Request {
  readonly id: string;
  readonly proposal: Proposal;
  /** The proposal as it is sent and stored. */
  readonly data: Uint8Array;
}

interface Held {
  request: Request;
  readonly sinceMs: number;
  readonly tokenKey: string | null;
  readonly bytes: number;
  readonly deadlineMs: number;
  readonly done: WriteDone;
  cancelDeadline: () => void;
  /** Set while it waits for a read barrier before its first attempt. */
  isHeldBack: boolean;
  /** Attempts so far. Responses to all but the last count only when they are final. */
  attempts: number;
  /**
   * The leader that the present attempt was sent to, and its term; undefined while the write waits.
   */
  target: { readonly id: NodeId; readonly term: number } | undefined;
  /** Attempts that may still take effect, including the present one. */
  open: number;
  /** Those of them that no answer comes for any more. */
  lost: number;
  /** The result of an attempt that came too late to tell whether an earlier one took effect. */
  tooOld: Result | undefined;
  /** The result, known but not yet applied on this server. */
  result: Result | undefined;
}

/** The writes of this server's clients that wait for their outcome. */
export class ClientWrites {
  readonly #parts: ClientWritesParts;
  readonly #held = new Set<Held>();
  #bytes = 0;
  /** When this server ran last, by both clocks: a suspended machine stops one of them or both. */
  #ran: { readonly now: number; readonly wall: number };
  /** How often this server has stood still. */
  #pauses = 0;
  /**
   * The pauses before it last asked the leader. While there are more, what it knows to be committed
   * may be so old that the members remember no requests of that time.
   */
  #pausesKnown = 0;

  constructor(parts: ClientWritesParts) {
    this.#parts = parts;
    this.#ran = { now: parts.clock.now(), wall: parts.clock.wall() };
  }

  get size(): number {
    return this.#held.size;
  }

  /** Replicates a command. `done` is called once. */
  write(request: WriteRequest, done: WriteDone): void {
    const { clock, deadlines, waitingWrites, waitingBytes } = this.#parts;
    if (this.#held.size >= waitingWrites) {
      done({ refusal: overloaded() });
      return;
    }
    const { tokenKey, command, timeoutMs } = request;
    const encoded = this.#request(command);
    const bytes = encoded.data.length;
    // A write alone may be of any size.
    const isTooMuch = this.#held.size > 0 && this.#bytes + bytes > waitingBytes;
    const refused = sizeProblem(encoded.data) ?? (isTooMuch ? overloaded() : undefined);
    if (refused !== undefined) {
      done({ refusal: refused });
      return;
    }
    const sinceMs = clock.now();
    const deadlineMs = sinceMs + timeoutMs;
    const held: Held = {
      ...{ request: encoded, sinceMs, tokenKey, bytes, deadlineMs, done },
      cancelDeadline: () => {},
      isHeldBack: false,
      attempts: 0,
      target: undefined,
      open: 0,
      lost: 0,
      tooOld: undefined,
      result: undefined,
    };
    held.cancelDeadline = deadlines.at(deadlineMs, () => this.#expire(held));
    this.#held.add(held);
    this.#bytes += bytes;
    this.#lookForPause();
    if (this.#pauses > this.#pausesKnown) this.#holdBack(held);
    else this.#attempt(held);
  }

  /**
   * The leader may have changed: sends it the writes that wait for a leader or for the response of
   * a deposed one.
   */
  role(): void {
    for (const held of [...this.#held]) this.#attempt(held);
  }

  /** Retries writes that failed without a change of leader. */
  retry(): void {
    this.role();
  }

  /**
   * A leader may commit a write and never respond, because its own disk hangs. A write that this
   * server has applied needs no response: the oldest ones, which are late only when something is
   * wrong, are looked up here.
   */
  tick(nowMs: number): void {
    this.#lookForPause();
    for (const held of this.#held) {
      if (nowMs - held.sinceMs < this.#parts.lateMs) return;
      this.#settle(held);
    }
  }

  /** Ends all waiting writes. */
  stop(): void {
    for (const held of [...this.#held]) {
      if (held.open > 0 || held.result !== undefined) this.#expire(held);
      else this.#end(held, { refusal: refusal('unavailable', 'The server is stopping') });
    }
  }

  /** A command under a new request id, which is in no entry up to `since`. */
  #request(command: Command, since = this.#parts.committedIndex()): Request {
    const proposal: Proposal = { id: this.#parts.newId(), since, command };
    return { id: proposal.id, proposal, data: encodeProposal(proposal) };
  }

  #lookForPause(): void {
    const { clock, lateMs } = this.#parts;
    const before = this.#ran;
    this.#ran = { now: clock.now(), wall: clock.wall() };
    const { now, wall } = this.#ran;
    if (Math.max(now - before.now, wall - before.wall) > lateMs) this.#pauses += 1;
  }

  /** Makes the first attempt when this server knows again what is committed. */
  #holdBack(held: Held): void {
    held.isHeldBack = true;
    const pauses = this.#pauses;
    const timeoutMs = Math.max(1, Math.ceil(held.deadlineMs - this.#parts.clock.now()));
    this.#parts.barrier(timeoutMs, (passed) => {
      if (!passed || !this.#held.has(held)) return;
      this.#lookForPause();
      this.#pausesKnown = Math.max(this.#pausesKnown, pauses);
      // The response may have waited here while this server stood still again.
      if (this.#pauses > pauses) {
        this.#holdBack(held);
        return;
      }
      held.isHeldBack = false;
      held.request = this.#request(held.request.proposal.command);
      this.#attempt(held);
    });
  }

  #attempt(held: Held): void {
    const { leader, term } = this.#parts.role();
    if (held.isHeldBack) return;
    if (leader === null || (held.result ?? held.tooOld) !== undefined) return;
    const target = held.target;
    // The outcome of an attempt at this server is seen in its own log.
    if (target?.id === this.#parts.id) return;
    if (target?.id === leader && target.term === term) return;
    held.attempts += 1;
    held.open += 1;
    held.target = { id: leader, term };
    const number = held.attempts;
    const { id, clock, rpc, leaderWrites } = this.#parts;
    const { tokenKey } = held;
    const { proposal, data } = held.request;
    if (leader === id) {
      const write = { tokenKey, data };
      leaderWrites.accept(proposal, write, (attempt) => this.#answered(held, number, attempt));
      return;
    }
    const timeoutMs = Math.max(1, Math.ceil(held.deadlineMs - clock.now()));
    rpc.callLeader({ type: 'write', tokenKey, data, timeoutMs }, timeoutMs, (response) =>
      this.#answered(held, number, response),
    );
  }

  #answered(held: Held, number: number, answer: RpcResponse): void {
    if (!this.#held.has(held) || held.result !== undefined) return;
    if (answer.type === 'applied' && !isTooOld(answer.result)) {
      this.#whenApplied(held, answer.result);
      return;
    }
    if (answer.type === 'unknown') held.lost += 1;
    else held.open -= 1;
    if (answer.type === 'applied') held.tooOld = answer.result;
    if (held.tooOld !== undefined) {
      this.#tooOld(held, held.tooOld);
      return;
    }
    if (number !== held.attempts) return;
    held.target = undefined;
    if (answer.type === 'refused') this.#refuse(held, answer.refusal);
    else this.#parts.retryLater();
  }

  /**
   * This server was so far behind that the members remember no requests of that time any more, and
   * cannot tell whether this one was applied before. The attempts before know it. Once all of them
   * are void, nothing has happened, and the command is sent under a new request id.
   */
  #tooOld(held: Held, result: Result): void {
    if (held.open > held.lost) return;
    if (held.open > 0) {
      this.#whenApplied(held, result);
      return;
    }
    const since = Math.max(this.#parts.committedIndex(), result.index);
    held.request = this.#request(held.request.proposal.command, since);
    held.tooOld = undefined;
    held.target = undefined;
    this.#attempt(held);
  }

  /**
   * The client must read its own write on this server, so it waits until the write is applied here
   * too.
   */
  #whenApplied(held: Held, result: Result): void {
    held.result = result;
    const cancelDeadline = held.cancelDeadline;
    const cancelWait = this.#parts.applied.when(result.index, () => this.#end(held, { result }));
    held.cancelDeadline = () => {
      cancelDeadline();
      cancelWait();
    };
  }

  /** A refusal is final only if no earlier attempt can still take effect. */
  #refuse(held: Held, why: Refusal): void {
    if (held.open > 0 && this.#settle(held)) return;
    if (held.open > 0 && why.code === 'too_many') this.#parts.retryLater();
    else this.#end(held, { refusal: held.open > 0 ? outcomeUnknown() : why });
  }

  /** Ends a write that this server has applied. Returns false if it has not. */
  #settle(held: Held): boolean {
    const applied = this.#parts.remembered(held.request.id);
    if (applied !== undefined) this.#end(held, { result: applied });
    return applied !== undefined;
  }

  #expire(held: Held): void {
    if (this.#settle(held)) return;
    // The write took effect, although this server has not applied it yet.
    if (held.result !== undefined) this.#end(held, { result: held.result });
    else this.#end(held, { refusal: held.open > 0 ? outcomeUnknown() : noLeader() });
  }

  #end(held: Held, outcome: WriteOutcome): void {
    if (!this.#held.delete(held)) return;
    held.cancelDeadline();
    this.#bytes -= held.bytes;
    held.done(outcome);
  }
}

/** Whether the state machine could not tell if a request was applied before, and ignored it. */
const isTooOld = (result: Result): boolean =>
  !result.ok && result.refusal.code === 'outcome_unknown';

const overloaded = (): Refusal =>
  refusal('too_many', 'Too many writes are waiting on this server; try again later');

const outcomeUnknown = (): Refusal =>
  refusal('outcome_unknown', 'The outcome of the write is unknown: it may still take effect', {
    hint: 'Read the object before writing it again',
  });
