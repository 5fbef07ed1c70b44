/** Writes and reads at rising numbers of connections, spread over three nodes. */
import type { Ask } from './line.js';
import { fill, load } from './load.js';
import { LOAD_COLUMNS, loadRow, title } from './report.js';
import { putEntry, type Setting, withCluster } from './setting.js';

const CONNECTIONS = [1, 16, 64, 256];
const NAMES = 1000;

const read = (mode: string): Ask => ({
  method: 'GET',
  path: `/v1/config/service-defaults/read-${Math.floor(Math.random() * NAMES)}${mode}`,
});

export function measureRates(seconds: number): Promise<void> {
  return withCluster(3, async (setting) => {
    const { targets } = setting;
    title('Three nodes, requests spread over them', LOAD_COLUMNS);
    const run = (connections: number, next: (connection: number, n: number) => Ask) =>
      setting.cpuPerOp(() => load({ targets, connections, seconds, next }));
    // A warm-up, which no row shows: code that has not run before is slow.
    await run(64, (at, n) => putEntry(`warm-${at}-${n}`, n));
    for (const connections of CONNECTIONS) {
      const next = (at: number, n: number): Ask => putEntry(`new-${connections}-${at}-${n}`, n);
      loadRow(`write new entries, ${connections} connections`, await run(connections, next));
    }
    await fill(targets, 64, NAMES, (n) => putEntry(`read-${n}`, n));
    await run(64, () => read(''));
    for (const connections of CONNECTIONS) {
      const result = await run(connections, () => read(''));
      loadRow(`read one of 1,000, default, ${connections} connections`, result);
    }
    for (const mode of ['stale', 'consistent']) {
      loadRow(`the same, ${mode}, 64 connections`, await run(64, () => read(`?${mode}`)));
    }
    await lists(setting, run);
  });
}

async function lists(
  { targets }: Setting,
  run: (connections: number, next: () => Ask) => Promise<Parameters<typeof loadRow>[1]>,
): Promise<void> {
  const kind = 'service-resolver';
  await fill(targets, 64, 1000, (n) => putEntry(`list-${n}`, n, kind));
  const result = await run(64, () => ({ method: 'GET', path: `/v1/config/${kind}` }));
  loadRow('list of 1,000 entries, default, 64 connections', result);
}
