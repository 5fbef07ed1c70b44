/** What an idle cluster uses. */
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSecondsOf } from './processes.js';
import { figure, row, title } from './report.js';
import { withCluster } from './setting.js';

const NODES = 3;
/** Seconds after the start in which code is still compiled and heaps are collected. */
const SETTLE_SECONDS = 10;

/** Measures the CPU time of three idle nodes, in turns of some seconds. */
export async function measureIdle(seconds: number, rounds: number): Promise<void> {
  title(`Nodes of an idle cluster, rounds of ${seconds} s`, ['node', '% of a core', 'resident MB']);
  await withCluster(NODES, async (setting) => {
    await sleep(SETTLE_SECONDS * 1000);
    const leader = await setting.leader();
    for (let round = 0; round < rounds; round += 1) {
      const used = (): number[] => setting.cluster.nodes.map((node) => cpuSecondsOf([node]));
      const before = used();
      await sleep(seconds * 1000);
      for (const [node, now] of used().entries()) {
        const role = node === leader ? 'leader' : 'follower';
        const share = (100 * (now - before[node]!)) / seconds;
        row([role, figure(share), figure(await setting.residentMb(node))]);
      }
    }
  });
}
