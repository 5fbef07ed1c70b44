/**
 * The slowest writes: a full load for minutes, while LevelDB compacts, the log is cut and, in every
 * other period, snapshots are saved. Counts elections: a leader that misses its heartbeats is
 * replaced.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fill, linesTo, quantileOf } from './load.js';
import { figure, row, title } from './report.js';
import { putEntry, type Setting, withCluster } from './setting.js';

const TERM = 'conclave_raft_term';
const PERIOD_MS = 30_000;

export function measureTails(options: {
  readonly minutes: number;
  readonly connections: number;
  readonly entries: number;
}): Promise<void> {
  const { minutes, connections, entries } = options;
  return withCluster(3, async (setting) => {
    const what = `${connections} connections, ${figure(entries)} entries, ${minutes} minutes`;
    title(`Tails of writes: ${what}`, ['', 'writes', 'p50 ms', 'p99 ms', 'p99.9 ms', 'worst ms']);
    await fill(setting.targets, connections, entries, (n) => putEntry(`entry-${n}`, n));
    const before = await termOf(setting);
    const times = { quiet: [] as number[], snapshot: [] as number[] };
    let kind: keyof typeof times = 'quiet';
    let isOver = false;
    let errors = 0;
    const lines = linesTo(setting.targets, connections);
    const writers = lines.map(async (line) => {
      while (!isOver) {
        const sent = performance.now();
        const during = kind;
        const name = `entry-${Math.floor(Math.random() * entries)}`;
        const status = await line.ask(putEntry(name, sent)).then(
          (reply) => reply.status,
          () => 0,
        );
        if (status === 200) times[during].push(performance.now() - sent);
        else errors += 1;
      }
    });
    let saved = 0;
    const end = performance.now() + minutes * 60_000;
    for (let period = 0; performance.now() < end; period++) {
      kind = period % 2 === 0 ? 'quiet' : 'snapshot';
      const until = performance.now() + PERIOD_MS;
      while (kind === 'snapshot' && performance.now() < until) {
        await setting.ask({ method: 'GET', path: '/v1/snapshot' }, saved % 3);
        saved += 1;
      }
      await sleep(Math.max(0, until - performance.now()));
    }
    isOver = true;
    await Promise.all(writers);
    for (const line of lines) line.close();
    tailRow('without snapshots', times.quiet);
    tailRow('while snapshots are saved', times.snapshot);
    const elections = (await termOf(setting)) - before;
    row(['errors, snapshots, elections', figure(errors), figure(saved), figure(elections), '', '']);
  });
}

function tailRow(what: string, times: number[]): void {
  times.sort((a, b) => a - b);
  const parts = [0.5, 0.99, 0.999, 1].map((part) => figure(quantileOf(times, part)));
  row([what, figure(times.length), ...parts]);
}

async function termOf(setting: Setting): Promise<number> {
  const terms = setting.targets.map((_, node) => setting.metric(TERM, node));
  return Math.max(...(await Promise.all(terms)));
}
