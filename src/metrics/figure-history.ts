/**
 * The last hour of some figures of a node, for people who look at it without Prometheus. All of it
 * is in memory: about 3 kB a figure.
 */
import type { Histogram } from './histogram.js';

/** Milliseconds between two values of a figure. */
export const STEP_MS = 10_000;
/** Values of a figure: those of an hour. */
const STEPS = 360;

/** What is read at each step. Names tell the units. */
export interface Reading {
  /** Values of now; undefined for one that is not known. */
  readonly values: Readonly<Record<string, number | undefined>>;
  /** Values that only grow: their increase a second is shown. */
  readonly totals: Readonly<Record<string, number>>;
  /** Times of which the median and the 99th percentile of a step are shown, as `…_p50`, `…_p99`. */
  readonly times: Readonly<Record<string, Times>>;
}

/** Observations so far, by bucket. */
export type Times = Pick<Histogram, 'bounds' | 'counts'>;

/** The figures of the last hour, oldest first. */
export interface Figures {
  /** Unix milliseconds at which the step of the oldest values began. */
  readonly fromMs: number;
  /** A value is null for a step in which the process did not run, or did not know it. */
  readonly figures: Readonly<Record<string, readonly (number | null)[]>>;
}

/** Keeps figures. `nowMs` is a clock in Unix milliseconds. */
export class FigureHistory {
  readonly #read: () => Reading;
  readonly #nowMs: () => number;
  readonly #rings = new Map<string, Float64Array>();
  /** The step of the newest values, counted from 1970. */
  #step: number;
  /** When the totals and times before were read, on a clock that never jumps. */
  #before: { readonly ms: number; readonly reading: Reading } | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(read: () => Reading, nowMs: () => number = Date.now) {
    this.#read = read;
    this.#nowMs = nowMs;
    this.#step = this.#stepNow();
  }

  /** Takes the first sample, and one at each step. */
  start(): void {
    this.sample();
    this.#timer = setInterval(() => this.sample(), STEP_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Takes the values of the step that has ended. `ms` is a clock that never jumps. */
  sample(ms = performance.now()): void {
    const step = this.#stepNow();
    const passed = step - this.#step;
    // A clock that was set back begins anew: nothing tells what belongs where.
    if (passed < 0 || passed >= STEPS)
      for (const ring of this.#rings.values()) ring.fill(Number.NaN);
    else
      for (let missed = this.#step + 1; missed <= step; missed += 1)
        for (const ring of this.#rings.values()) ring[missed % STEPS] = Number.NaN;
    this.#step = step;
    const reading = this.#read();
    for (const [name, value] of this.#valuesOf(reading, ms)) {
      const ring = this.#rings.get(name) ?? new Float64Array(STEPS).fill(Number.NaN);
      this.#rings.set(name, ring);
      ring[step % STEPS] = value ?? Number.NaN;
    }
    this.#before = { ms, reading: copyOf(reading) };
  }

  /** Returns the figures of the last hour. Steps that have passed without a sample are missing. */
  figures(): Figures {
    const now = this.#stepNow();
    // The step that has just begun has no values yet.
    const end = now - this.#step <= 1 ? this.#step : now;
    const figures = [...this.#rings].map(([name, ring]): [string, (number | null)[]] => [
      name,
      Array.from({ length: STEPS }, (_, nth) => {
        const step = end - STEPS + 1 + nth;
        const value = step > this.#step ? Number.NaN : ring[step % STEPS]!;
        return Number.isNaN(value) ? null : value;
      }),
    ]);
    return { fromMs: (end - STEPS) * STEP_MS, figures: Object.fromEntries(figures) };
  }

  #stepNow(): number {
    return Math.floor(this.#nowMs() / STEP_MS);
  }

  *#valuesOf(
    { values, totals, times }: Reading,
    ms: number,
  ): Generator<readonly [string, number | undefined]> {
    yield* Object.entries(values);
    if (this.#before === undefined) return;
    const { reading: before, ms: beforeMs } = this.#before;
    for (const [name, total] of Object.entries(totals))
      yield [name, Math.max(0, total - (before.totals[name] ?? 0)) / ((ms - beforeMs) / 1000)];
    for (const [name, { bounds, counts }] of Object.entries(times)) {
      const old = before.times[name]?.counts;
      const passed = counts.map((count, at) => count - (old?.[at] ?? 0));
      yield [`${name}_p50`, quantile(0.5, bounds, passed)];
      yield [`${name}_p99`, quantile(0.99, bounds, passed)];
    }
  }
}

/** Histograms grow in place. */
const copyOf = ({ values, totals, times }: Reading): Reading => ({
  values,
  totals,
  times: Object.fromEntries(
    Object.entries(times).map(([name, { bounds, counts }]) => [
      name,
      { bounds, counts: counts.slice() },
    ]),
  ),
});

/**
 * Returns a quantile of observations by bucket, between the bounds of its bucket as far as it is
 * into it; undefined if there are none. Those above all bounds count as the last bound.
 */
function quantile(q: number, bounds: readonly number[], counts: Float64Array): number | undefined {
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all === 0) return undefined;
  let left = q * all;
  for (const [at, bound] of bounds.entries()) {
    const count = counts[at]!;
    const below = bounds[at - 1] ?? 0;
    if (left <= count) return below + (bound - below) * (left / count);
    left -= count;
  }
  return bounds.at(-1);
}
