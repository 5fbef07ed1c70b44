/**
 * Read barriers (§6.4): a node asks the leader for an index, waits until it has applied that and then reads its own state.
 * At most one question per mode is on its way; all readers that arrive meanwhile share the next one, for an index given
 * before they came would not do for them.
 */
import type { Index } from '../../raft/types.js';
import type { Deadlines } from '../deadlines.js';
import type { AppliedIndex } from './applied-index.js';

export type BarrierMode = 'default' | 'consistent';

/** Asks the leader (this node or another); undefined when there is none or it could not tell. */
export type AskIndex = (mode: BarrierMode, done: (index: Index | undefined) => void) => void;

interface Reader {
  /** Called once: true when the barrier is passed, false at the deadline. */
  readonly done: (passed: boolean) => void;
  cancelDeadline: () => void;
  ended: boolean;
}

interface Lane {
  waiting: Reader[];
  /** Those whose question is on its way. */
  asking: Reader[];
  /** The last question failed: the next one is asked by `retry`. */
  failed: boolean;
  /** Numbers the questions, so that the answer to one that was given up is not taken. */
  round: number;
}

export interface ReadIndexParts {
  readonly ask: AskIndex;
  readonly applied: AppliedIndex;
  readonly deadlines: Deadlines;
  /** Asks for a call of `gather` soon. */
  readonly wake: () => void;
  /** Asks for a call of `retry` after a while. */
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

  /** Asks for all that wait; called when a turn of the loop begins. */
  gather(): void {
    for (const mode of ['default', 'consistent'] as const) {
      const lane = this.#lanes[mode];
      if (lane.failed || lane.asking.length > 0 || lane.waiting.length === 0) continue;
      this.#ask(mode, lane);
    }
  }

  /** Questions that failed, or are on their way to a leader that is none any more, are asked again. */
  retry(leaderChanged: boolean): void {
    for (const lane of Object.values(this.#lanes)) {
      if (!leaderChanged && !lane.failed) continue;
      this.#giveUp(lane);
      lane.failed = false;
    }
    this.#parts.wake();
  }

  /** Ends every wait. */
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
