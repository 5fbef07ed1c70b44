/**
 * Metric families, and their two forms: the text format of Prometheus (version 0.0.4), and JSON in
 * the form of Consul's agent.
 */
import type { Metric } from 'prom-client';
import type { Histogram } from './histogram.js';

/** Labels of a sample, by name. Values may hold any character. */
export type Labels = Readonly<Record<string, string>>;

/** A value now. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** All metrics of one name. */
export type Family = {
  readonly name: string;
  /** One line. */
  readonly help: string;
} & (
  | { readonly type: 'gauge' | 'counter'; readonly samples: readonly Sample[] }
  | {
      readonly type: 'histogram';
      readonly samples: readonly { readonly labels: Labels; readonly histogram: Histogram }[];
    }
);

/** Returns a gauge with one value for each label, or a single value. */
export const gauge = (name: string, help: string, samples: number | readonly Sample[]): Family => ({
  name,
  help,
  type: 'gauge',
  samples: typeof samples === 'number' ? one(samples) : samples,
});

/** Returns a counter. Its name ends in `_total`. */
export const counter = (name: string, help: string, samples: number | readonly Sample[]): Family =>
  ({ ...gauge(name, help, samples), type: 'counter' }) as Family;

/** Returns samples that differ in one label. */
export const byLabel = (
  label: string,
  values: Iterable<readonly [string, number]>,
): readonly Sample[] => [...values].map(([name, value]) => ({ labels: { [label]: name }, value }));

const one = (value: number): readonly Sample[] => [{ labels: {}, value }];

/** Returns families in the text format. A family without samples is left out. */
export async function toText(families: readonly Family[]): Promise<string> {
  // Loaded at the first scrape: a start does not need it.
  const { Registry } = await import('prom-client');
  const registry = new Registry();
  for (const family of families) {
    if (family.samples.length === 0) continue;
    // The registry asks a metric for its values alone: see metricOf.
    registry.registerMetric(metricOf(family) as unknown as Metric);
  }
  return registry.metrics();
}

/** A value of a metric as prom-client writes it. */
interface Line {
  readonly metricName: string;
  readonly labels: Record<string, string | number>;
  readonly value: number;
}

/**
 * Returns a family as the registry reads it. It asks a metric for nothing but its values, which are
 * counted elsewhere, so it needs none of prom-client's own classes.
 */
function metricOf(family: Family) {
  const { name, help, type } = family;
  const values: Line[] =
    family.type === 'histogram'
      ? family.samples.flatMap(({ labels, histogram }) => bucketsOf(name, labels, histogram))
      : family.samples.map(({ labels, value }) => ({ metricName: name, labels, value }));
  return { name, help, type, get: () => ({ name, help, type, values }) };
}

function bucketsOf(
  name: string,
  labels: Labels,
  { bounds, counts, count, sum }: Histogram,
): Line[] {
  let below = 0;
  const buckets = bounds.map((le, at) => {
    below += counts[at]!;
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: below };
  });
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

/**
 * Returns families as `{Timestamp, Gauges, Points, Counters, Samples}`. Clients decode `Count` as
 * an integer, so that of a counter has no fraction; `Sum` is its value.
 */
export function toJson(families: readonly Family[], now: Date): object {
  const gauges: object[] = [];
  const counters: object[] = [];
  const samples: object[] = [];
  for (const family of families) {
    const { name: Name } = family;
    if (family.type === 'histogram')
      for (const { labels, histogram } of family.samples) {
        const { count, sum, min, max } = histogram;
        if (count === 0) continue;
        const figures = { Count: count, Sum: sum, Min: min, Max: max, Mean: sum / count };
        samples.push({ Name, ...figures, Labels: labels });
      }
    else
      for (const { labels, value } of family.samples)
        if (family.type === 'gauge') gauges.push({ Name, Value: value, Labels: labels });
        else counters.push({ Name, Count: Math.floor(value), Sum: value, Labels: labels });
  }
  return {
    Timestamp: `${now.toISOString().replace('T', ' ').slice(0, 19)} +0000 UTC`,
    Gauges: gauges,
    Points: [],
    Counters: counters,
    Samples: samples,
  };
}
