/**
 * Measures clusters of this build on loopback. `npm run bench` compares the main rows with bare
 * Node servers and with kept results; `npm run bench -- rates watch` runs other parts. Client and
 * nodes share the machine, so the CPU time of the nodes per operation says more than the rate.
 * Prints Markdown.
 */
import { cpus, loadavg } from 'node:os';
import { Command } from 'commander';
import { measureAttack } from './bench/attack.js';
import { measureAudit } from './bench/audit.js';
import { measureCompare } from './bench/compare.js';
import { measureConsul } from './bench/consul.js';
import { measureDecisions, type Programs } from './bench/decisions.js';
import { measureDisk } from './bench/disk.js';
import { measureEntries } from './bench/entries.js';
import { measureEtcd } from './bench/etcd.js';
import { measureEvents } from './bench/events.js';
import { measureFailover, measureRolling, measureTransfers } from './bench/failover.js';
import { measureGoDecisions } from './bench/go-decisions.js';
import { measureGrowth } from './bench/growth.js';
import { measureGuard } from './bench/guard.js';
import { measureHistory } from './bench/history.js';
import { measureIdle } from './bench/idle.js';
import { measureJobs } from './bench/jobs.js';
import { measureLocalDecisions } from './bench/local-decisions.js';
import { measureLoginFlood } from './bench/login-flood.js';
import { measureMoving } from './bench/moving.js';
import { measureLists, measurePages } from './bench/pages.js';
import { measureRates } from './bench/rates.js';
import { measureReaders } from './bench/readers.js';
import { measureRejoin } from './bench/rejoin.js';
import { measureRestart } from './bench/restart.js';
import { measureRestore } from './bench/restore.js';
import { measureRevocations } from './bench/revocations.js';
import { measureSizing } from './bench/sizing.js';
import { measureSnapshot } from './bench/snapshot.js';
import { measureTails } from './bench/tails.js';
import { measureLogins, measureTokens } from './bench/tokens.js';
import { measureWatchers } from './bench/watch.js';

const program = new Command('bench')
  .description('measures clusters of this build on loopback')
  .argument(
    '[parts...]',
    'guard: the main rows as ratios to bare Node servers, compared with kept ones (the default); ' +
      'rates, tokens, decisions, logins, entries, watch, events, failover, transfer, rolling, ' +
      'restart, rejoin, snapshot, restore, disk, sizing, growth, tails, attack, readers, ' +
      'login-flood, pages, lists, jobs, history, audit, moving, idle; ' +
      'etcd, consul: the same work on a peer; compare: --other',
  )
  .option('--keep', 'parts guard and growth: keep these results')
  .option('--seconds <number>', 'seconds for each row of load', '3')
  .option('--entries <number>', 'config entries of parts entries, rejoin, snapshot', '100000')
  .option('--roles <number>', 'roles of part tokens', '10000')
  .option('--tokens <number>', 'tokens of parts tokens, lists', '50000')
  .option('--rules <number>', 'binding rules of part logins', '1000')
  .option('--consul <program>', 'parts consul, decisions, moving: Consul, to be measured too')
  .option('--opa <program>', 'part decisions: OPA, to be measured too')
  .option('--openfga <program>', 'part decisions: OpenFGA, to be measured too')
  .option(
    '--moved <numbers>',
    'policies, roles, tokens and config entries of part moving',
    '2000,500,10000,5000',
  )
  .option('--caches <numbers>', 'caches of part decisions', '1000')
  .option('--watchers <numbers>', 'watchers of part watch', '1000,10000')
  .option(
    '--repeat <number>',
    'kills, transfers or restarts of each node in parts failover, transfer, rolling, restart; ' +
      'visits of each page in parts pages, lists',
    '5',
  )
  .option('--stored <number>', 'config entries of part restart', '10000')
  .option('--light <number>', 'writes per second in part restart', '50')
  .option('--missed <number>', 'entries written while a node is down in part restart', '0')
  .option('--rate <number>', 'writes per second in part rejoin', '1000')
  .option('--restored <numbers>', 'config entries of part restore', '100000,1000000')
  .option('--updates <number>', 'updates of part disk', '100000')
  .option('--nodes <numbers>', 'nodes of part growth', '1,3,5')
  .option('--members <number>', 'nodes of each cluster of parts events, audit', '3')
  .option(
    '--sizes <numbers>',
    'objects of each kind in part sizing, config entries of parts growth, history',
    '1000,10000,100000',
  )
  .option('--minutes <number>', 'minutes of part tails', '5')
  .option('--connections <number>', 'connections of part tails', '256')
  .option('--other <folder>', 'parts compare, jobs: a checkout of another commit, built')
  .option('--other-node <program>', 'part compare: the Node that runs it; the same by default')
  .option('--other-env <NAME=value...>', 'part compare: environment variables of its nodes')
  .option(
    '--rounds <number>',
    'bursts of each kind in parts compare, etcd, consul, history, events, audit, and rounds ' +
      'of part idle',
    '8',
  )
  .parse();
const options = program.opts<Record<string, string> & { keep?: true; otherEnv?: string[] }>();
const number = (name: string): number => Number(options[name]);
const numbers = (name: string): number[] => options[name]!.split(',').map(Number);
const seconds = number('seconds');
/** /proc counts CPU time in hundredths of a second. */
const IDLE_SECONDS = 20;

const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  guard: () => measureGuard({ keep: options.keep === true }),
  rates: () => measureRates(seconds),
  tokens: () => measureTokens({ roles: number('roles'), tokens: number('tokens'), seconds }),
  decisions: async () => {
    await measureLocalDecisions();
    measureGoDecisions();
    const programs = options as Programs;
    await measureDecisions(seconds, programs);
    await measureRevocations(numbers('caches'), programs);
  },
  moving: () => {
    const [policies = 0, roles = 0, tokens = 0, entries = 0] = numbers('moved');
    return measureMoving(options['consul'], { policies, roles, tokens, entries });
  },
  logins: () => measureLogins({ rules: number('rules'), seconds }),
  entries: () => measureEntries({ entries: number('entries'), seconds }),
  watch: () => measureWatchers(numbers('watchers')),
  failover: () => measureFailover(number('repeat')),
  transfer: () => measureTransfers(number('repeat')),
  rolling: () => measureRolling(number('repeat')),
  restart: () =>
    measureRestart({
      repeat: number('repeat'),
      entries: number('stored'),
      rate: number('light'),
      missed: number('missed'),
    }),
  rejoin: () => measureRejoin({ entries: number('entries'), rate: number('rate') }),
  snapshot: () => measureSnapshot(number('entries')),
  restore: () => measureRestore(numbers('restored')),
  disk: () => measureDisk(number('updates')),
  sizing: () => measureSizing(numbers('sizes')),
  growth: () =>
    measureGrowth({
      nodes: numbers('nodes'),
      sizes: numbers('sizes'),
      seconds,
      keep: options.keep === true,
    }),
  tails: () =>
    measureTails({
      minutes: number('minutes'),
      connections: number('connections'),
      entries: number('entries'),
    }),
  attack: measureAttack,
  pages: () => measurePages(number('repeat')),
  lists: () => measureLists({ tokens: number('tokens'), rounds: number('repeat') }),
  jobs: () => measureJobs(options['other']),
  readers: measureReaders,
  'login-flood': measureLoginFlood,
  audit: () => measureAudit(number('members'), seconds, number('rounds')),
  events: () => measureEvents(number('members'), seconds, number('rounds')),
  etcd: () => measureEtcd(number('rounds')),
  consul: () =>
    measureConsul(
      options['consul'] ?? program.error('part consul needs --consul'),
      number('rounds'),
    ),
  idle: () => measureIdle(Math.max(seconds, IDLE_SECONDS), number('rounds')),
  history: () => measureHistory(number('rounds'), numbers('sizes')),
  compare: () =>
    measureCompare({
      other: options['other'] ?? program.error('part compare needs --other'),
      node: options['otherNode'],
      env: options.otherEnv ?? [],
      rounds: number('rounds'),
    }),
};

const parts = program.args.length > 0 ? program.args : ['guard'];
const unknown = parts.find((part) => !Object.hasOwn(PARTS, part));
if (unknown !== undefined) program.error(`there is no part ${unknown}`);
const model = cpus()[0]?.model ?? 'unknown processor';
const load = (): string => loadavg()[0]!.toFixed(1);
console.log(`${cpus().length} cores (${model}), Node ${process.version}; load ${load()} before`);
for (const part of parts) await PARTS[part]!();
console.log(`\nLoad ${load()} after.`);
