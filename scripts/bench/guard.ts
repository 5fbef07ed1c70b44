/**
 * The main rows of the API as ratios to the floor (`floor.ts`), which is measured in the same run:
 * machine, load and runtime change both alike. Compares the ratios with kept ones, and names what
 * got worse.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import {
  type Burst,
  burst,
  inTurn,
  median,
  NAMES,
  type Next,
  type Subject,
  WORK,
} from './bursts.js';
import { type Floor, withFloor } from './floor-servers.js';
import type { Target } from './line.js';
import { fill } from './load.js';
import { figure, row, title } from './report.js';
import { putEntry, type Setting, withCluster } from './setting.js';
import { wake } from './watch.js';

/** Where results are kept, by the main version of Node. */
const KEPT_FILE = 'docs/performance.json';
/** What must not get worse by more than this part. */
const TOLERANCE = 0.15;
const ROUNDS = 5;
const WARM_UP_SECONDS = 2;
const WATCHERS = 2000;

/** The ratios of a row: ours to the floor. A row has time, or CPU and rate. */
export interface Ratios {
  /** CPU time of all servers per request. */
  readonly cpu?: number;
  /** Requests per second. */
  readonly rate?: number;
  /** Time until the last one. */
  readonly time?: number;
}

/** Ratios by row. */
export type Results = Readonly<Record<string, Ratios>>;

/** Which way is worse. */
const WORSE: Readonly<Record<keyof Ratios, 'higher' | 'lower'>> = {
  cpu: 'higher',
  rate: 'lower',
  time: 'higher',
};

/**
 * Returns a line for each ratio that is worse than the kept one by more than the tolerance, and for
 * each that has no kept one.
 */
export function worsened(kept: Results, now: Results): string[] {
  return Object.entries(now).flatMap(([what, ratios]) =>
    Object.entries(ratios).flatMap(([name, value]) => {
      const before = kept[what]?.[name as keyof Ratios];
      if (before === undefined) return [`${what}: there is no kept ${name} (${shown(value)} now)`];
      const isHigherWorse = WORSE[name as keyof Ratios] === 'higher';
      const change = isHigherWorse ? value / before - 1 : before / value - 1;
      if (change <= TOLERANCE) return [];
      const percent = Math.round(change * 100);
      return [
        `${what}: ${name} is ${percent} % worse (${shown(before)} before, ${shown(value)} now)`,
      ];
    }),
  );
}

const shown = (ratio: number): string => ratio.toPrecision(3);

interface Row {
  readonly what: string;
  readonly connections: number;
  readonly work: (run: string) => Next;
  /** Whether all requests go to the leader. */
  readonly atLeader: boolean;
}

function rowOf(name: keyof typeof WORK, connections: number, atLeader = false): Row {
  const how = connections === 1 ? 'one connection' : `${connections} connections`;
  const where = atLeader ? 'at the leader' : 'spread';
  return { what: `${name}, ${how}, ${where}`, connections, work: WORK[name], atLeader };
}

const ROWS: readonly Row[] = [
  rowOf('write an entry', 64),
  rowOf('write an entry', 64, true),
  rowOf('write an entry', 256),
  rowOf('write an entry', 1, true),
  rowOf('write a role', 64),
  rowOf('read, stale', 64),
  rowOf('read, default', 64),
  rowOf('read, consistent', 64),
  rowOf('list of 1,000 entries', 64),
  rowOf('nine reads, one write', 64),
];
const WAKING = `${WATCHERS} watchers of one entry at the leader, last one woken`;

interface Side extends Subject {
  readonly leader: Target;
  held(): Promise<number>;
}

/** Measures, prints and compares. With `keep` the results replace the kept ones. */
export async function measureGuard({ keep }: { readonly keep: boolean }): Promise<void> {
  const now: Record<string, Ratios> = {};
  await withCluster(3, (setting) =>
    withFloor(async (floor) => {
      const sides = [await sideOf(setting), sideOfFloor(floor)];
      for (const side of sides) await prepare(side);
      title('This build, and three bare Node servers in the same run: medians', [
        ...[
          'what',
          'per second',
          'of the bare servers',
          'CPU µs per request',
          'of the bare servers',
        ],
        ...['CPU, ratio', 'rate, ratio'],
      ]);
      for (const each of ROWS) now[each.what] = await measureRow(each, sides);
      now[WAKING] = await measureWaking(sides);
    }),
  );
  judge(now, keep);
}

async function sideOf(setting: Setting): Promise<Side> {
  const leader = await setting.leader();
  return {
    targets: setting.targets,
    leader: setting.targets[leader]!,
    cpuSeconds: () => setting.cpuSeconds(),
    held: () => setting.held(leader),
  };
}

const sideOfFloor = (floor: Floor): Side => ({
  targets: floor.targets,
  leader: floor.targets[0]!,
  cpuSeconds: () => floor.cpuSeconds(),
  held: () => floor.held(),
});

/** Writes what is read, and lets the compiler see all work before the first burst that counts. */
async function prepare(side: Side): Promise<void> {
  for (const [kind, name] of [
    ['service-defaults', 'read'],
    ['service-resolver', 'list'],
  ] as const)
    await fill(side.targets, 16, NAMES, (n) => putEntry(`${name}-${n}`, n, kind));
  for (const work of Object.values(WORK))
    await burst(side, { connections: 64, next: work('warm-up') }, WARM_UP_SECONDS);
}

async function measureRow(
  { what, connections, work, atLeader }: Row,
  sides: readonly Side[],
): Promise<Ratios> {
  const run = (side: Side, round: number): Promise<Burst> => {
    const subject = {
      targets: atLeader ? [side.leader] : side.targets,
      cpuSeconds: () => side.cpuSeconds(),
    };
    return burst(subject, { connections, next: work(`${what.length}-${connections}-${round}`) });
  };
  const [ours, floor] = await inTurn(sides, ROUNDS, run);
  const of = (bursts: readonly Burst[], name: keyof Burst) => median(bursts.map((b) => b[name]));
  const ratio = (name: keyof Burst) =>
    median(ours!.map((each, at) => each[name] / floor![at]![name]));
  const ratios = { cpu: ratio('cpuUs'), rate: ratio('perSec') };
  row([
    ...[what, figure(of(ours!, 'perSec')), figure(of(floor!, 'perSec'))],
    ...[figure(of(ours!, 'cpuUs')), figure(of(floor!, 'cpuUs'))],
    ...[shown(ratios.cpu), shown(ratios.rate)],
  ]);
  return ratios;
}

async function measureWaking(sides: readonly Side[]): Promise<Ratios> {
  const [ours, floor] = await inTurn(sides, ROUNDS, async (side, round) => {
    const { leader: target } = side;
    const plan = { target, watchers: WATCHERS, name: `watched-${round}`, held: () => side.held() };
    return (await wake(plan)).allMs;
  });
  const time = median(ours!.map((ms, at) => ms / floor![at]!));
  const times = `${figure(median(ours!))} ms; ${figure(median(floor!))} ms at the bare servers`;
  console.log(`\n${WAKING}: ${times}; ratio ${shown(time)}`);
  return { time };
}

type KeptFile = Readonly<Record<string, Results>>;

function judge(now: Results, keep: boolean): void {
  const version = `node ${process.versions.node.split('.')[0]}`;
  const all: KeptFile = existsSync(KEPT_FILE)
    ? (JSON.parse(readFileSync(KEPT_FILE, 'utf8')) as KeptFile)
    : {};
  if (keep) {
    const rounded = Object.entries(now).map(([what, ratios]) => [what, roundedOf(ratios)]);
    const kept = { ...all, [version]: Object.fromEntries(rounded) };
    writeFileSync(KEPT_FILE, `${JSON.stringify(kept, null, 2)}\n`);
    console.log(`\nKept in ${KEPT_FILE} for ${version}.`);
    return;
  }
  const worse = worsened(all[version] ?? {}, now);
  if (worse.length > 0) process.exitCode = 1;
  const verdict = worse.length > 0 ? worse.join('\n- ') : 'nothing';
  console.log(
    `\nWorse than ${version} in ${KEPT_FILE} by more than ${TOLERANCE * 100} %, ` +
      `or not there (--keep writes all):\n\n- ${verdict}`,
  );
}

const roundedOf = (ratios: Ratios): Ratios =>
  Object.fromEntries(Object.entries(ratios).map(([name, value]) => [name, Number(shown(value))]));
