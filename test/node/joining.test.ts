import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { initialClusterId } from '../../src/node/identity.js';
import type { RunningNode } from '../../src/node/node.js';
import { INTERNAL_KEY } from '../../src/node/types.js';
import { ACCEPTED_FROM } from '../../src/replica/rpc.js';
import { decodeResponse, encodeRequest, type RpcRequest } from '../../src/replica/rpc-codec.js';
import { joinTokens, setJoinTokens } from '../../src/state/join-tokens.js';
import { SUPPORTED_LEVEL } from '../../src/state/levels.js';
import { encodeProposal } from '../../src/state/proposal.js';
import { setFact } from '../../src/state/system.js';
import { secretKeyOf } from '../../src/state/tokens.js';
import { ReplicaCluster } from '../replica/cluster.js';
import { TestNode } from '../transport/bench.js';
import { Cluster, HANDLERS, put, valueAt } from './processes.js';

const write = (node: RunningNode, key: string, value: string) =>
  node.write({ tokenKey: null, command: put(key, value), timeoutMs: 8000 });

describe('node: what a server may request of another', () => {
  const data = encodeProposal({ id: 'one', since: 0, command: { type: 'x', v: 1 } });
  const server = { id: 'x', name: 'x', address: 'x:1', level: 1 };
  const requests: readonly RpcRequest[] = [
    { type: 'write', tokenKey: null, data, timeoutMs: 100 },
    ...[{ type: 'read', mode: 'consistent', term: 1 } as const, { type: 'state' } as const],
    ...[{ type: 'add', server } as const, { type: 'admit', server } as const],
    ...[{ type: 'remove', id: 'b' } as const, { type: 'transfer', to: 'b' } as const],
    ...[{ type: 'status' } as const, { type: 'joining' } as const],
    ...[{ type: 'member', id: 'b' } as const, { type: 'decision', id: 'x' } as const],
    { type: 'usage', id: '0' },
  ];
  /** A leader of three's response to this server, as `type` or `refused: why`. */
  const responseTo = (from: string, request: RpcRequest): string => {
    const replicas = new ReplicaCluster();
    const leader = replicas.elect();
    replicas.advance(200);
    const answers: string[] = [];
    leader.replica.rpc.receive(from, encodeRequest(request), (bytes) => {
      const answer = decodeResponse(bytes)!;
      answers.push(answer.type === 'refused' ? `refused: ${answer.refusal.message}` : answer.type);
    });
    replicas.advance(500);
    expect(answers).to.have.lengthOf(1);
    return answers[0]!;
  };

  it('a server that is not a member is refused every request that requires membership', () => {
    const needMember = Object.entries(ACCEPTED_FROM).filter(([, who]) => who === 'member');
    expect(requests.map(({ type }) => type)).to.have.members(needMember.map(([type]) => type));
    for (const request of requests)
      expect(responseTo('x', request), request.type).to.equal(
        'refused: The server x is not a member of the cluster',
      );
  });

  it('it is asked to retry while its removal may still be taken back', () => {
    const replicas = new ReplicaCluster();
    const leader = replicas.elect();
    replicas.advance(200);
    const [removed, other] = ['a', 'b', 'c'].filter((id) => id !== leader.id) as [string, string];
    replicas.isolate(leader.id);
    const answers: (string | undefined)[] = [];
    const receive = (from: string, request: RpcRequest): void =>
      leader.replica.rpc.receive(from, encodeRequest(request), (bytes) =>
        answers.push(decodeResponse(bytes)?.type),
      );
    receive(other, { type: 'remove', id: removed });
    replicas.advance(40);
    expect(leader.replica.loop.status().configuration.members).to.have.lengthOf(2);
    receive(removed, { type: 'state' });
    expect(answers).to.deep.equal(['retry']);
  });

  it('internal commands are proposed only by the leader itself, and refused from members', () => {
    const request = { type: 'write', tokenKey: INTERNAL_KEY, data, timeoutMs: 100 } as const;
    expect(responseTo('b', request)).to.match(/^refused: Only the leader itself/);
    expect(responseTo('b', { ...request, tokenKey: null })).to.equal('applied');
  });

  it('a member cannot make another server a member by forwarding its request', () => {
    expect(responseTo('b', { type: 'add', server })).to.equal(
      'refused: It is waiting for an operator',
    );
    const moved = { id: 'c', name: 'c', address: 'elsewhere:1', level: 1 };
    expect(responseTo('b', { type: 'add', server: moved })).to.match(
      /^refused: .* is a member already/,
    );
  });
});

describe('node: joining', () => {
  const handlers = { ...HANDLERS, 'fact.set': setFact };
  let cluster: Cluster;
  const outsiders: TestNode[] = [];
  afterEach(async () => {
    for (const outsider of outsiders.splice(0)) await outsider.wire.close();
    await cluster.remove();
    expect(cluster.fatal).to.deep.equal([]);
  });
  const peersOf = (node: RunningNode): string[] =>
    node
      .status()
      .peers.map(({ name }) => name)
      .sort();
  const storeToken = async (node: RunningNode, token: string, ttlMs: number): Promise<void> => {
    const { tokens, cas } = joinTokens(node.view, Date.now());
    const made = { Hash: secretKeyOf(token), ExpiresMs: Date.now() + ttlMs };
    const command = setJoinTokens([...tokens, made], cas);
    await node.write({ tokenKey: null, command, timeoutMs: 8000 });
  };
  const folderHolds = async (name: string, text: string): Promise<boolean> => {
    const { readdir } = await import('node:fs/promises');
    const entries = await readdir(cluster.folder(name), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    const contents = await Promise.all(
      files.map((file) => readFile(join(file.parentPath, file.name))),
    );
    return contents.some((content) => content.includes(text));
  };

  it('a server receives no entries and no state until an operator admits it', async () => {
    cluster = await Cluster.create(['a', 'b', 'c', 'd']);
    const [a] = (await cluster.startAll('a', 'b', 'c')) as [RunningNode];
    await write(a, 'k', 'a-secret-value');
    const d = await cluster.start('d', { join: [cluster.address('b')] });
    await cluster.until(() => cluster.logCount('d', 'warn') >= 2);
    expect(peersOf(a)).to.deep.equal(['a', 'b', 'c']);
    expect(d.replica.loop.status()).to.include({ lastIndex: 0, commit: 0 });
    expect(valueAt(d, 'k')).to.equal(undefined);
    expect(await folderHolds('d', 'a-secret-value')).to.equal(false);
    const { name: leader } = await cluster.leader();
    expect(
      cluster.logCount(leader, `info d (${d.id}) at ${cluster.address('d')} asks to join`),
    ).to.equal(1);
    expect(cluster.lines.join('\n')).to.include(`PUT /v1/operator/raft/joining/${d.id}`);
    const c = cluster.nodes.get('c')!;
    const shown = { id: d.id, name: 'd', address: cluster.address('d'), level: SUPPORTED_LEVEL };
    expect(await c.joining(5000)).to.deep.equal([shown]);
    await c.admit(d.id);
    await cluster.until(() => a.status().peers.filter(({ voter }) => voter).length === 4);
    await d.barrier('consistent', 8000);
    expect(valueAt(d, 'k')).to.equal('a-secret-value');
    await cluster.until(() => cluster.logCount('d', 'info joined the cluster') === 1);
    expect(await c.joining(5000)).to.deep.equal([]);
  });

  it('a join token admits one server, once, and not after it has expired', async () => {
    cluster = await Cluster.create(['a', 'b', 'c', 'd'], { handlers });
    const a = await cluster.start('a');
    await cluster.leader();
    await storeToken(a, 'first', 60_000);
    await storeToken(a, 'late', -1);
    const via = { join: [cluster.address('a')] };
    await cluster.start('b', { ...via, joinToken: () => 'first' });
    await cluster.until(() => peersOf(a).join() === 'a,b');
    expect(JSON.stringify([...a.view.keys('fact')].map((key) => a.view.get(key)))).to.not.include(
      'first',
    );
    for (const [name, token] of [
      ['c', 'first'],
      ['d', 'late'],
    ] as const) {
      const node = await cluster.start(name, { ...via, joinToken: () => token });
      const line = `warn ${name} (${node.id}) at ${cluster.address(name)} presented an invalid join token`;
      await cluster.until(() => cluster.logCount('a', line) === 1);
      const refused = `warn ${cluster.address('a')} did not admit this node to its cluster: The join token is unknown`;
      await cluster.until(() => cluster.logCount(name, refused) > 0);
    }
    expect(peersOf(a)).to.deep.equal(['a', 'b']);
  });

  it('a server that has used its token may request again, also at the next leader', async () => {
    cluster = await Cluster.create(['a', 'b', 'c', 'd'], { handlers });
    const [a, b, c] = (await cluster.startAll('a', 'b', 'c')) as [
      RunningNode,
      RunningNode,
      RunningNode,
    ];
    await storeToken(a, 'first', 60_000);
    const d = await cluster.start('d', { join: [cluster.address('a')], joinToken: () => 'first' });
    await cluster.until(() => peersOf(a).join() === 'a,b,c,d');
    const { node: leader } = await cluster.leader();
    const next = [a, b, c].find((node) => node !== leader)!;
    await leader.transfer(next.id);
    await cluster.until(() => next.status().role === 'leader');
    const answers: string[] = [];
    const server = { id: d.id, name: 'd', address: cluster.address('d'), level: SUPPORTED_LEVEL };
    next.replica.rpc.callLeader({ type: 'add', server, token: 'first' }, 5000, ({ type }) =>
      answers.push(type),
    );
    await cluster.until(() => answers.length > 0);
    expect(answers).to.deep.equal(['done']);
  });

  it('a removed server stays refused by all; with an empty folder it is a new one', async () => {
    cluster = await Cluster.create(['a', 'b', 'c', 'd']);
    const [a, b, c] = (await cluster.startAll('a', 'b', 'c')) as [
      RunningNode,
      RunningNode,
      RunningNode,
    ];
    await write(a, 'k', 'v');
    await a.removeServer(c.id);
    await cluster.until(() => c.status().fault !== undefined);
    await cluster.stop('c');
    await cluster.restartUnchanged('a', 'b');
    const again = await cluster.start('c');
    expect(again.status().fault).to.equal('it was removed from the cluster');
    expect(again.closed()).to.have.property('code', 'unavailable');
    for (const name of ['a', 'b']) {
      const what = `node ${c.id} was removed from the cluster`;
      await cluster.until(() =>
        cluster.lines.some((line) => line.startsWith(`${name} warn`) && line.includes(what)),
      );
      await cluster.until(() =>
        cluster.lines.some(
          (line) => line.startsWith('c warn') && line.includes(`refused by the peer: ${what}`),
        ),
      );
    }
    await cluster.stop('c');
    // Its folder is prepared for joining: only the id counts.
    await rm(cluster.folder('c'), { recursive: true });
    const fresh = await cluster.start('c', { join: [cluster.address('a')] });
    await cluster.waits('c', 'b');
    expect(fresh.id).to.not.equal(c.id);
    expect(peersOf(cluster.nodes.get('b')!)).to.deep.equal(['a', 'b']);
    expect(b.id).to.not.equal(fresh.id);
  });

  it('a server that joined after a removal also refuses the removed server', async () => {
    cluster = await Cluster.create(['a', 'b', 'c', 'd']);
    const [a, , c] = (await cluster.startAll('a', 'b', 'c')) as [
      RunningNode,
      RunningNode,
      RunningNode,
    ];
    await write(a, 'k', 'v');
    await a.removeServer(c.id);
    await cluster.until(() => c.status().fault !== undefined);
    await cluster.stop('c');
    await cluster.join('d', 'a');
    await cluster.until(() => cluster.logCount('d', 'info joined the cluster') === 1);
    // Once it has stopped, everything that it knows is stored.
    await cluster.stop('d');
    const identity = JSON.parse(await readFile(join(cluster.folder('d'), 'node.json'), 'utf8'));
    expect(identity.removed).to.deep.equal([c.id]);
  });

  /** Also of a cluster of one: its id follows from its name and address, which are no secrets. */
  const refuseNonMember = async (...names: string[]) => {
    cluster = await Cluster.create(names);
    const [a] = (await cluster.startAll(...names)) as [RunningNode];
    await write(a, 'k', 'v');
    const outsider = new TestNode('outsider');
    outsiders.push(outsider);
    outsider.clusterId = initialClusterId(cluster.initial(...names));
    await outsider.listen();
    const { node: leader } = await cluster.leader();
    const { term } = leader.status();
    outsider.wire.setMembers(
      [...cluster.nodes].map(([name, { id }]) => ({ id, address: cluster.address(name) })),
    );
    const position = { prevIndex: 0, prevTerm: 0, entries: [], commit: 0 };
    const answers: unknown[] = [];
    for (const { id } of cluster.nodes.values()) {
      const message = { type: 'append', from: 'outsider', to: id, term: term + 5 } as const;
      outsider.wire.send({ ...message, ...position, round: 1 });
      outsider.wire.request(id, encodeRequest({ type: 'level' }), 500, (answer) =>
        answers.push(answer),
      );
    }
    await cluster.until(() => answers.length === names.length);
    expect(answers).to.deep.equal(names.map(() => undefined));
    for (const name of cluster.nodes.keys())
      expect(
        cluster.lines.filter(
          (line) =>
            line.startsWith(`${name} warn`) &&
            line.endsWith('refused: node outsider is not a known member of this cluster'),
        ),
      ).to.have.lengthOf(1);
    expect(leader.status()).to.include({ role: 'leader', term });
  };

  it('a non-member that holds the shared key is refused and changes nothing', () =>
    refuseNonMember('a', 'b', 'c'));

  it('it is refused by a server that is alone, too', () => refuseNonMember('a'));

  it('a server that moves to the address of another member logs why it cannot', async () => {
    cluster = await Cluster.create(['a', 'b', 'c']);
    await cluster.startAll('a', 'b', 'c');
    await cluster.stop('c');
    const address = cluster.address('b');
    await cluster.start('c', { advertise: address });
    const why = `the leader refuses the new address of this node: The address ${address} belongs`;
    await cluster.until(() => cluster.logCount('c', `warn ${why}`) > 0);
  });

  it('a member that was away accepts a new leader once another member vouches for it', async () => {
    cluster = await Cluster.create(['a', 'b', 'c', 'd']);
    const [a] = (await cluster.startAll('a', 'b', 'c')) as [RunningNode];
    await write(a, 'k', 'v');
    await cluster.stop('c');
    const d = await cluster.join('d', 'a');
    await cluster.until(() => a.status().peers.filter(({ voter }) => voter).length === 4);
    const { node: leader } = await cluster.leader();
    if (leader !== d) await leader.transfer(d.id);
    await cluster.until(() => d.status().role === 'leader');
    await write(a, 'k', 'by-d');
    const c = await cluster.start('c');
    await cluster.until(() => valueAt(c, 'k') === 'by-d');
    expect(c.status().leaderId).to.equal(d.id);
  });

  it('a server without shared key, TLS and peers accepts no connections', async () => {
    cluster = await Cluster.create(['a', 'b']);
    const a = await cluster.start('a', { security: { mode: 'closed' } });
    await write(a, 'k', 'v');
    await cluster.start('b', { join: [cluster.address('a')] });
    await cluster.until(
      () =>
        cluster.logCount(
          'b',
          `warn the request to join cannot be sent to ${cluster.address('a')}`,
        ) > 0,
    );
    expect(peersOf(a)).to.deep.equal(['a']);
  });

  it('a member of several does not start without the credentials others expect', async () => {
    cluster = await Cluster.create(['a', 'b', 'c']);
    await cluster.startAll('a', 'b', 'c');
    await cluster.leader();
    await cluster.stop('a');
    const failure = await cluster
      .start('a', { security: { mode: 'closed' } })
      .catch((error: Error) => error);
    expect(String(failure)).to.match(
      /member of a cluster with other members: .*raft\.sharedKeyFile/,
    );
    await cluster.start('a');
  });
});
