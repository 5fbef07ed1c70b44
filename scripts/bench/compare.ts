/**
 * Compares this build with another one: both clusters are running and warm, and short bursts of the
 * same load alternate.
 */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  addAsking,
  type Burst,
  burst,
  inTurn,
  median,
  NAMES,
  QUESTIONS,
  quantile,
  WORK,
} from './bursts.js';
import { fill } from './load.js';
import { figure, row, title } from './report.js';
import { putEntry, type Setting, withCluster } from './setting.js';

const CONNECTIONS = 64;
/** Requests of each kind before the first burst: the compiler needs a few thousand. */
const WARM_UP_SECONDS = 2;

/** Compares with the build in the folder `other` (a checkout in which `npm run build` was run). */
export function measureCompare(options: {
  readonly other: string;
  /** The Node that runs the other build; this one by default. */
  readonly node?: string | undefined;
  /** Environment variables of the other build: `NAME=value`. */
  readonly env: readonly string[];
  readonly rounds: number;
}): Promise<void> {
  const { node } = options;
  const env = Object.fromEntries(options.env.map((variable) => variable.split(/=(.*)/, 2)));
  const manifest = readFileSync(resolve(options.other, 'package.json'), 'utf8');
  const { bin } = JSON.parse(manifest) as { bin: { conclave: string } };
  const main = resolve(options.other, bin.conclave);
  if (!existsSync(main)) throw new Error(`${options.other} has no build`);
  return withCluster(3, (ours) =>
    withCluster(3, (theirs) => compare([theirs, ours], options.rounds), {
      run: () => ({ preload: [], env, main: () => main, ...(node !== undefined && { node }) }),
    }),
  );
}

async function compare(settings: readonly Setting[], rounds: number): Promise<void> {
  title('Permitted requests, this build to the other: median of the ratios of bursts in turn', [
    ...['what', 'CPU µs of all nodes per request, other', 'this'],
    ...['CPU, this to other', 'quartiles', 'rate, this to other'],
  ]);
  for (const { targets } of settings) {
    for (const [kind, name] of [
      ['service-defaults', 'read'],
      ['service-resolver', 'list'],
    ] as const)
      await fill(targets, 16, NAMES, (n) => putEntry(`${name}-${n}`, n, kind));
  }
  for (const setting of settings) await addAsking((path, body) => setting.put(path, body));
  const all = { ...WORK, ...QUESTIONS };
  for (const setting of settings)
    for (const work of Object.values(all))
      await burst(setting, { connections: CONNECTIONS, next: work('warm-up') }, WARM_UP_SECONDS);
  for (const [what, work] of Object.entries(all)) {
    const [theirs, ours] = await inTurn(settings, rounds, (setting, round) =>
      burst(setting, { connections: CONNECTIONS, next: work(`${round}`) }),
    );
    const ratios = (of: keyof Burst) => ours!.map((each, at) => each[of] / theirs![at]![of]);
    const cpu = ratios('cpuUs');
    const quartiles = `${ratio(quantile(cpu, 0.25))} to ${ratio(quantile(cpu, 0.75))}`;
    const cpuUs = (bursts: readonly Burst[]) => figure(median(bursts.map((each) => each.cpuUs)));
    row([
      ...[what, cpuUs(theirs!), cpuUs(ours!), ratio(median(cpu))],
      ...[quartiles, ratio(median(ratios('perSec')))],
    ]);
  }
}

const ratio = (value: number): string => value.toFixed(3);
