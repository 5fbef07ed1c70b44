/**
 * The clock by which expired tokens are deleted. A deletion cannot be undone, so a wall clock that
 * is ahead must not decide it. From the start of the process on, this clock compares the wall clock
 * with the monotonic clock. The smallest difference between the two counts: a jump ahead changes
 * nothing, and a correction backwards is adopted.
 *
 *   monotonic            0     60    120    180  s
 *   wall clock        1000   1060   9999   1180  s   (jumps ahead, then is corrected)
 *   wall - monotonic  1000   1000   9879   1000
 *   this clock        1000   1060   1120   1180  s
 */
import type { ClockPort } from '../../replica/ports.js';

/**
 * Milliseconds for which a new process deletes nothing. A clock that is wrong at boot is usually
 * corrected by then.
 */
export const SETTLE_MS = 300_000;
/** Milliseconds by which the wall clock may be ahead before the log mentions it. */
const AHEAD_MS_MAX = 60_000;

/** A wall clock without jumps ahead. */
export class ExpiryClock {
  readonly #clock: Pick<ClockPort, 'now'>;
  readonly #nowMs: () => number;
  readonly #startMs: number;
  /** The smallest difference so far: wall clock minus monotonic clock. */
  #leastMs: number;

  /** `nowMs`: the wall clock, in milliseconds since the epoch. */
  constructor(clock: Pick<ClockPort, 'now'>, nowMs: () => number) {
    this.#clock = clock;
    this.#nowMs = nowMs;
    this.#startMs = clock.now();
    this.#leastMs = nowMs() - this.#startMs;
  }

  /** Compares the clocks. Must be called every few seconds, so that it sees corrections. */
  compare(): void {
    this.#leastMs = Math.min(this.#leastMs, this.#nowMs() - this.#clock.now());
  }

  /**
   * Returns the time in milliseconds since the epoch, never ahead of the wall clock; undefined
   * until the process has run for `SETTLE_MS`.
   */
  now(): number | undefined {
    const now = this.#clock.now();
    return now - this.#startMs < SETTLE_MS ? undefined : now + this.#leastMs;
  }

  /** Returns the seconds by which the wall clock has jumped ahead; undefined if it has not. */
  jumpedSeconds(): number | undefined {
    const aheadMs = this.#nowMs() - this.#clock.now() - this.#leastMs;
    return aheadMs > AHEAD_MS_MAX ? Math.round(aheadMs / 1000) : undefined;
  }
}
