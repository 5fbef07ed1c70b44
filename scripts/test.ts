/**
 * `npm test`, after set-up (packages, types): runs the import law, tidy, lint, then the suites
 * below `test/` that compute rather than wait. `npm run test:all` runs the rest as well (`--rest`
 * runs it alone). The last line is `N passed, N failed`, after the files that took longest.
 * Arguments are path prefixes below `test/`: `npm test -- raft cluster/dev`. The properties use the
 * same examples in every run; `--seed N` chooses others. The suites in `test/browser/` run where
 * there is a Chromium; with `--browser` they must. Two processes share the files; `--jobs N`
 * chooses another number. `--slow N` slows pages down N times, as on a busy machine. Temporary
 * files go to one folder, which a green run removes.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import Mocha from 'mocha';
import { findChromium } from './chromium.js';
import { globSync } from './glob.js';

function step(name: string, command: string, args: string[]): void {
  const done = spawnSync(command, args, { stdio: 'inherit' });
  if (done.status !== 0) {
    console.error(`${name} failed`);
    process.exit(1);
  }
}

const { positionals: wanted, values } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    browser: { type: 'boolean', default: false },
    rest: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '2' },
    slow: { type: 'string', default: '1' },
  },
});
process.env['PROPERTY_SEED'] = values.seed;
process.env['BROWSER_SLOWDOWN'] = values.slow;
if (wanted.length === 0 && !values.rest) {
  step('import law', process.execPath, ['dist/scripts/imports.js']);
  step('tidy', process.execPath, ['dist/scripts/tidy.js']);
  step('lint', process.execPath, ['node_modules/@biomejs/biome/bin/biome', 'ci', '.']);
}

// A shell that has read data/env names a cluster and its token, and commands would use them.
for (const name of Object.keys(process.env))
  if (/^(?:CONCLAVE|CONSUL)_/.test(name)) delete process.env[name];
const temporary = mkdtempSync(join(tmpdir(), 'conclave-test-'));
process.env['TMPDIR'] = temporary;

const mocha = new Mocha({
  reporter: 'spec',
  // Only what hangs waits for it: a busy machine needs a minute where a fast one needs a second.
  timeout: 300_000 * Number(values.slow),
  forbidOnly: true,
  forbidPending: true,
  jobs: Number(values.jobs),
  require: [resolve('dist/test/support/properties.js')],
});
/** Suites that wait for processes, time limits and pages. `npm test` leaves them to test:all. */
const WAITING = ['browser/', 'cluster/', 'conformance/', 'docs/', 'fuzz/', 'hostile/'];
/** Those of them that `npm test` runs nevertheless: a cluster of processes, the pasted README. */
const KEPT = ['cluster/operator-commands', 'docs/blocks', 'docs/readme'];
const BROWSER = 'dist/test/browser/';
const hasBrowser = findChromium() !== undefined;
const startsWith = (file: string, prefixes: readonly string[]): boolean =>
  prefixes.some((prefix) => file.startsWith(`dist/test/${prefix}`));
const chosen = globSync('dist/test', '.test.js').filter((file) =>
  wanted.length > 0
    ? startsWith(file, wanted)
    : values.rest === (startsWith(file, WAITING) && !startsWith(file, KEPT)),
);
const files = chosen.filter((file) => hasBrowser || !file.startsWith(BROWSER));
if (files.length < chosen.length) {
  const why = 'no Chromium was found (in CHROMIUM or PATH)';
  if (values.browser) {
    console.error(`the web UI cannot be tested: ${why}`);
    process.exit(1);
  }
  console.log(`${why}: the suites in test/browser/ are left out`);
}
// The longest file comes first, so that no process works on it alone in the end.
const LONGEST = 'dist/test/simulation/simulation.test.js';
if (files.includes(LONGEST)) mocha.addFile(LONGEST);
for (const file of files) if (file !== LONGEST) mocha.addFile(file);
// A worker loads a file when it gets to it.
mocha.parallelMode(true);
/** Milliseconds of the tests and hooks of each file. */
const durations = new Map<string, number>();
const SHOWN = 10;
const runner = mocha.run((failures) => {
  const slowest = [...durations].sort(([, a], [, b]) => b - a).slice(0, SHOWN);
  console.log('seconds of the slowest files:');
  for (const [file, ms] of slowest)
    console.log(`${(ms / 1000).toFixed(1).padStart(7)}  ${relative('dist/test', file)}`);
  const passed = runner.stats?.passes ?? 0;
  const isGreen = failures === 0 && passed > 0;
  if (isGreen) rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
  else console.log(`temporary files are in ${temporary}`);
  console.log(`${passed} passed, ${failures} failed`);
  process.exit(isGreen ? 0 : 1);
});
const add = ({ file, duration = 0 }: Mocha.Runnable): void => {
  if (file !== undefined) durations.set(file, (durations.get(file) ?? 0) + duration);
};
runner.on('test end', add);
runner.on('hook end', add);
