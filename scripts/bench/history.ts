/**
 * What the history costs: CPU time of a write, where bursts alternate between a cluster that keeps
 * none and one with the default bounds, and memory and disk of a node with and without it.
 */
import { type Burst, burst, inTurn, median, type Next, quantile } from './bursts.js';
import { fill } from './load.js';
import { figure, row, title } from './report.js';
import { diskBytes, putEntry, type Setting, withCluster } from './setting.js';

const CONNECTIONS = 64;
/** Objects that bursts change. */
const OBJECTS = 1000;
const WARM_UP_SECONDS = 2;
const MB = 2 ** 20;
const NONE = { VersionsPerObject: 0, Bytes: 0, LoginBytes: 0 };

const keepNone = (setting: Setting): Promise<unknown> =>
  setting.put('/v1/operator/history/configuration', NONE);

const WORK: Readonly<Record<string, (run: string) => Next>> = {
  'make an entry': (run) => (connection, n) => putEntry(`n-${run}-${connection}-${n}`, n),
  'change an entry': (run) => (connection, n) =>
    putEntry(`w-${(connection * 31 + n) % OBJECTS}`, `${run}-${connection}-${n}`),
  'make a role': (run) => (connection, n) => ({
    method: 'PUT',
    path: '/v1/acl/role',
    body: JSON.stringify({ Name: `r-${run}-${connection}-${n}`, Description: 'a role' }),
  }),
};

/** Measures CPU time of writes, then memory and disk of nodes with a number of entries. */
export async function measureHistory(rounds: number, sizes: readonly number[]): Promise<void> {
  await withCluster(3, (without) => withCluster(3, (kept) => cpu([without, kept], rounds)));
  title('A node with and without history', [
    ...['entries', 'versions', 'history', 'MB after writing', 'MB after a start'],
    ...['disk: state MB', 'log MB'],
  ]);
  for (const size of sizes)
    for (const [count, versions] of [
      [size, 1],
      [size / 10, 20],
    ] as const)
      for (const isKept of [false, true])
        await withCluster(1, (setting) => node(setting, { count, versions, isKept }));
}

async function cpu(settings: readonly Setting[], rounds: number): Promise<void> {
  title('Writes with history to those without: median of the ratios of bursts in turn', [
    ...['what', 'CPU µs of all nodes per write without', 'with', 'CPU, with to without'],
    'quartiles',
  ]);
  await keepNone(settings[0]!);
  for (const setting of settings) {
    await fill(setting.targets, 16, OBJECTS, (n) => putEntry(`w-${n}`, n));
    for (const work of Object.values(WORK))
      await burst(setting, { connections: CONNECTIONS, next: work('warm-up') }, WARM_UP_SECONDS);
  }
  for (const [what, work] of Object.entries(WORK)) {
    const [without, kept] = await inTurn(settings, rounds, (setting, round) =>
      burst(setting, { connections: CONNECTIONS, next: work(`${round}`) }),
    );
    const ratios = kept!.map(({ cpuUs }, at) => cpuUs / without![at]!.cpuUs);
    const cpuUs = (bursts: readonly Burst[]) => figure(median(bursts.map((each) => each.cpuUs)));
    const [low, middle, high] = [0.25, 0.5, 0.75].map((at) => quantile(ratios, at).toFixed(3));
    row([what, cpuUs(without!), cpuUs(kept!), middle!, `${low} to ${high}`]);
  }
}

async function node(
  setting: Setting,
  of: { readonly count: number; readonly versions: number; readonly isKept: boolean },
): Promise<void> {
  const { count, versions, isKept } = of;
  if (!isKept) await keepNone(setting);
  for (let version = 0; version < versions; version += 1)
    await fill(setting.targets, CONNECTIONS, count, (n) => putEntry(`e-${n}`, `${n}-${version}`));
  const written = await setting.residentMb();
  const local = setting.cluster.nodes[0]!;
  await local.kill('SIGTERM');
  const [state, log] = [await diskBytes(local, 'state'), await diskBytes(local, 'log')];
  local.start();
  await local.ready();
  row([
    ...[figure(count), figure(versions), isKept ? 'default' : 'none', figure(written)],
    ...[figure(await setting.residentMb()), figure(state / MB), figure(log / MB)],
  ]);
}
