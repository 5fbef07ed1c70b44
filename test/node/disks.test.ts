import { join } from 'node:path';
import { expect } from 'chai';
import { Level } from 'level';
import type { RunningNode } from '../../src/node/node.js';
import type { Command } from '../../src/state/types.js';
import { NodeFile } from '../../src/storage/node-folder.js';
import { append, Cluster, put, valueAt } from './processes.js';

/** Delays what is written in `folder` until the returned function is called. */
function hang(folder: string): () => void {
  const { prototype } = Level;
  const { batch } = prototype;
  const file = NodeFile.prototype;
  const { write } = file;
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  prototype.batch = function (this: Level, ...operations: []) {
    const chained = batch.apply(this, operations);
    if (this.location.startsWith(folder)) {
      const { write } = chained;
      const late = async (options: Parameters<typeof write>[0]): Promise<void> => {
        await held;
        return write.call(chained, options);
      };
      chained.write = late as typeof write;
    }
    return chained;
  } as typeof batch;
  file.write = function (...parameters) {
    if (this.path.startsWith(folder)) void held.then(() => write.apply(this, parameters));
    else write.apply(this, parameters);
  };
  return () => {
    prototype.batch = batch;
    file.write = write;
    release();
  };
}

describe("node: a leader's disk that hangs or is full", function () {
  this.timeout(60_000);
  const names = ['a', 'b', 'c'];
  let cluster: Cluster;
  let release = (): void => {};
  afterEach(async () => {
    release();
    await cluster.remove();
    expect(cluster.fatal).to.deep.equal([]);
  });
  const write = (node: RunningNode, command: Command) =>
    node.write({ tokenKey: null, command, timeoutMs: 20_000 });
  const other = (name: string): RunningNode => cluster.nodes.get(names.find((n) => n !== name)!)!;

  it('another member leads when the disk of its log hangs; writes and reads continue', async () => {
    cluster = await Cluster.create(names);
    await cluster.startAll(...names);
    const { name, node: old } = await cluster.leader();
    const node = other(name);
    await write(node, append('k', '0'));
    release = hang(join(cluster.folder(name), 'log'));
    for (const value of ['1', '2', '3']) {
      const result = await write(node, append('k', value));
      expect(result.ok).to.equal(true);
    }
    await cluster.until(() => node.status().leaderId !== old.id);
    expect(old.status().fault).to.match(/the disk of the log has not finished a write/);
    expect(cluster.logCount(name, 'error the disk of the log')).to.equal(1);
    await write(node, append('k', '4'));
    await node.barrier('default', 5000);
    expect(valueAt(node, 'k')).to.equal('01234');

    release();
    await cluster.until(() => valueAt(old, 'k') === '01234' && old.status().fault === undefined);
    await cluster.until(() => cluster.logCount(name, 'info the disks make progress again') === 1);
    await write(old, append('k', '5'));
    expect(valueAt(old, 'k')).to.equal('012345');
  });

  it('another member leads when the disk of its state hangs', async () => {
    cluster = await Cluster.create(names, { limits: { stateBacklogBytes: 10_000 } });
    await cluster.startAll(...names);
    const { name, node: old } = await cluster.leader();
    const node = other(name);
    await write(node, put('k', '0'));
    release = hang(join(cluster.folder(name), 'state'));
    for (let i = 0; i < 20; i++) await write(node, put(`k${i}`, 'x'.repeat(5000)));
    await cluster.until(() => node.status().leaderId !== old.id);
    expect(old.status().fault).to.match(/the disk of the state has not caught up/);
    release();
    await cluster.until(() => old.status().fault === undefined);
    await write(old, put('after', 'x'));
    expect(valueAt(old, 'k19')).to.have.length(5000);
  });

  it('a member with free space leads when its disk is full; both accept writes', async () => {
    cluster = await Cluster.create(names);
    const initial = cluster.initial(...names);
    const limits = { diskReserveBytes: Number.MAX_SAFE_INTEGER, diskCheckMs: 50 };
    const full = await cluster.start('a', { initial, limits });
    const b = await cluster.start('b', { initial });
    await cluster.start('c', { initial });
    await cluster.leader();
    await write(b, put('k', '0'));
    // Whoever leads now: leadership transferred to the full one does not stay there.
    await b.transfer(full.id);
    await write(b, put('k', '1'));
    await write(full, put('k', '2'));
    expect(valueAt(full, 'k')).to.equal('2');
    await cluster.until(() => full.status().role !== 'leader');
    const { term } = b.status();
    for (let i = 0; i < 20; i++) await write(full, put('k', String(i)));
    expect(full.status().fault).to.match(/down to the reserve/);
    expect(b.status().term).to.equal(term);
  });
});
