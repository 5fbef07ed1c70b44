/**
 * Read barriers as promises. Readers that come before the next request for a read index is sent
 * share that request (see ReadIndexClient), so they share the promise too:
 *
 *     reads 1 and 2 arrive    ->  one promise, under round 7
 *     the request is sent     ->  round 8
 *     read 3 arrives          ->  another promise, for the next request
 */
import { ApiError } from '../base/errors.js';
import type { ClockPort } from '../replica/ports.js';
import type { BarrierMode } from '../replica/reads/read-index.js';
import type { Replica } from '../replica/replica.js';

/**
 * How long readers may join a barrier, in milliseconds. While there is no leader no request is
 * sent, and the deadlines of those who wait must not be those of the first.
 */
const JOIN_MS = 50;

interface Shared {
  readonly round: number;
  readonly timeoutMs: number;
  readonly joinUntilMs: number;
  readonly passed: Promise<void>;
}

/** See the head of this file. */
export class SharedBarriers {
  readonly #replica: Pick<Replica, 'barrier' | 'readRound'>;
  readonly #clock: Pick<ClockPort, 'now'>;
  readonly #shared: Record<BarrierMode, Shared | undefined> = {
    default: undefined,
    consistent: undefined,
  };

  constructor(replica: Pick<Replica, 'barrier' | 'readRound'>, clock: Pick<ClockPort, 'now'>) {
    this.#replica = replica;
    this.#clock = clock;
  }

  /**
   * Resolves when the barrier is passed. Rejects with ApiError if it is not within `timeoutMs`, or
   * shortly after.
   */
  pass(mode: BarrierMode, timeoutMs: number): Promise<void> {
    const nowMs = this.#clock.now();
    const round = this.#replica.readRound(mode);
    const last = this.#shared[mode];
    const isOpen = last !== undefined && last.round === round && nowMs < last.joinUntilMs;
    if (isOpen && last.timeoutMs === timeoutMs) return last.passed;
    let isRefused = false;
    const passed = new Promise<void>((resolve, refuse) => {
      this.#replica.barrier(mode, timeoutMs + JOIN_MS, (why) => {
        isRefused = why !== undefined;
        if (why === undefined) resolve();
        else refuse(new ApiError(why));
      });
    });
    const joinUntilMs = nowMs + JOIN_MS;
    // A server that refuses at once may serve the next reader.
    this.#shared[mode] = isRefused ? undefined : { round, timeoutMs, joinUntilMs, passed };
    return passed;
  }
}
