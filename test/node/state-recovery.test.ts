import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { RunningNode } from '../../src/node/node.js';
import { StateSource } from '../../src/node/snapshots.js';
import type { Command, Result } from '../../src/state/types.js';
import { Cluster, HANDLERS, put, valueAt } from './processes.js';

const write = (node: RunningNode, command: Command): Promise<Result> =>
  node.write({ tokenKey: null, command, timeoutMs: 8000 });

describe('node: a state that is fetched from a leader that disappears', function () {
  this.timeout(60_000);
  const names = ['a', 'b', 'c'];
  const values = new Map(Array.from({ length: 200 }, (_, i) => [`k${i}`, String(i).repeat(5000)]));
  let cluster: Cluster;
  const { chunk } = StateSource.prototype;
  afterEach(async () => {
    StateSource.prototype.chunk = chunk;
    await cluster.remove();
    expect(cluster.fatal).to.deep.equal([]);
  });

  /** Starts `c`, whose leader is stopped after it has sent two chunks of the state. */
  async function startStranded(): Promise<RunningNode> {
    let isStuck = false;
    StateSource.prototype.chunk = function (number) {
      if (number < 2) return chunk.call(this, number);
      isStuck = true;
      return new Promise(() => {});
    };
    const { name: first } = await cluster.leader();
    const c = await cluster.start('c');
    await cluster.until(() => isStuck);
    expect(c.status().fault).to.match(/being fetched/);
    StateSource.prototype.chunk = chunk;
    await cluster.stop(first);
    return c;
  }
  async function expectWhole(c: RunningNode): Promise<void> {
    await cluster.until(() => c.status().fault === undefined, 30_000);
    await write(c, put('after', 'x'));
    for (const [key, value] of values) expect(valueAt(c, key)).to.equal(value);
  }

  it('comes from the next leader', async () => {
    const limits = { cutEntries: 64, keepEntries: 16, keepBytes: 0, markEntries: 16 };
    cluster = await Cluster.create(names, { limits });
    const initial = cluster.initial(...names);
    const a = await cluster.start('a', { initial });
    await cluster.start('b', { initial });
    await cluster.leader();
    const c = await cluster.start('c', { initial });
    for (const [key, value] of values) await write(a, put(key, value));
    await cluster.until(() => c.replica.appliedLog.first > 1);
    await cluster.stop('c');
    await rm(join(cluster.folder('c'), 'state'), { recursive: true });
    await expectWhole(await startStranded());
  });

  it('comes from the next leader when it replaces a differing one', async () => {
    cluster = await Cluster.create(names, { limits: { compareTicks: 5 } });
    const initial = cluster.initial(...names);
    const a = await cluster.start('a', { initial });
    await cluster.start('b', { initial });
    await cluster.leader();
    // A version of the program that applies a command differently.
    const handlers = { ...HANDLERS, put: () => ({ ok: true as const, value: 'ignored' }) };
    const c = await cluster.start('c', { initial, handlers });
    for (const [key, value] of values) await write(a, put(key, value));
    await cluster.until(() => /differs/.test(c.status().fault ?? ''));
    await cluster.stop('c');
    await expectWhole(await startStranded());
  });
});
