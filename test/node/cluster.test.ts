import { expect } from 'chai';
import { ApiError } from '../../src/base/errors.js';
import type { RunningNode } from '../../src/node/node.js';
import type { NodeOptions } from '../../src/node/options.js';
import type { Command, Result } from '../../src/state/types.js';
import type { Disk } from '../../src/storage/disk.js';
import { LEVEL_DISK } from '../../src/storage/level-disk.js';
import { NodeFolder } from '../../src/storage/node-folder.js';
import { append, Cluster, HANDLERS, put, valueAt, watchAt } from './processes.js';

const write = (node: RunningNode, command: Command, timeoutMs = 8000): Promise<Result> =>
  node.write({ tokenKey: null, command, timeoutMs });

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'none';
  } catch (error) {
    return error instanceof ApiError ? error.refusal.code : String(error);
  }
}

describe('node: a cluster on real disks and sockets', () => {
  let cluster: Cluster;
  afterEach(async () => {
    await cluster.remove();
    expect(cluster.fatal).to.deep.equal([]);
  });

  it('a single node serves, and has everything again after a restart', async () => {
    cluster = await Cluster.create(['a']);
    let node = await cluster.start('a');
    const first = await write(node, append('k', 'x'));
    expect(first.ok && first.index).to.be.greaterThan(1);
    await node.barrier('consistent', 1000);
    await cluster.stop('a');
    node = await cluster.start('a');
    expect(valueAt(node, 'k')).to.equal('x');
    const second = await write(node, append('k', 'y'));
    expect(second.ok && second.value).to.equal('xy');
    expect(second.index).to.be.greaterThan(first.index);
  });

  it('accepts writes and reads on every node, and continues when the leader dies', async () => {
    cluster = await Cluster.create(['a', 'b', 'c']);
    const nodes = await cluster.startAll('a', 'b', 'c');
    await cluster.leader();
    for (const [i, node] of nodes.entries()) {
      const result = await write(node, put(`k${i}`, `v${i}`));
      expect(valueAt(node, `k${i}`)).to.equal(`v${i}`);
      for (const other of nodes) {
        await other.barrier('default', 2000);
        expect(valueAt(other, `k${i}`)).to.equal(`v${i}`);
        expect(other.status().appliedIndex).to.be.at.least(result.index);
      }
    }
    const { name } = await cluster.leader();
    const survivor = [...cluster.nodes].find(([other]) => other !== name)![1];
    const held = Array.from({ length: 20 }, (_, i) => write(survivor, append('count', `${i},`)));
    await cluster.stop(name);
    const results = await Promise.all(held);
    expect(results.every(({ ok }) => ok)).to.equal(true);
    const counted = valueAt(survivor, 'count')!.split(',').filter(Boolean);
    expect(counted.map(Number).sort((a, b) => a - b)).to.deep.equal([...Array(20).keys()]);
  });

  it('transfers leadership when it stops, and wakes blocking queries', async () => {
    cluster = await Cluster.create(['a', 'b', 'c'], { timing: { electionMs: 1500 } });
    await cluster.startAll('a', 'b', 'c');
    const { name, node } = await cluster.leader();
    let woken = false;
    node.watch(['nothing'], () => {
      woken = true;
    });
    const term = node.status().term;
    cluster.nodes.delete(name);
    await node.stop();
    // It has seen its successor's term before it closed.
    expect(node.status().role).to.equal('follower');
    expect(node.status().term).to.be.greaterThan(term);
    await cluster.leader();
    expect(woken).to.equal(true);
    expect(await codeOf(write(node, put('k', 'v')))).to.equal('unavailable');
  });

  it('a follower that was away for longer than the log reaches back gets a snapshot', async () => {
    const limits = { cutEntries: 300, keepEntries: 50, keepBytes: 0, compareTicks: 5 };
    cluster = await Cluster.create(['a', 'b', 'c'], { limits });
    await cluster.startAll('a', 'b', 'c');
    const { node: leader } = await cluster.leader();
    const awayName = [...cluster.nodes].find(([, node]) => node !== leader)![0];
    await write(leader, put('before', 'x'));
    await cluster.stop(awayName);
    const many = (n: number): Promise<unknown> =>
      Promise.all(
        Array.from({ length: n }, (_, i) => write(leader, put(`k${i}`, 'v'.repeat(500)))),
      );
    for (let round = 0; round < 3; round++) await many(500);
    await cluster.until(() => leader.replica.appliedLog.first > 1000);
    const away = await cluster.start(awayName, { initial: cluster.initial('a', 'b', 'c') });
    const woken = new Promise<void>((resolve) => watchAt(away, 'k1', resolve));
    await cluster.until(() => valueAt(away, 'k499') !== undefined);
    await woken;
    expect(away.replica.appliedLog.first).to.be.greaterThan(1000);
    await write(away, append('before', 'y'));
    expect(valueAt(away, 'before')).to.equal('xy');
    const { comparison } = leader.replica;
    const before = comparison.stats.rounds;
    await write(away, put('after', 'z'));
    await cluster.until(() => comparison.stats.rounds > before);
    expect(comparison.stats.differing).to.equal(0);
    await cluster.stop(awayName);
    const again = await cluster.start(awayName, { initial: cluster.initial('a', 'b', 'c') });
    expect(valueAt(again, 'before')).to.equal('xy');
  });

  it('a new node joins through any member and votes; a removed one reports it', async () => {
    cluster = await Cluster.create(['a', 'b']);
    const a = await cluster.start('a');
    await cluster.leader();
    await write(a, put('k', 'v'));
    const b = await cluster.join('b', 'a');
    await cluster.until(() => a.status().peers.filter(({ voter }) => voter).length === 2);
    await b.barrier('consistent', 5000);
    expect(valueAt(b, 'k')).to.equal('v');
    await write(b, append('k', 'w'));
    expect(valueAt(a, 'k')).to.equal('vw');
    await a.removeServer(a.id);
    await cluster.until(() => b.status().role === 'leader');
    expect(await codeOf(b.removeServer(b.id))).to.equal('conflict');
    expect(await codeOf(b.removeServer('nobody'))).to.equal('not_found');
    await cluster.until(() => a.status().fault !== undefined);
    expect(a.status().fault).to.match(/removed/);
    await cluster.until(
      () => cluster.logCount('a', 'error this node is not serving requests: it was removed') === 1,
    );
    await write(b, append('k', 'x'));
    expect(valueAt(b, 'k')).to.equal('vwx');
  });

  it('a node whose state differs stops serving, and gets the right one at restart', async () => {
    cluster = await Cluster.create(['a', 'b', 'c'], { limits: { compareTicks: 5 } });
    const initial = cluster.initial('a', 'b', 'c');
    // A version of the program that applies a command differently.
    const handlers = { ...HANDLERS, put: () => ({ ok: true as const, value: 'ignored' }) };
    const wrong = await cluster.start('c', { initial, handlers });
    const a = await cluster.start('a', { initial });
    await cluster.start('b', { initial });
    await write(a, put('k', 'right'));
    await cluster.until(() => wrong.status().fault !== undefined);
    expect(wrong.status().fault).to.match(/differs .* "(test|request)"/);
    const differs = 'error this node is not serving requests: its state differs';
    await cluster.until(() => cluster.logCount('c', differs) === 1);
    expect(await codeOf(wrong.barrier('default', 1000))).to.equal('unavailable');
    expect(await codeOf(write(wrong, put('k', 'v')))).to.equal('unavailable');
    await write(a, append('k', '!'));
    await cluster.stop('c');

    const again = await cluster.start('c', { initial });
    expect(again.status().fault).to.match(/differs/);
    await cluster.until(() => again.status().fault === undefined);
    await again.barrier('default', 5000);
    expect(valueAt(again, 'k')).to.equal('right!');
    await cluster.until(
      () => cluster.logCount('c', 'info this node is serving requests again') === 1,
    );
    expect(cluster.logCount('c', differs)).to.equal(2);
    await cluster.stop('c');
    expect((await cluster.start('c', { initial })).status().fault).to.equal(undefined);
  });

  it('transfers leadership to the named node, whichever node is asked', async () => {
    cluster = await Cluster.create(['a', 'b', 'c']);
    await cluster.startAll('a', 'b', 'c');
    const { node } = await cluster.leader();
    const target = [...cluster.nodes.values()].find((other) => other !== node)!;
    await write(target, put('k', 'v'));
    await target.transfer(target.id);
    await cluster.until(() => target.status().role === 'leader');
  });

  it('a server that has moved is reached at its new address', async () => {
    cluster = await Cluster.create(['a', 'b', 'c', 'elsewhere']);
    const [, b] = await cluster.startAll('a', 'b', 'c');
    await write(b!, put('k', 'v'));
    await cluster.stop('c');
    const port = Number(cluster.address('elsewhere').split(':')[1]);
    const c = await cluster.start('c', { listen: { host: '127.0.0.1', port } });
    const addresses = (): string[] => b!.status().peers.map(({ address }) => address);
    await cluster.until(() => addresses().includes(cluster.address('elsewhere')));
    expect(b!.status().peers.every(({ voter }) => voter)).to.equal(true);
    await write(c, append('k', 'w'));
    expect(valueAt(c, 'k')).to.equal('vw');
  });

  it('refuses inconsistent timing, and leaves the folder closed', async () => {
    cluster = await Cluster.create(['a']);
    const timing = { leaseMs: 5000 };
    const failure = await cluster.start('a', { timing }).catch((error: Error) => error);
    expect(String(failure)).to.match(/leaseMs/);
    await write(await cluster.start('a'), put('k', 'v'));
  });

  it('refuses growth of the state while the disk is at its reserve', async () => {
    cluster = await Cluster.create(['a'], {
      limits: { diskReserveBytes: Number.MAX_SAFE_INTEGER },
      frees: (command) => command.type === 'append',
    });
    const node = await cluster.start('a');
    await cluster.leader();
    expect(await codeOf(write(node, put('k', 'v')))).to.equal('no_space');
    expect((await write(node, append('k', 'v'))).ok).to.equal(true);
    await node.barrier('default', 1000);
    expect(node.status().fault).to.match(/disk/);
  });

  it('keeps another process from its folder until it has written its identity', async () => {
    const order: string[] = [];
    let isSlow = false;
    const disk: Disk = {
      ...LEVEL_DISK,
      folder: (dir) => {
        const folder = new NodeFolder(dir);
        const rename = folder.rename.bind(folder);
        folder.rename = (from, to, done) => {
          if (!isSlow || to !== 'node.json') return rename(from, to, done);
          setTimeout(() => order.push('written') && rename(from, to, done), 300);
        };
        return folder;
      },
      openBytes: async (dir) => {
        const lock = await LEVEL_DISK.openBytes(dir);
        const close = lock.close.bind(lock);
        return Object.assign(lock, { close: () => order.push('unlocked') && close() });
      },
    };
    cluster = await Cluster.create(['a'], { disk } as Partial<NodeOptions>);
    const a = await cluster.start('a');
    isSlow = true;
    a.replica.knownServers.set('x', { incarnation: 'i', starts: 1, startId: 's' });
    await cluster.stop('a');
    expect(order).to.deep.equal(['written', 'unlocked']);
  });
});
