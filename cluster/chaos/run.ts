/** One run: a cluster, clients, faults, recovery, verdict. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkHistory, type Verdict } from '../checker/linearizability.js';
import { Random } from '../checker/random.js';
import { type KillFigures, killLeaders } from './kills.js';
import { Nemesis } from './nemesis.js';
import { setUp } from './setting.js';
import { ChaosWorkload, type WorkloadCounts } from './workload.js';

export interface ChaosOptions {
  readonly seed: number;
  readonly nodes: number;
  readonly seconds: number;
  readonly kills: number;
  readonly clients: number;
  readonly pauseMs: number;
  /** Where the nodes keep data and logs. */
  readonly dir: string;
  readonly note: (text: string) => void;
}

export interface ChaosReport {
  readonly ok: boolean;
  readonly seed: number;
  readonly nodes: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly counts: WorkloadCounts;
  readonly verdict: Verdict;
  readonly oddities: readonly string[];
  readonly kills?: KillFigures;
}

/** Throws if the cluster does not start, or does not recover when the faults are over. */
export async function wreak(options: ChaosOptions): Promise<ChaosReport> {
  const { seed, seconds, dir, note } = options;
  const random = new Random(seed);
  const setting = await setUp(options.nodes, dir);
  const { cluster, network } = setting;
  try {
    const workload = new ChaosWorkload(cluster.urls, cluster.token, random.fork());
    const nemesis = new Nemesis({
      nodes: cluster.nodes,
      network,
      random: random.fork(),
      leader: () => setting.leader(),
      note,
    });
    workload.start(options.clients, options.pauseMs);
    await nemesis.rage(performance.now() + seconds * 1000);
    note('healed');
    await Promise.all(cluster.nodes.map((node) => node.ready()));
    await workload.stop();
    await workload.readAll();
    const verdict = checkHistory(workload.history);
    const isFine = verdict.result === 'linearizable' && workload.oddities.length === 0;
    if (!isFine) writeFileSync(join(dir, 'history.json'), JSON.stringify(workload.history));
    const kills = options.kills > 0 ? await killLeaders(setting, options.kills) : undefined;
    return {
      ok: isFine && (kills?.lost ?? 0) === 0 && (kills?.duplicates ?? 0) === 0,
      seed,
      nodes: options.nodes,
      faults: nemesis.counts,
      counts: workload.counts,
      verdict,
      oddities: workload.oddities.slice(0, 20),
      ...(kills && { kills }),
    };
  } finally {
    await setting.close();
  }
}
