/**
 * A follower is killed and restarted under a light load: how long it takes to apply what its leader
 * has applied, and where that time goes.
 */
import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalNode } from '../../src/dev/local.js';
import { fill, spreadOf } from './load.js';
import { linesAfter } from './node-log.js';
import { Pace } from './pace.js';
import { figure, row, title } from './report.js';
import { putEntry, type Setting, withCluster } from './setting.js';

const WRITERS = 64;
/** The node is down for this long, give or take half of it. */
const AWAY_MS = 1000;
const SETTLE_MS = 500;
const LOOK_MS = 5;
const UNTIL_MS = 60_000;
const APPLIED = 'conclave_raft_applied_index';

/** Milliseconds from the start of the process. */
interface Times {
  readonly loaded: number;
  readonly serving: number;
  readonly follows: number;
  readonly caughtUp: number;
}

const STEPS: readonly (readonly [string, (times: Times) => number])[] = [
  ['the program is loaded', ({ loaded }) => loaded],
  ['then until its folder is open and it listens', ({ serving, loaded }) => serving - loaded],
  ['then until it hears its leader', ({ follows, serving }) => Math.max(0, follows - serving)],
  [
    'then until it has applied what the leader has',
    ({ caughtUp, follows, serving }) => caughtUp - Math.max(follows, serving),
  ],
  ['**from the start of the process until then**', ({ caughtUp }) => caughtUp],
];

export function measureRestart(options: {
  readonly repeat: number;
  readonly entries: number;
  readonly rate: number;
  /** Entries written while the node is down, besides those of the light load. */
  readonly missed: number;
}): Promise<void> {
  const { repeat, entries, rate, missed } = options;
  return withCluster(3, async (setting) => {
    const load = `${figure(rate)} writes per second, ${figure(entries)} entries`;
    const what = `${repeat} kills of a follower, ${load}, ${figure(missed)} missed`;
    title('A killed follower is started again', [what, 'median ms', 'worst ms']);
    await fill(setting.targets, WRITERS, entries, (n) => putEntry(`entry-${n}`, n));
    const times: Times[] = [];
    for (let round = 0; round < repeat; round++) {
      const leader = await setting.leader();
      const killed = (leader + 1 + (round % 2)) % 3;
      const others = [0, 1, 2].filter((node) => node !== killed);
      const pace = new Pace(setting, others, rate);
      await sleep(SETTLE_MS);
      const node = setting.cluster.nodes[killed]!;
      await node.kill('SIGKILL');
      const targets = others.map((other) => setting.targets[other]!);
      await fill(targets, WRITERS, missed, (n) => putEntry(`missed-${n}`, `${round}-${n}`));
      await sleep(AWAY_MS * (0.5 + round / Math.max(1, repeat - 1)));
      times.push(await restart(setting, node, leader, killed));
      await pace.stop();
      if (pace.errors > 0) throw new Error(`${pace.errors} writes failed`);
      await node.ready();
    }
    for (const [step, of] of STEPS) {
      const { p50Ms, maxMs } = spreadOf(times.map(of));
      row([step, figure(p50Ms), figure(maxMs)]);
    }
  });
}

async function restart(
  setting: Setting,
  node: LocalNode,
  leader: number,
  at: number,
): Promise<Times> {
  const from = statSync(node.logFile).size;
  const begin = Date.now();
  node.start();
  while (Date.now() - begin < UNTIL_MS) {
    const target = await setting.metric(APPLIED, leader);
    const own = await setting.metric(APPLIED, at).catch(() => 0);
    if (own >= target) {
      const caughtUp = Date.now() - begin;
      const lines = linesAfter(node.logFile, from);
      const since = (message: RegExp): number => {
        const line = lines.find(({ msg }) => message.test(msg));
        if (line === undefined) throw new Error(`${node.name} did not log ${message}`);
        return line.time - begin;
      };
      const [loaded, serving] = [since(/^opening /), since(/^serving$/)];
      return {
        loaded,
        serving,
        follows: since(/^follower in term \d+, leader (?!unknown)/),
        caughtUp,
      };
    }
    await sleep(LOOK_MS);
  }
  throw new Error(`${node.name} has not caught up after ${UNTIL_MS} ms`);
}
