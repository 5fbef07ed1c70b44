import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { RunningNode } from '../../src/node/node.js';
import { StateSource } from '../../src/node/snapshots.js';
import type { Command, Result } from '../../src/state/types.js';
import { Cluster, put, valueAt } from './processes.js';

const write = (node: RunningNode, command: Command): Promise<Result> =>
  node.write({ tokenKey: null, command, timeoutMs: 8000 });

describe('node: a state that is fetched from a leader which goes away', function () {
  this.timeout(60_000);
  const names = ['a', 'b', 'c'];
  let cluster: Cluster;
  const { chunk } = StateSource.prototype;
  afterEach(async () => {
    StateSource.prototype.chunk = chunk;
    await cluster.remove();
    expect(cluster.fatal).to.deep.equal([]);
  });

  it('comes from the next leader', async () => {
    const limits = { cutEntries: 64, keepEntries: 16, markEntries: 16 };
    cluster = await Cluster.create(names, { limits });
    await cluster.startAll(...names);
    const { name: first, node: leader } = await cluster.leader();
    const [hurt, third] = names.filter((name) => name !== first) as [string, string];
    const values = new Map(
      Array.from({ length: 200 }, (_, i) => [`k${i}`, String(i).repeat(5000)]),
    );
    for (const [key, value] of values) await write(leader, put(key, value));
    await cluster.until(() => cluster.nodes.get(hurt)!.replica.positions.first > 1);
    await cluster.stop(hurt);
    await rm(join(cluster.folder(hurt), 'state'), { recursive: true });

    // The first leader sends two chunks and no third.
    let isStuck = false;
    StateSource.prototype.chunk = function (number) {
      if (number < 2) return chunk.call(this, number);
      isStuck = true;
      return new Promise(() => {});
    };
    const again = await cluster.start(hurt);
    await cluster.until(() => isStuck);
    expect(again.status().fault).to.match(/being fetched/);
    StateSource.prototype.chunk = chunk;
    await cluster.stop(first);

    await cluster.until(() => again.status().fault === undefined, 30_000);
    await again.barrier('consistent', 5000);
    for (const [key, value] of values) expect(valueAt(again, key)).to.equal(value);
    await write(cluster.nodes.get(third)!, put('after', 'x'));
  });
});
