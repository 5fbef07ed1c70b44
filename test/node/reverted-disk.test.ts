/** A data folder that is reset to an older copy: the other members must refuse its server. */
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { readIdentity } from '../../src/node/identity.js';
import type { RunningNode } from '../../src/node/node.js';
import { Cluster, put, valueAt } from './processes.js';

describe('node: a data folder reset to an older copy', function () {
  this.timeout(60_000);
  let cluster: Cluster;
  beforeEach(async () => {
    cluster = await Cluster.create(['a', 'b', 'c', 'd']);
  });
  afterEach(() => cluster.remove());

  const write = (node: RunningNode, key: string, value: string) =>
    node.write({ tokenKey: null, command: put(key, value), timeoutMs: 10_000 });
  const hasSeen = async (name: string, node: RunningNode, starts: number): Promise<boolean> =>
    (await readIdentity(cluster.folder(name)))?.seen[node.id]?.starts === starts;
  const waitUntilSeen = async (name: string, node: RunningNode, starts: number): Promise<void> => {
    while (!(await hasSeen(name, node, starts))) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };

  it('is refused, so that no acknowledged write is lost', async () => {
    const [, , c] = (await cluster.startAll('a', 'b', 'c')) as [
      RunningNode,
      RunningNode,
      RunningNode,
    ];
    const initial = cluster.initial('a', 'b', 'c');
    await write((await cluster.leader()).node, 'k', '1');
    await cluster.stop('c');
    const copy = `${cluster.folder('c')}.copy`;
    await cp(cluster.folder('c'), copy, { recursive: true });
    await cluster.start('c', { initial });
    await Promise.all([waitUntilSeen('a', c, 2), waitUntilSeen('b', c, 2)]);
    await cluster.stop('b');
    // Only a and c have this one.
    await write((await cluster.leader()).node, 'k', '2');
    await cluster.stop('a');
    await cluster.stop('c');
    await rm(cluster.folder('c'), { recursive: true });
    await cp(copy, cluster.folder('c'), { recursive: true });
    const b = await cluster.start('b', { initial });
    await cluster.start('c', { initial });
    const advice = 'Remove it from the cluster, empty its data folder';
    await cluster.until(() => hasLogged('c', advice) && hasLogged('b', 'older copy'));
    expect(b.status().leaderId).to.equal(null);
    const a = await cluster.start('a', { initial });
    await cluster.until(() => valueAt(b, 'k') === '2');
    expect(valueAt(a, 'k')).to.equal('2');
    await write(a, 'k', '3');
    expect(cluster.fatal).to.deep.equal([]);
  });

  const hasLogged = (name: string, what: string): boolean =>
    cluster.lines.some((line) => line.startsWith(`${name} `) && line.includes(what));

  it('is also refused by a server that joined after the copy was made', async () => {
    const [, , c] = (await cluster.startAll('a', 'b', 'c')) as [
      RunningNode,
      RunningNode,
      RunningNode,
    ];
    const initial = cluster.initial('a', 'b', 'c');
    await cluster.leader();
    await cluster.stop('c');
    const copy = `${cluster.folder('c')}.copy`;
    await cp(cluster.folder('c'), copy, { recursive: true });
    await cluster.start('c', { initial });
    await Promise.all([waitUntilSeen('a', c, 2), waitUntilSeen('b', c, 2)]);
    await cluster.stop('c');
    const d = await cluster.join('d', 'a');
    await waitUntilSeen('d', c, 2);
    await rm(cluster.folder('c'), { recursive: true });
    await cp(copy, cluster.folder('c'), { recursive: true });
    await cluster.start('c', { initial });
    await cluster.until(() => ['a', 'b'].every((name) => hasLogged(name, 'older copy')));
    // c knows of no d, so neither accepts the other. All that c tells d is what it may be.
    const why = `it does not know node ${d.id} as a member`;
    await cluster.until(() => hasLogged('d', `${why}: it lags behind, its data folder was wiped`));
    expect(hasLogged('d', `node ${c.id} at ${cluster.address('c')} is reachable`)).to.equal(false);
  });

  it('counts its starts', async () => {
    const [a] = (await cluster.startAll('a', 'b', 'c')) as [RunningNode];
    await Promise.all([waitUntilSeen('b', a, 1), waitUntilSeen('c', a, 1)]);
    await cluster.stop('a');
    await cluster.start('a', { initial: cluster.initial('a', 'b', 'c') });
    await Promise.all([waitUntilSeen('b', a, 2), waitUntilSeen('c', a, 2)]);
  });

  it('is refused if release 0.1 wrote it, which counted no starts', async () => {
    await cluster.start('a');
    await cluster.stop('a');
    const file = join(cluster.folder('a'), 'node.json');
    const { crc32: _, starts, startId, ...rest } = JSON.parse(await readFile(file, 'utf8'));
    expect([starts, typeof startId]).to.deep.equal([1, 'string']);
    const first = { ...rest, v: 1 };
    await writeFile(file, JSON.stringify({ ...first, crc32: crc32(JSON.stringify(first)) }));
    const failure = await cluster.start('a').catch((error: Error) => error.message);
    expect(failure).to.equal(`${file} was written by release 0.1, which this one cannot read`);
  });
});
