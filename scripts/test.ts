/**
 * `npm test`, after set-up (packages, types): runs the import law, tidy, lint, then every suite
 * under `test/`. The last line is `N passed, N failed`. Arguments are path prefixes below `test/`:
 * `npm test -- raft simulation`. The properties use the same examples in every run; `--seed N`
 * chooses others. The suites in `test/browser/` run where there is a Chromium; with `--browser`
 * they must. Two processes share the files; `--jobs N` chooses another number. Temporary files go
 * to one folder, which a green run removes.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
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
    jobs: { type: 'string', default: '2' },
  },
});
process.env['PROPERTY_SEED'] = values.seed;
if (wanted.length === 0) {
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
  timeout: 60_000,
  forbidOnly: true,
  forbidPending: true,
  jobs: Number(values.jobs),
  require: [resolve('dist/test/support/properties.js')],
});
const BROWSER = 'dist/test/browser/';
const hasBrowser = findChromium() !== undefined;
const chosen = globSync('dist/test', '.test.js').filter(
  (file) => wanted.length === 0 || wanted.some((prefix) => file.startsWith(`dist/test/${prefix}`)),
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
const runner = mocha.run((failures) => {
  const passed = runner.stats?.passes ?? 0;
  const isGreen = failures === 0 && passed > 0;
  if (isGreen) rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
  else console.log(`temporary files are in ${temporary}`);
  console.log(`${passed} passed, ${failures} failed`);
  process.exit(isGreen ? 0 : 1);
});
