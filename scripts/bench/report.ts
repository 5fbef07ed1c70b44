/** Figures as rows of Markdown tables, printed as they are measured. */
import type { Load } from './load.js';

/** A figure with three significant digits. */
export const figure = (value: number): string =>
  value >= 1000 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)));

export function title(text: string, columns: readonly string[]): void {
  console.log(`\n### ${text}\n`);
  row(columns);
  row(columns.map(() => '---'));
}

export function row(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}

export const LOAD_COLUMNS = [
  'what',
  'per second',
  'p50 ms',
  'p99 ms',
  'errors',
  'CPU µs of all nodes per operation',
];

export function loadRow(what: string, result: Load & { readonly cpuUs: number }): void {
  const { perSec, p50Ms, p99Ms, errors, cpuUs } = result;
  row([what, ...[perSec, p50Ms, p99Ms, errors, cpuUs].map(figure)]);
}
