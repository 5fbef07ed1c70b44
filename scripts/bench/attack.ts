/** What bodies of clients without a token, which take long to check, cost permitted clients. */

import { flood } from '../fuzz/flood-clients.js';
import { PeakMemory } from '../fuzz/flood-run.js';
import { FLOODS, prepare } from '../fuzz/floods.js';
import { attack, withBareServer } from './anonymous-clients.js';
import { type Load, load, spreadOf } from './load.js';
import { figure, row, title } from './report.js';
import { putEntry, type Setting, withCluster } from './setting.js';

const WARM_UP_SECONDS = 4;
const QUIET_SECONDS = 6;
const ATTACK_SECONDS = 12;
const WRITERS = 8;
/**
 * The machine's load changes within a minute, so each attack is compared with the time before it.
 */
const ROUNDS = 3;
const FLOOD_SECONDS = 60;

interface Outcome {
  readonly requests: number;
  readonly before: Load;
  readonly during: Load;
}

/**
 * Measures the writes of permitted clients before and while clients without a token send bodies to
 * all nodes. The row with a bare server shows what these cost merely by sharing the machine.
 */
export function measureAttack(): Promise<void> {
  return withCluster(3, async (setting) => {
    title(
      `Permitted writes while clients without a token send 800 kB, medians of ${ROUNDS} attacks`,
      [
        ...['clients', 'their requests', 'p50 ms before', 'p50 ms during', 'during to before'],
        ...['max ms', 'failed writes', 'term'],
      ],
    );
    await writesFor(setting, WARM_UP_SECONDS);
    const urls = setting.targets.map(({ url }) => url);
    await withBareServer((url) => attackRow(setting, '8, at a bare server', [url], 8));
    await attackRow(setting, '2', urls, 2);
    await attackRow(setting, '8', urls, 8);
    await allAtOnce(setting);
  });
}

/** Measures permitted writes before and while all floods that anybody can send go to all nodes. */
async function allAtOnce(setting: Setting): Promise<void> {
  title(`Permitted writes while all floods go to all nodes for ${FLOOD_SECONDS} s`, [
    ...['p50 ms before', 'p50 ms during', 'p99 ms before', 'p99 ms during', 'during to before'],
    ...['failed writes', 'term before', 'term during', 'MB of a node at most'],
  ]);
  const fixture = await prepare(setting);
  const urls = setting.targets.map(({ url }) => url);
  const before = await writesFor(setting, FLOOD_SECONDS);
  const termBefore = await setting.metric('conclave_raft_term');
  const memories = setting.cluster.nodes.map(({ pid }) => new PeakMemory(pid!));
  const bursts = FLOODS.flatMap((flooding) => flooding.bursts(fixture));
  const sent = flood({ urls, bursts, seconds: FLOOD_SECONDS });
  const during = await writesFor(setting, FLOOD_SECONDS);
  await sent;
  const figures = [
    ...[before.p50Ms, during.p50Ms, before.p99Ms, during.p99Ms, during.p99Ms / before.p99Ms],
    ...[during.errors, termBefore, await setting.metric('conclave_raft_term')],
    Math.max(...memories.map((memory) => memory.stop())),
  ];
  row(figures.map(figure));
}

async function attackRow(
  setting: Setting,
  who: string,
  urls: readonly string[],
  clients: number,
): Promise<void> {
  const found: Outcome[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = await writesFor(setting, QUIET_SECONDS);
    const requests = attack({ urls, clients, seconds: ATTACK_SECONDS });
    const during = await writesFor(setting, ATTACK_SECONDS);
    found.push({ requests: await requests, before, during });
  }
  const median = (of: (each: Outcome) => number): number => spreadOf(found.map(of)).p50Ms;
  const most = (of: (each: Outcome) => number): number => spreadOf(found.map(of)).maxMs;
  const figures = [
    median(({ requests }) => requests),
    median(({ before }) => before.p50Ms),
    median(({ during }) => during.p50Ms),
    median(({ before, during }) => during.p50Ms / before.p50Ms),
    most(({ during }) => during.maxMs),
    found.reduce((sum, { during }) => sum + during.errors, 0),
    await setting.metric('conclave_raft_term'),
  ];
  row([who, ...figures.map((value) => figure(value))]);
}

const writesFor = ({ targets }: Setting, seconds: number): Promise<Load> =>
  load({
    ...{ targets, connections: WRITERS, seconds },
    next: (connection, n) => putEntry(`w${connection}`, n),
  });
