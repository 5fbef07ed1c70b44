/** Sends each flood to the leader of three nodes, and judges what it does to them. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster } from '../../cluster/local.js';
import type { ClusterPlan } from '../../src/dev/local.js';
import { Line } from '../bench/line.js';
import { AS_DEPLOYED, Setting } from '../bench/setting.js';
import { flood } from './flood-clients.js';
import { type Fixture, FLOODS, type Flood, prepare } from './floods.js';
import { Writers } from './writers.js';

export interface FloodPlan {
  readonly dir: string;
  /** Seconds of each flood. */
  readonly seconds: number;
  /** Settings of the nodes besides their defaults. */
  readonly settings?: ClusterPlan['settings'];
  /** Whether stalls are judged: on a machine that does something else, they mean nothing. */
  readonly judgesStalls: boolean;
  readonly note: (text: string) => void;
}

/** What a flood did to the leader. */
export interface FloodResult {
  readonly name: string;
  readonly answers: number;
  /** The longest answer to a probe, before the flood and during it. */
  readonly quietMs: number;
  readonly stallMs: number;
  readonly residentMb: number;
  /** What was wrong. */
  readonly problems: readonly string[];
}

/** How long a flood may keep a probe waiting, on a machine that does nothing else. */
const STALL_MS_MAX = 250;
/** Resident memory that no flood may exceed. */
const RESIDENT_MB_MAX = 400;
const QUIET_SECONDS = 2;
const PROBE_PAUSE_MS = 5;

/** Runs all floods, one after the other. */
export async function runFloods(plan: FloodPlan): Promise<readonly FloodResult[]> {
  const { dir, settings, note } = plan;
  const run = () => AS_DEPLOYED;
  const cluster = await startCluster({ nodes: 3, dir, run, ...(settings && { settings }) });
  try {
    const setting = new Setting(cluster);
    const fixture = await prepare(setting);
    const results: FloodResult[] = [];
    for (const each of FLOODS) {
      const result = await runFlood(plan, setting, fixture, each);
      results.push(result);
      const { name, answers, quietMs, stallMs, residentMb, problems } = result;
      const probe = `probe ${stallMs} ms (quiet ${quietMs})`;
      note([`${name}: ${answers} answers`, probe, `${residentMb} MB`, ...problems].join(', '));
    }
    return results;
  } finally {
    await cluster.stop();
  }
}

async function runFlood(
  { seconds, judgesStalls }: FloodPlan,
  setting: Setting,
  fixture: Fixture,
  { name, bursts, meanwhile }: Flood,
): Promise<FloodResult> {
  const leader = await setting.leader();
  const termBefore = await newestTerm(setting);
  const quietMs = await slowestProbe(setting, leader, sleep(QUIET_SECONDS * 1000));
  const writers = new Writers(setting);
  writers.start();
  const memory = new PeakMemory(setting.cluster.nodes[leader]!.pid!);
  const urls = [setting.targets[leader]!.url];
  const sent = flood({ urls, bursts: bursts(fixture), seconds });
  const own = repeat(meanwhile, setting, seconds);
  const ended = Promise.all([sent, sleep(seconds * 1000), own]);
  const stallMs = await slowestProbe(setting, leader, ended);
  const residentMb = memory.stop();
  await writers.stop();
  const termAfter = await newestTerm(setting);
  const problems = [...writers.problems, ...(await own)];
  if (termAfter !== termBefore) problems.push(`the term rose from ${termBefore} to ${termAfter}`);
  if (residentMb > RESIDENT_MB_MAX) problems.push(`the leader used ${residentMb} MB`);
  if (judgesStalls && stallMs > STALL_MS_MAX + quietMs)
    problems.push(`a probe waited ${stallMs} ms`);
  return { name, answers: (await sent).answers, quietMs, stallMs, residentMb, problems };
}

/** Does what belongs to a flood for a time. Returns what went wrong. */
export async function repeat(
  run: Flood['meanwhile'],
  setting: Setting,
  seconds: number,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const end = performance.now() + seconds * 1000;
  for (let n = 1; run !== undefined && performance.now() < end; n += 1) {
    await run(setting, n).catch((error: Error) => problems.push(error.message));
    await sleep(100);
  }
  return problems;
}

/** The newest term that any node has seen. */
export async function newestTerm(setting: Setting): Promise<number> {
  const terms = setting.targets.map((_, node) => setting.metric('conclave_raft_term', node));
  return Math.max(...(await Promise.all(terms)));
}

/** Returns the longest answer of a node's probe until `until` is settled, in milliseconds. */
async function slowestProbe(
  { targets }: Setting,
  node: number,
  until: Promise<unknown>,
): Promise<number> {
  const line = new Line(targets[node]!);
  let isOver = false;
  const over = until.finally(() => {
    isOver = true;
  });
  let slowestMs = 0;
  while (!isOver) {
    const began = performance.now();
    await line.ask({ method: 'GET', path: '/v1/health/live' });
    slowestMs = Math.max(slowestMs, performance.now() - began);
    await sleep(PROBE_PAUSE_MS);
  }
  line.close();
  await over;
  return Math.round(slowestMs);
}

const SAMPLE_MS = 20;

/** The largest resident memory of a process while it is watched. Linux alone tells. */
export class PeakMemory {
  #peakMb = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number) {
    this.#timer = setInterval(() => {
      this.#peakMb = Math.max(this.#peakMb, residentMb(pid));
    }, SAMPLE_MS);
  }

  /** Returns megabytes. */
  stop(): number {
    clearInterval(this.#timer);
    return Math.round(this.#peakMb);
  }
}

function residentMb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  } catch {
    return 0;
  }
}
