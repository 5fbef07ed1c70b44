/**
 * Runs random schedules of Raft cores from seeds, see `test/raft/world.ts`. `npm run worlds --
 * --seeds N [--from S]` runs many and prints the command that replays each failed one. Exits with 1
 * if any failed.
 */
import { Command } from 'commander';
import { idsOf, KINDS, type Kind, World } from '../test/raft/world.js';

const options = new Command('worlds')
  .description('plays random orders of Raft cores, each from one seed')
  .option('--seeds <number>', 'how many worlds to play', '1000')
  .option('--from <number>', 'the first seed', '1')
  .option('--minutes <number>', 'stop after so many minutes of real time')
  .option('--first', 'stop at the first failure and print it as one line of JSON')
  .option('--acts <number>', 'random acts in each world', '4000')
  .option(
    '--kinds <list>',
    `kinds of all worlds instead of those drawn: ${KINDS.join(',')}, or none`,
  )
  .parse()
  .opts<{
    seeds: string;
    from: string;
    minutes?: string;
    first?: boolean;
    acts: string;
    kinds?: string;
  }>();

const kinds = options.kinds
  ?.split(',')
  .filter((kind): kind is Kind => KINDS.includes(kind as Kind));
const from = Number(options.from);
const began = performance.now();
const until = began + Number(options.minutes ?? Number.POSITIVE_INFINITY) * 60_000;
const totals: Record<string, number> = {};
const failed: number[] = [];
let played = 0;
for (let seed = from; seed < from + Number(options.seeds) && performance.now() < until; seed++) {
  const world = new World(seed, idsOf(seed), kinds);
  played++;
  try {
    world.run(Number(options.acts));
  } catch (violation) {
    failed.push(seed);
    if (options.first) {
      const { message } = violation as Error;
      console.log(JSON.stringify({ seed, invariant: message.slice(0, message.indexOf(':')) }));
      break;
    }
    console.log(`seed ${seed} [${world.kinds.join(' ')}] FAILED ${(violation as Error).message}`);
    const { acts, kinds: given } = options;
    const more = ` --acts ${acts}${given === undefined ? '' : ` --kinds ${given}`}`;
    console.log(`replay: npm run worlds -- --from ${seed} --seeds 1${more}`);
  }
  for (const [name, count] of Object.entries(world.counts))
    totals[name] = (totals[name] ?? 0) + count;
}
const seconds = (performance.now() - began) / 1000;
if (options.first) process.exit(failed.length > 0 ? 1 : 0);
const counts = Object.entries(totals).map(([name, count]) => `${count} ${name}`);
console.log(
  `${played} worlds in ${seconds.toFixed(1)} s: ${counts.join(', ')}; ${failed.length} failed` +
    (failed.length > 0 ? `: ${failed.slice(0, 20).join(' ')}` : ''),
);
process.exitCode = failed.length > 0 ? 1 : 0;
