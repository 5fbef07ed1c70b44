/**
 * Faults on real processes: `npm run chaos -- --minutes M --seed S [--nodes 5] [--kills 10]`. Clients work on a cluster
 * whose nodes, network, disks and clocks fail and whose members change; what they saw is checked for linearizability.
 * Then leaders are killed under load, and what that costs is measured. Exits with 1 if anything was lost, mixed up or
 * does not recover.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { markdownOf, type RunFacts } from './chaos/report.js';
import { wreak } from './chaos/run.js';

const options = new Command('chaos')
  .description('faults on real processes, and a check of what clients saw')
  .option('--minutes <number>', 'how long faults are made', '5')
  .option('--seed <number>', 'which faults', String(Date.now() % 1_000_000))
  .option('--nodes <number>', '3 or 5', '3')
  .option('--kills <number>', 'how many leaders are killed afterwards', '10')
  .option('--pause <ms>', 'longest pause of each of the 12 clients between two requests', '250')
  .option('--faults <names>', 'only these faults, separated by commas')
  .option('--keep', 'keep the data and logs of a run that passes')
  .option('--report <path>', 'where the report goes, as <path>.json and <path>.md')
  .parse()
  .opts<{
    minutes: string;
    seed: string;
    nodes: string;
    kills: string;
    pause: string;
    faults?: string;
    keep?: true;
    report?: string;
  }>();

const facts: RunFacts = {
  command: `npm run chaos -- --minutes ${options.minutes} --seed ${options.seed} --nodes ${options.nodes} --kills ${options.kills}${options.faults === undefined ? '' : ` --faults '${options.faults}'`}`,
  commit: commit(),
  node: process.version,
  at: new Date().toISOString(),
};
const dir = mkdtempSync(join(tmpdir(), 'conclave-chaos-'));
const began = performance.now();
console.log(`${facts.command}; data, logs and history are in ${dir}`);
let ok = false;
try {
  const report = await wreak({
    seed: Number(options.seed),
    nodes: Number(options.nodes),
    seconds: Number(options.minutes) * 60,
    kills: Number(options.kills),
    clients: 12,
    pauseMs: Number(options.pause),
    faults: options.faults?.split(','),
    dir,
    note: (text) => console.log(`${((performance.now() - began) / 1000).toFixed(1)} ${text}`),
  });
  ok = report.ok;
  const json = JSON.stringify({ ...facts, ...report }, null, 2);
  if (options.report) {
    writeFileSync(`${options.report}.json`, `${json}\n`);
    writeFileSync(`${options.report}.md`, `${markdownOf(facts, report)}\n`);
  }
  console.log(json);
} catch (error) {
  console.error(error);
}
console.log(ok ? 'PASSED' : `FAILED; data, logs and history are in ${dir}`);
if (ok && !options.keep) rmSync(dir, { recursive: true, force: true });
process.exit(ok ? 0 : 1);

/** The commit of this working tree, with a plus if there is more in it; empty if nobody knows. */
function commit(): string {
  const git = (...words: string[]): string =>
    execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    return git('rev-parse', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '+');
  } catch {
    return '';
  }
}
