import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Message } from '../../src/raft/types.js';
import type { WireSecurity } from '../../src/transport/sockets.js';
import type { ChunkSink, ChunkSource } from '../../src/transport/types.js';
import { Relay, TestNode } from './bench.js';

const meta = { index: 9, term: 2, configuration: { members: [] } };
const file = (name: string) => readFileSync(`test/transport/fixtures/revocation/${name}`, 'utf8');
/** The certificate of a member, and the list of revoked ones that it has. */
const issued = (who: string, list: string): WireSecurity => ({
  mode: 'tls',
  name: 'members.conclave.test',
  ca: file('authority.pem'),
  cert: file(`${who}.pem`),
  key: file(`${who}.key`),
  crl: file(`${list}.crl`),
});

describe('a state sent over the wire', () => {
  let a: TestNode;
  let b: TestNode;
  let relay: Relay;
  beforeEach(async () => {
    a = await new TestNode('a', { limits: { stalledTurns: 2 } }).listen();
    b = await new TestNode('b').listen();
    relay = await Relay.start(() => b.address);
    a.wire.setMembers([{ id: 'b', address: relay.address }]);
  });
  afterEach(async () => {
    relay.close();
    await a.wire.close();
    await b.wire.close();
  });

  const chunks = ['one', 'two', 'three', 'four'];
  let closed = 0;
  const source = (over: Partial<ChunkSource> = {}): ChunkSource => {
    closed = 0;
    return {
      id: 'stream-1',
      chunk: async (number) => ({
        data: Buffer.from(chunks[number]!),
        last: number === chunks.length - 1,
      }),
      close: () => {
        closed += 1;
      },
      ...over,
    };
  };
  class Sink implements ChunkSink {
    next = 0;
    readonly got: string[] = [];
    onWrite: (number: number) => Promise<void> = async () => {};
    #last: Promise<void> = Promise.resolve();
    write(number: number, data: Uint8Array): Promise<void> {
      this.#last = this.#last.then(async () => {
        await this.onWrite(number);
        this.got[number] = Buffer.from(data).toString();
        this.next = number + 1;
      });
      return this.#last;
    }
    disconnections = 0;
    disconnected(): void {
      this.disconnections += 1;
    }
  }
  const message: Message = { type: 'snapshot', from: 'a', to: 'b', term: 2, meta, round: 1 };
  const send = () => new Promise<boolean>((resolve) => a.wire.sendSnapshot('b', message, resolve));

  it('arrives complete, and reports success once it is switched in', async () => {
    const sink = new Sink();
    a.source = source;
    b.sink = async () => sink;
    expect(await send()).equal(true);
    expect(sink.got).eql(chunks);
    expect(closed).equal(1);
  });

  it('is not sent on to a node whose certificate is revoked meanwhile', async () => {
    const from = await new TestNode('a', { security: issued('first', 'none') }).listen();
    const to = await new TestNode('b', { security: issued('second', 'none') }).listen();
    try {
      from.wire.setMembers([{ id: 'b', address: to.address }]);
      from.source = () => source({ chunk: async () => ({ data: Buffer.from('x'), last: false }) });
      const sink = new Sink();
      sink.onWrite = async (number) => {
        if (number === 0) from.wire.reload(issued('first', 'second'));
      };
      to.sink = async () => sink;
      const sent = new Promise((done) => from.wire.sendSnapshot('b', message, done));
      expect(await sent).equal(false);
      expect(sink.next).lessThan(10);
    } finally {
      await from.wire.close();
      await to.wire.close();
    }
  });

  it('sends a few chunks while the first are stored, and no more', async () => {
    const all = Array.from({ length: 20 }, (_, number) => String(number));
    const made: number[] = [];
    a.source = () =>
      source({
        chunk: async (number) => {
          made.push(number);
          return { data: Buffer.from(all[number]!), last: number === all.length - 1 };
        },
      });
    const sink = new Sink();
    let release = (): void => {};
    const isStored = new Promise<void>((resolve) => {
      release = resolve;
    });
    let fourth = (): void => {};
    const haveFour = new Promise<void>((resolve) => {
      fourth = resolve;
    });
    const write = sink.write.bind(sink);
    sink.write = (number, data) => {
      if (number === 3) fourth();
      return write(number, data);
    };
    sink.onWrite = () => isStored;
    b.sink = async () => sink;
    const sent = send();
    await haveFour;
    expect(made.slice(0, 4)).eql([0, 1, 2, 3]);
    // The next one may be made, but is not sent.
    expect(made.length).within(4, 5);
    release();
    expect(await sent).equal(true);
    expect(sink.got).eql(all);
  });

  it('resumes where it stopped after the connection broke', async () => {
    const sinks = new Map<string, Sink>();
    const written: number[] = [];
    a.source = source;
    b.sink = async (id) => {
      const sink = sinks.get(id) ?? new Sink();
      sinks.set(id, sink);
      sink.onWrite = async (number) => {
        written.push(number);
        if (written.length === 3) relay.cut();
      };
      return sink;
    };
    expect(await send()).equal(true);
    expect(sinks.get('stream-1')?.got).eql(chunks);
    expect(sinks.get('stream-1')?.disconnections).greaterThan(0);
    expect(written.filter((number) => number < 2)).eql([0, 1]);
  });

  it('is not sent on to a node that is no member any more', async () => {
    a.source = source;
    const sink = new Sink();
    sink.onWrite = async (number) => {
      if (number === 0) a.wire.setMembers([]);
    };
    b.sink = async () => sink;
    expect(await send()).equal(false);
    expect(closed).equal(1);
    expect(sink.got).lengthOf.lessThan(chunks.length);
  });

  it('fails if the receiver refuses it, a chunk is bad, or the source fails', async () => {
    a.source = source;
    b.sink = async () => undefined;
    expect(await send()).equal(false);
    b.sink = async () => {
      const sink = new Sink();
      sink.onWrite = async (number) => {
        if (number === 2) throw new Error('chunk 2 was changed');
      };
      return sink;
    };
    expect(await send()).equal(false);
    await b.log.one((line) => line.includes('chunk 2 was changed'));
    a.source = () => source({ chunk: () => Promise.reject(new Error('unreadable')) });
    b.sink = async () => new Sink();
    expect(await send()).equal(false);
    expect(closed).equal(1);
    a.source = () => undefined;
    expect(await send()).equal(false);
  });

  it('fails if no connection makes progress', async () => {
    a.source = source;
    relay.close();
    expect(await send()).equal(false);
    expect(closed).equal(1);
  });

  it('fails if the receiver is alive but makes no progress, at any chunk', async () => {
    for (let stuck = -1; stuck < chunks.length; stuck++) {
      const sink = new Sink();
      sink.onWrite = (number) => (number === stuck ? new Promise(() => {}) : Promise.resolve());
      a.source = source;
      b.sink = () => (stuck < 0 ? new Promise(() => {}) : Promise.resolve(sink));
      expect(await send()).equal(false);
      expect([sink.next, closed]).eql([Math.max(stuck, 0), 1]);
    }
    await a.log.one((line) => line.includes('the receiver makes no progress'));
  });

  it('waits longer while the receiver verifies the whole', async () => {
    const sink = new Sink();
    a.source = source;
    b.sink = async () => sink;
    sink.onWrite = async (number) => {
      if (number < chunks.length - 1) return;
      // Each turn brings a ping on this connection and one on that of the messages: about ten
      // turns, twice the limit.
      for (let pings = 0; pings < 20; pings++) {
        await new Promise<void>((resolve) => {
          relay.onToServer = resolve;
        });
      }
    };
    expect(await send()).equal(true);
  });

  it('is stopped by a newer transfer, and by closing', async () => {
    a.source = source;
    b.sink = () => new Promise(() => {});
    const first = send();
    const second = send();
    expect(await first).equal(false);
    await a.wire.close();
    expect(await second).equal(false);
  });

  it('does not delay messages', async () => {
    const order: string[] = [];
    let release = () => {};
    a.source = source;
    b.sink = async () => {
      const sink = new Sink();
      sink.onWrite = () =>
        new Promise((resolve) => {
          release = resolve;
          order.push('chunk');
        });
      return sink;
    };
    const sent = send();
    a.wire.send(a.heartbeat(b));
    await b.messages.one();
    order.push('heartbeat');
    expect(order).include('heartbeat');
    while (!(await Promise.race([sent, new Promise((resolve) => setImmediate(resolve))])))
      release();
    expect(await sent).equal(true);
  });
});
