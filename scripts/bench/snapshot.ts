/**
 * Saves a snapshot of many entries from three nodes and restores it: how long that takes, and
 * whether the leader stays.
 */
import { fill } from './load.js';
import { loopDelay } from './loop-delay.js';
import { figure, row, title } from './report.js';
import { putEntry, type Setting, withCluster } from './setting.js';

const CONNECTIONS = 64;
const TERM = 'conclave_raft_term';

export function measureSnapshot(entries: number): Promise<void> {
  return withCluster(3, async (setting) => {
    title(`Snapshot of ${figure(entries)} entries, at the leader of three nodes`, [
      'what',
      'figure',
    ]);
    await fill(setting.targets, CONNECTIONS, entries, (n) => putEntry(`entry-${n}`, n));
    const leader = await setting.leader();
    const term = await setting.metric(TERM, leader);
    const archive = await timed(setting, leader, 'save', {});
    row(['archive', `${figure(archive.length / 2 ** 20)} MB`]);
    await timed(setting, leader, 'restore', { method: 'PUT', body: new Uint8Array(archive) });
    const terms = await Promise.all(setting.targets.map((_, node) => setting.metric(TERM, node)));
    row(['elections meanwhile', figure(Math.max(...terms) - term)]);
    await setting.ask({ method: 'GET', path: '/v1/config/service-defaults/entry-0' });
  });
}

async function timed(
  setting: Setting,
  leader: number,
  what: string,
  init: RequestInit,
): Promise<Buffer> {
  const nodes = setting.targets.map((_, node) => node);
  const readings = () => Promise.all(nodes.map((node) => setting.loopReading(node)));
  const before = await readings();
  const { url, token } = setting.targets[leader]!;
  const begin = performance.now();
  const answer = await fetch(`${url}/v1/snapshot`, {
    ...init,
    headers: { 'X-Consul-Token': token },
  });
  const body = Buffer.from(await answer.arrayBuffer());
  const ms = performance.now() - begin;
  if (answer.status !== 200) throw new Error(`${what}: ${answer.status} ${body}`);
  const delays = (await readings()).map((reading, node) => loopDelay(before[node]!, reading));
  const longest = delays.map(({ maxMs }) => figure(maxMs)).join(', ');
  row([what, `${figure(ms)} ms; event loops held ${longest} ms at most`]);
  return body;
}
