/**
 * Read barriers (§6.4): a server asks the leader for a read index, waits until it has applied that
 * index, and then reads its own state. At most one request per mode is under way. Readers that
 * arrive meanwhile share the next one, since an index given before they arrived may be too old for
 * them:
 *
 *     reads 1 and 2 arrive    ->  one barrier with one deadline
 *     its request is sent
 *     read 3 arrives          ->  another barrier, for the next request
 */
import type { Index, NodeId } from '../../raft/types.js';
import type { Deadlines } from '../deadlines.js';
import type { RaftLoop } from '../loop.js';
import type { ReplicaLimits } from '../options.js';
import type { ClockPort } from '../ports.js';
import type { Rpc } from '../rpc.js';
import type { AppliedIndex } from './applied-index.js';
import type { ReadDone } from './pending-reads.js';

/** How fresh a read must be; see READ_MODE. */
export type BarrierMode = 'default' | 'consistent';

/** `default` reads rely on the leader's lease, `consistent` ones on a round to a quorum (§6.4). */
export const READ_MODE = { default: 'lease', consistent: 'quorum' } as const;

/** Called once: with true when the barrier is passed, with false at the deadline. */
type BarrierDone = (passed: boolean) => void;

/**
 * How long readers may join a barrier, in milliseconds. While there is no leader no request is
 * sent, and the deadlines of those who wait must not be those of the first.
 */
const JOIN_MS = 50;

/** A barrier, and the readers that share it. */
interface Barrier {
  readonly timeoutMs: number;
  readonly joinUntilMs: number;
  readonly readers: BarrierDone[];
  cancelDeadline: () => void;
  ended: boolean;
}

interface Lane {
  waiting: Barrier[];
  /** Barriers whose request is under way. */
  asking: Barrier[];
  /** The last request failed. `retry` sends the next one. */
  failed: boolean;
  /** Numbers the requests, so that the response to an abandoned one is ignored. */
  round: number;
}

export interface ReadIndexParts {
  readonly id: NodeId;
  readonly loop: Pick<RaftLoop, 'role' | 'read' | 'wake'>;
  readonly rpc: Pick<Rpc, 'callLeader'>;
  readonly limits: Pick<ReplicaLimits, 'askMs'>;
  readonly applied: AppliedIndex;
  readonly clock: Pick<ClockPort, 'now'>;
  readonly deadlines: Pick<Deadlines, 'at'>;
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

  /** Waits for a barrier, for `timeoutMs` or a little longer. */
  wait(mode: BarrierMode, timeoutMs: number, done: BarrierDone): void {
    const { clock, deadlines, loop } = this.#parts;
    const { waiting } = this.#lanes[mode];
    const nowMs = clock.now();
    const last = waiting.at(-1);
    const isOpen = last !== undefined && !last.ended && nowMs < last.joinUntilMs;
    if (isOpen && last.timeoutMs === timeoutMs) {
      last.readers.push(done);
      return;
    }
    const barrier: Barrier = {
      timeoutMs,
      joinUntilMs: nowMs + JOIN_MS,
      readers: [done],
      cancelDeadline: () => {},
      ended: false,
    };
    const deadlineMs = nowMs + timeoutMs + JOIN_MS;
    barrier.cancelDeadline = deadlines.at(deadlineMs, () => end(barrier, false));
    waiting.push(barrier);
    loop.wake();
  }

  /**
   * Sends one request for all that wait for a barrier of a mode. Called by the Raft loop at
   * the beginning of a turn.
   */
  drain(): void {
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
    this.#parts.loop.wake();
  }

  /** Ends all waits. */
  stop(): void {
    for (const lane of Object.values(this.#lanes)) {
      this.#giveUp(lane);
      for (const barrier of lane.waiting.splice(0)) end(barrier, false);
    }
  }

  #ask(mode: BarrierMode, lane: Lane): void {
    lane.asking = lane.waiting.filter(({ ended }) => !ended);
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
      for (const barrier of lane.asking.splice(0)) this.#whenApplied(barrier, index);
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

  #whenApplied(barrier: Barrier, index: Index): void {
    if (barrier.ended) return;
    const { cancelDeadline } = barrier;
    const cancelWait = this.#parts.applied.when(index, () => end(barrier, true));
    barrier.cancelDeadline = () => {
      cancelDeadline();
      cancelWait();
    };
  }

  #giveUp(lane: Lane): void {
    lane.waiting = [...lane.asking, ...lane.waiting].filter(({ ended }) => !ended);
    lane.asking = [];
    lane.round += 1;
  }
}

function end(barrier: Barrier, passed: boolean): void {
  if (barrier.ended) return;
  barrier.ended = true;
  barrier.cancelDeadline();
  for (const done of barrier.readers) done(passed);
}
