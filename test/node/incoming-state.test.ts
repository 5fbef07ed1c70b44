import { expect } from 'chai';
import { StateSource, snapshotSink } from '../../src/node/snapshots.js';
import type { Message, SnapshotMeta } from '../../src/raft/types.js';
import {
  IDLE_MS,
  IncomingSnapshot,
  RECONNECT_MS,
  type SnapshotMessage,
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
/** A state of so many chunks; its values tell whose it is. */
function sourceOf(chunks: number, owner = 'b'): StateSource {
  const store = new MemoryState();
  store.commit(
    Array.from({ length: chunks }, (_, i) => [keyOf('test', `k${i}`), owner.repeat(256 * 1024)]),
  );
  return new StateSource({ id: `source ${++sources}`, view: store.pin(), meta: metaAt(9) });
}

/** Counts what is begun and given up. */
class Store extends MemoryState {
  installs = 0;
  aborts = 0;
  /** What every chunk waits for. */
  disk: Promise<void> = Promise.resolve();
  /** What happens when a chunk comes. */
  onAdd: () => void = () => {};
  /** What happens while the whole is verified. */
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
  const told: string[] = [];
  const self = { term: 2, applied: 0 };
  const incoming = new IncomingSnapshot({
    clock,
    loop: {
      receive: () => {},
      get role() {
        return { role: 'follower' as const, term: self.term, leader: 'b' };
      },
      wants: (meta) => meta.index > self.applied,
      pauseApply: () => told.push('begin'),
    },
    recovery: { failed: () => told.push('failed'), recovered: () => {} },
    reload: () => {},
    switched: (meta, from, done) => {
      self.applied = meta.index;
      told.push(`switched ${meta.index} from ${from}`);
      done();
    },
  });
  const sinkFor = (message: SnapshotMessage, id: string) =>
    snapshotSink(message, id, { incoming, store, guard: (run) => run() });
  const owner = (): string | undefined => store.get(keyOf('test', 'k0'))?.[0];
  return { clock, store, told, self, incoming, sinkFor, owner };
}

/** Sends chunks from what the sink wants next up to `end` (all, if not given). */
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

describe('node/snapshots: a state that is arriving', () => {
  const CHUNKS = 4;

  it('goes on where it stopped, whatever the chunk after which the connection broke', async () => {
    for (let cut = 0; cut < CHUNKS; cut++) {
      const { incoming, sinkFor, store, told, owner } = build();
      const source = sourceOf(CHUNKS);
      await send(await sinkFor(messageOf(source.meta), source.id), source, cut);
      const again = await sinkFor(messageOf(source.meta), source.id);
      expect(again!.next).to.equal(cut);
      await send(again, source);
      expect(told).to.deep.equal(['begin', 'switched 9 from b']);
      expect([owner(), store.installs, store.aborts]).to.deep.equal(['b', 1, 0]);
      expect(store.get(POSITION_KEY)).to.equal(JSON.stringify(source.meta));
      expect(incoming.isArriving).to.equal(false);
    }
  });

  it('takes a chunk once that was on its way to the disk when the connection broke', async () => {
    for (let cut = 0; cut < CHUNKS; cut++) {
      const { sinkFor, store, told, owner } = build();
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
      // After the last chunk there is nothing to go on with.
      if (last) expect(next).to.equal(undefined);
      else {
        expect(next!.next).to.equal(cut + 1);
        await send(next, source);
      }
      expect(told).to.deep.equal(['begin', 'switched 9 from b']);
      expect(owner()).to.equal('b');
    }
  });

  it('is given up when its sender brings no progress, and another one can begin', async () => {
    for (let cut = 0; cut < CHUNKS; cut++) {
      const { clock, incoming, sinkFor, store, owner } = build();
      const gone = sourceOf(CHUNKS);
      const sink = await sinkFor(messageOf(gone.meta), gone.id);
      await send(sink, gone, cut);
      clock.advance(2 * IDLE_MS);
      expect([incoming.isArriving, store.aborts]).to.deep.equal([false, 1]);
      const { data, last } = await gone.chunk(cut);
      const late = await sink!.write(cut, data, last).catch((error: Error) => error.message);
      expect(late).to.equal('the state that was arriving was given up');
      const next = sourceOf(CHUNKS, 'c');
      await send(await sinkFor(messageOf(next.meta, 'c'), next.id), next);
      expect(owner()).to.equal('c');
    }
  });

  it('is given up sooner when its connection is gone, unless the sender comes back', async () => {
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

  it('is not given up while it makes progress, or while the disk is busy with it', async () => {
    const { clock, sinkFor, store, told } = build();
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
    expect(told).to.deep.equal(['begin', 'switched 9 from b']);
    expect(clock.timers).to.equal(0);
  });

  it('gives way to another sender, but not to a former leader, nor once it is whole', async () => {
    const { sinkFor, self, store, owner } = build();
    const [old, present, former] = [sourceOf(CHUNKS), sourceOf(CHUNKS, 'c'), sourceOf(CHUNKS, 'd')];
    const oldSink = await sinkFor(messageOf(old.meta), old.id);
    await send(oldSink, old, 2);
    self.term = 3;
    const sink = await sinkFor(messageOf(present.meta, 'c', 3), present.id);
    expect(store.aborts).to.equal(1);
    const { data, last } = await old.chunk(2);
    await oldSink!.write(2, data, last).then(
      () => expect.fail('a chunk of what was given up was taken'),
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

  it('ends with a chunk that is broken, or that comes out of turn', async () => {
    for (const bad of ['broken', 'early', 'tally'] as const) {
      const { incoming, sinkFor, store, told } = build();
      const source = sourceOf(CHUNKS);
      const sink = await sinkFor(messageOf(source.meta), source.id);
      const { data, last } = await source.chunk(0);
      const write =
        bad === 'broken'
          ? sink!.write(0, new Uint8Array([1]), false)
          : sink!.write(bad === 'early' ? 1 : 0, data, bad === 'tally' ? !last : last);
      await write.then(
        () => expect.fail('it was taken'),
        () => {},
      );
      expect([incoming.isArriving, store.aborts, told.length]).to.deep.equal([false, 1, 0]);
    }
  });

  it('is thrown away when it is not wanted any more at its end', async () => {
    const { incoming, sinkFor, self, store, told } = build();
    const source = sourceOf(CHUNKS);
    const sink = await sinkFor(messageOf(source.meta), source.id);
    await send(sink, source, CHUNKS - 1);
    self.applied = 20;
    await send(sink, source);
    expect([incoming.isArriving, store.aborts, told.length]).to.deep.equal([false, 1, 0]);
  });

  it('applying goes on when what has arrived is not whole', async () => {
    const { incoming, sinkFor, store, told } = build();
    const source = sourceOf(1);
    const sink = await sinkFor(messageOf(source.meta), source.id);
    const { data } = await source.chunk(0);
    // A bit of a value changes on the way.
    const changed = Buffer.from(data);
    changed[100] = changed[100]! ^ 1;
    await sink!.write(0, changed, true).then(
      () => expect.fail('it was taken'),
      () => {},
    );
    expect(told).to.deep.equal(['begin', 'failed']);
    expect([incoming.isArriving, store.get(keyOf('test', 'k0'))]).to.deep.equal([false, undefined]);
  });

  it('comes whole over a wire whose connection breaks at any chunk', async () => {
    for (let cut = 0; cut < CHUNKS - 1; cut++) {
      const { sinkFor, store, told, owner } = build();
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
      expect(told).to.deep.equal(['begin', 'switched 9 from b']);
      expect(owner()).to.equal('b');
    }
  });

  it('takes nothing after it was stopped', async () => {
    const { clock, incoming, sinkFor, store } = build();
    const source = sourceOf(CHUNKS);
    await send(await sinkFor(messageOf(source.meta), source.id), source, 2);
    incoming.stop();
    expect([incoming.isArriving, store.aborts, clock.timers]).to.deep.equal([false, 1, 0]);
    expect(await sinkFor(messageOf(source.meta), source.id)).to.equal(undefined);
  });
});
