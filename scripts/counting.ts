/** Loads the product with counters in it: see `test/simulation/counters.ts`. */
import { register } from 'node:module';
import { type Counter, counters } from '../test/simulation/counters.js';

/** Where the counters count, by their names. */
declare global {
  var simulationCounts: Record<string, number> | undefined;
}

/** What is put into the text of a module. */
const countIn = ({ name, when }: Counter): string => {
  const count = `globalThis.simulationCounts[${JSON.stringify(name)}]++;`;
  return when === undefined ? `${count} ` : `if (${when}) { ${count} } `;
};

/** Returns the text of a module with its counters. `url` tells which module it is. */
export function withCounters(
  url: string,
  text: string,
  all: readonly Counter[] = counters,
): string {
  let counted = text;
  for (const counter of all)
    if (url.endsWith(`/src/${counter.file}`))
      counted = counted.replace(counter.before, () => `${countIn(counter)}${counter.before}`);
  return counted;
}

/** Counts from now on, in modules that are not loaded yet. Returns the counts. */
export function startCounting(): Record<string, number> {
  const counts = Object.fromEntries(counters.map(({ name }) => [name, 0]));
  globalThis.simulationCounts = counts;
  register('./counting-hooks.js', import.meta.url);
  return counts;
}
