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
export function toText(families: readonly Family[]): string {
  const lines: string[] = [];
  for (const family of families) {
    if (family.samples.length === 0) continue;
    const { name, help, type } = family;
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    if (family.type === 'histogram')
      for (const { labels, histogram } of family.samples)
        addBuckets(lines, name, labels, histogram);
    else
      for (const { labels, value } of family.samples)
        lines.push(`${name}${inBraces(labelText(labels))} ${value}`);
  }
  return `${lines.join('\n')}\n`;
}

function addBuckets(lines: string[], name: string, labels: Labels, histogram: Histogram): void {
  const { bounds, counts, count, sum } = histogram;
  const text = labelText(labels);
  const before = text === '' ? '' : `${text},`;
  let below = 0;
  for (const [at, bound] of bounds.entries()) {
    below += counts[at]!;
    lines.push(`${name}_bucket{${before}le="${bound}"} ${below}`);
  }
  lines.push(`${name}_bucket{${before}le="+Inf"} ${count}`);
  lines.push(`${name}_sum${inBraces(text)} ${sum}`, `${name}_count${inBraces(text)} ${count}`);
}

const inBraces = (text: string): string => (text === '' ? '' : `{${text}}`);
const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',');
const escaped = (value: string): string =>
  value.replace(/[\\"\n]/g, (found) => (found === '\n' ? '\\n' : `\\${found}`));

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
