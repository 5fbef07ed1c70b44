/**
 * Notices that one of the machine's clocks stood still, so that a lease read from it is not
 * trusted.
 */
import type { ClockPort } from './ports.js';

/**
 * Milliseconds by which the two clocks may drift apart unnoticed. Well below the margin between the
 * end of a lease and the end of the followers' silence; above the resolution of wall clocks, one
 * millisecond.
 */
const DRIFT_MS_MAX = 10;

/**
 * Detects that a machine was suspended, or a virtual machine paused: the monotonic clock stood
 * still while the wall clock went on. A wall clock that is set by hand looks the same. If both
 * clocks stood still, nothing is detected.
 */
export class ClockWatch {
  readonly #clock: Pick<ClockPort, 'now' | 'wall'>;
  #offsetMs: number;

  constructor(clock: Pick<ClockPort, 'now' | 'wall'>) {
    this.#clock = clock;
    this.#offsetMs = clock.wall() - clock.now();
  }

  /**
   * Whether the clocks have drifted apart, in either direction, since the last call that returned
   * true.
   */
  hasDrifted(): boolean {
    const offsetMs = this.#clock.wall() - this.#clock.now();
    if (Math.abs(offsetMs - this.#offsetMs) <= DRIFT_MS_MAX) return false;
    this.#offsetMs = offsetMs;
    return true;
  }
}
