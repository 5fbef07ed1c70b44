/**
 * Detects disks that hang. Such a disk reports no error, so the process goes on: as a leader it
 * would stay the leader and acknowledge nothing. Time is counted in ticks, since a paused process
 * gets one tick for a pause of any length. A slow disk makes progress between ticks.
 */

export interface DiskWatchLimits {
  /** Ticks without progress after which a disk counts as hanging, and milliseconds of a tick. */
  readonly hangTicks: number;
  readonly tickMs: number;
}

/** Whether the disks of the log and of the state make progress. */
export class DiskWatch {
  /** Nothing is applied until the disk of the state has caught up. */
  isStateBehind = false;
  readonly #limits: DiskWatchLimits;
  #logTicks = 0;
  #stateTicks = 0;

  constructor(limits: DiskWatchLimits) {
    this.#limits = limits;
  }

  tick(isLogWriting: boolean): void {
    this.#logTicks = isLogWriting ? this.#logTicks + 1 : 0;
    this.#stateTicks = this.isStateBehind ? this.#stateTicks + 1 : 0;
  }

  /** The disk of the log finished a write. */
  logProgressed(): void {
    this.#logTicks = 0;
  }

  /** The disk of the state caught up, or another state is being installed. */
  stateProgressed(): void {
    this.isStateBehind = false;
    this.#stateTicks = 0;
  }

  get logHangs(): boolean {
    return this.#logTicks >= this.#limits.hangTicks;
  }

  /** Which disk hangs, in words; undefined while both make progress. */
  get hang(): string | undefined {
    const { hangTicks, tickMs } = this.#limits;
    const withinMs = hangTicks * tickMs;
    if (this.logHangs) return `the disk of the log has not finished a write within ${withinMs} ms`;
    if (this.#stateTicks < hangTicks) return undefined;
    return `the disk of the state has not caught up within ${withinMs} ms`;
  }

  /** Milliseconds since the disk of the log made progress; 0 while nothing is being stored. */
  get logWaitMs(): number {
    return this.#logTicks * this.#limits.tickMs;
  }

  /** Milliseconds that applying has waited for the disk of the state. */
  get stateWaitMs(): number {
    return this.#stateTicks * this.#limits.tickMs;
  }
}
