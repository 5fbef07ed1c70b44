import { expect } from 'chai';
import { StateSource, snapshotSink } from '../../src/node/snapshots.js';
import type { Message, SnapshotMessage, SnapshotMeta } from '../../src/raft/types.js';
import {
  IDLE_MS,
  IncomingSnapshot,
  RECONNECT_MS,
} from '../../src/replica/state/incoming-snapshot.js';
import { POSITION_KEY } from '../../src/state/keys.js';
import { keyOf } from '../../src/state/types.js';
import { MemoryState } from '../../src/storage/memory-state.js';
import type { Installation } from '../../src/storage/types.js';
import type { ChunkSink } from '../../src/transport/types.js';
import { FakeClock } from '../replica/fakes.js';
import { Relay, TestNode } from '../transport/bench.js';

const metaAt = (index: number): SnapshotMeta => ({
  index,
  term: 2,
  configuration: { members: [] },
});
const messageOf = (meta: SnapshotMeta, from = 'b', term = 2) =>
  ({ type: 'snapshot', from, to: 'a', term, meta, round: 0 }) satisfies Message;

let sources = 0;
/** A state of `chunks` chunks; its values name its owner. */
function sourceOf(chunks: number, owner = 'b'): StateSource {
  const store = new MemoryState();
  store.commit(
    Array.from({ length: chunks }, (_, i) => [keyOf('test', `k${i}`), owner.repeat(256 * 1024)]),
  );
  return new StateSource({ id: `source ${++sources}`, view: store.pin(), meta: metaAt(9) });
}

/** Counts snapshots that are begun and aborted. */
class Store extends MemoryState {
  installs = 0;
  aborts = 0;
  /** What every chunk waits for. */
  disk: Promise<void> = Promise.resolve();
  /** Called for every chunk. */
  onAdd: () => void = () => {};
  /** Called while the whole snapshot is verified. */
  verify: () => Promise<void> = async () => {};
  override install(): Installation {
    const inner = super.install();
    this.installs += 1;
    return {
      add: async (records) => {
        this.onAdd();
        await this.disk;
        await inner.add(records);
      },
      finish: async (tally) => {
        await this.verify();
        await inner.finish(tally);
      },
      abort: () => {
        this.aborts += 1;
        inner.abort();
      },
    };
  }
}

function build() {
  const clock = new FakeClock();
  const store = new Store();
  const events: string[] = [];
  const self = { term: 2, applied: 0 };
  const incoming = new IncomingSnapshot({
    clock,
    loop: {
      receive: () => {},
      get role() {
        return { role: 'follower' as const, term: self.term, leader: 'b' };
      },
      wants: (meta) => meta.index > self.applied,
      pauseApply: () => events.push('begin'),
    },
    recovery: { failed: () => events.push('failed'), recovered: () => {} },
    reload: () => {},
    switched: (meta, from, done) => {
      self.applied = meta.index;
      events.push(`switched ${meta.index} from ${from}`);
      done();
    },
  });
  const sinkFor = (message: SnapshotMessage, id: string) =>
    snapshotSink(message, id, { incoming, store, guard: (run) => run() });
  const owner = (): string | undefined => store.get(keyOf('test', 'k0'))?.[0];
  return { clock, store, events, self, incoming, sinkFor, owner };
}

/** Sends chunks from the one that the sink expects up to `end` (all by default). */
async function send(
  sink: ChunkSink | undefined,
  source: StateSource,
  end = Infinity,
): Promise<void> {
  for (let number = sink!.next; number < end; number++) {
    const { data, last } = await source.chunk(number);
    await sink!.write(number, data, last);
    if (last) return;
  }
}

describe('node: an incoming state', () => {
  const CHUNKS = 4;

  it('resumes where it stopped, after whichever chunk the connection broke', async () => {
    for (let cut = 0; cut < CHUNKS; cut++) {
      const { incoming, sinkFor, store, events, owner } = build();
      const source = sourceOf(CHUNKS);
      await send(await sinkFor(messageOf(source.meta), source.id), source, cut);
      const again = await sinkFor(messageOf(source.meta), source.id);
      expect(again!.next).to.equal(cut);
      await send(again, source);
      expect(events).to.deep.equal(['begin', 'switched 9 from b']);
      expect([owner(), store.installs, store.aborts]).to.deep.equal(['b', 1, 0]);
      expect(store.get(POSITION_KEY)).to.equal(JSON.stringify(source.meta));
      expect(incoming.isArriving).to.equal(false);
    }
  });

  it('accepts once a chunk that was being written when the connection broke', async () => {
    for (let cut = 0; cut < CHUNKS; cut++) {
      const { sinkFor, store, events, owner } = build();
      const source = sourceOf(CHUNKS);
      const sink = await sinkFor(messageOf(source.meta), source.id);
      await send(sink, source, cut);
      let release = (): void => {};
      store.disk = new Promise((resolve) => {
        release = resolve;
      });
      const { data, last } = await source.chunk(cut);
      const first = sink!.write(cut, data, last);
      const again = sinkFor(messageOf(source.meta), source.id);
      const repeated = sink!.write(cut, data, last);
      release();
      await Promise.all([first, repeated]);
      const next = await again;
      // After the last chunk there is nothing left to resume.
      if (last) expect(next).to.equal(undefined);
      else {
        expect(next!.next).to.equal(cut + 1);
        await send(next, source);
      }
      expect(events).to.deep.equal(['begin', 'switched 9 from b']);
      expect(owner()).to.equal('b');
    }
  });

  it('is aborted if its sender makes no progress, and another one can begin', async () => {
    for (let cut = 0; cut < CHUNKS; cut++) {
      const { clock, incoming, sinkFor, store, owner } = build();
      const gone = sourceOf(CHUNKS);
      const sink = await sinkFor(messageOf(gone.meta), gone.id);
      await send(sink, gone, cut);
      clock.advance(2 * IDLE_MS);
      expect([incoming.isArriving, store.aborts]).to.deep.equal([false, 1]);
      const { data, last } = await gone.chunk(cut);
      const late = await sink!.write(cut, data, last).catch((error: Error) => error.message);
      expect(late).to.equal('the incoming state was abandoned');
      const next = sourceOf(CHUNKS, 'c');
      await send(await sinkFor(messageOf(next.meta, 'c'), next.id), next);
      expect(owner()).to.equal('c');
    }
  });

  it('is aborted sooner if its connection breaks, unless the sender reconnects', async () => {
    const { clock, incoming, sinkFor } = build();
    const source = sourceOf(CHUNKS);
    const sink = await sinkFor(messageOf(source.meta), source.id);
    await send(sink, source, 1);
    sink!.disconnected?.();
    await send(await sinkFor(messageOf(source.meta), source.id), source, 2);
    clock.advance(RECONNECT_MS);
    expect(incoming.isArriving).to.equal(true);
    sink!.disconnected?.();
    clock.advance(RECONNECT_MS);
    expect(incoming.isArriving).to.equal(false);
  });

  it('is aborted as soon if what had arrived before the break is stored after it', async () => {
    const { clock, incoming, sinkFor } = build();
    const source = sourceOf(CHUNKS);
    const sink = await sinkFor(messageOf(source.meta), source.id);
    sink!.disconnected?.();
    await send(sink, source, 1);
    clock.advance(RECONNECT_MS);
    expect(incoming.isArriving).to.equal(true);
    clock.advance(RECONNECT_MS);
    expect(incoming.isArriving).to.equal(false);
  });

  it('is not aborted for a break once the sender is back, however slow it is', async () => {
    const { clock, incoming, sinkFor } = build();
    const source = sourceOf(CHUNKS);
    const sink = await sinkFor(messageOf(source.meta), source.id);
    sink!.disconnected?.();
    await send(sink, source, 1);
    clock.advance(RECONNECT_MS);
    await sinkFor(messageOf(source.meta), source.id);
    clock.advance(3 * RECONNECT_MS);
    expect(incoming.isArriving).to.equal(true);
  });

  it('is not aborted for a dead connection that closes once the sender is back', async () => {
    const { clock, incoming, sinkFor, store } = build();
    const source = sourceOf(CHUNKS);
    const first = await sinkFor(messageOf(source.meta), source.id);
    await send(first, source, 1);
    const again = await sinkFor(messageOf(source.meta), source.id);
    first!.disconnected!();
    clock.advance(2 * RECONNECT_MS);
    expect([incoming.isArriving, store.aborts]).to.deep.equal([true, 0]);
    again!.disconnected!();
    clock.advance(2 * RECONNECT_MS);
    expect([incoming.isArriving, store.aborts]).to.deep.equal([false, 1]);
  });

  it('is not aborted while it makes progress, or while the disk is busy with it', async () => {
    const { clock, sinkFor, store, events } = build();
    const source = sourceOf(CHUNKS);
    const sink = await sinkFor(messageOf(source.meta), source.id);
    for (let end = 1; end < CHUNKS; end++) {
      await send(sink, source, end);
      clock.advance(IDLE_MS - 1);
    }
    let release = (): void => {};
    store.disk = new Promise((resolve) => {
      release = resolve;
    });
    const last = send(sink, source);
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(10 * IDLE_MS);
    release();
    await last;
    expect(events).to.deep.equal(['begin', 'switched 9 from b']);
    expect(clock.timers).to.equal(0);
  });

  it("is replaced by a new leader's state, not by an old leader's or once complete", async () => {
    const { sinkFor, self, store, owner } = build();
    const [old, present, former] = [sourceOf(CHUNKS), sourceOf(CHUNKS, 'c'), sourceOf(CHUNKS, 'd')];
    const oldSink = await sinkFor(messageOf(old.meta), old.id);
    await send(oldSink, old, 2);
    self.term = 3;
    const sink = await sinkFor(messageOf(present.meta, 'c', 3), present.id);
    expect(store.aborts).to.equal(1);
    const { data, last } = await old.chunk(2);
    await oldSink!.write(2, data, last).then(
      () => expect.fail('a chunk of the aborted state was accepted'),
      () => {},
    );
    expect(await sinkFor(messageOf(former.meta, 'd', 2), former.id)).to.equal(undefined);
    await send(sink, present, CHUNKS - 1);
    const refused: unknown[] = [];
    store.verify = async () => {
      const third = messageOf(metaAt(12), 'd', 3);
      refused.push(await sinkFor(third, former.id));
    };
    await send(sink, present);
    expect(refused).to.deep.equal([undefined]);
    expect(owner()).to.equal('c');
  });

  it('is aborted by a chunk that is malformed or out of order', async () => {
    for (const bad of ['broken', 'early', 'tally'] as const) {
      const { incoming, sinkFor, store, events } = build();
      const source = sourceOf(CHUNKS);
      const sink = await sinkFor(messageOf(source.meta), source.id);
      const { data, last } = await source.chunk(0);
      const write =
        bad === 'broken'
          ? sink!.write(0, new Uint8Array([1]), false)
          : sink!.write(bad === 'early' ? 1 : 0, data, bad === 'tally' ? !last : last);
      await write.then(
        () => expect.fail('it was accepted'),
        () => {},
      );
      expect([incoming.isArriving, store.aborts, events.length]).to.deep.equal([false, 1, 0]);
    }
  });

  it('is discarded if it is no longer wanted when it is complete', async () => {
    const { incoming, sinkFor, self, store, events } = build();
    const source = sourceOf(CHUNKS);
    const sink = await sinkFor(messageOf(source.meta), source.id);
    await send(sink, source, CHUNKS - 1);
    self.applied = 20;
    await send(sink, source);
    expect([incoming.isArriving, store.aborts, events.length]).to.deep.equal([false, 1, 0]);
  });

  it('is discarded if it fails verification, and applying continues', async () => {
    const { incoming, sinkFor, store, events } = build();
    const source = sourceOf(1);
    const sink = await sinkFor(messageOf(source.meta), source.id);
    const { data } = await source.chunk(0);
    // One bit of a value changes in transit.
    const changed = Buffer.from(data);
    changed[100] = changed[100]! ^ 1;
    await sink!.write(0, changed, true).then(
      () => expect.fail('it was accepted'),
      () => {},
    );
    expect(events).to.deep.equal(['begin', 'failed']);
    expect([incoming.isArriving, store.get(keyOf('test', 'k0'))]).to.deep.equal([false, undefined]);
  });

  it('arrives complete over a connection that breaks at any chunk', async () => {
    for (let cut = 0; cut < CHUNKS - 1; cut++) {
      const { sinkFor, store, events, owner } = build();
      const source = sourceOf(CHUNKS);
      const b = await new TestNode('b').listen();
      const a = await new TestNode('a').listen();
      const relay = await Relay.start(() => a.address);
      try {
        b.wire.setMembers([{ id: 'a', address: relay.address }]);
        b.source = () => source;
        a.sink = (id) => sinkFor(messageOf(source.meta), id);
        let adds = 0;
        store.onAdd = () => {
          if (adds === cut) relay.cut();
          adds += 1;
        };
        const isSent = await new Promise((resolve) =>
          b.wire.sendSnapshot('a', messageOf(source.meta), resolve),
        );
        // One addition per chunk, and one for the position.
        expect([isSent, adds]).to.deep.equal([true, CHUNKS + 1]);
      } finally {
        relay.close();
        await a.wire.close();
        await b.wire.close();
      }
      expect(events).to.deep.equal(['begin', 'switched 9 from b']);
      expect(owner()).to.equal('b');
    }
  });

  it('accepts nothing after it was stopped', async () => {
    const { clock, incoming, sinkFor, store } = build();
    const source = sourceOf(CHUNKS);
    await send(await sinkFor(messageOf(source.meta), source.id), source, 2);
    incoming.stop();
    expect([incoming.isArriving, store.aborts, clock.timers]).to.deep.equal([false, 1, 0]);
    expect(await sinkFor(messageOf(source.meta), source.id)).to.equal(undefined);
  });
});
