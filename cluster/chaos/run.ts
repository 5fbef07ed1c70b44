/** One run: a cluster, clients, faults, recovery, verdict. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Operation, Sweep } from '../checker/history.js';
import { checkHistory, type Verdict } from '../checker/linearizability.js';
import { Random } from '../checker/random.js';
import { type ArchiveCounts, Archivist } from './archives.js';
import { type Fault, faultsOf } from './faults.js';
import { type KillFigures, killLeaders } from './kills.js';
import { Members } from './members.js';
import { Nemesis } from './nemesis.js';
import { type Setting, setUp } from './setting.js';
import { ChaosWorkload, type WorkloadCounts } from './workload.js';

export interface ChaosOptions {
  readonly seed: number;
  readonly nodes: number;
  readonly seconds: number;
  readonly kills: number;
  readonly clients: number;
  readonly pauseMs: number;
  /** Names of the faults to make; all of them by default. */
  readonly faults?: readonly string[] | undefined;
  /** Where the nodes keep data and logs, and the history goes if anything is wrong. */
  readonly dir: string;
  readonly note: (text: string) => void;
}

export interface ChaosReport {
  readonly ok: boolean;
  readonly seed: number;
  readonly nodes: number;
  readonly seconds: number;
  /** How often each fault was made. */
  readonly faults: Readonly<Record<string, number>>;
  /** What became of some of them. */
  readonly effects: Readonly<Record<string, number>>;
  /** Faults that could not be made on this machine, and why. */
  readonly leftOut: Readonly<Record<string, string>>;
  readonly counts: WorkloadCounts;
  readonly archives: ArchiveCounts;
  /** The most frequent reasons of what failed or was left open. */
  readonly reasons: Readonly<Record<string, number>>;
  /** Longest time without an acknowledged write while faults were made. */
  readonly longestGapMs: number;
  /** From the end of the faults until every node was ready. */
  readonly recoveryMs: number;
  readonly verdict: Verdict;
  /** The index at which all nodes had the same state in the end. */
  readonly agreedAt: number | undefined;
  readonly oddities: readonly string[];
  readonly kills?: KillFigures;
}

/** How long after the last fault a node may need; a busy machine is slow. */
const READY_MS = 120_000;

/** Throws if the cluster does not start. What goes wrong later is in the report. */
export async function wreak(options: ChaosOptions): Promise<ChaosReport> {
  const random = new Random(options.seed);
  const faults = faultsOf(options.faults);
  const setting = await setUp(options.nodes, options.dir);
  try {
    return await trouble(options, setting, random, faults);
  } finally {
    await setting.close();
  }
}

async function trouble(
  options: ChaosOptions,
  setting: Setting,
  random: Random,
  faults: readonly Fault[],
) {
  const { seed, nodes, seconds, dir, note } = options;
  const { cluster } = setting;
  const workload = new ChaosWorkload(
    cluster.urls,
    cluster.token,
    random.fork(),
    seconds * 1000,
    note,
  );
  const members = new Members(cluster, random.fork());
  const archivist = new Archivist(cluster.urls, cluster.token, random.fork(), note);
  const nemesis = new Nemesis(
    { ...setting, nodes: cluster.nodes, members, random: random.fork(), note },
    faults,
  );
  const oddities: string[] = [];
  /** What must succeed however the run went; a failure is part of the report. */
  const must = async <T>(step: Promise<T>): Promise<T | undefined> =>
    step.catch((error: Error) => {
      note(error.message);
      oddities.push(error.message);
      return undefined;
    });

  workload.start(options.clients, options.pauseMs);
  const until = performance.now() + seconds * 1000;
  const saving = must(archivist.run(until));
  await must(nemesis.rage(until));
  const healed = performance.now();
  note('healed');
  await must(Promise.all(cluster.nodes.map((node) => node.ready(READY_MS))));
  const recoveryMs = Math.round(performance.now() - healed);
  await saving;
  await sleep(1000);
  await workload.stop();
  await must(workload.readTokens());
  const agreedAt = await must(archivist.compare());
  const sweeps = archivist.sweepsOf(workload.history);
  const verdict = checkHistory(workload.history, { sweeps });
  oddities.push(...workload.oddities);
  const isFine = verdict.result === 'linearizable' && oddities.length === 0;
  if (!isFine) keepHistory(dir, workload.history, sweeps);
  const kills = options.kills > 0 ? await must(killLeaders(setting, options.kills)) : undefined;
  members.close();
  archivist.close();
  const reasons = [...workload.reasons].sort(([, a], [, b]) => b - a).slice(0, 15);
  return {
    ok: isFine && oddities.length === 0 && (kills?.lost ?? 0) + (kills?.duplicates ?? 0) === 0,
    ...{ seed, nodes, seconds },
    faults: nemesis.counts,
    effects: nemesis.effects,
    leftOut: nemesis.leftOut,
    counts: workload.counts,
    archives: archivist.counts,
    reasons: Object.fromEntries(reasons),
    longestGapMs: workload.longestGapMs,
    recoveryMs,
    verdict,
    agreedAt,
    oddities: oddities.slice(0, 20),
    ...(kills && { kills }),
  };
}

function keepHistory(dir: string, history: readonly Operation[], sweeps: readonly Sweep[]): void {
  const plain = sweeps.map((sweep) => ({ ...sweep, values: [...sweep.values] }));
  writeFileSync(join(dir, 'history.json'), JSON.stringify({ history, sweeps: plain }));
}
