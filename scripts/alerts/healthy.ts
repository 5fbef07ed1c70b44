/** A healthy cluster under load, on which no alert may fire. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ask } from '../bench/line.js';
import { fill, load } from '../bench/load.js';
import { figure } from '../bench/report.js';
import { putEntry } from '../bench/setting.js';
import type { Lab } from './lab.js';
import type { Prometheus } from './prometheus.js';

const ENTRIES = 10_000;
const CONNECTIONS = 16;
/** One request in ten is a write. */
const READS = 9;
const LOOK_MS = 1000;

/**
 * Runs three nodes with their usual settings under load. Returns what went wrong: alerts that
 * fired, and how many requests failed.
 */
export async function wrongUnderLoad(
  { lab, prometheus, token }: { lab: Lab; prometheus: Prometheus; token: string },
  minutes: number,
): Promise<readonly string[]> {
  const { nodes } = await lab.startCluster('main', 3, {});
  const targets = nodes.map(({ url }) => ({ url, token }));
  const fired = new Set<string>();
  let isOver = false;
  const watching = (async () => {
    for (; !isOver; await sleep(LOOK_MS))
      for (const { state, labels } of await prometheus.alerts())
        if (state === 'firing')
          fired.add(`${labels['alertname']} of ${labels['instance'] ?? 'all'}`);
  })();
  await fill(targets, CONNECTIONS, ENTRIES, (n) => putEntry(`entry-${n}`, n));
  const next = (connection: number, n: number): Ask => {
    const name = `entry-${Math.floor(Math.random() * ENTRIES)}`;
    if ((connection + n) % (READS + 1) === 0) return putEntry(name, n);
    return { method: 'GET', path: `/v1/config/service-defaults/${name}` };
  };
  const plan = { targets, connections: CONNECTIONS, seconds: minutes * 60, next };
  const { perSec, p50Ms, p99Ms, errors } = await load(plan);
  isOver = true;
  await watching;
  console.log(
    `${minutes} minutes, ${CONNECTIONS} connections, one write in ${READS + 1}: ` +
      `${figure(perSec)} requests a second, p50 ${figure(p50Ms)} ms, p99 ${figure(p99Ms)} ms, ` +
      `${figure(errors)} errors, ${fired.size} alerts`,
  );
  return errors === 0 ? [...fired] : [...fired, `${figure(errors)} requests`];
}
