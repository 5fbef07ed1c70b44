/** What long bodies of clients without a token, and floods of requests, cost permitted clients. */
import { burn, flood } from '../fuzz/flood-clients.js';
import { newestTerm, PeakMemory, repeat } from '../fuzz/flood-run.js';
import { type Fixture, FLOODS, type Flood, prepare } from '../fuzz/floods.js';
import { attack, withBareServer } from './anonymous-clients.js';
import { type Load, load, spreadOf } from './load.js';
import { figure, row, title } from './report.js';
import { AS_DEPLOYED, putEntry, type Setting, withCluster } from './setting.js';

const WARM_UP_SECONDS = 4;
const QUIET_SECONDS = 6;
const ATTACK_SECONDS = 12;
const WRITERS = 8;
/**
 * The machine's load changes within a minute, so each attack is compared with the time before it.
 */
const ROUNDS = 3;
const FLOOD_SECONDS = 10;
const ALL_FLOODS_SECONDS = 60;

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
  const measure = async (setting: Setting): Promise<void> => {
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
    await floodRows(setting);
  };
  return withCluster(3, measure, { run: () => AS_DEPLOYED });
}

/**
 * Measures permitted writes while floods go to all nodes: each alone, then all at once. They are
 * compared with writes on a quiet machine, and with writes while another process uses as much of it
 * as the clients of the flood did: the rest is what the flood does to the nodes.
 */
async function floodRows(setting: Setting): Promise<void> {
  title('Permitted writes while floods go to all nodes', [
    ...['flood', 'answers', 'cores of its clients'],
    ...['p50 ms quiet', 'p50 ms beside its CPU use', 'p50 ms during'],
    ...['p99 ms quiet', 'p99 ms beside its CPU use', 'p99 ms during'],
    ...['during to quiet', 'during to CPU use', 'failed writes', 'term before', 'term after'],
    'MB of a node at most',
  ]);
  const fixture = await prepare(setting);
  const floods = FLOODS.filter((each) => each.bursts(fixture).length > 0);
  for (const each of floods) await floodRow(setting, fixture, [each], FLOOD_SECONDS);
  await floodRow(setting, fixture, floods, ALL_FLOODS_SECONDS);
}

async function floodRow(
  setting: Setting,
  fixture: Fixture,
  floods: readonly Flood[],
  seconds: number,
): Promise<void> {
  const urls = setting.targets.map(({ url }) => url);
  const termBefore = await newestTerm(setting);
  const quiet = await writesFor(setting, seconds);
  const memories = setting.cluster.nodes.map(({ pid }) => new PeakMemory(pid!));
  const sent = flood({ urls, bursts: floods.flatMap(({ bursts }) => bursts(fixture)), seconds });
  const own = floods.map(({ meanwhile }) => repeat(meanwhile, setting, seconds));
  const during = await writesFor(setting, seconds);
  const { answers, cores } = await sent;
  const problems = (await Promise.all(own)).flat();
  const residentMb = Math.max(...memories.map((memory) => memory.stop()));
  const burnt = burn(cores, seconds);
  const beside = await writesFor(setting, seconds);
  await burnt;
  const figures = [
    ...[answers, cores, quiet.p50Ms, beside.p50Ms, during.p50Ms],
    ...[quiet.p99Ms, beside.p99Ms, during.p99Ms],
    ...[during.p99Ms / quiet.p99Ms, during.p99Ms / beside.p99Ms],
    ...[during.errors + problems.length, termBefore, await newestTerm(setting), residentMb],
  ];
  row([floods.length > 1 ? 'all at once' : floods[0]!.name, ...figures.map(figure)]);
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
