/**
 * Checks the import law (import-law.ts). `node dist/scripts/imports.js` prints what breaks it and
 * exits with 1; `npm test` runs it first.
 */
import { readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { globSync } from './glob.js';
import { importProblems } from './import-law.js';

const all = [...globSync('src', '.ts'), ...globSync('src', '.tsx')].filter(
  (path) => !path.endsWith('.d.ts'),
);
const problems = all.flatMap((path) =>
  importProblems(relative('.', path).split(sep).join('/'), readFileSync(path, 'utf8')),
);
for (const problem of problems) console.error(problem);
console.log(`import law: ${all.length} files, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
