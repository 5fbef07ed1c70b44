/**
 * Faults on real processes: `npm run chaos -- --minutes M --seed S [--nodes 5] [--kills 10]`.
 * Clients use a cluster while its nodes, network, disks and clocks fail and its members change. The
 * history of the clients is checked for linearizability, and that no right is heeded once it was
 * taken. Then leaders are killed under load, and the write outages are measured. Exits with 1 if a
 * write was lost or duplicated, the history is not linearizable, a right was heeded too long, or
 * the cluster does not recover.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { markdownOf, type RunFacts } from './chaos/report.js';
import { runChaos } from './chaos/run.js';

const options = new Command('chaos')
  .description('runs a cluster of real processes under faults and checks what its clients saw')
  .option('--minutes <number>', 'duration of the faults', '5')
  .option('--seed <number>', 'seed of the choice of faults', String(Date.now() % 1_000_000))
  .option('--nodes <number>', '3 or 5 nodes', '3')
  .option('--kills <number>', 'how many leaders to kill after the faults', '10')
  .option('--pause <ms>', 'longest pause of a client between two requests, in milliseconds', '250')
  .option('--faults <names>', 'names of the faults to make, separated by commas (default: all)')
  .option('--keep', 'keep the data and logs of a run that passes')
  .option('--report <path>', 'write the report to <path>.json and <path>.md')
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

const only = options.faults === undefined ? '' : ` --faults '${options.faults}'`;
const facts: RunFacts = {
  command:
    `npm run chaos -- --minutes ${options.minutes} --seed ${options.seed}` +
    ` --nodes ${options.nodes} --kills ${options.kills}${only}`,
  commit: commit(),
  node: process.version,
  at: new Date().toISOString(),
};
const dir = mkdtempSync(join(tmpdir(), 'conclave-chaos-'));
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(code));
const began = performance.now();
console.log(`${facts.command}; data, logs and history are in ${dir}`);
let ok = false;
try {
  const report = await runChaos({
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

/** Returns the commit of the working tree, with `+` if it has changes; empty if it is unknown. */
function commit(): string {
  const git = (...words: string[]): string =>
    execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    return git('rev-parse', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '+');
  } catch {
    return '';
  }
}
