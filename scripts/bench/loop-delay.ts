/** How late a node's event loop was, from two readings of the histogram in its metrics. */

const BUCKET = /^conclave_event_loop_delay_seconds_bucket\{le="([^"]+)"\} (\S+)$/gm;

/** A reading: samples up to each bound in seconds, which only grow. */
export type LoopReading = ReadonlyMap<number, number>;

/** Delays in milliseconds: the upper bound of the bucket that holds them. */
export interface LoopDelay {
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Reads the histogram in a node's metrics as text. */
export function loopReading(metrics: string): LoopReading {
  const all = [...metrics.matchAll(BUCKET)];
  if (all.length === 0) throw new Error('there is no histogram of the event loop');
  return new Map(
    all.map(([, bound, count]) => [bound === '+Inf' ? Infinity : Number(bound), Number(count)]),
  );
}

/** Returns the delays between two readings of one node. */
export function loopDelay(before: LoopReading, after: LoopReading): LoopDelay {
  const grown = [...after].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)]);
  const total = grown.at(-1)![1]!;
  const upTo = (share: number): number =>
    1000 * grown.find(([, count]) => count! >= share * total)![0]!;
  return { p99Ms: upTo(0.99), maxMs: upTo(1) };
}
