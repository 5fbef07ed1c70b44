/**
 * Finds what the compiler and the formatter do not: unused files and exports, wide lines, long
 * files and functions, missing doc comments, banned idioms and words, dead links. `npm test` fails
 * if there are more than `scripts/tidy.json` accepts. `npm run tidy` checks too, and lowers the
 * accepted figures to the present ones. `npm run tidy -- --accept` also raises them: for moved
 * files, and for what a review has agreed to.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { bannedWords, brokenReferences, documentPaths } from './tidy/documents.js';
import { beyond, type Finding, figures, lowered, type Ratchet } from './tidy/findings.js';
import { idioms, longFile, longFunctions, undocumented, wide } from './tidy/habits.js';
import { readSources } from './tidy/sources.js';
import { unused, unusedMembers } from './tidy/usage.js';
import { unwrapped } from './tidy/wrap.js';

const RATCHET = 'scripts/tidy.json';

/** The entry points of the library of clients. */
const LIBRARY = ['client', 'cache', 'rights'].map((name) => `clients/typescript/src/${name}.ts`);
/** Written by `npm run clients`. */
const GENERATED = 'clients/typescript/src/operations.ts';

/**
 * Returns the files that are run directly: the program, its build, the scripts of package.json, the
 * suites.
 */
function entriesOf(paths: readonly string[]): string[] {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    scripts: Record<string, string>;
  };
  const started = Object.values(scripts).flatMap((script) =>
    [...script.matchAll(/dist\/([\w/-]+)\.js/g)].map(([, name]) => `${name}.ts`),
  );
  // Started by setup.mjs, which is not TypeScript.
  const builders = ['blake2b', 'validators', 'documents', 'build-ui'].map((n) => `scripts/${n}.ts`);
  const programs = [
    'src/program/main.ts',
    'src/service/archives/archive-thread.ts',
    'src/ui/main.ts',
  ];
  return [
    ...programs,
    ...LIBRARY,
    ...builders,
    ...started,
    ...paths.filter((path) => path.endsWith('.test.ts')),
  ];
}

/** Returns the findings of all rules. */
function findings(): Finding[] {
  const sources = [...readSources('.'), ...readSources('.', 'src/ui/tsconfig.json')];
  const entries = entriesOf(sources.map(({ path }) => path));
  return [
    ...unused(sources, entries),
    ...unusedMembers(sources),
    ...sources
      .filter(({ path }) => path !== GENERATED)
      .flatMap((source) => [
        ...wide(source),
        ...longFile(source),
        ...longFunctions(source),
        ...undocumented(source),
        ...idioms(source),
        ...bannedWords(source.path, source.file.text),
      ]),
    ...documentPaths().flatMap((path) => {
      const text = readFileSync(path, 'utf8');
      return [
        ...bannedWords(path, text),
        ...brokenReferences('.', path, text),
        ...unwrapped(path, text),
      ];
    }),
  ];
}

/** Writes the accepted figures in order, so that two branches rarely change the same line. */
function write(ratchet: Ratchet): void {
  const sorted = (record: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
  const rules = Object.entries(ratchet).map(([rule, buckets]) => [rule, sorted(buckets)]);
  writeFileSync(RATCHET, `${JSON.stringify(sorted(Object.fromEntries(rules)), null, 2)}\n`);
}

const { values } = parseArgs({
  options: {
    lower: { type: 'boolean', default: false },
    accept: { type: 'boolean', default: false },
  },
});
const found = findings();
const accepted = JSON.parse(readFileSync(RATCHET, 'utf8')) as Ratchet;
if (values.accept) write(figures(found));
else if (values.lower) write(lowered(found, accepted));
const tooMany = values.accept ? [] : beyond(found, accepted);
for (const { rule, at, message } of tooMany) console.error(`${at}: ${message} (${rule})`);
console.log(`tidy: ${found.length} findings, ${tooMany.length} of them beyond ${RATCHET}`);
process.exitCode = tooMany.length > 0 ? 1 : 0;
