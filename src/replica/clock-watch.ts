/** Notices that one of the machine's clocks stood still, so that a lease read from it is not trusted. */
import type { ClockPort } from './ports.js';

/**
 * Milliseconds by which the two clocks may drift apart unnoticed. Well below what separates a lease from the end of the
 * followers' silence; above the milliseconds that wall clocks are cut to.
 */
const DRIFT_MS_MAX = 10;

/**
 * Notices that a machine was suspended, or a virtual machine paused: its monotonic clock stood still, and its wall clock went
 * on or was set. A wall clock that is set by hand looks the same. Where both clocks stand still, nothing is noticed.
 */
export class ClockWatch {
  readonly #clock: Pick<ClockPort, 'now' | 'wall'>;
  #offsetMs: number;

  constructor(clock: Pick<ClockPort, 'now' | 'wall'>) {
    this.#clock = clock;
    this.#offsetMs = clock.wall() - clock.now();
  }

  /** Whether the clocks have drifted apart, in either direction, since they last did. */
  hasDrifted(): boolean {
    const offsetMs = this.#clock.wall() - this.#clock.now();
    if (Math.abs(offsetMs - this.#offsetMs) <= DRIFT_MS_MAX) return false;
    this.#offsetMs = offsetMs;
    return true;
  }
}
