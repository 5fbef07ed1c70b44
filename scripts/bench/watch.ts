/** How long a write takes to reach all blocking queries. */
import { setTimeout as sleep } from 'node:timers/promises';
import { linesTo, spreadOf } from './load.js';
import { figure, row, title } from './report.js';
import { putEntry, type Setting, withCluster } from './setting.js';

export interface WakePlan {
  readonly node: number;
  readonly watchers: number;
  readonly name: string;
}

/**
 * Opens blocking queries for an entry on many connections to one node, writes the entry, and
 * reports when they were answered.
 */
export async function wake(setting: Setting, { node, watchers, name }: WakePlan): Promise<string> {
  const path = `/v1/config/service-defaults/${name}`;
  await setting.ask(putEntry(name, `before ${watchers}`), node);
  const { index } = await setting.ask({ method: 'GET', path }, node);
  const lines = linesTo([setting.targets[node]!], watchers);
  const times: number[] = [];
  let sent = 0;
  let early = 0;
  const waits = lines.map(async (line) => {
    const reply = await line.ask({ method: 'GET', path: `${path}?index=${index}&wait=120s` });
    if (sent === 0 || reply.status !== 200) early += 1;
    times.push(performance.now() - sent);
  });
  while ((await setting.metric('conclave_http_held', node)) < watchers && early === 0) {
    await sleep(50);
  }
  const memory = await setting.residentMb(node);
  sent = performance.now();
  await Promise.all([setting.ask(putEntry(name, `after ${watchers}`), node), ...waits]);
  for (const line of lines) line.close();
  if (early > 0) throw new Error(`${early} watchers were answered before the write`);
  const { p50Ms, maxMs } = spreadOf(times);
  return `half woken after ${figure(p50Ms)} ms, all after ${figure(maxMs)} ms, ${figure(memory)} MB resident`;
}

export function measureWatchers(counts: readonly number[]): Promise<void> {
  return withCluster(3, async (setting) => {
    title('Blocking queries for one entry at the leader of three nodes', ['watchers', 'figure']);
    const node = await setting.leader();
    for (const watchers of counts) {
      row([figure(watchers), await wake(setting, { node, watchers, name: `watched-${watchers}` })]);
    }
  });
}
