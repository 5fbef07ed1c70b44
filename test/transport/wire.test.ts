import { once } from 'node:events';
import net from 'node:net';
import { expect } from 'chai';
import type { Entry, Message } from '../../src/raft/types.js';
import { encodeFrame, type Frame, PROTOCOL_VERSION } from '../../src/transport/frames.js';
import { introduce, Relay, TestNode } from './bench.js';

const text = (bytes: Uint8Array | undefined) =>
  bytes === undefined ? undefined : Buffer.from(bytes).toString();

describe('wire', () => {
  const nodes: TestNode[] = [];
  const relays: Relay[] = [];
  const start = async (id: string, options: ConstructorParameters<typeof TestNode>[1] = {}) => {
    const node = new TestNode(id, options);
    nodes.push(node);
    return node.listen();
  };
  const relayTo = async (node: TestNode) => {
    relays.push(await Relay.start(() => node.address));
    return relays.at(-1)!;
  };
  const ask = (from: TestNode, to: string, payload: string, timeoutMs = 2000) =>
    new Promise<[string | undefined, string | undefined]>((resolve) => {
      from.wire.request(to, Buffer.from(payload), timeoutMs, (answer, fate) =>
        resolve([text(answer), fate]),
      );
    });
  afterEach(async () => {
    for (const relay of relays.splice(0)) relay.close();
    for (const node of nodes.splice(0)) await node.wire.close();
  });

  it('carries messages between members in order, and reports who is reachable', async () => {
    const [a, b] = [await start('a'), await start('b')];
    introduce(a, b);
    const rounds = Array.from({ length: 500 }, (_, i) => i);
    await a.reached.one();
    for (const round of rounds) a.wire.send(a.heartbeat(b, round));
    b.wire.send({ type: 'voteResponse', from: 'b', to: 'a', term: 7, granted: true });
    const received = await b.messages.count(500);
    expect(received.map((message) => (message as { round: number }).round)).eql(rounds);
    expect(await a.messages.one()).eql({
      type: 'voteResponse',
      from: 'b',
      to: 'a',
      term: 7,
      granted: true,
    });
    expect(a.wire.reachable()).eql(['b']);
  });

  it('carries entries of every kind, and large ones', async () => {
    const [a, b] = [await start('a'), await start('b')];
    introduce(a, b);
    const members = [{ id: 'a', name: 'A', address: '127.0.0.1:1', voter: false }];
    const data = Buffer.alloc(3_000_000, 'x');
    const entries: Entry[] = [
      { kind: 'noop', index: 5, term: 2 },
      { kind: 'command', index: 6, term: 2, data },
      { kind: 'configuration', index: 7, term: 3, configuration: { members } },
    ];
    const message: Message = {
      ...a.heartbeat(b),
      term: 3,
      prevIndex: 4,
      prevTerm: 2,
      entries,
    } as Message;
    a.wire.send(message);
    const received = (await b.messages.one()) as Message & { type: 'append' };
    expect(received.entries[0]).eql(entries[0]);
    expect(received.entries[2]).eql(entries[2]);
    expect(data.equals((received.entries[1] as unknown as { data: Buffer }).data)).equal(true);
  });

  it('delivers each response once, to the node that sent the request', async () => {
    const [a, b, c] = [await start('a'), await start('b'), await start('c')];
    introduce(a, b, c);
    b.onRequest = (from, payload, reply) => {
      const answer = Buffer.from(`${from}:${text(payload)}`);
      setImmediate(reply, answer);
      setImmediate(reply, Buffer.from('again'));
    };
    const answers = await Promise.all([
      ask(a, 'b', 'one'),
      ask(a, 'b', 'two'),
      ask(c, 'b', 'three'),
    ]);
    expect(answers).eql([
      ['a:one', undefined],
      ['a:two', undefined],
      ['c:three', undefined],
    ]);
  });

  it('distinguishes a request that was not sent from one with an unknown outcome', async () => {
    const [a, b] = [await start('a'), await start('b')];
    introduce(a, b);
    expect(await ask(a, 'nobody', 'x')).eql([undefined, 'unsent']);
    await a.reached.one();
    // Received but never answered: the outcome is unknown.
    expect(await ask(a, 'b', 'x', 30)).eql([undefined, undefined]);
    const received = new Promise<void>((resolve) => {
      b.onRequest = () => resolve();
    });
    const answer = ask(a, 'b', 'y', 60_000);
    await received;
    await b.wire.close();
    expect(await answer).eql([undefined, undefined]);
    await a.lost.one();
    expect(await ask(a, 'b', 'z', 60_000)).eql([undefined, 'unsent']);
  });

  it('reconnects after the connection is lost', async () => {
    const [a, b] = [await start('a'), await start('b')];
    const relay = await relayTo(b);
    a.wire.setMembers([{ id: 'b', address: relay.address }]);
    await a.reached.one();
    relay.cut();
    await a.lost.one();
    await a.reached.count(2);
    a.wire.send(a.heartbeat(b, 9));
    expect(await b.messages.one())
      .property('round')
      .equal(9);
  });

  it('connects at once to a member that dials in, however long its pause is', async () => {
    const hour = 3_600_000;
    const limits = { reconnectMinMs: hour, reconnectMaxMs: hour };
    const [a, b] = [await start('a', { limits }), await start('b')];
    let isUp = false;
    const relay = await Relay.start(() => (isUp ? b.address : '127.0.0.1:1'));
    relays.push(relay);
    a.wire.setMembers([{ id: 'b', address: relay.address }]);
    await a.lost.one();
    isUp = true;
    b.wire.setMembers([{ id: 'a', address: a.address }]);
    expect(await a.reached.one()).to.equal('b');
  });

  it('drops a connection that accepts bytes but shows no life, and makes another', async () => {
    const [a, b] = [await start('a'), await start('b')];
    const relay = await relayTo(b);
    a.wire.setMembers([{ id: 'b', address: relay.address }]);
    await a.reached.one();
    relay.held = true;
    await a.lost.one();
    relay.held = false;
    await a.reached.count(2);
  });

  it('drops the oldest entries, not the votes, for a slow peer, and logs it', async () => {
    const [a, b] = [
      await start('a', { limits: { queueBytes: 200_000, pingMs: 5000 } }),
      await start('b'),
    ];
    const relay = await relayTo(b);
    a.wire.setMembers([{ id: 'b', address: relay.address }]);
    await a.reached.one();
    for (let round = 1; round <= 400; round++) {
      const entry: Entry = { kind: 'command', index: 1, term: 1, data: Buffer.alloc(50_000) };
      a.wire.send({ ...a.heartbeat(b, round), entries: [entry] } as Message);
    }
    a.wire.send({ type: 'timeoutNow', from: 'a', to: 'b', term: 1 });
    expect(await a.lost.one()).equal('b');
    await b.messages.one((message) => message.type === 'timeoutNow');
    const rounds = b.messages.all.flatMap((message) => ('round' in message ? [message.round] : []));
    expect(rounds.length).lessThan(400);
    expect(rounds.at(-1)).equal(400);
  });

  it('refuses a node of another cluster', async () => {
    const [a, b] = [await start('a'), await start('b')];
    b.clusterId = 'cluster-2';
    introduce(a, b);
    expect(await b.log.one((line) => line.includes('refused'))).include('cluster "cluster-1"');
    await a.log.one((line) => line.includes('cannot be reached'));
    expect(a.reached.all).eql([]);
  });

  it('refuses a node with a wiped disk under its old id, and says why', async () => {
    const [a, b] = [await start('a'), await start('b')];
    introduce(a, b);
    await b.reached.one();
    await a.reached.one();
    const { address } = a;
    await a.wire.close();
    const wiped = new TestNode('a');
    nodes.push(wiped);
    wiped.incarnation = 'a-second';
    wiped.address = address;
    wiped.wire.setMembers([{ id: 'b', address: b.address }]);
    expect(await b.log.one((line) => line.includes('wiped'))).include('node a');
    expect(await wiped.log.one((line) => line.includes('wiped'))).include('cannot be reached');
    wiped.wire.send(wiped.heartbeat(b));
    expect(b.messages.all).eql([]);
  });

  it('does not trust a wiped node that it dials itself', async () => {
    const [a, b] = [await start('a'), await start('b')];
    a.records.set('b', { incarnation: 'b-before', starts: 1, startId: 'first' });
    a.wire.setMembers([{ id: 'b', address: b.address }]);
    expect(await a.log.one((line) => line.includes('wiped'))).include('b-first');
    expect(a.reached.all).eql([]);
  });

  it('trusts a node on each start of its folder, and every connection of one start', async () => {
    const [a, b] = [await start('a'), await start('b')];
    introduce(a, b);
    await b.reached.one();
    await a.wire.close();
    const again = new TestNode('a');
    nodes.push(again);
    Object.assign(again, { starts: 2, startId: 'second', earlier: ['first'], address: a.address });
    const relay = await relayTo(b);
    again.wire.setMembers([{ id: 'b', address: relay.address }]);
    await again.reached.one();
    expect(b.records.get('a')).eql({ incarnation: 'a-first', starts: 2, startId: 'second' });
    relay.cut();
    await again.reached.count(2);
    again.wire.send(again.heartbeat(b, 9));
    expect(await b.messages.one())
      .property('round')
      .equal(9);
  });

  for (const [what, starts, earlier] of [
    ['an older start', 2, ['first']],
    ['another start of the same number', 3, ['second', 'first']],
    ['so many starts that its number is new', 5, ['again', 'other', 'second', 'first']],
  ] as const) {
    it(`refuses a node with an older copy of its folder, with advice: ${what}`, async () => {
      const [a, b] = [await start('a'), await start('b')];
      b.records.set('a', { incarnation: 'a-first', starts: 3, startId: 'seen' });
      Object.assign(a, { starts, startId: 'of the copy', earlier });
      introduce(a, b);
      const line = await b.log.one((each) => each.includes('refused'));
      expect(line).include('node a was started from an older copy of its data folder');
      expect(line).include('Remove it from the cluster, empty its data folder');
      expect(await a.log.one((each) => each.includes('older copy'))).include('cannot be reached');
      a.wire.send(a.heartbeat(b));
      await Promise.all([a.lost.count(2), b.lost.count(2)]);
      expect([a.reached.all, b.reached.all, b.messages.all]).eql([[], [], []]);
      expect(b.records.get('a')).property('startId').equal('seen');
    });
  }

  it('refuses a node other than the one it dialled, and one with its own id', async () => {
    const [a, b, c] = [await start('a'), await start('b'), await start('c')];
    a.wire.setMembers([{ id: 'c', address: b.address }]);
    expect(await a.log.one()).include('expected to reach node c, but this is node b');
    const twin = await start('c');
    twin.wire.setMembers([{ id: 'x', address: c.address }]);
    await c.log.one((line) => line.includes('expected to reach node x'));
    expect(a.reached.all).eql([]);
  });

  it('learns the address of a sender that is in no configuration', async () => {
    const [a, b] = [await start('a'), await start('b')];
    a.wire.setMembers([{ id: 'b', address: b.address }]);
    a.wire.send(a.heartbeat(b));
    await b.messages.one();
    b.wire.send({ type: 'preVoteResponse', from: 'b', to: 'a', term: 1, granted: false });
    expect(await a.messages.one())
      .property('type')
      .equal('preVoteResponse');
  });

  it('lets a node without a cluster only ask to join', async () => {
    const [a, b] = [await start('a'), await start('b')];
    b.clusterId = null;
    a.onJoin = (payload, reply) => reply(Buffer.from(`welcome ${text(payload)}`));
    const answer = await new Promise((resolve) =>
      b.wire.requestJoin(a.address, Buffer.from('b'), 2000, (bytes) => resolve(text(bytes))),
    );
    expect(answer).equal('welcome b');
    b.wire.setMembers([{ id: 'a', address: a.address }]);
    expect(await b.log.one()).include('belongs to cluster ""');
    const nowhere = await new Promise((resolve) =>
      b.wire.requestJoin('127.0.0.1:1', Buffer.from('b'), 2000, (_bytes, fate) => resolve(fate)),
    );
    expect(nowhere).equal('unsent');
  });

  it("disconnects a member that sends in another's name, and serves the others", async () => {
    const [a, b] = [await start('a'), await start('b')];
    introduce(a, b);
    await a.reached.one();
    a.wire.send({ type: 'timeoutNow', from: 'c', to: 'b', term: 1 });
    await a.lost.one();
    expect(b.messages.all).eql([]);
    await a.reached.count(2);
  });

  it('drops a removed member, and connects to a moved one', async () => {
    const [a, b] = [await start('a'), await start('b')];
    introduce(a, b);
    await a.reached.one();
    const relay = await relayTo(b);
    a.wire.setMembers([{ id: 'b', address: relay.address }]);
    await a.reached.count(2);
    expect(relay.toServer.length).greaterThan(0);
    a.removed.add('b');
    a.wire.setMembers([]);
    expect(a.wire.reachable()).eql([]);
    expect(await ask(a, 'b', 'x')).eql([undefined, 'unsent']);
  });

  it('refuses to listen or dial beyond loopback without a key or TLS, and says how', async () => {
    const node = new TestNode('a');
    nodes.push(node);
    const error = await node.wire.listen('0.0.0.0', 0).catch((e: Error) => e);
    expect(error).instanceOf(Error).property('message').include('shared key');
    node.wire.setMembers([{ id: 'b', address: '192.0.2.1:8300' }]);
    node.wire.setMembers([{ id: 'b', address: '192.0.2.1:8300' }]);
    expect(node.log.all).lengthOf(1);
    expect(node.log.all[0]).include('shared key');
    node.wire.setMembers([{ id: 'b', address: 'nonsense' }]);
    node.wire.send({ ...node.heartbeat(node), to: 'b' } as Message);
  });

  describe('against an unknown peer', () => {
    const hello = (over: object = {}): Buffer =>
      Buffer.concat(
        encodeFrame({
          type: 'hello',
          hello: {
            version: PROTOCOL_VERSION,
            clusterId: 'cluster-1',
            nodeId: 'x',
            incarnation: 'x-first',
            address: '127.0.0.1:1',
            purpose: 'messages',
            target: 'a',
            starts: 1,
            startId: 'first',
            earlier: [],
            oldestVersion: PROTOCOL_VERSION,
            ...over,
          },
        }),
      );
    const message = (over: Partial<Frame> = {}): Buffer =>
      Buffer.concat(
        encodeFrame({
          type: 'message',
          message: { type: 'timeoutNow', from: 'x', to: 'a', term: 1 },
          ...over,
        } as Frame),
      );
    /** Writes bytes in pieces, and resolves when the other side has closed. */
    const offend = async (node: TestNode, ...pieces: Buffer[]) => {
      const [host, port] = node.address.split(':');
      const socket = net.connect(Number(port), host);
      socket.on('error', () => {});
      socket.resume();
      for (const piece of pieces) {
        socket.write(piece);
        await new Promise(setImmediate);
      }
      if (!socket.closed) await new Promise((resolve) => socket.on('close', resolve));
    };
    const giant = Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1]);

    it('closes on garbage, giant lengths and unexpected frames at any time', async () => {
      const a = await start('a', { limits: { frameBytes: 100_000, connectMs: 300 } });
      await offend(a, Buffer.from('GET / HTTP/1.1\r\n\r\n'));
      await offend(a, giant);
      await offend(a, message());
      await offend(a, hello({ version: 1, oldestVersion: 1 }));
      await offend(a, hello({ version: 99, oldestVersion: 98 }));
      await offend(a, hello({ clusterId: 'other' }));
      await offend(a, hello({ nodeId: 'a' }));
      await offend(a, hello(), giant);
      await offend(a, hello(), hello());
      await offend(a, hello(), Buffer.from([0, 0, 0, 5, 0, 0, 0, 1, 0xc1]));
      await offend(a, hello({ purpose: 'join', clusterId: '' }), message());
      await offend(a, hello({ purpose: 'snapshot' }), message());
      expect(a.messages.all).eql([]);
    });

    it('accepts the hello of a newer release that still speaks our version', async () => {
      const a = await start('a');
      const [host, port] = a.address.split(':');
      const socket = net.connect(Number(port), host);
      socket.write(Buffer.concat([hello({ version: 99, oldestVersion: 2 }), message()]));
      expect(await a.messages.one())
        .property('from')
        .equal('x');
      socket.destroy();
    });

    it('closes if the hello is missing or incomplete', async () => {
      const a = await start('a', { limits: { connectMs: 30 } });
      await offend(a);
      await offend(a, hello().subarray(0, 20));
    });

    it('disconnects a peer that keeps sending requests without reading responses', async () => {
      const a = await start('a', { limits: { queueBytes: 1_000_000 } });
      a.onRequest = (_from, _payload, reply) => reply(Buffer.alloc(100_000));
      const question = (id: number) =>
        Buffer.concat(encodeFrame({ type: 'request', id, payload: Buffer.alloc(1) }));
      const ping = Buffer.concat(Array(1000).fill(Buffer.concat(encodeFrame({ type: 'ping' }))));
      for (const more of [question, () => ping]) {
        const [host, port] = a.address.split(':');
        const socket = net.connect(Number(port), host);
        socket.on('error', () => {});
        socket.pause();
        socket.write(hello());
        for (let id = 1; !socket.destroyed; id += 1) {
          socket.write(more(id));
          await new Promise(setImmediate);
        }
      }
    });

    it('accepts frames that arrive byte by byte', async () => {
      const a = await start('a');
      const [host, port] = a.address.split(':');
      const socket = net.connect(Number(port), host);
      for (const byte of hello()) {
        socket.write(Buffer.from([byte]));
        await new Promise(setImmediate);
      }
      await once(socket, 'data');
      for (const byte of message()) {
        socket.write(Buffer.from([byte]));
        await new Promise(setImmediate);
      }
      expect(await a.messages.one())
        .property('type')
        .equal('timeoutNow');
      socket.destroy();
    });
  });
});
