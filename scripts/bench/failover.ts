/**
 * How long a cluster accepts no writes when its leader is killed or transfers leadership, and when
 * all nodes are restarted.
 */
import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { spreadOf } from './load.js';
import { linesAfter } from './node-log.js';
import { figure, row, title } from './report.js';
import { type Setting, withCluster } from './setting.js';
import { Writers } from './writers.js';

const WRITERS = 16;
const BEFORE_MS = 2000;
const AFTER_MS = 3000;
const GAP = 'longest time without an acknowledged write';

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);

export function measureFailover(repeat: number): Promise<void> {
  return withCluster(3, async (setting) => {
    const columns = [`kill -9 of the leader, ${WRITERS} writers over all nodes`, 'figure'];
    title('Failover of three nodes', columns);
    const gaps: number[] = [];
    const steps: Steps[] = [];
    let [lost, acknowledged, errors] = [0, 0, 0];
    for (let round = 0; round < repeat; round++) {
      const killed = await setting.leader();
      const writers = new Writers(setting, { writers: WRITERS, names: `round-${round}` });
      await sleep(BEFORE_MS);
      writers.gapMs();
      const stepsOf = watchLogs(setting, killed);
      await setting.cluster.nodes[killed]!.kill('SIGKILL');
      await sleep(AFTER_MS);
      const { gapEndedAt } = writers;
      gaps.push(writers.gapMs());
      steps.push(stepsOf(gapEndedAt));
      await writers.stop();
      setting.cluster.nodes[killed]!.start();
      await setting.cluster.nodes[killed]!.ready();
      acknowledged += writers.acknowledged.length;
      lost += await writers.lost();
      errors += sum(writers.errors.filter((_, node) => node !== killed));
    }
    gapRow(gaps);
    stepRow('from the kill until a survivor asks for votes', steps, ({ asked }) => asked);
    stepRow('then until one leads', steps, ({ asked, led }) => led - asked);
    stepRow('then until a write is acknowledged', steps, ({ led, served }) => served - led);
    stepRow('campaigns for one kill', steps, ({ campaigns }) => campaigns, '');
    row(lostRow(acknowledged, lost));
    row(['errors from the nodes that were not killed', figure(errors)]);
  });
}

/** Milliseconds from the kill, from the survivors' logs. */
interface Steps {
  readonly asked: number;
  readonly led: number;
  readonly served: number;
  /** How often a survivor became a candidate or pre-candidate. */
  readonly campaigns: number;
}

/** Call it before the kill, and the returned function after the gap with the time of its end. */
function watchLogs(setting: Setting, killed: number): (servedAt: number) => Steps {
  const survivors = setting.cluster.nodes.filter((_, node) => node !== killed);
  const from = survivors.map(({ logFile }) => statSync(logFile).size);
  const begin = Date.now();
  return (servedAt) => {
    const lines = survivors
      .flatMap(({ logFile }, at) => linesAfter(logFile, from[at]!))
      .sort((a, b) => a.time - b.time);
    const campaigns = lines.filter(({ msg }) => /^(pre-?)?candidate in term/i.test(msg));
    const leads = lines.filter(({ msg }) => msg.startsWith('leader in term'));
    const since = (time: number | undefined): number => (time ?? Number.NaN) - begin;
    return {
      asked: since(campaigns[0]?.time),
      led: since(leads.at(-1)?.time),
      served: since(servedAt),
      campaigns: campaigns.length,
    };
  };
}

function stepRow(
  what: string,
  steps: readonly Steps[],
  of: (steps: Steps) => number,
  unit = ' ms',
): void {
  const { p50Ms, maxMs } = spreadOf(steps.map(of));
  row([what, `median ${figure(p50Ms)}${unit}, worst ${figure(maxMs)}${unit}`]);
}

/** Transfers leadership to any other node while clients write. */
export function measureTransfers(repeat: number): Promise<void> {
  return withCluster(3, async (setting) => {
    const columns = [
      `${repeat} transfers of leadership, ${WRITERS} writers over all nodes`,
      'figure',
    ];
    title('Transfer of leadership of three nodes', columns);
    const gaps: number[] = [];
    const usual: number[] = [];
    const times: number[] = [];
    const path = '/v1/operator/raft/transfer-leader';
    const writers = new Writers(setting, { writers: WRITERS, names: 'entry' });
    await sleep(BEFORE_MS);
    for (let round = 0; round < repeat; round++) {
      const before = await setting.leader();
      writers.gapMs();
      await sleep(500);
      usual.push(writers.gapMs());
      const begin = performance.now();
      await setting.ask({ method: 'POST', path }, before);
      times.push(performance.now() - begin);
      await sleep(500);
      gaps.push(writers.gapMs());
      if ((await setting.leader()) === before) throw new Error('the leader is the same');
    }
    await writers.stop();
    gapRow(gaps);
    const rest = spreadOf(usual);
    row([
      'the same in as many half seconds without a transfer',
      `median ${figure(rest.p50Ms)} ms, worst ${figure(rest.maxMs)} ms`,
    ]);
    const answer = spreadOf(times);
    row([
      'until the request is answered',
      `median ${figure(answer.p50Ms)} ms, worst ${figure(answer.maxMs)} ms`,
    ]);
    row(lostRow(writers.acknowledged.length, await writers.lost()));
    row(['errors', figure(sum(writers.errors))]);
  });
}

/**
 * Restarts all nodes by SIGTERM, each once the one before is ready. Clients that are refused move
 * on to another node.
 */
export function measureRolling(rounds: number): Promise<void> {
  // Clients on a busy machine pause long between two requests to one node.
  const limits = { lingerMs: 4000, stopMs: 15_000 };
  return withCluster(
    3,
    async (setting) => {
      const columns = [
        `each of three nodes restarted ${rounds} times, ${WRITERS} writers`,
        'figure',
      ];
      title('Rolling restart', columns);
      const plan = { writers: WRITERS, names: 'entry', moves: true };
      const writers = new Writers(setting, plan);
      await sleep(BEFORE_MS);
      const gaps: number[] = [];
      for (let round = 0; round < rounds; round++)
        for (const node of setting.cluster.nodes) {
          writers.gapMs();
          await node.kill('SIGTERM');
          node.start();
          await node.ready();
          gaps.push(writers.gapMs());
        }
      await writers.stop();
      gapRow(gaps);
      row(lostRow(writers.acknowledged.length, await writers.lost()));
      row(['failed requests', figure(sum(writers.errors))]);
      for (const why of writers.reasons) console.error(why);
    },
    { settings: { limits } },
  );
}

function gapRow(gaps: number[]): void {
  const { p50Ms, maxMs } = spreadOf(gaps);
  row([GAP, `median ${figure(p50Ms)} ms, worst ${figure(maxMs)} ms of ${gaps.length}`]);
}

const lostRow = (acknowledged: number, lost: number): string[] => [
  'acknowledged writes, and those of them that were gone',
  `${figure(acknowledged)}, ${lost}`,
];
