/** Many config entries on one node: reads, lists, filters, watchers, restart, memory and disk. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Line } from './line.js';
import { fill, load } from './load.js';
import { loopDelay } from './loop-delay.js';
import { figure, row, title } from './report.js';
import { diskBytes, putEntry, type Setting, withCluster } from './setting.js';
import { wakeAt } from './watch.js';

const LISTED = 10_000;
const WATCHERS = 1000;

export function measureEntries(options: {
  readonly entries: number;
  readonly seconds: number;
}): Promise<void> {
  const { entries, seconds } = options;
  return withCluster(1, async (setting) => {
    const { targets } = setting;
    title(`One node with ${figure(entries)} config entries`, ['what', 'figure']);
    const empty = await setting.residentMb();
    const made = await fill(targets, 64, entries, (n) => putEntry(`entry-${n}`, n));
    row(['written per second, 64 connections', figure(made.perSec)]);
    row(['resident MB, empty and full', `${figure(empty)}, ${figure(await setting.residentMb())}`]);
    const next = () =>
      ({
        method: 'GET',
        path: `/v1/config/service-defaults/entry-${Math.floor(Math.random() * entries)}`,
      }) as const;
    const read = () => load({ targets, connections: 64, seconds, next });
    const { perSec, p99Ms, cpuUs } = await setting.cpuPerOp(read);
    row([
      'read any one, default, 64 connections',
      `${figure(perSec)} per second, p99 ${figure(p99Ms)} ms, ${figure(cpuUs)} µs CPU`,
    ]);
    await timed(setting, 'list of all', '/v1/config/service-defaults');
    const filter = encodeURIComponent(`Meta.n == "${Math.floor(entries / 2)}"`);
    await timed(setting, 'filter by Meta', `/v1/config/service-defaults?filter=${filter}`);
    const lines = await wakeAt(setting, { node: 0, watchers: WATCHERS, name: 'entry-1' });
    row([`${figure(WATCHERS)} watchers of one entry`, lines]);
    await listsWhileWriting(setting, seconds);
    await restart(setting, entries);
  });
}

async function timed(setting: Setting, what: string, path: string): Promise<void> {
  const before = await setting.loopReading();
  const begin = performance.now();
  const { body } = await setting.ask({ method: 'GET', path });
  const ms = performance.now() - begin;
  const { maxMs } = loopDelay(before, await setting.loopReading());
  const size = `${figure(body.length / 2 ** 20)} MB`;
  row([what, `${figure(ms)} ms, ${size}, event loop held ${figure(maxMs)} ms at most`]);
}

/**
 * Measures how long the event loop is blocked while lists of ten thousand entries are built, each
 * after a change that was just written.
 */
async function listsWhileWriting(setting: Setting, seconds: number): Promise<void> {
  const { targets } = setting;
  const kind = 'service-resolver';
  await fill(targets, 64, LISTED, (n) => putEntry(`listed-${n}`, n, kind));
  const before = await setting.loopReading();
  const result = await load({
    ...{ targets, connections: 4, seconds },
    next: (at, n) =>
      at === 0 ? putEntry('listed-1', `${n}`, kind) : { method: 'GET', path: `/v1/config/${kind}` },
  });
  const { p99Ms, maxMs } = loopDelay(before, await setting.loopReading());
  row([
    `3 connections list ${figure(LISTED)} entries while 1 writes to them`,
    `${figure(result.perSec)} answers per second; event loop held ${figure(p99Ms)} ms at p99, ${figure(maxMs)} ms at most`,
  ]);
}

async function restart(setting: Setting, entries: number): Promise<void> {
  const node = setting.cluster.nodes[0]!;
  await node.kill('SIGTERM');
  const disk = await diskBytes(node);
  const begin = performance.now();
  node.start();
  await answers(setting);
  const ms = performance.now() - begin;
  row(['restart until the first stale answer', `${figure(ms)} ms`]);
  await node.ready();
  row(['restart until it is ready', `${figure(performance.now() - begin)} ms`]);
  row(['resident MB after the restart', figure(await setting.residentMb())]);
  row(['disk', `${figure(disk / 2 ** 20)} MB, ${figure(disk / entries)} bytes per entry`]);
}

/** Requests one entry until it is returned. */
async function answers({ targets }: Setting): Promise<void> {
  for (;;) {
    const line = new Line(targets[0]!);
    const ask = { method: 'GET', path: '/v1/config/service-defaults/entry-5?stale' } as const;
    const status = await line.ask(ask).then(
      (reply) => reply.status,
      () => 0,
    );
    line.close();
    if (status === 200) return;
    await sleep(10);
  }
}
