/**
 * Compares the tree with the last release, whose figures are in `scripts/release.json`: prints the
 * lines of `src` by layer, and fails if a public name of that release is gone: an endpoint and its
 * query parameters, a setting, a command and its options, a metric, a line of the log. `removed`
 * lists those that are gone on purpose, each with the reason. `--write` keeps the present figures,
 * which is done at a release.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { globSync } from './glob.js';
import { flat, missingNames, publicNames, type Release } from './release/names.js';

const FILE = 'scripts/release.json';

/** Returns the lines of `src` by layer. */
function linesByLayer(): Record<string, number> {
  const lines: Record<string, number> = {};
  for (const path of [...globSync('src', '.ts'), ...globSync('src', '.tsx')]) {
    const layer = path.split(/[\\/]/)[1] ?? '';
    const count = readFileSync(path, 'utf8').split('\n').length - 1;
    lines[layer] = (lines[layer] ?? 0) + count;
  }
  return lines;
}

const sum = (lines: Readonly<Record<string, number>>): number =>
  Object.values(lines).reduce((total, count) => total + count, 0);

/** Prints the lines of each layer, those of the release, and the difference. */
function printLines(release: Release, now: Readonly<Record<string, number>>): void {
  const row = (name: string, is: number, was: number): string => {
    const more = is - was;
    const columns = [is, was, more > 0 ? `+${more}` : more].map((one) => String(one).padStart(8));
    return `${name.padEnd(12)}${columns.join('')}`;
  };
  console.log(`${'lines of src'.padEnd(12)}${'now'.padStart(8)}${release.version.padStart(8)}`);
  for (const layer of [...new Set([...Object.keys(now), ...Object.keys(release.lines)])].sort())
    console.log(row(layer, now[layer] ?? 0, release.lines[layer] ?? 0));
  console.log(row('all', sum(now), sum(release.lines)));
}

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
const names = publicNames('.');
const lines = linesByLayer();
if (values.write) {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const kept: Release = { version, lines, removed: {}, names };
  writeFileSync(FILE, `${JSON.stringify(kept, null, 2)}\n`);
}
const release = JSON.parse(readFileSync(FILE, 'utf8')) as Release;
printLines(release, lines);
const problems = missingNames(release, names);
for (const problem of problems) console.error(problem);
const count = flat(release.names).size;
console.log(`names of ${release.version}: ${count}, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
