/**
 * Simulates worlds from seeds. `npm run simulate -- --seed S [--trace]` replays one world; `--seeds
 * N [--from M]` runs many and prints the command that replays each failed one, and how often rare
 * things happened. Exits with 1 if any failed, or if one of these never happened in a long run.
 */
import { Command, Option } from 'commander';
import { ALL_FAULTS, type Fault } from '../test/simulation/fault-kinds.js';
import { NETWORKS, type NetworkKind } from '../test/simulation/network.js';
import { STORAGES, type StorageKind } from '../test/simulation/parts.js';
import type { Report } from '../test/simulation/world.js';
import { startCounting } from './counting.js';
import { startCoverage } from './coverage.js';

/** Worlds of the usual mix after which everything that is counted has happened. */
const LONG_RUN = 2000;

const options = new Command('simulate')
  .description('plays whole clusters in virtual time, each from one seed')
  .option('--seed <number>', 'play this world only')
  .option('--seeds <number>', 'how many worlds to play', '1000')
  .option('--from <number>', 'the first seed', '1')
  .option('--minutes <number>', 'stop after so many minutes of real time')
  .option('--first', 'stop at the first failure and print it as one line of JSON')
  .option('--trace', 'print everything that happens')
  .option('--coverage', 'list the functions of the core that no world called')
  .option(
    '--plain',
    'without faults of machines, small memories, held readers, sockets, real storage',
  )
  .option('--legacy', 'without deposed leaders, erasures, and commands that cascade')
  .option('--product', 'with commands and blocking queries of the product in all worlds')
  .option('--levels', "with the product's levels in all worlds that may have them")
  .option('--no-levels', 'without them')
  .option('--rights', 'with commands about rights in all worlds of the product')
  .option('--no-rights', 'without them')
  .addOption(new Option('--network <kind>', 'what all worlds have').choices([...NETWORKS]))
  .addOption(new Option('--storage <kind>', 'what all worlds have').choices([...STORAGES]))
  .addOption(new Option('--fault <kind>', 'a fault that every world has').choices([...ALL_FAULTS]))
  .parse()
  .opts<{
    seed?: string;
    seeds: string;
    from: string;
    minutes?: string;
    first?: boolean;
    trace?: boolean;
    coverage?: boolean;
    fault?: Fault;
    plain?: boolean;
    legacy?: boolean;
    storage?: StorageKind;
    network?: NetworkKind;
    product?: boolean;
    levels?: boolean;
    rights?: boolean;
  }>();

function show(report: Report): void {
  const { seed, network, violation, counts } = report;
  console.log(
    `seed ${seed}: ${report.servers} servers, ${network}, ` +
      `${(report.virtualMs / 1000).toFixed(0)} s, ` +
      `${report.terms} terms, ${report.committed} committed, ${counts.acknowledged} writes and ` +
      `${counts.reads} reads answered, faults [${report.faults.join(' ')}]`,
  );
  if (!violation) return;
  console.log(`FAILED ${violation.text}`);
  const fault = options.fault === undefined ? '' : ` --fault ${options.fault}`;
  const plain = options.plain ? ' --plain' : '';
  const legacy = options.legacy ? ' --legacy' : '';
  const product = options.product ? ' --product' : '';
  const levels = options.levels === undefined ? '' : ` --${options.levels ? '' : 'no-'}levels`;
  const rights = options.rights === undefined ? '' : ` --${options.rights ? '' : 'no-'}rights`;
  const kind = options.network === undefined ? '' : ` --network ${options.network}`;
  const storage = options.storage === undefined ? '' : ` --storage ${options.storage}`;
  const all = `${fault}${plain}${legacy}${kind}${storage}${product}${levels}${rights}`;
  console.log(`replay: npm run simulate -- --seed ${seed}${all} --trace`);
}

// With `--first` the build is a mutant, which may lack the text that counters need.
const counts = options.first ? {} : startCounting();
const uncalled = options.coverage ? startCoverage() : undefined;
const { playSeed } = await import('../test/simulation/play.js');
const { fault, plain, legacy, network, storage, product, levels, rights } = options;
const kinds = { fault, plain, legacy, network, storage, product, levels, rights };
const isUsual = Object.values(kinds).every((kind) => kind === undefined);
const trace = options.trace ? (line: string): void => console.log(line) : undefined;
const single = options.seed !== undefined;
const from = Number(options.seed ?? options.from);
const count = single ? 1 : Number(options.seeds);
const began = performance.now();
const until = began + Number(options.minutes ?? Number.POSITIVE_INFINITY) * 60_000;
let virtualMs = 0;
let committed = 0;
let played = 0;
const failed: number[] = [];
for (let seed = from; seed < from + count && performance.now() < until; seed++) {
  const report = await playSeed(seed, { trace, ...kinds });
  played++;
  virtualMs += report.virtualMs;
  committed += report.committed;
  if (report.violation) failed.push(seed);
  if (options.first && report.violation) {
    console.log(JSON.stringify({ seed, ...report.violation }));
    break;
  }
  if (single || report.violation) show(report);
}
if (!options.first) {
  const seconds = (performance.now() - began) / 1000;
  console.log(
    `${played} worlds in ${seconds.toFixed(1)} s (${(played / seconds).toFixed(1)} per second, ` +
      `${(virtualMs / 1000 / seconds).toFixed(0)} virtual seconds per second), ${committed} entries committed, ` +
      `${failed.length} failed${failed.length > 0 ? `: ${failed.slice(0, 20).join(' ')}` : ''}`,
  );
}
for (const [file, names] of uncalled?.() ?? [])
  console.log(`never called in ${file}: ${names.join(' ')}`);
const missing = Object.keys(counts).filter((name) => counts[name] === 0);
if (!options.first && !single) {
  console.log(
    Object.entries(counts)
      .map(([name, count]) => `${count} ${name}`)
      .join(', '),
  );
}
const isLacking = isUsual && played >= LONG_RUN && missing.length > 0;
if (isLacking) console.log(`FAILED never happened: ${missing.join(', ')}`);
process.exitCode = failed.length > 0 || isLacking ? 1 : 0;
