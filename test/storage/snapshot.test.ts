/** A state travels in chunks and is the same on arrival; anything else changes nothing. */
import { expect } from 'chai';
import fc from 'fast-check';
import { StorageError } from '../../src/storage/errors.js';
import { MemoryState } from '../../src/storage/memory-state.js';
import { SnapshotReceiver, SnapshotSource } from '../../src/storage/snapshot.js';
import type { ChunkSink, ChunkSource } from '../../src/transport/types.js';
import { contents, failure, some, stateOf } from './helpers.js';

/** Sends from one to the other; `change` may tamper with what is under way. */
async function transfer(
  from: MemoryState,
  to: MemoryState,
  chunkBytes: number,
  change: (number: number, data: Buffer) => Buffer = (_number, data) => data,
): Promise<number> {
  const source: ChunkSource = new SnapshotSource(from.pin(), chunkBytes);
  const sink: ChunkSink = new SnapshotReceiver(to, source.id);
  for (;;) {
    const number = sink.next;
    const { data, last } = await source.chunk(number);
    await sink.write(number, change(number, Buffer.from(data)), last);
    if (last) return number + 1;
  }
}

describe('snapshot in chunks', function () {
  this.timeout(20_000);
  it('brings any state over, whatever the size of a chunk', async () => {
    const records = fc.uniqueArray(fc.tuple(fc.string({ unit: 'grapheme' }), fc.string()), {
      selector: ([key]) => key,
    });
    await fc.assert(
      fc.asyncProperty(records, fc.integer({ min: 1, max: 200 }), async (list, chunkBytes) => {
        const from = stateOf(list);
        const to = stateOf([['old', '1']]);
        await transfer(from, to, chunkBytes);
        expect(contents(to)).eql(contents(from));
      }),
      { numRuns: 50 },
    );
  });

  it('cuts chunks by bytes and sends what was pinned, not what came later', async () => {
    const from = stateOf(some);
    const before = contents(from);
    const to = new MemoryState();
    const source = new SnapshotSource(from.pin(), 1000);
    const sink = new SnapshotReceiver(to, source.id);
    let chunks = 0;
    for (let last = false; !last; chunks++) {
      const chunk = await source.chunk(chunks);
      expect(chunk.data.length).lessThan(1400);
      from.commit([[`table\u0000late${chunks}`, 'x']]);
      await sink.write(chunks, chunk.data, chunk.last);
      last = chunk.last;
    }
    expect(chunks).greaterThan(10);
    expect(contents(to)).eql(before);
  });

  it('gives the same bytes for a number again, the last one too', async () => {
    const source = new SnapshotSource(stateOf(some).pin(), 2000);
    const first: Buffer[] = [];
    for (let last = false; !last; ) {
      const chunk = await source.chunk(first.length);
      first.push(chunk.data);
      last = chunk.last;
    }
    for (const [number, data] of first.entries()) {
      expect((await source.chunk(number)).data.equals(data)).equal(true);
    }
    expect(await failure(source.chunk(first.length))).instanceOf(StorageError);
  });

  it('refuses a changed bit anywhere, and keeps the present state', async () => {
    const from = stateOf(some.slice(0, 3));
    const whole = Buffer.from((await new SnapshotSource(from.pin(), 10 ** 6).chunk(0)).data);
    for (let at = 0; at < whole.length; at++) {
      const to = stateOf([['old', '1']]);
      const sink = new SnapshotReceiver(to, 'x');
      const changed = Buffer.from(whole);
      changed[at]! ^= 1 << (at % 8);
      expect(await failure(sink.write(0, changed, true))).instanceOf(StorageError);
      expect(contents(to)).eql([['old', '1']]);
    }
  });

  it('refuses chunks that are missing, repeated or foreign', async () => {
    const from = stateOf(some);
    const source = new SnapshotSource(from.pin(), 1000);
    const [one, two] = [await source.chunk(0), await source.chunk(1)];
    for (const chunks of [[two], [one, one], [one, { data: two.data, last: true }]]) {
      const to = stateOf([['old', '1']]);
      const sink = new SnapshotReceiver(to, source.id);
      let error: unknown;
      for (const [number, chunk] of chunks.entries()) {
        const as =
          chunk === two && chunks.length === 1 ? 1 : number === 1 && chunk === one ? 0 : number;
        error = await failure(sink.write(as, chunk.data, chunk.last));
      }
      expect(error).instanceOf(StorageError);
      expect(contents(to)).eql([['old', '1']]);
    }
  });
});
