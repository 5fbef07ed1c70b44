/**
 * The delay of the event loop, as a histogram that only grows: any number of readers see the same.
 */
import { Histogram } from './histogram.js';

/** Milliseconds between two samples of the event loop. */
const LOOP_SAMPLE_MS = 20;
/** Samples that one stall makes up for, ten seconds: a longer one is that of a stopped process. */
const MISSED_SAMPLES_MAX = 500;
/** Upper bounds of the buckets in seconds. Heartbeats are due every 50 ms. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Samples how late timers of this process are called. */
export class EventLoopDelay {
  readonly histogram = new Histogram(BOUNDS);
  readonly #now: () => number;
  readonly #onSample: (delayMs: number, nowMs: number) => void;
  #sampledMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    onSample: (delayMs: number, nowMs: number) => void = () => {},
    now: () => number = () => performance.now(),
  ) {
    this.#onSample = onSample;
    this.#now = now;
    this.#sampledMs = now();
  }

  /** Begins to sample. It does not keep the process alive. */
  start(): void {
    this.#sampledMs = this.#now();
    this.#timer = setInterval(() => this.sample(), LOOP_SAMPLE_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /**
   * Takes a sample. A stall hides the samples that were due during it, and they are counted too, so
   * that a quantile is that of what arrives at any time:
   *
   *     due      20   40   60   80  100        one stall until 105
   *     delay                    85, 65, 45, 25, 5
   */
  sample(): void {
    const now = this.#now();
    let delayMs = Math.max(0, now - this.#sampledMs - LOOP_SAMPLE_MS);
    this.#sampledMs = now;
    this.#onSample(delayMs, now);
    this.histogram.observe(delayMs / 1000);
    for (let missed = 1; missed < MISSED_SAMPLES_MAX; missed++) {
      delayMs -= LOOP_SAMPLE_MS;
      if (delayMs <= 0) return;
      this.histogram.observe(delayMs / 1000);
    }
  }
}
