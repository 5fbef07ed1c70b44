/** A run: starts a cluster, lets clients work under faults, waits for recovery, and checks. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Operation, Sweep } from '../checker/history.js';
import { checkHistory, type Verdict } from '../checker/linearizability.js';
import { Random } from '../checker/random.js';
import { ArchiveClient, type ArchiveCounts } from './archives.js';
import { Caches } from './caches.js';
import { type ChangeCounts, ChangeWorkload } from './changes.js';
import { type Fault, faultsOf } from './faults.js';
import { type KillFigures, killLeaders } from './kills.js';
import { Members } from './members.js';
import { Nemesis } from './nemesis.js';
import { type RightsCounts, RightsWorkload } from './rights.js';
import { startTestbed, type Testbed } from './testbed.js';
import { ChaosWorkload, type WorkloadCounts } from './workload.js';

/** The options of a run. */
export interface ChaosOptions {
  readonly seed: number;
  readonly nodes: number;
  readonly seconds: number;
  readonly kills: number;
  readonly clients: number;
  readonly pauseMs: number;
  /** Names of the faults to make; all of them by default. */
  readonly faults?: readonly string[] | undefined;
  /** The folder for data and logs of the nodes, and for the history of a run that fails. */
  readonly dir: string;
  readonly note: (text: string) => void;
}

/** The result of a run. */
export interface ChaosReport {
  readonly ok: boolean;
  readonly seed: number;
  readonly nodes: number;
  readonly seconds: number;
  /** The number of times that each fault was made. */
  readonly faults: Readonly<Record<string, number>>;
  /** The number of times of each effect, for faults with several. */
  readonly effects: Readonly<Record<string, number>>;
  /** Faults that cannot be made on this machine, with the reasons. */
  readonly leftOut: Readonly<Record<string, string>>;
  readonly counts: WorkloadCounts;
  readonly changes: ChangeCounts;
  readonly rights: RightsCounts;
  readonly archives: ArchiveCounts;
  /** The most frequent reasons of failed requests and unknown outcomes. */
  readonly reasons: Readonly<Record<string, number>>;
  /** Longest time without an acknowledged write, in milliseconds. */
  readonly longestGapMs: number;
  /** Time from the end of the faults until every node was ready, in milliseconds. */
  readonly recoveryMs: number;
  readonly verdict: Verdict;
  /**
   * The index at which the states of all nodes were equal at the end; undefined if they were not.
   */
  readonly agreedAt: number | undefined;
  /** Violations and failures besides the verdict. */
  readonly anomalies: readonly string[];
  readonly kills?: KillFigures;
}

/** Time in which every node must be ready after the last fault, on a busy machine. */
const READY_MS = 120_000;

/** Clients that apply sets, write on conditions, and undo. */
const CHANGE_CLIENTS = 4;
/** Clients that give tokens rights, and take them. */
const RIGHTS_CLIENTS = 4;

/** Runs the test. Throws if the cluster does not start; later failures are in the report. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const random = new Random(options.seed);
  const faults = faultsOf(options.faults);
  const testbed = await startTestbed(options.nodes, options.dir);
  // a node that is stopped, or whose disk hangs, would outlive a run that is interrupted
  const kill = (): void => {
    for (const node of testbed.cluster.nodes) void node.kill('SIGKILL');
  };
  process.once('exit', kill);
  try {
    return await runFaults(options, testbed, random, faults);
  } finally {
    process.off('exit', kill);
    await testbed.close();
  }
}

async function runFaults(
  options: ChaosOptions,
  testbed: Testbed,
  random: Random,
  faults: readonly Fault[],
): Promise<ChaosReport> {
  const { seed, nodes, seconds, note } = options;
  const { cluster } = testbed;
  const { urls, token } = cluster;
  const workload = new ChaosWorkload(urls, token, random.fork(), seconds * 1000, note);
  const changes = new ChangeWorkload(urls, token, random.fork());
  const members = new Members(cluster, random.fork());
  const archives = new ArchiveClient(cluster.urls, cluster.token, random.fork(), note);
  const caches = new Caches(urls, options.dir);
  const restoredSince = (ms: number): boolean => archives.restoredSince(ms);
  const rights = new RightsWorkload(urls, token, random.fork(), restoredSince, caches);
  const nemesis = new Nemesis(
    { ...testbed, nodes: cluster.nodes, members, random: random.fork(), note },
    faults,
  );
  const anomalies: string[] = [];
  /** Awaits a step that must succeed. A failure becomes an anomaly and does not end the run. */
  const must = async <T>(step: Promise<T>): Promise<T | undefined> =>
    step.catch((error: Error) => {
      note(error.message);
      anomalies.push(error.message);
      return undefined;
    });

  workload.start(options.clients, options.pauseMs);
  changes.start(CHANGE_CLIENTS, options.pauseMs);
  rights.start(RIGHTS_CLIENTS, options.pauseMs);
  const until = performance.now() + seconds * 1000;
  const saving = must(archives.run(until));
  await must(nemesis.run(until));
  const healed = performance.now();
  note('all faults are undone');
  await must(Promise.all(cluster.nodes.map((node) => node.ready(READY_MS))));
  const recoveryMs = Math.round(performance.now() - healed);
  await saving;
  await sleep(1000);
  await Promise.all([workload.stop(), changes.stop(), rights.stop()]);
  anomalies.push(...changes.anomalies, ...rights.anomalies);
  await must(workload.readTokens());
  const agreedAt = await must(archives.compare());
  const verdict = check(options.dir, workload, archives, anomalies);
  const kills = options.kills > 0 ? await must(killLeaders(testbed, options.kills)) : undefined;
  members.close();
  archives.close();
  return {
    ok: isFine(verdict, anomalies) && (kills?.lost ?? 0) + (kills?.duplicates ?? 0) === 0,
    seed,
    nodes,
    seconds,
    ...resultsOf(workload, archives, nemesis),
    changes: changes.counts,
    rights: rights.counts,
    recoveryMs,
    verdict,
    agreedAt,
    anomalies: anomalies.slice(0, 20),
    ...(kills && { kills }),
  };
}

const isFine = (verdict: Verdict, anomalies: readonly string[]): boolean =>
  verdict.result === 'linearizable' && anomalies.length === 0;

/** Checks the history. Adds the anomalies of the clients, and keeps the history of a failed run. */
function check(
  dir: string,
  workload: ChaosWorkload,
  archives: ArchiveClient,
  anomalies: string[],
): Verdict {
  const sweeps = archives.sweepsOf(workload.history);
  const verdict = checkHistory(workload.history, { sweeps });
  anomalies.push(...workload.anomalies);
  if (!isFine(verdict, anomalies)) keepHistory(dir, workload.history, sweeps);
  return verdict;
}

/** The figures that clients and nemesis counted. */
function resultsOf(workload: ChaosWorkload, archives: ArchiveClient, nemesis: Nemesis) {
  const reasons = [...workload.reasons].sort(([, a], [, b]) => b - a).slice(0, 15);
  return {
    faults: nemesis.counts,
    effects: nemesis.effects,
    leftOut: nemesis.leftOut,
    counts: workload.counts,
    archives: archives.counts,
    reasons: Object.fromEntries(reasons),
    longestGapMs: workload.longestGapMs,
  };
}

function keepHistory(dir: string, history: readonly Operation[], sweeps: readonly Sweep[]): void {
  const plain = sweeps.map((sweep) => ({ ...sweep, values: [...sweep.values] }));
  writeFileSync(join(dir, 'history.json'), JSON.stringify({ history, sweeps: plain }));
}
