import { expect } from 'chai';
import { introduce, Relay, TestNode } from './bench.js';

describe('wire, answers', () => {
  const nodes: TestNode[] = [];
  const relays: Relay[] = [];
  const start = async (id: string, options: ConstructorParameters<typeof TestNode>[1] = {}) => {
    const node = new TestNode(id, options);
    nodes.push(node);
    return node.listen();
  };
  const ask = (from: TestNode, to: string, payload: string, timeoutMs: number) =>
    new Promise<[string | undefined, string | undefined]>((resolve) => {
      from.wire.request(to, Buffer.from(payload), timeoutMs, (answer, fate) =>
        resolve([answer === undefined ? undefined : Buffer.from(answer).toString(), fate]),
      );
    });
  afterEach(async () => {
    for (const relay of relays.splice(0)) relay.close();
    for (const node of nodes.splice(0)) await node.wire.close();
  });

  it('say at once that it does not handle a request beyond the limit', async () => {
    const [a, b] = [await start('a'), await start('b', { limits: { requests: 2 } })];
    introduce(a, b);
    await a.reached.one();
    const received = new Promise<void>((resolve) => {
      let count = 0;
      b.onRequest = () => ++count === 2 && resolve();
    });
    for (const payload of ['x', 'y']) void ask(a, 'b', payload, 60_000);
    await received;
    expect(await ask(a, 'b', 'z', 60_000)).eql([undefined, 'unsent']);
  });

  it('reach a node that was a member when it dialled in, and is one no more', async () => {
    const [a, b] = [await start('a'), await start('b')];
    introduce(a, b);
    await a.reached.one();
    a.wire.send(a.heartbeat(b));
    await b.messages.one();
    b.wire.setMembers([]);
    b.wire.send({ type: 'preVoteResponse', from: 'b', to: 'a', term: 1, granted: false });
    expect(await a.messages.one())
      .property('type')
      .equal('preVoteResponse');
  });

  it('reach a sender that is in no configuration, after many failures to dial it', async () => {
    const [a, b] = [await start('a'), await start('b')];
    const own = a.address;
    let isUp = false;
    const relay = await Relay.start(() => (isUp ? own : '127.0.0.1:1'));
    relays.push(relay);
    a.address = relay.address;
    a.wire.setMembers([{ id: 'b', address: b.address }]);
    let round = 0;
    const exchange = async (): Promise<void> => {
      round += 1;
      a.wire.send(a.heartbeat(b, round));
      await b.messages.one((message) => (message as { round: number }).round === round);
      b.wire.send({ type: 'preVoteResponse', from: 'b', to: 'a', term: 1, granted: false });
    };
    // One attempt after another: the wire drops the outgoing side to such a node after three.
    while (b.lost.all.length < 30) await exchange();
    isUp = true;
    while (a.messages.all.length === 0) await exchange();
  });
});
