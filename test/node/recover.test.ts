import { cp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { RunningNode } from '../../src/node/node.js';
import { inspectFolder, recoverFolder } from '../../src/node/recover.js';
import { LEVEL_KEY, levelOf, SUPPORTED_LEVEL } from '../../src/state/levels.js';
import { done, Folders, recordsIn, segmentsOf } from '../storage/helpers.js';
import { append, Cluster, HANDLERS, put, valueAt } from './processes.js';

const write = (node: RunningNode, key: string, value: string): Promise<unknown> =>
  node.write({ tokenKey: null, command: append(key, value), timeoutMs: 8000 });

async function failure(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('node: a data folder', () => {
  let cluster: Cluster;
  afterEach(() => cluster.remove());

  it('of a lost majority becomes a new cluster with a new id, and keeps everything', async () => {
    cluster = await Cluster.create(['a', 'b', 'c']);
    const [a] = await cluster.startAll('a', 'b', 'c');
    await write(a!, 'k', 'v');
    for (const name of ['a', 'b', 'c']) await cluster.stop(name);
    const before = await inspectFolder(cluster.folder('a'));
    expect(before.configuration.members.map(({ name }) => name)).to.deep.equal(['a', 'b', 'c']);
    expect(before.damage).to.deep.equal([]);
    expect(before.lastIndex).to.be.at.least(before.appliedIndex);

    const members = cluster.initial('a');
    const options = { name: 'a', members, handlers: HANDLERS };
    const after = await recoverFolder(cluster.folder('a'), options);
    expect(after.clusterId).to.not.equal(before.clusterId);
    expect(after.nodeId).to.not.equal(before.nodeId);
    expect(after.appliedIndex).to.equal(before.lastIndex);

    const node = await cluster.start('a');
    expect(valueAt(node, 'k')).to.equal('v');
    await write(node, 'k', 'w');
    // A server of the old cluster is refused.
    await cluster.start('b', { initial: cluster.initial('a', 'b', 'c') });
    await cluster.until(() => cluster.lines.some((line) => /was refused/.test(line)));
    expect(node.status().peers.map(({ name }) => name)).to.deep.equal(['a']);
    await cluster.stop('b');
    await cluster.restartUnchanged('a');
  });

  it('copied and recovered with the same members yields the servers of one cluster', async () => {
    cluster = await Cluster.create(['a', 'b', 'c']);
    const a = await cluster.start('a');
    await write(a, 'k', 'v');
    await cluster.stop('a');
    const members = cluster.initial('a', 'b', 'c');
    for (const name of ['b', 'c']) {
      await cp(cluster.folder('a'), cluster.folder(name), { recursive: true });
    }
    for (const { name } of members) {
      await recoverFolder(cluster.folder(name), { name, members, handlers: HANDLERS });
    }
    const nodes = await Promise.all(members.map(({ name }) => cluster.start(name)));
    await write(nodes[1]!, 'k', 'w');
    for (const node of nodes) await node.barrier('consistent', 5000);
    expect(valueAt(nodes[2]!, 'k')).to.equal('vw');
    await cluster.restartUnchanged('a', 'b', 'c');
  });

  it('with an equal state but a last entry of another term yields another cluster', async () => {
    cluster = await Cluster.create(['a', 'b']);
    await write(await cluster.start('a'), 'k', 'v');
    await cluster.stop('a');
    await cp(cluster.folder('a'), cluster.folder('b'), { recursive: true });
    const ids: (string | null)[] = [];
    const sums: unknown[] = [];
    for (const [name, term] of [
      ['a', 7],
      ['b', 8],
    ] as const) {
      const folders = new Folders();
      const log = await folders.log(join(cluster.folder(name), 'log'));
      const noop = { kind: 'noop', index: log.lastIndex() + 1, term } as const;
      const hardState = { term, votedFor: null };
      await done((resolve) => log.append({ hardState, entries: [noop] }, resolve));
      await folders.clean();
      const members = cluster.initial('a', 'b');
      const facts = await recoverFolder(cluster.folder(name), {
        ...{ name, members, handlers: HANDLERS },
      });
      ids.push(facts.clusterId);
      sums.push([facts.appliedIndex, facts.checksums]);
    }
    expect(sums[0]).to.deep.equal(sums[1]);
    expect(ids[0]).to.not.equal(ids[1]);
  });

  it('is not opened while a server runs, nor recovered for a non-member', async () => {
    cluster = await Cluster.create(['a']);
    await cluster.start('a');
    expect(await failure(inspectFolder(cluster.folder('a')))).to.match(/open|lock|another/);
    await cluster.stop('a');
    const options = { name: 'a', members: cluster.initial(), handlers: HANDLERS };
    expect(() => recoverFolder(cluster.folder('a'), options)).to.throw(/do not name/);
  });

  it('without its log is refused, as its votes are lost', async () => {
    cluster = await Cluster.create(['a']);
    const node = await cluster.start('a');
    await write(node, 'k', 'v');
    await cluster.stop('a');
    await cluster.start('a');
    await cluster.stop('a');
    await rm(join(cluster.folder('a'), 'log'), { recursive: true });
    expect(await failure(cluster.start('a'))).to.match(/log .* is lost.*recover --accept-loss/);
    expect((await inspectFolder(cluster.folder('a'))).damage).to.deep.equal(['the log is lost']);
    const options = { name: 'a', members: cluster.initial('a'), handlers: HANDLERS };
    expect(await failure(recoverFolder(cluster.folder('a'), options))).to.match(/log is lost/);
    await recoverFolder(cluster.folder('a'), { ...options, acceptLoss: true });
    expect(valueAt(await cluster.start('a'), 'k')).to.equal('v');
    await cluster.restartUnchanged('a');
  });

  it('of a server that never joined is not recovered: nothing could start on it', async () => {
    cluster = await Cluster.create(['a', 'b']);
    const joins = { join: [cluster.address('a')] };
    await cluster.start('b', joins);
    await cluster.stop('b');
    const options = { name: 'b', members: cluster.initial('b'), handlers: HANDLERS };
    const recovered = recoverFolder(cluster.folder('b'), { ...options, acceptLoss: true });
    expect(await failure(recovered)).to.match(/holds no entry/);
    await cluster.start('b', joins);
  });

  it('of a newer release is not recovered, and starts with that release as before', async () => {
    cluster = await Cluster.create(['a']);
    const a = await cluster.start('a');
    await write(a, 'k', 'v');
    await cluster.until(() => levelOf(a.view) === SUPPORTED_LEVEL);
    await cluster.stop('a');
    const folders = new Folders();
    const state = await folders.state(join(cluster.folder('a'), 'state'));
    const level = JSON.stringify({ Level: SUPPORTED_LEVEL + 1, Index: 1 });
    state.commit([[LEVEL_KEY, level]]);
    await folders.clean();
    const options = { name: 'a', members: cluster.initial('a'), handlers: HANDLERS };
    expect(await failure(recoverFolder(cluster.folder('a'), options))).to.match(/another version/);
    const newer = { levels: { supported: SUPPORTED_LEVEL + 1, commands: {} } };
    expect(valueAt(await cluster.start('a', newer), 'k')).to.equal('v');
  });

  it('without its state rebuilds it from the log', async () => {
    cluster = await Cluster.create(['a']);
    await write(await cluster.start('a'), 'k', 'v');
    await cluster.stop('a');
    await rm(join(cluster.folder('a'), 'state'), { recursive: true });
    const node = await cluster.start('a');
    await node.barrier('default', 5000);
    expect(valueAt(node, 'k')).to.equal('v');
    await cluster.restartUnchanged('a');
  });

  it('without its state and with a truncated log fetches it before it serves', async () => {
    const limits = { cutEntries: 100, keepEntries: 50, keepBytes: 0 };
    cluster = await Cluster.create(['a', 'b', 'c'], { limits });
    const [a, b] = await cluster.startAll('a', 'b', 'c');
    await write(a!, 'k', 'v');
    const fill = Array.from({ length: 1300 }, (_, i) =>
      a!.write({ tokenKey: null, command: put(`k${i % 9}`, 'x'), timeoutMs: 8000 }),
    );
    await Promise.all(fill);
    await cluster.until(() => b!.replica.appliedLog.first > 1000);
    await cluster.stop('b');
    await rm(join(cluster.folder('b'), 'state'), { recursive: true });
    const again = await cluster.start('b');
    expect(again.status().fault).to.match(/being fetched/);
    await cluster.until(() => again.status().fault === undefined);
    await again.barrier('default', 5000);
    expect(valueAt(again, 'k')).to.equal('v');
    await write(again, 'k', 'w');
    expect(valueAt(again, 'k')).to.equal('vw');
    await cluster.restartUnchanged('a', 'b', 'c');
  });

  it('whose log lost acknowledged entries does not vote until it has them again', async () => {
    cluster = await Cluster.create(['a', 'b', 'c']);
    const [a] = await cluster.startAll('a', 'b', 'c');
    for (let i = 0; i < 30; i++) await write(a!, 'k', `${i},`);
    const { name: leads } = await cluster.leader();
    const hurt = ['a', 'b', 'c'].find((name) => name !== leads)!;
    await cluster.stop(hurt);
    const log = join(cluster.folder(hurt), 'log');
    const { name, record } = recordsIn(await segmentsOf(log)).at(-1)!;
    await truncate(join(log, 'segments', name), Math.floor(record.end / 2));
    const node = await cluster.start(hurt);
    expect(node.replica.loop.elections.votingSuspended).to.equal(true);
    expect(cluster.lines.some((line) => /log is damaged/.test(line))).to.equal(true);
    const { node: leader } = await cluster.leader();
    await write(leader, 'k', 'x');
    await cluster.until(() => valueAt(node, 'k')!.endsWith('x'));
    await cluster.until(() => !node.replica.loop.elections.votingSuspended);
    expect(cluster.logCount(hurt, 'info this node has all its entries again')).to.equal(1);
    expect(node.status().lastLogIndex).to.equal(leader.status().lastLogIndex);
    await node.transfer(node.id);
    await cluster.until(() => node.status().role === 'leader');
    await write(node, 'k', 'y');
    expect(valueAt(node, 'k')).to.match(/^0,1,2,.*,29,xy$/);
    await cluster.restartUnchanged('a', 'b', 'c');
  });

  it('whose identity cannot be read is refused, and recovered with a new one', async () => {
    cluster = await Cluster.create(['a']);
    await write(await cluster.start('a'), 'k', 'v');
    await cluster.stop('a');
    const path = join(cluster.folder('a'), 'node.json');
    await writeFile(path, (await readFile(path, 'utf8')).slice(0, 20));
    expect(await failure(cluster.start('a'))).to.match(/node\.json is damaged/);
    expect((await inspectFolder(cluster.folder('a'))).damage.join()).to.match(/json is damaged/);
    const options = { name: 'a', members: cluster.initial('a'), handlers: HANDLERS };
    expect(await failure(recoverFolder(cluster.folder('a'), options))).to.match(/accept-loss/);
    const after = await recoverFolder(cluster.folder('a'), { ...options, acceptLoss: true });
    expect(after.damage).to.deep.equal([]);
    expect(valueAt(await cluster.start('a'), 'k')).to.equal('v');
    await cluster.restartUnchanged('a');
  });
});
