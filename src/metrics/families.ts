/**
 * Metric families, and their two forms: the text format of Prometheus (version 0.0.4), and JSON in
 * the form of Consul's agent.
 */
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
export const toText = (families: readonly Family[]): string =>
  `${families
    .filter(({ samples }) => samples.length > 0)
    .map((family) => {
      const { name, help, type } = family;
      const lines =
        family.type === 'histogram'
          ? family.samples.flatMap(({ labels, histogram }) => linesOf(name, labels, histogram))
          : family.samples.map(({ labels, value }) => line(name, labels, value));
      return [`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`, ...lines].join('\n');
    })
    .join('\n\n')}\n`;

function linesOf(name: string, labels: Labels, { bounds, counts, count, sum }: Histogram) {
  let below = 0;
  const buckets = bounds.map((le, at) => {
    below += counts[at]!;
    return line(`${name}_bucket`, { ...labels, le: `${le}` }, below);
  });
  return [
    ...buckets,
    line(`${name}_bucket`, { ...labels, le: '+Inf' }, count),
    line(`${name}_sum`, labels, sum),
    line(`${name}_count`, labels, count),
  ];
}

function line(name: string, labels: Labels, value: number): string {
  const parts = Object.entries(labels).map(
    ([label, text]) => `${label}="${escaped(text).replaceAll('"', '\\"')}"`,
  );
  const shown = `${value}`.replace('Infinity', 'Inf').replace(/^Inf/, '+Inf');
  return `${name}${parts.length === 0 ? '' : `{${parts.join(',')}}`} ${shown}`;
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

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
