/** A histogram as Prometheus defines it: buckets, count and sum that only grow. */

/** Counts observations by bucket. An observation allocates nothing. */
export class Histogram {
  /** Upper bounds of the buckets, ascending, in the unit of the observations. */
  readonly bounds: readonly number[];
  /** Observations by bucket. The last one is for those above all bounds. */
  readonly counts: Float64Array;
  count = 0;
  sum = 0;
  min = Number.POSITIVE_INFINITY;
  max = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const { bounds } = this;
    let at = 0;
    while (at < bounds.length && value > bounds[at]!) at++;
    this.counts[at]! += 1;
    this.count += 1;
    this.sum += value;
    if (value < this.min) this.min = value;
    if (value > this.max) this.max = value;
  }
}
