/**
 * The delay of the event loop, as a histogram that only grows: any number of readers see the same.
 * The timers of Raft's ticks are its samples, because a timer of its own would wake an idle node
 * more often than everything else.
 */
import { Histogram } from './histogram.js';

/** Samples that one stall makes up for: a longer one is that of a stopped process. */
const MISSED_SAMPLES_MAX = 500;
/** Upper bounds of the buckets in seconds. Heartbeats are due every 50 ms. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** How late timers of this process are called. */
export class EventLoopDelay {
  readonly histogram = new Histogram(BOUNDS);
  onSample: (delayMs: number) => void = () => {};

  /**
   * Takes a sample: a timer set to `afterMs` fired `lateMs` too late. A stall hides the samples
   * that were due during it, and they are counted too, so that a quantile is that of what arrives
   * at any time:
   *
   *     due      20   40   60   80  100        one stall until 105
   *     delay                    85, 65, 45, 25, 5
   */
  sampled(lateMs: number, afterMs: number): void {
    let delayMs = Math.max(0, lateMs);
    this.onSample(delayMs);
    this.histogram.observe(delayMs / 1000);
    for (let missed = 1; missed < MISSED_SAMPLES_MAX; missed++) {
      delayMs -= afterMs;
      if (delayMs <= 0) return;
      this.histogram.observe(delayMs / 1000);
    }
  }
}
