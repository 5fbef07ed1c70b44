/** Who may speak as a member: what a holder of the shared key learns, and what it cannot do. */
import type net from 'node:net';
import { expect } from 'chai';
import type { KeyPair } from '../../src/base/peer-record.js';
import { FrameReader } from '../../src/transport/frame-reader.js';
import { decodeFrame, encodeFrame, type Frame, type Hello } from '../../src/transport/frames.js';
import { isProof, newKeyPair, type Proven, prove } from '../../src/transport/proof.js';
import { socketMaker } from '../../src/transport/security.js';
import { introduce, TestNode } from './bench.js';

const SECURITY = { mode: 'key', keys: ['a key that is shared by all members'] } as const;

const sockets = socketMaker(SECURITY);
const portOf = ({ address }: TestNode): number => Number(address.split(':')[1]);

/** Dials a node with the shared key, and writes bytes. Resolves with the frames until it closes. */
async function framesOf(node: TestNode, bytes: Uint8Array, enough = 1): Promise<Frame[]> {
  const socket = sockets.dial({ host: '127.0.0.1', port: portOf(node) }, () => socket.write(bytes));
  socket.on('error', () => {});
  const reader = new FrameReader(100_000);
  const frames: Frame[] = [];
  for await (const part of socket) {
    for (const frame of reader.push(part as Buffer)) frames.push(decodeFrame(frame));
    if (frames.length >= enough) break;
  }
  socket.destroy();
  return frames;
}

describe('wire: the keys of data folders', () => {
  const nodes: TestNode[] = [];
  const start = async (id: string, keyPair: KeyPair | null = newKeyPair()) => {
    const node = new TestNode(id, { security: SECURITY });
    node.keyPair = keyPair ?? undefined;
    nodes.push(node);
    return node.listen();
  };
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.wire.close();
  });
  const isRefused = async (by: TestNode, node: TestNode, why: RegExp) => {
    introduce(by, node);
    expect(await by.log.one((line) => line.includes('was refused'))).match(why);
    await node.log.one((line) => why.test(line));
    node.wire.send(node.heartbeat(by));
    await node.lost.count(2);
    expect([node.reached.all, by.messages.all]).eql([[], []]);
  };
  const hello = (over: Partial<Hello> = {}): Hello => ({
    version: 2,
    oldestVersion: 1,
    clusterId: 'cluster-1',
    nodeId: 'b',
    incarnation: 'b-first',
    starts: 1,
    startId: 'first',
    earlier: [],
    address: '127.0.0.1:1',
    purpose: 'messages',
    target: '',
    ...over,
  });
  const bytesOf = (over?: Partial<Hello>): Buffer =>
    Buffer.concat(encodeFrame({ type: 'hello', hello: hello(over) }));

  it('prove their owner on one connection, side and id alone', () => {
    const [own, other] = [newKeyPair(), newKeyPair()];
    const what: Proven = {
      binding: Buffer.alloc(32, 1),
      side: 'dialling',
      nodeId: 'a',
      purpose: 'messages',
    };
    const proof = prove(own, what);
    expect(isProof(proof, own.publicKey, what)).equal(true);
    for (const [key, over] of [
      [other.publicKey, {}],
      ['', {}],
      ['no key', {}],
      [own.publicKey, { binding: Buffer.alloc(32, 2) }],
      [own.publicKey, { side: 'accepting' }],
      [own.publicKey, { nodeId: 'b' }],
      [own.publicKey, { purpose: 'snapshot' }],
    ] as const)
      expect(isProof(proof, key, { ...what, ...over }), JSON.stringify(over)).equal(false);
  });

  it('are recorded by both sides when they first meet', async () => {
    const [a, b] = [await start('a'), await start('b')];
    introduce(a, b);
    await Promise.all([a.reached.one(), b.reached.one()]);
    expect(a.records.get('b')?.publicKey).equal(b.keyPair!.publicKey);
    expect(b.records.get('a')?.publicKey).equal(a.keyPair!.publicKey);
  });

  it('are needed once they are known: an older release and a stranger are refused', async () => {
    const [a, b] = [await start('a'), await start('b', null)];
    introduce(a, b);
    await b.reached.one();
    await b.wire.close();
    const upgraded = await start('b');
    Object.assign(upgraded, { starts: 2, startId: 'second', earlier: ['first'] });
    introduce(a, upgraded);
    await upgraded.reached.one();
    await upgraded.wire.close();
    const again = await start('b');
    Object.assign(again, { starts: 3, startId: 'third', earlier: ['second', 'first'] });
    await isRefused(a, again, /node b proves a key other than that of its data folder/);
    await again.wire.close();
    const before = await start('b', null);
    Object.assign(before, { starts: 3, startId: 'third', earlier: ['second', 'first'] });
    introduce(a, before);
    const why = /node b does not prove that it has the key of its data folder, as it did before/;
    await a.log.one((line) => line.includes('was refused') && why.test(line));
    await before.log.one((line) => why.test(line));
  });

  it('of the configuration decide about a node never met, and after an impostor', async () => {
    const [a, b, evil] = [await start('a'), await start('b'), await start('b')];
    a.agreed.set('b', b.keyPair!.publicKey);
    evil.incarnation = 'what the impostor makes up';
    await isRefused(a, evil, /node b proves a key other/);
    await evil.wire.close();
    // An impostor that was met before the members had agreed on the key.
    const { incarnation, starts, startId, keyPair } = evil;
    a.records.set('b', { incarnation, starts, startId, publicKey: keyPair!.publicKey });
    introduce(a, b);
    await b.reached.one();
    expect(a.records.get('b')).include({
      incarnation: 'b-first',
      publicKey: b.keyPair!.publicKey,
    });
  });

  it('cannot be claimed by a hello that was sent on another connection', async () => {
    const [a, b] = [await start('a'), await start('b')];
    introduce(a, b);
    await Promise.all([a.reached.one(), b.reached.one()]);
    // Somebody with the shared key listens where a expects c.
    const heard = new Promise<Buffer>((resolve) => {
      const server = sockets.listen(
        (socket) =>
          socket.on('data', (bytes) => {
            server.close();
            socket.destroy();
            resolve(bytes);
          }),
        () => {},
      );
      server.listen(0, '127.0.0.1', () => {
        const { port } = server.address() as net.AddressInfo;
        a.wire.setMembers([
          { id: 'b', address: b.address },
          { id: 'c', address: `127.0.0.1:${port}` },
        ]);
      });
    });
    const sent = decodeFrame((await heard).subarray(4)) as Extract<Frame, { type: 'hello' }>;
    expect(sent.hello).include({ nodeId: 'a', publicKey: a.keyPair!.publicKey });
    const replayed = { ...sent, hello: { ...sent.hello, target: 'b' } };
    const [answer] = await framesOf(b, Buffer.concat(encodeFrame(replayed)));
    expect(answer).include({ type: 'refused', code: 'key' });
    expect(await b.log.one((line) => line.includes('was refused'))).match(
      /from 127\.0\.0\.1:\d+ was refused: node a does not prove that it has the key that it presen/,
    );
  });

  it('go with a server that asks to join', async () => {
    const [a, b] = [await start('a'), await start('b')];
    b.clusterId = null;
    a.onJoin = (_payload, reply) => reply(Buffer.from('welcome'));
    await new Promise((resolve) =>
      b.wire.requestJoin(a.address, Buffer.from('b'), 2000, (bytes) => resolve(bytes)),
    );
    expect(a.joiners).lengthOf(1);
    expect(a.joiners[0]).include({ nodeId: 'b', publicKey: b.keyPair!.publicKey });
  });

  it('stay out of plain connections, which nothing could bind them to', async () => {
    const [a, b] = [new TestNode('a'), new TestNode('b')];
    nodes.push(a, b);
    for (const node of [a, b]) node.keyPair = newKeyPair();
    introduce(await a.listen(), await b.listen());
    await Promise.all([a.reached.one(), b.reached.one()]);
    expect(a.records.get('b')).eql({ incarnation: 'b-first', starts: 1, startId: 'first' });
  });

  describe('a stranger with the shared key', () => {
    const SECRETS = ['cluster-1', 'a-first', 'a-start', 'a-earlier', 'b-first', 'b-start'];
    const member = async (): Promise<TestNode> => {
      const a = await start('a');
      Object.assign(a, { starts: 7, startId: 'a-start', earlier: ['a-earlier'] });
      a.records.set('b', { incarnation: 'b-first', starts: 7777, startId: 'b-start' });
      a.isKnown = (id) => id === 'b';
      return a;
    };
    const learns = async (node: TestNode, over: Partial<Hello>): Promise<Frame> => {
      const [answer] = await framesOf(node, bytesOf(over));
      const text = JSON.stringify(answer);
      for (const secret of [...SECRETS, '7777', '"starts":7', node.keyPair!.publicKey])
        if (!JSON.stringify(over).includes(secret)) expect(text).not.include(secret);
      return answer!;
    };
    const unknown = { nodeId: 'x', incarnation: 'x', startId: 'x' };

    it('learns nothing of the cluster when it asks to join', async () => {
      const a = await member();
      const answer = await learns(a, { ...unknown, clusterId: '', purpose: 'join' });
      expect(answer).property('type').equal('hello');
    });

    it('is refused, and learns nothing that it has not said itself', async () => {
      const a = await member();
      for (const [code, over] of [
        ['stranger', { ...unknown, clusterId: 'cluster-1' }],
        ['stranger', { ...unknown, clusterId: 'cluster-1', purpose: 'snapshot' }],
        ['cluster', { ...unknown, clusterId: '' }],
        ['cluster', { ...unknown, clusterId: 'guess' }],
        ['cluster', { ...unknown, clusterId: 'guess', purpose: 'join' }],
        ['incarnation', { clusterId: 'cluster-1', incarnation: 'guess' }],
        ['reverted', { clusterId: 'cluster-1', incarnation: 'b-first', startId: 'guess' }],
      ] as const) {
        const answer = await learns(a, over);
        expect(answer, JSON.stringify(over)).include({ type: 'refused', code });
      }
      expect(a.messages.all).eql([]);
      expect(a.strangers.all).eql(['x', 'x']);
    });

    it('is accepted once a member has vouched for it', async () => {
      const [a, b] = [await member(), await start('x')];
      b.wire.setMembers([{ id: 'a', address: a.address }]);
      await a.strangers.one();
      expect(b.reached.all).eql([]);
      a.isKnown = () => true;
      await b.reached.one();
      b.wire.send(b.heartbeat(a));
      await a.messages.one();
    });
  });

  it('are compared with what the dialled side shows, too', async () => {
    const [a, b] = [await start('a'), await start('b')];
    a.agreed.set('b', newKeyPair().publicKey);
    a.wire.setMembers([{ id: 'b', address: b.address }]);
    const line = await a.log.one((each) => each.includes('cannot be reached'));
    expect(line).include('node b proves a key other');
    expect(a.reached.all).eql([]);
  });
});
