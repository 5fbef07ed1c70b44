/** The clocks of a machine that can be suspended. */
import { ClockWatch } from '../../src/replica/clock-watch.js';

/** The monotonic clock can be made to stand still; the wall clock goes on. */
export class MachineClock {
  readonly #trueMs: () => number;
  readonly watch: ClockWatch;
  #lostMs = 0;
  #stoppedAt: number | undefined;

  constructor(trueMs: () => number) {
    this.#trueMs = trueMs;
    this.watch = new ClockWatch(this);
  }
  wall(): number {
    return this.#trueMs();
  }
  now(): number {
    return (this.#stoppedAt ?? this.#trueMs()) - this.#lostMs;
  }
  stop(): void {
    this.#stoppedAt = this.#trueMs();
  }
  resume(): void {
    if (this.#stoppedAt !== undefined) this.#lostMs += this.#trueMs() - this.#stoppedAt;
    this.#stoppedAt = undefined;
  }
}
