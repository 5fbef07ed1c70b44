/**
 * Tells whether the recorded cases and tables under `test/` are still those of a reference folder: `node
 * dist/scripts/compare-shared.js [folder]`, by default `../shared`. Without such a folder there is nothing to compare.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const reference = process.argv[2] ?? join('..', 'shared');
const pairs: [ours: string, theirs: string][] = [
  [join('test', 'conformance', 'cases'), join(reference, 'conformance', 'cases')],
  [join('test', 'tables'), join(reference, 'tables')],
];

if (!existsSync(reference)) {
  console.log(`recorded cases: no ${reference} to compare with`);
} else {
  const differing = pairs.flatMap(([ours, theirs]) => {
    const names = new Set([...readdirSync(ours), ...readdirSync(theirs)]);
    return [...names]
      .filter((name) => name.endsWith('.json'))
      .filter((name) => {
        const [a, b] = [join(ours, name), join(theirs, name)];
        return !existsSync(a) || !existsSync(b) || !readFileSync(a).equals(readFileSync(b));
      })
      .map((name) => join(ours, name));
  });
  for (const path of differing) console.error(`${path} differs from ${reference}`);
  console.log(`recorded cases: ${differing.length} files differ from ${reference}`);
  process.exitCode = differing.length > 0 ? 1 : 0;
}
