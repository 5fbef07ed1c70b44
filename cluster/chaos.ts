/**
 * Faults on real processes: `npm run chaos -- --minutes M --seed S [--nodes 5] [--kills 10]`. Clients work on a cluster
 * whose nodes are killed and stopped and whose network is cut; what they saw is checked for linearizability. Then leaders
 * are killed under load, and what that costs is measured. Exits with 1 if anything was lost, mixed up or does not recover.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { wreak } from './chaos/run.js';

const options = new Command('chaos')
  .description('faults on real processes, and a check of what clients saw')
  .option('--minutes <number>', 'how long faults are made', '5')
  .option('--seed <number>', 'which faults', String(Date.now() % 1_000_000))
  .option('--nodes <number>', '3 or 5', '3')
  .option('--kills <number>', 'how many leaders are killed afterwards', '10')
  .option('--report <file>', 'where the report goes as JSON')
  .parse()
  .opts<{ minutes: string; seed: string; nodes: string; kills: string; report?: string }>();

const dir = mkdtempSync(join(tmpdir(), 'conclave-chaos-'));
const report = await wreak({
  seed: Number(options.seed),
  nodes: Number(options.nodes),
  seconds: Number(options.minutes) * 60,
  kills: Number(options.kills),
  clients: 12,
  pauseMs: 60,
  dir,
  note: (text) => console.log(text),
});
if (options.report) writeFileSync(options.report, JSON.stringify(report, null, 2));
console.log(JSON.stringify(report, null, 2));
console.log(report.ok ? 'PASSED' : `FAILED; data, logs and history are in ${dir}`);
if (report.ok) rmSync(dir, { recursive: true, force: true });
process.exit(report.ok ? 0 : 1);
