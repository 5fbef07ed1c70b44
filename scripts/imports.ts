/**
 * Checks the import law (import-law.ts). `node dist/scripts/imports.js` prints what breaks it and
 * exits with 1; `npm test` runs it first.
 */
import { readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { globSync } from './glob.js';
import { circleProblems, importProblems } from './import-law.js';

const all = new Map(
  [...globSync('src', '.ts'), ...globSync('src', '.tsx')].map((path) => [
    relative('.', path).split(sep).join('/'),
    readFileSync(path, 'utf8'),
  ]),
);
const problems = [...all]
  .filter(([path]) => !path.endsWith('.d.ts'))
  .flatMap(([path, text]) => importProblems(path, text))
  .concat(circleProblems(all));
for (const problem of problems) console.error(problem);
console.log(`import law: ${all.size} files, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
