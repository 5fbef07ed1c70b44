/**
 * Read barriers (§6.4): a server asks the leader for a read index, waits until it has applied that
 * index, and then reads its own state. At most one request per mode is under way. Readers that
 * arrive meanwhile share the next one, since an index given before they arrived may be too old for
 * them.
 */
import type { Index, NodeId } from '../../raft/types.js';
import type { Deadlines } from '../deadlines.js';
import type { RaftLoop } from '../loop.js';
import type { ReplicaLimits } from '../options.js';
import type { Rpc } from '../rpc.js';
import type { AppliedIndex } from './applied-index.js';
import type { ReadDone } from './pending-reads.js';

/** How fresh a read must be; see READ_MODE. */
export type BarrierMode = 'default' | 'consistent';

/** `default` reads rely on the leader's lease, `consistent` ones on a round to a quorum (§6.4). */
export const READ_MODE = { default: 'lease', consistent: 'quorum' } as const;

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

/** What ReadIndexClient needs. */
export interface ReadIndexParts {
  readonly id: NodeId;
  readonly loop: Pick<RaftLoop, 'role' | 'read' | 'wake'>;
  readonly rpc: Pick<Rpc, 'callLeader'>;
  readonly limits: Pick<ReplicaLimits, 'askMs'>;
  readonly applied: AppliedIndex;
  readonly deadlines: Deadlines;
  /** Requests a call of `retry` after a while. */
  readonly retryLater: () => void;
}

const newLane = (): Lane => ({ waiting: [], asking: [], failed: false, round: 0 });

/** Gets read indexes for the readers of this server. */
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
    this.#parts.loop.wake();
  }

  /**
   * Sends one request for all waiting readers of a mode. Called by the Raft loop at the beginning
   * of a turn.
   */
  drain(): void {
    for (const mode of ['default', 'consistent'] as const) {
      const lane = this.#lanes[mode];
      if (lane.failed || lane.asking.length > 0 || lane.waiting.length === 0) continue;
      this.#ask(mode, lane);
    }
  }

  /** Changes whenever a request is sent: readers under one number share the next request. */
  round(mode: BarrierMode): number {
    return this.#lanes[mode].round;
  }

  /** Retries requests that failed or were sent to a deposed leader. */
  retry(leaderChanged: boolean): void {
    for (const lane of Object.values(this.#lanes)) {
      if (!leaderChanged && !lane.failed) continue;
      this.#giveUp(lane);
      lane.failed = false;
    }
    this.#parts.loop.wake();
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
    lane.round += 1;
    if (lane.asking.length === 0) return;
    const { round } = lane;
    this.#request(mode, (index) => {
      if (round !== lane.round || lane.asking.length === 0) return;
      if (index === undefined) {
        this.#giveUp(lane);
        lane.failed = true;
        this.#parts.retryLater();
        return;
      }
      for (const reader of lane.asking.splice(0)) this.#whenApplied(reader, index);
      if (lane.waiting.length > 0) this.#parts.loop.wake();
    });
  }

  /**
   * Asks the core if this server leads, otherwise the leader. `done` gets undefined when there is
   * no index.
   */
  #request(mode: BarrierMode, done: ReadDone): void {
    const { id, loop, rpc, limits } = this.#parts;
    const { leader, term } = loop.role;
    if (leader === id) loop.read(READ_MODE[mode], done);
    else
      rpc.callLeader({ type: 'read', mode, term }, limits.askMs, (response) =>
        done(response.type === 'index' ? response.index : undefined),
      );
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
