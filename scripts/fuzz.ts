/**
 * Sends requests and frames that no one sends by accident to a cluster of three on loopback: `npm
 * run fuzz -- --minutes M --seed S [--report PATH]`. Exits with 1 if a node responds wrongly,
 * exits, logs an error, leaks resources, differs from the others, or delays permitted clients; or
 * if a flood of harmless requests changes the leader, delays a probe, or takes too much memory.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { runFloods } from './fuzz/flood-run.js';
import { markdownOf } from './fuzz/report.js';
import { fuzz } from './fuzz/run.js';

const options = new Command('fuzz')
  .description('sends hostile requests and frames to a cluster of three on loopback')
  .option('--minutes <number>', 'how long', '5')
  .option('--seed <number>', 'which shots', String(Date.now() % 1_000_000))
  .option('--rate <number>', 'shots per second', '200')
  .option(
    '--warm-up <number>',
    'shots before the figures that later ones are compared with',
    '8000',
  )
  .option('--floods <number>', 'seconds of each flood afterwards', '5')
  .option('--report <path>', 'where the report goes, as <path>.json and <path>.md')
  .parse()
  .opts<{
    minutes: string;
    seed: string;
    rate: string;
    warmUp: string;
    floods: string;
    report?: string;
  }>();

const { minutes, seed, rate, warmUp, floods } = options;
const command =
  `npm run fuzz -- --minutes ${minutes} --seed ${seed} --rate ${rate} ` +
  `--warm-up ${warmUp} --floods ${floods}`;
const dir = mkdtempSync(join(tmpdir(), 'conclave-fuzz-'));
const began = performance.now();
console.log(`${command}; data and logs are in ${dir}`);
let ok = false;
try {
  const note = (text: string): void =>
    console.log(`${((performance.now() - began) / 1000).toFixed(1)} ${text}`);
  const report = await fuzz({
    ...{ seed: Number(seed), seconds: Number(minutes) * 60, dir: join(dir, 'shots') },
    ...{ rate: Number(rate), warmUp: Number(warmUp) },
    note,
  });
  ok = report.ok;
  if (Number(floods) > 0) {
    const plan = { dir: join(dir, 'floods'), seconds: Number(floods), judgesStalls: true, note };
    const results = await runFloods(plan);
    ok &&= results.every(({ problems }) => problems.length === 0);
  }
  const markdown = markdownOf(command, report);
  if (options.report) {
    writeFileSync(`${options.report}.json`, `${JSON.stringify({ command, ...report }, null, 2)}\n`);
    writeFileSync(`${options.report}.md`, `${markdown}\n`);
  }
  console.log(markdown);
} catch (error) {
  console.error(error);
}
console.log(ok ? 'PASSED' : `FAILED; data and logs are in ${dir}`);
if (ok) rmSync(dir, { recursive: true, force: true });
process.exit(ok ? 0 : 1);
