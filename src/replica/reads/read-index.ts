/**
 * Read barriers (§6.4): a server asks the leader for a read index, waits until it has applied that index, and then reads its
 * own state. At most one request per mode is under way. Readers that arrive meanwhile share the next one, since an index given
 * before they arrived may be too old for them.
 */
import type { Index } from '../../raft/types.js';
import type { Deadlines } from '../deadlines.js';
import type { AppliedIndex } from './applied-index.js';

export type BarrierMode = 'default' | 'consistent';

/** Asks the leader, which may be this server. `done` gets undefined when there is none or it gives no index. */
export type AskIndex = (mode: BarrierMode, done: (index: Index | undefined) => void) => void;

interface Reader {
  /** Called once: with true when the barrier is passed, with false at the deadline. */
  readonly done: (passed: boolean) => void;
  cancelDeadline: () => void;
  ended: boolean;
}

interface Lane {
  waiting: Reader[];
  /** Readers whose request is under way. */
  asking: Reader[];
  /** The last request failed. `retry` sends the next one. */
  failed: boolean;
  /** Numbers the requests, so that the response to an abandoned one is ignored. */
  round: number;
}

export interface ReadIndexParts {
  readonly ask: AskIndex;
  readonly applied: AppliedIndex;
  readonly deadlines: Deadlines;
  /** Requests a call of `gather` soon. */
  readonly wake: () => void;
  /** Requests a call of `retry` after a while. */
  readonly retryLater: () => void;
}

const newLane = (): Lane => ({ waiting: [], asking: [], failed: false, round: 0 });

export class ReadIndexClient {
  readonly #parts: ReadIndexParts;
  readonly #lanes: Record<BarrierMode, Lane> = { default: newLane(), consistent: newLane() };

  constructor(parts: ReadIndexParts) {
    this.#parts = parts;
  }

  /** Waits for a barrier until `deadlineMs` of the clock. */
  wait(mode: BarrierMode, deadlineMs: number, done: (passed: boolean) => void): void {
    const reader: Reader = { done, cancelDeadline: () => {}, ended: false };
    reader.cancelDeadline = this.#parts.deadlines.at(deadlineMs, () => end(reader, false));
    this.#lanes[mode].waiting.push(reader);
    this.#parts.wake();
  }

  /** Sends one request for all waiting readers of a mode. Called when a turn of the Raft loop begins. */
  gather(): void {
    for (const mode of ['default', 'consistent'] as const) {
      const lane = this.#lanes[mode];
      if (lane.failed || lane.asking.length > 0 || lane.waiting.length === 0) continue;
      this.#ask(mode, lane);
    }
  }

  /** Retries requests that failed or were sent to a deposed leader. */
  retry(leaderChanged: boolean): void {
    for (const lane of Object.values(this.#lanes)) {
      if (!leaderChanged && !lane.failed) continue;
      this.#giveUp(lane);
      lane.failed = false;
    }
    this.#parts.wake();
  }

  /** Ends all waits. */
  stop(): void {
    for (const lane of Object.values(this.#lanes)) {
      this.#giveUp(lane);
      for (const reader of lane.waiting.splice(0)) end(reader, false);
    }
  }

  #ask(mode: BarrierMode, lane: Lane): void {
    lane.asking = lane.waiting.filter((reader) => !reader.ended);
    lane.waiting = [];
    if (lane.asking.length === 0) return;
    lane.round += 1;
    const { round } = lane;
    this.#parts.ask(mode, (index) => {
      if (round !== lane.round || lane.asking.length === 0) return;
      if (index === undefined) {
        this.#giveUp(lane);
        lane.failed = true;
        this.#parts.retryLater();
        return;
      }
      for (const reader of lane.asking.splice(0)) this.#whenApplied(reader, index);
      if (lane.waiting.length > 0) this.#parts.wake();
    });
  }

  #whenApplied(reader: Reader, index: Index): void {
    if (reader.ended) return;
    const cancelDeadline = reader.cancelDeadline;
    const cancelWait = this.#parts.applied.when(index, () => end(reader, true));
    reader.cancelDeadline = () => {
      cancelDeadline();
      cancelWait();
    };
  }

  #giveUp(lane: Lane): void {
    lane.waiting = [...lane.asking, ...lane.waiting].filter((reader) => !reader.ended);
    lane.asking = [];
    lane.round += 1;
  }
}

function end(reader: Reader, passed: boolean): void {
  if (reader.ended) return;
  reader.ended = true;
  reader.cancelDeadline();
  reader.done(passed);
}
