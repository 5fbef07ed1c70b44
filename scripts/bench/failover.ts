/** For how long a cluster takes no writes when its leader is killed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Line } from './line.js';
import { linesTo, spreadOf } from './load.js';
import { figure, row, title } from './report.js';
import { putEntry, type Setting, withCluster } from './setting.js';

const WRITERS = 16;
const BEFORE_MS = 2000;
const AFTER_MS = 3000;

export function measureFailover(repeat: number): Promise<void> {
  return withCluster(3, async (setting) => {
    const columns = ['kill -9 of the leader, 16 writers over all nodes', 'figure'];
    title('Failover of three nodes', columns);
    const gaps: number[] = [];
    let [lost, acknowledged, refused] = [0, 0, 0];
    for (let round = 0; round < repeat; round++) {
      const result = await killOnce(setting, round);
      gaps.push(result.gapMs);
      acknowledged += result.acknowledged;
      lost += result.lost;
      refused += result.refused;
    }
    const { p50Ms, maxMs } = spreadOf(gaps);
    row([
      'longest time without an acknowledged write',
      `median ${figure(p50Ms)} ms, worst ${figure(maxMs)} ms of ${repeat}`,
    ]);
    row([
      'acknowledged writes, and those of them that were gone',
      `${figure(acknowledged)}, ${lost}`,
    ]);
    row(['errors from the nodes that were not killed', figure(refused)]);
  });
}

interface Kill {
  readonly gapMs: number;
  readonly acknowledged: number;
  readonly lost: number;
  readonly refused: number;
}

async function killOnce(setting: Setting, round: number): Promise<Kill> {
  const node = await setting.leader();
  const lines = linesTo(setting.targets, WRITERS);
  const written: string[] = [];
  const counted = { gapMs: 0, refused: 0, lastAck: performance.now(), isOver: false };
  const writers = lines.map(async (line, at) => {
    const ownNode = at % setting.targets.length;
    for (let n = 0; !counted.isOver; n++) {
      const name = `round-${round}-${at}-${n}`;
      const status = await statusOf(line, name);
      if (status === 200) {
        written.push(name);
        const now = performance.now();
        counted.gapMs = Math.max(counted.gapMs, now - counted.lastAck);
        counted.lastAck = now;
      } else if (ownNode === node) await sleep(20);
      else counted.refused += 1;
    }
  });
  await sleep(BEFORE_MS);
  counted.gapMs = 0;
  await setting.cluster.nodes[node]!.kill('SIGKILL');
  await sleep(AFTER_MS);
  counted.isOver = true;
  await Promise.all(writers);
  for (const line of lines) line.close();
  setting.cluster.nodes[node]!.start();
  await setting.cluster.nodes[node]!.ready();
  const lost = await countLost(setting, written);
  return { gapMs: counted.gapMs, acknowledged: written.length, lost, refused: counted.refused };
}

const statusOf = (line: Line, name: string): Promise<number> =>
  line.ask(putEntry(name, name)).then(
    (reply) => reply.status,
    () => 0,
  );

/** Reads every acknowledged write back. */
async function countLost({ targets }: Setting, names: readonly string[]): Promise<number> {
  const lines = linesTo(targets, 32);
  let next = 0;
  let lost = 0;
  await Promise.all(
    lines.map(async (line) => {
      while (next < names.length) {
        const path = `/v1/config/service-defaults/${names[next++]}?consistent`;
        if ((await line.ask({ method: 'GET', path })).status !== 200) lost += 1;
      }
    }),
  );
  for (const line of lines) line.close();
  return lost;
}
