/**
 * Compares this build with another one: both clusters are running and warm, and short bursts of the
 * same load alternate.
 */
import { resolve } from 'node:path';
import type { Ask } from './line.js';
import { fill, load } from './load.js';
import { figure, row, title } from './report.js';
import { putEntry, type Setting, withCluster } from './setting.js';

const CONNECTIONS = 64;
const BURST_SECONDS = 1;
/** Requests of each kind before the first burst: the compiler needs a few thousand. */
const WARM_UP_SECONDS = 2;
const NAMES = 1000;
const READ = '/v1/config/service-defaults/read-';

type Next = (connection: number, n: number) => Ask;
const readOf =
  (how: string): Next =>
  (connection, n) => ({
    method: 'GET',
    path: `${READ}${(connection * 31 + n) % NAMES}${how}`,
  });

/** Permitted requests. `run` separates the names of one burst from those of the others. */
const WORK: Readonly<Record<string, (run: string) => Next>> = {
  'write an entry': (run) => (connection, n) => putEntry(`w-${run}-${connection}-${n}`, n),
  'write a role': (run) => (connection, n) => ({
    method: 'PUT',
    path: '/v1/acl/role',
    body: JSON.stringify({ Name: `r-${run}-${connection}-${n}`, Description: 'a role' }),
  }),
  'read, stale': () => readOf('?stale'),
  'read, default': () => readOf(''),
  'read, consistent': () => readOf('?consistent'),
  'list of 1,000 entries': () => () => ({ method: 'GET', path: '/v1/config/service-resolver' }),
};

interface Burst {
  readonly cpuUs: number;
  readonly perSec: number;
}

/** Compares with the build in the folder `other` (a checkout in which `npm run build` was run). */
export function measureCompare(options: {
  readonly other: string;
  readonly rounds: number;
}): Promise<void> {
  const main = resolve(options.other, 'dist/src/main.js');
  return withCluster(3, (ours) =>
    withCluster(3, (theirs) => compare([theirs, ours], options.rounds), {
      run: () => ({ preload: [], env: {}, main: () => main }),
    }),
  );
}

async function compare(settings: readonly Setting[], rounds: number): Promise<void> {
  title('Permitted requests, this build to the other: median of the ratios of bursts in turn', [
    ...['what', 'CPU µs of all nodes per request, other', 'this'],
    ...['CPU, this to other', 'quartiles', 'rate, this to other'],
  ]);
  for (const setting of settings) {
    for (const [kind, name] of [
      ['service-defaults', 'read'],
      ['service-resolver', 'list'],
    ] as const)
      await fill(setting.targets, 16, NAMES, (n) => putEntry(`${name}-${n}`, n, kind));
    for (const work of Object.values(WORK)) await burst(setting, work('warm-up'), WARM_UP_SECONDS);
  }
  for (const [what, work] of Object.entries(WORK)) {
    const found: Burst[][] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      for (let turn = 0; turn < settings.length; turn += 1) {
        const at = (round + turn) % settings.length;
        found[at]!.push(await burst(settings[at]!, work(`${round}`), BURST_SECONDS));
      }
    }
    const [theirs, ours] = found as [Burst[], Burst[]];
    const ratios = (of: keyof Burst) => ours.map((each, round) => each[of] / theirs[round]![of]);
    const cpu = ratios('cpuUs');
    const quartiles = `${ratio(quantile(cpu, 0.25))} to ${ratio(quantile(cpu, 0.75))}`;
    const median = (bursts: readonly Burst[]): string =>
      figure(
        quantile(
          bursts.map(({ cpuUs }) => cpuUs),
          0.5,
        ),
      );
    row([
      ...[what, median(theirs), median(ours), ratio(quantile(cpu, 0.5))],
      ...[quartiles, ratio(quantile(ratios('perSec'), 0.5))],
    ]);
  }
}

async function burst(setting: Setting, next: Next, seconds: number): Promise<Burst> {
  const { targets } = setting;
  const { cpuUs, perSec, errors } = await setting.cpuPerOp(() =>
    load({ targets, connections: CONNECTIONS, seconds, next }),
  );
  if (errors > 0) throw new Error(`${errors} requests were not answered with 200`);
  return { cpuUs, perSec };
}

const ratio = (value: number): string => value.toFixed(3);

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const [below, above] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
  return below + (above - below) * (at % 1);
}
