/**
 * The time by which expired tokens are deleted. A deletion cannot be taken back, so a wall clock that is ahead must not
 * decide it. The wall clock is compared with the monotonic clock from the start of the process on: of all differences
 * between the two the least one counts, so a jump ahead changes nothing and a correction backwards is taken up.
 */
import type { ClockPort } from '../replica/ports.js';

/** A process is this old before it deletes: a clock that is wrong at boot is usually set by then. Milliseconds. */
export const SETTLE_MS = 300_000;
/** How far the wall clock may be ahead before it is said. Milliseconds. */
const AHEAD_MS_MAX = 60_000;

export class ExpiryClock {
  readonly #clock: Pick<ClockPort, 'now'>;
  readonly #nowMs: () => number;
  readonly #startMs: number;
  /** The least difference seen, wall clock less monotonic clock. */
  #leastMs: number;

  /** `nowMs`: the wall clock, in milliseconds since the epoch. */
  constructor(clock: Pick<ClockPort, 'now'>, nowMs: () => number) {
    this.#clock = clock;
    this.#nowMs = nowMs;
    this.#startMs = clock.now();
    this.#leastMs = nowMs() - this.#startMs;
  }

  /** Compares the clocks. Called every few seconds, so that a correction is seen. */
  compare(): void {
    this.#leastMs = Math.min(this.#leastMs, this.#nowMs() - this.#clock.now());
  }

  /** Milliseconds since the epoch, never ahead of the wall clock; undefined while the process is too young. */
  now(): number | undefined {
    const now = this.#clock.now();
    return now - this.#startMs < SETTLE_MS ? undefined : now + this.#leastMs;
  }

  /** Seconds by which the wall clock has jumped ahead; undefined if it has not. */
  jumpedSeconds(): number | undefined {
    const aheadMs = this.#nowMs() - this.#clock.now() - this.#leastMs;
    return aheadMs > AHEAD_MS_MAX ? Math.round(aheadMs / 1000) : undefined;
  }
}
