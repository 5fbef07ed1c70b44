/**
 * Gives turns of the event loop to work that may wait, and bounds its share of the loop while the
 * cluster is written to: each turn is followed by a rest, in which messages of the cluster and
 * other requests are handled.
 */
import type { ClockPort } from '../../replica/ports.js';
import { Queue } from './queue.js';

/** Milliseconds, with its rest, for each millisecond of work: it gets half of the time. */
const PERIOD = 2;
/** The same for work that goes on and on: a flood of it must not make writes wait. */
const LASTING_PERIOD = 4;
/** Work beyond its lasting share after which it counts as such, and the most that is counted. */
const BURST_MS = 1000;
const BURST_MAX_MS = 2 * BURST_MS;
/** Milliseconds of work after a pause that need no rest, so that short work is not delayed. */
const CREDIT_MS = 4;

/** The turns of one kind of work. */
export class LoopShare {
  readonly #clock: Pick<ClockPort, 'now' | 'soon' | 'after'>;
  readonly #isBusy: () => boolean;
  readonly #waiting = new Queue<() => void>();
  #isRunning = false;
  /** When all work so far has had its rest. */
  #restedMs = Number.NEGATIVE_INFINITY;
  /** Work beyond its lasting share, at the time of the last one. */
  #beyondMs = 0;
  #spentAtMs = 0;

  /** `isBusy`: whether there is other work that rests are for. */
  constructor(clock: Pick<ClockPort, 'now' | 'soon' | 'after'>, isBusy: () => boolean) {
    this.#clock = clock;
    this.#isBusy = isBusy;
  }

  /** Milliseconds until the next turn may begin. */
  get restMs(): number {
    return this.#isBusy() ? Math.max(0, this.#restedMs - this.#clock.now()) : 0;
  }

  /** Calls `run` in a turn of the event loop that no other work of this kind gets. */
  turn(run: () => void): void {
    this.#waiting.add(run);
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#schedule();
  }

  /** Counts work that was done outside these turns. It owes no rest if there is no other work. */
  spend(ms: number): void {
    if (!this.#isBusy()) return;
    const now = this.#clock.now();
    const paid = (now - this.#spentAtMs) / LASTING_PERIOD;
    this.#beyondMs = Math.min(Math.max(0, this.#beyondMs - paid) + ms, BURST_MAX_MS);
    this.#spentAtMs = now;
    const period = this.#beyondMs > BURST_MS ? LASTING_PERIOD : PERIOD;
    this.#restedMs = Math.max(this.#restedMs, now - ms - CREDIT_MS * PERIOD) + ms * period;
  }

  #schedule(): void {
    const { restMs } = this;
    if (restMs > 0) this.#clock.after(restMs, () => this.#begin());
    else this.#begin();
  }

  /** The second function runs after the first, and after all that this calls before it waits. */
  #begin(): void {
    let beganMs = 0;
    this.#clock.soon(() => {
      beganMs = this.#clock.now();
      this.#waiting.take()?.();
    });
    this.#clock.soon(() => {
      this.spend(this.#clock.now() - beganMs);
      if (this.#waiting.isEmpty) this.#isRunning = false;
      else this.#schedule();
    });
  }
}
