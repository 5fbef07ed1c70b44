/** Measures failover: kills one leader after the other under writes through all nodes. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalNode } from '../../src/dev/local.js';
import { Connection } from './client.js';
import type { Testbed } from './testbed.js';

/** What the kills cost. */
export interface KillFigures {
  readonly kills: number;
  readonly acknowledged: number;
  /** Acknowledged writes that do not exist afterwards. */
  readonly lost: number;
  /** Writes that took effect twice. */
  readonly duplicates: number;
  /** Failed writes to nodes that were not killed, and their distinct messages. */
  readonly survivorErrors: number;
  readonly survivorMessages: readonly string[];
  /** Longest time without any acknowledged write around each kill, in milliseconds. */
  readonly gapsMs: readonly number[];
  readonly gapMedianMs: number;
  readonly gapMaxMs: number;
}

const CONNECTIONS = 16;
const SETTLE_MS = 1_500;
const ANSWER_MS = 20_000;
/** Time for a restart on a busy machine. */
const READY_MS = 120_000;

interface Load {
  readonly acknowledged: Map<string, number>;
  readonly acknowledgedAt: number[];
  readonly errors: string[];
  dead: string | undefined;
  stopped: boolean;
}

/** Kills the leader `kills` times and restarts it each time. */
export async function killLeaders(testbed: Testbed, kills: number): Promise<KillFigures> {
  const { cluster } = testbed;
  const load: Load = {
    acknowledged: new Map(),
    acknowledgedAt: [],
    errors: [],
    dead: undefined,
    stopped: false,
  };
  const writers = Array.from({ length: CONNECTIONS }, (_, i) => write(testbed, load, i));
  const gapsMs: number[] = [];
  for (let i = 0; i < kills; i++) {
    await sleep(SETTLE_MS);
    const leader = await awaitLeader(testbed);
    const from = performance.now();
    load.dead = leader.url;
    await leader.kill('SIGKILL');
    await sleep(SETTLE_MS);
    await awaitLeader(testbed);
    await sleep(SETTLE_MS);
    gapsMs.push(longestGap(load.acknowledgedAt, from));
    leader.start();
    await leader.ready(READY_MS);
    load.dead = undefined;
  }
  await sleep(SETTLE_MS);
  load.stopped = true;
  await Promise.all(writers);
  const { lost, duplicates } = await audit(cluster.urls[0]!, cluster.token, load.acknowledged);
  const sorted = [...gapsMs].sort((a, b) => a - b);
  return {
    kills,
    acknowledged: load.acknowledged.size,
    lost,
    duplicates,
    survivorErrors: load.errors.length,
    survivorMessages: [...new Set(load.errors)].slice(0, 5),
    gapsMs,
    gapMedianMs: sorted[sorted.length >> 1] ?? 0,
    gapMaxMs: sorted.at(-1) ?? 0,
  };
}

async function write(testbed: Testbed, load: Load, writer: number): Promise<void> {
  const { urls, token } = testbed.cluster;
  const connection = new Connection(urls[writer % urls.length]!, token, ANSWER_MS);
  for (let i = 0; !load.stopped; i++) {
    const name = `w${writer}-${i}`;
    const wasDead = load.dead === connection.url;
    const answer = await connection.write(name, name);
    const isDead = load.dead === connection.url;
    if (answer.outcome === 'ok') {
      load.acknowledged.set(name, i);
      load.acknowledgedAt.push(performance.now());
    } else if (!wasDead && !isDead) load.errors.push(answer.why.slice(0, 200));
    // Do not spin on a killed node: the clients share the machine with the nodes.
    await sleep(answer.outcome === 'ok' ? 5 : 50);
  }
  connection.close();
}

function longestGap(times: readonly number[], from: number): number {
  let last = from;
  let longest = 0;
  for (const time of times) {
    if (time < from) continue;
    longest = Math.max(longest, time - last);
    last = time;
  }
  return Math.round(Math.max(longest, performance.now() - last));
}

async function awaitLeader(testbed: Testbed): Promise<LocalNode> {
  for (let tries = 0; tries < 100; tries++) {
    const leader = await testbed.leader();
    if (leader?.pid !== undefined) return leader;
    await sleep(100);
  }
  throw new Error('no leader for 10 s');
}

/** Counts acknowledged writes that are lost, and those that were applied twice. */
async function audit(
  url: string,
  token: string,
  acknowledged: ReadonlyMap<string, number>,
): Promise<{ lost: number; duplicates: number }> {
  const connection = new Connection(url, token, ANSWER_MS);
  let lost = 0;
  let duplicates = 0;
  for (const name of acknowledged.keys()) {
    const answer = await connection.read(name, 'consistent');
    if (answer.outcome !== 'ok' || answer.value.value !== name) lost++;
    else if (answer.value.createIndex !== answer.value.index) duplicates++;
  }
  connection.close();
  return { lost, duplicates };
}
