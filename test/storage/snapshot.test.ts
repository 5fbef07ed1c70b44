/** A state travels in chunks, or as an archive, and is the same on arrival; anything else changes nothing. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import tar from 'tar-stream';
import { ApiError } from '../../src/errors.js';
import type { SnapshotMeta } from '../../src/raft/types.js';
import type { View } from '../../src/state/types.js';
import { readArchive, writeArchive } from '../../src/storage/archive.js';
import { StorageError } from '../../src/storage/errors.js';
import { MemoryState } from '../../src/storage/memory-state.js';
import { SnapshotReceiver, SnapshotSource } from '../../src/storage/snapshot.js';
import type { StateRecord } from '../../src/storage/types.js';
import type { ChunkSink, ChunkSource } from '../../src/transport/types.js';

const contents = (view: View) => [...view.keys('')].map((key) => [key, view.get(key)]);
const stateOf = (records: readonly StateRecord[]) => {
  const state = new MemoryState();
  state.commit(records);
  return state;
};
const some: StateRecord[] = Array.from({ length: 100 }, (_, i) => [
  `table\u0000${String(i).padStart(3, '0')}`,
  JSON.stringify({ name: `ünïcode ${i}`, text: 'x'.repeat(i * 3) }),
]);
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

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

describe('snapshot in chunks', () => {
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

describe('snapshot archive', () => {
  const at: SnapshotMeta = {
    index: 42,
    term: 3,
    configuration: {
      members: [{ id: 'a', name: 'A', address: '127.0.0.1:8300', voter: true }],
    },
  };
  const limits = { stateBytes: 10 ** 6 };
  const archive = (records: readonly StateRecord[] = some) =>
    buffer(writeArchive(stateOf(records).pin(), at, 1_700_000_000_000));
  const read = async (bytes: Buffer, over = limits) => {
    const records: StateRecord[] = [];
    const pieces = Array.from({ length: Math.ceil(bytes.length / 1000) }, (_, i) =>
      bytes.subarray(i * 1000, i * 1000 + 1000),
    );
    const result = await readArchive(Readable.from(pieces), over, async (list) => {
      records.push(...list);
    });
    return { ...result, records };
  };
  const refused = async (bytes: Buffer, over = limits) => {
    const error = await failure(read(bytes, over));
    if (!(error instanceof ApiError)) throw error ?? new Error('was not refused');
    return error.refusal;
  };
  const filesOf = async (bytes: Buffer) => {
    const files = new Map<string, Buffer>();
    const extract = tar.extract();
    extract.end(gunzipSync(bytes));
    for await (const entry of extract) files.set(entry.header.name, await buffer(entry));
    return files;
  };
  const packed = async (files: Iterable<[string, Buffer]>) => {
    const pack = tar.pack();
    for (const [name, content] of files) pack.entry({ name }, content);
    pack.finalize();
    return gzipSync(await buffer(pack));
  };
  const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

  it('comes back whole: records, position, members', async () => {
    const result = await read(await archive());
    expect(result.records).eql(some);
    expect(result.tally.count).equal(some.length);
    expect(result.meta).include({ Version: 1, ID: '3-42-1700000000000', Index: 42, Term: 3 });
    expect(result.meta.Configuration.Servers).eql([
      { Suffrage: 0, ID: 'a', Address: '127.0.0.1:8300' },
    ]);
    const target = stateOf([['old', '1']]);
    const installation = target.install();
    await installation.add(result.records);
    await installation.finish(result.tally);
    expect(contents(target)).eql(some);
    expect((await read(await archive([]))).records).eql([]);
  });

  it('is a gzip of a tar whose SHA256SUMS tools can check', async () => {
    const files = await filesOf(await archive());
    expect([...files.keys()]).eql(['meta.json', 'state.bin', 'SHA256SUMS']);
    expect(files.get('SHA256SUMS')!.toString()).equal(
      `${sha(files.get('meta.json')!)}  meta.json\n${sha(files.get('state.bin')!)}  state.bin\n`,
    );
    expect(JSON.parse(files.get('meta.json')!.toString()).Size).equal(
      files.get('state.bin')!.length,
    );
  });

  it('refuses garbage and nothing as not decompressible', async () => {
    for (const bytes of [Buffer.from('not a snapshot'), Buffer.alloc(0), Buffer.alloc(3000)]) {
      const refusal = await refused(bytes);
      expect(refusal.code).equal('invalid');
      expect(refusal.message).match(/^failed to decompress snapshot: /);
    }
  });

  it('refuses an archive that is cut off anywhere as not readable', async () => {
    const whole = await archive();
    for (const length of [30, 200, whole.length >> 1, whole.length - 9, whole.length - 1]) {
      const refusal = await refused(whole.subarray(0, length));
      expect(refusal.code).equal('invalid');
      expect(refusal.message).match(/^failed to (read snapshot file|decompress snapshot): /);
    }
  });

  it('refuses a changed byte in any file of it', async () => {
    const files = await filesOf(await archive(some.slice(0, 4)));
    for (const [name, content] of files) {
      for (let position = 0; position < content.length; position += 7) {
        const changed = Buffer.from(content);
        changed[position]! ^= 0x04;
        const bytes = await packed([...files].map(([n, c]) => [n, n === name ? changed : c]));
        expect((await refused(bytes)).message).match(/^failed to read snapshot file: /);
      }
    }
  });

  it('refuses missing, repeated and unexpected files, and the state of another server', async () => {
    const files = [...(await filesOf(await archive()))];
    const foreign = Buffer.from('\x82state of something else entirely');
    const metaBytes = files[0]![1];
    const cases: [string, Buffer][][] = [
      files.slice(0, 2),
      files.slice(1),
      [...files, files[0]!],
      [...files, ['../../etc/passwd', Buffer.from('x')]],
      [
        files[0]!,
        ['state.bin', foreign],
        ['SHA256SUMS', Buffer.from(`${sha(metaBytes)}  meta.json\n${sha(foreign)}  state.bin\n`)],
      ],
    ];
    for (const one of cases) {
      expect((await refused(await packed(one))).message).match(/^failed to read snapshot file: /);
    }
  });

  it('stops at the limit when a small archive unfolds to much', async () => {
    const bomb = await archive([['a', 'x'.repeat(5_000_000)]]);
    expect(bomb.length).lessThan(50_000);
    expect((await refused(bomb)).code).equal('too_large');
    const meta = (await filesOf(await archive())).get('meta.json')!;
    const long = Buffer.concat([
      meta.subarray(0, -1),
      Buffer.alloc(2_000_000, ' '),
      Buffer.from('}'),
    ]);
    expect((await refused(await packed([['meta.json', long]]))).message).include('too long');
  });
});
