/** A state is written to an archive and read back unchanged; anything else is refused. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import tar from 'tar-stream';
import { ApiError } from '../../src/base/errors.js';
import type { SnapshotMeta } from '../../src/raft/types.js';
import { keys } from '../../src/state/keys.js';
import { readArchive, writeArchive } from '../../src/storage/archive.js';
import type { StateRecord } from '../../src/storage/types.js';
import { contents, failure, some, stateOf } from './helpers.js';

describe('snapshot archive', () => {
  const at: SnapshotMeta = {
    index: 42,
    term: 3,
    configuration: {
      members: [{ id: 'a', name: 'A', address: '127.0.0.1:8300', voter: true }],
    },
  };
  const limits = { stateBytes: 10 ** 6, level: 1 };
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
  const atLevel2 = stateOf([...some, ['level', '{"Level":2,"Index":9}']]);
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

  it('names its level, and is refused by a cluster at a lower one', async () => {
    const bytes = await buffer(writeArchive(atLevel2.pin(), at, 0));
    expect((await read(bytes, { ...limits, level: 2 })).meta).to.have.property('Level', 2);
    expect(await refused(bytes)).to.deep.equal({
      code: 'invalid',
      message: 'failed to read snapshot file: it was saved at level 2, this cluster is at level 1',
    });
    const { Level, ...older } = (await read(await archive())).meta;
    expect(Level).to.equal(1);
    const files = await filesOf(await archive());
    const meta = Buffer.from(JSON.stringify(older));
    files.set('meta.json', meta);
    const sums = `${sha(meta)}  meta.json\n${sha(files.get('state.bin')!)}  state.bin\n`;
    files.set('SHA256SUMS', Buffer.from(sums));
    expect((await read(await packed(files))).records).to.have.length(some.length);
  });

  it('is received to its end although its records are processed slowly', async () => {
    const noise = Array.from({ length: 40 }, (_, n) =>
      createHash('sha512').update(`${n}`).digest('hex'),
    );
    const many = Array.from(
      { length: 1000 },
      (_, n): StateRecord => [
        `config\0${String(n).padStart(5, '0')}`,
        noise.map((_text, i) => noise[(n * 7 + i * i) % 40]).join(''),
      ],
    );
    const bytes = await archive(many);
    expect(bytes.length).to.be.greaterThan(100_000);
    const stream = Readable.from(
      Array.from({ length: Math.ceil(bytes.length / 1000) }, (_, i) =>
        bytes.subarray(i * 1000, i * 1000 + 1000),
      ),
    );
    const ended = once(stream, 'end');
    let count = 0;
    await readArchive(stream, { stateBytes: 10 ** 8 }, async (list) => {
      count += list.length;
      await ended;
    });
    expect(count).to.equal(many.length);
  });

  it('is read back complete: records, position, members', async () => {
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

  it('leaves out join tokens, of which one that was used would come back unused', async () => {
    const token: StateRecord = [keys.fact('join-tokens'), '{"Tokens":[]}'];
    const others: StateRecord[] = [
      [keys.fact('a'), '{}'],
      [keys.fact('z'), '{}'],
    ];
    const { records } = await read(await archive([...others, token]));
    expect(records).eql(others);
  });

  it('is a gzipped tar whose SHA256SUMS tools can check', async () => {
    const files = await filesOf(await archive());
    expect([...files.keys()]).eql(['meta.json', 'state.bin', 'SHA256SUMS']);
    expect(files.get('SHA256SUMS')!.toString()).equal(
      `${sha(files.get('meta.json')!)}  meta.json\n${sha(files.get('state.bin')!)}  state.bin\n`,
    );
    expect(JSON.parse(files.get('meta.json')!.toString()).Size).equal(
      files.get('state.bin')!.length,
    );
  });

  it('refuses garbage and empty input as not decompressible', async () => {
    for (const bytes of [Buffer.from('not a snapshot'), Buffer.alloc(0), Buffer.alloc(3000)]) {
      const refusal = await refused(bytes);
      expect(refusal.code).equal('invalid');
      expect(refusal.message).match(/^failed to decompress snapshot: /);
    }
  });

  it('refuses an archive that is truncated anywhere as unreadable', async () => {
    const whole = await archive();
    for (const length of [30, 200, whole.length >> 1, whole.length - 9, whole.length - 1]) {
      const refusal = await refused(whole.subarray(0, length));
      expect(refusal.code).equal('invalid');
      expect(refusal.message).match(/^failed to (read snapshot file|decompress snapshot): /);
    }
  });

  it('refuses a changed byte in any of its files', async () => {
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

  it('refuses a description of the state that is null', async () => {
    const files = await filesOf(await archive());
    const meta = Buffer.from('null');
    files.set('meta.json', meta);
    const sums = `${sha(meta)}  meta.json\n${sha(files.get('state.bin')!)}  state.bin\n`;
    files.set('SHA256SUMS', Buffer.from(sums));
    expect(await refused(await packed(files))).to.have.property('code', 'invalid');
  });

  it('refuses a file of no size, and one with a name of 4 GB', async () => {
    const whole = gunzipSync(await archive());
    /** The archive, of which the first header says another size and type. */
    const headed = (size: string, type: string): Buffer => {
      const bytes = Buffer.from(whole);
      bytes.write(size, 124, 'latin1');
      bytes.write(type, 156);
      bytes.fill(' ', 148, 156);
      const sum = bytes.subarray(0, 512).reduce((all, byte) => all + byte, 0);
      bytes.write(sum.toString(8).padStart(6, '0'), 148);
      return gzipSync(bytes);
    };
    const sizes = [headed('no number ', '0'), headed('\xa1', '0'), headed('40000000000 ', 'L')];
    for (const bytes of sizes) {
      const refusal = await refused(bytes);
      expect(refusal.code).equal('invalid');
      expect(refusal.message).match(/^failed to read snapshot file: .*header/i);
    }
  });

  it("refuses missing, repeated and unexpected files, and another server's state", async () => {
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

  it('stops at the limit if a small archive expands to too much', async () => {
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
