/** The keys of data folders, on whole nodes: where they are, and who may not speak without one. */
import { cp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { IDENTITY_FILE } from '../../src/base/data-folder.js';
import { readIdentity } from '../../src/node/identity.js';
import type { RunningNode } from '../../src/node/node.js';
import { recoverFolder } from '../../src/node/recover.js';
import { decodeResponse, encodeRequest } from '../../src/replica/rpc-codec.js';
import { newKeyPair } from '../../src/transport/proof.js';
import { TestNode } from '../transport/bench.js';
import { Cluster, HANDLERS, put } from './processes.js';

const SECURITY = { mode: 'key', keys: ['a key that is shared by all members'] } as const;

describe('node: the keys of data folders', function () {
  this.timeout(60_000);
  let cluster: Cluster;
  const outsiders: TestNode[] = [];
  beforeEach(async () => {
    cluster = await Cluster.create(['a', 'b', 'c', 'd'], { security: SECURITY });
  });
  afterEach(async () => {
    for (const outsider of outsiders.splice(0)) await outsider.wire.close();
    await cluster.remove();
  });

  type Three = [RunningNode, RunningNode, RunningNode];
  const write = (node: RunningNode, key: string, value: string) =>
    node.write({ tokenKey: null, command: put(key, value), timeoutMs: 10_000 });
  const keysAt = (node: RunningNode): Record<string, string | undefined> =>
    Object.fromEntries(
      node.replica.loop
        .status()
        .configuration.members.map(({ name, publicKey }) => [name, publicKey]),
    );
  const keyIn = async (name: string): Promise<string | undefined> =>
    (await readIdentity(cluster.folder(name)))?.keyPair?.publicKey;
  const keysIn = async (...names: string[]): Promise<Record<string, string | undefined>> =>
    Object.fromEntries(await Promise.all(names.map(async (name) => [name, await keyIn(name)])));
  const haveAgreed = (...names: string[]): Promise<void> =>
    cluster.until(() =>
      [...cluster.nodes.values()].every((node) => {
        const keys = keysAt(node);
        return names.every((name) => keys[name] !== undefined);
      }),
    );
  const startThree = async (): Promise<Three> => {
    const nodes = (await cluster.startAll('a', 'b', 'c')) as Three;
    await haveAgreed('a', 'b', 'c');
    return nodes;
  };

  it('reach the configuration, of the first members and of one that joins', async () => {
    const [a] = await startThree();
    expect(keysAt(a)).to.deep.equal(await keysIn('a', 'b', 'c'));
    const d = await cluster.join('d', 'b');
    await cluster.until(() => keysAt(d)['d'] !== undefined);
    // It came with its key, by the operator's admission: no later change has added it.
    const line = `(${d.id}) has the key ${await keyIn('d')}`;
    const added = cluster.lines.filter((each) => each.startsWith('a ') && each.includes(line));
    expect(added).to.have.lengthOf(1);
    expect(added[0]!.split('entry ')[1]).to.equal(
      cluster.lines
        .find(
          (each) =>
            each.startsWith('a ') && each.includes(`(${d.id}) at`) && /now a member/.test(each),
        )!
        .split('entry ')[1],
    );
    expect(keysAt(d)).to.deep.equal(await keysIn('a', 'b', 'c', 'd'));
  });

  it('are shown to the operator who admits a server, and to nobody who takes its id', async () => {
    const [a] = await startThree();
    const d = await cluster.start('d', { join: [cluster.address('a')] });
    await cluster.waits('d', 'a');
    const [shown] = await a.joining(5000);
    expect(shown).to.include({ id: d.id, publicKey: await keyIn('d') });
    const evil = new TestNode(d.id, { security: SECURITY });
    outsiders.push(evil);
    Object.assign(evil, { clusterId: null, keyPair: newKeyPair() });
    const server = { id: d.id, name: 'd', address: '127.0.0.1:1', level: 3 };
    const answer = await new Promise<Uint8Array | undefined>((resolve) =>
      evil.wire.requestJoin(
        cluster.address('a'),
        encodeRequest({ type: 'add', server }),
        5000,
        resolve,
      ),
    );
    const refused = decodeResponse(answer!);
    expect(refused).to.have.nested.property('refusal.code', 'conflict');
    expect(await a.joining(5000)).to.deep.equal([shown]);
  });

  it('stay in a file that only its owner reads, and out of the log', async () => {
    await startThree();
    const file = join(cluster.folder('a'), IDENTITY_FILE);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    const { privateKey } = (await readIdentity(cluster.folder('a')))!.keyPair!;
    expect(await readFile(file, 'utf8')).to.include(privateKey);
    expect(cluster.lines.join('\n')).to.not.include(privateKey);
    for (const name of ['a', 'b', 'c'])
      for (const entry of await readdir(cluster.folder(name), {
        recursive: true,
        withFileTypes: true,
      })) {
        const path = join(entry.parentPath, entry.name);
        if (!entry.isFile() || path === file) continue;
        expect((await readFile(path)).includes(privateKey), path).to.equal(false);
      }
  });

  /** A server with the shared key that says all that identifies `who`, but has another key. */
  const impostorOf = async (who: RunningNode, name: string): Promise<TestNode> => {
    const identity = (await readIdentity(cluster.folder(name)))!;
    const { incarnation, starts, startId, earlier, clusterId } = identity;
    const evil = new TestNode(who.id, { security: SECURITY });
    outsiders.push(evil);
    Object.assign(evil, { incarnation, starts, startId, earlier, clusterId });
    evil.keyPair = newKeyPair();
    return evil.listen();
  };
  const admits = (evil: TestNode, at: RunningNode, name: string) => {
    evil.wire.setMembers([{ id: at.id, address: cluster.address(name) }]);
    const server = { id: 'evil', name: 'evil', address: evil.address, level: 3 };
    return new Promise<Uint8Array | undefined>((resolve) =>
      evil.wire.request(at.id, encodeRequest({ type: 'admit', server }), 1000, resolve),
    );
  };

  it('refuse who claims to be a member, with all that identifies it but its key', async () => {
    const [a, b, c] = await startThree();
    await cluster.stop('c');
    const evil = await impostorOf(c, 'c');
    for (const [node, name] of [
      [a, 'a'],
      [b, 'b'],
    ] as const)
      expect(await admits(evil, node, name)).to.equal(undefined);
    const why = `refused: node ${c.id} proves a key other than that of its data folder`;
    const logged = (name: string): boolean =>
      cluster.lines.some((line) => line.startsWith(`${name} warn`) && line.includes(why));
    expect(['a', 'b'].map(logged)).to.deep.equal([true, true]);
    expect(evil.reached.all).to.deep.equal([]);
    await evil.wire.close();
    await cluster.start('c');
    await cluster.until(() => cluster.nodes.get('c')!.status().leaderId !== null);
    expect(Object.keys(keysAt(a))).to.have.members(['a', 'b', 'c']);
  });

  it('refuse who claims to be a member that this node has never met', async () => {
    const [a] = await startThree();
    await cluster.stop('c');
    const d = await cluster.join('d', 'a');
    await cluster.until(() => a.status().peers.filter(({ voter }) => voter).length === 4);
    await cluster.stop('d');
    const c = await cluster.start('c');
    await cluster.until(() => keysAt(c)['d'] !== undefined);
    expect((await readIdentity(cluster.folder('c')))!.seen[d.id]).to.equal(undefined);
    const evil = await impostorOf(d, 'd');
    expect(await admits(evil, c, 'c')).to.equal(undefined);
    await evil.log.one((line) => line.includes('proves a key other'));
    expect((await readIdentity(cluster.folder('c')))!.seen[d.id]).to.equal(undefined);
    await evil.wire.close();
    await cluster.start('d');
    await cluster.until(() => cluster.nodes.get('d')!.status().leaderId !== null);
  });

  it('refuse a removed server that still has its own', async () => {
    const [a, , c] = await startThree();
    await a.removeServer(c.id);
    await cluster.until(() => c.status().fault !== undefined);
    // Until it has applied the removal, it would ask to retry.
    await a.barrier('consistent', 5000);
    await cluster.stop('c');
    const evil = await impostorOf(c, 'c');
    evil.keyPair = (await readIdentity(cluster.folder('c')))!.keyPair;
    // At first it stays connected, to learn that it was removed.
    const answer = await admits(evil, a, 'a');
    if (answer !== undefined) expect(decodeResponse(answer)).to.have.property('type', 'refused');
    await evil.log.one((line) => line.includes('was removed from the cluster'));
    expect(Object.keys(keysAt(a))).to.have.members(['a', 'b']);
  });

  it('are drawn by the first start of a folder of an older release', async () => {
    const initial = cluster.initial('a', 'b', 'c');
    await startThree();
    for (const name of ['a', 'b', 'c']) await cluster.stop(name);
    const before = await keyIn('a');
    for (const name of ['a', 'b', 'c']) {
      const file = join(cluster.folder(name), IDENTITY_FILE);
      const { crc32: _, keyPair, seen, ...rest } = JSON.parse(await readFile(file, 'utf8'));
      expect(keyPair).to.have.keys('publicKey', 'privateKey');
      for (const record of Object.values(seen) as { publicKey?: string }[]) delete record.publicKey;
      const older = { ...rest, seen };
      await writeFile(file, JSON.stringify({ ...older, crc32: crc32(JSON.stringify(older)) }));
    }
    // The configuration has the keys of before, so these three are not who they were.
    await Promise.all(['a', 'b', 'c'].map((name) => cluster.start(name, { initial })));
    await cluster.until(() => cluster.lines.some((line) => line.includes('proves a key other')));
    for (const name of ['a', 'b', 'c']) await cluster.stop(name);
    expect(await keyIn('a')).to.not.equal(before);
  });

  it('are new after a recovery, one for each copy', async () => {
    const [a] = await startThree();
    await write(a, 'k', 'v');
    const before = await keysIn('a', 'b', 'c');
    for (const name of ['a', 'b', 'c']) await cluster.stop(name);
    for (const name of ['b', 'c']) {
      await rm(cluster.folder(name), { recursive: true });
      await cp(cluster.folder('a'), cluster.folder(name), { recursive: true });
    }
    const members = cluster.initial('a', 'b', 'c');
    for (const name of ['a', 'b', 'c'])
      await recoverFolder(cluster.folder(name), { name, members, handlers: HANDLERS });
    const nodes = await Promise.all(['a', 'b', 'c'].map((name) => cluster.start(name)));
    await write(nodes[0]!, 'k', 'w');
    await haveAgreed('a', 'b', 'c');
    const after = await keysIn('a', 'b', 'c');
    const all = [...Object.values(before), ...Object.values(after)];
    expect(new Set(all).size).to.equal(6);
    expect(keysAt(nodes[0]!)).to.deep.equal(after);
  });
});
