import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { inflateRawSync } from 'node:zlib';
import { expect } from 'chai';
import { ApiError } from '../../src/base/errors.js';
import { partsOf } from '../../src/service/archives/archive-parts.js';
import { keys } from '../../src/state/keys.js';
import { writeArchive } from '../../src/storage/archive.js';
import { MemoryState } from '../../src/storage/memory-state.js';
import { RecordReader } from '../../src/storage/record-stream.js';
import type { StateRecord } from '../../src/storage/types.js';

describe('the parts of an archive', () => {
  const dir = mkdtempSync(join(tmpdir(), 'parts-'));
  const text = 'x'.repeat(2000);
  const records: readonly StateRecord[] = [
    ...Array.from({ length: 3000 }, (_, n): StateRecord => {
      const value = JSON.stringify({ Index: 9000 + n, text });
      return [keys.fact(`n${String(n).padStart(4, '0')}`), value];
    }),
    [
      keys.namespace('default'),
      '{"Name":"default","Description":"","CreateIndex":1,"ModifyIndex":1}',
    ],
  ];
  const limits = { stateBytes: 2 ** 30 };
  let archive: Buffer;
  let file: FileHandle;

  before(async () => {
    const state = new MemoryState();
    state.commit(records);
    const at = { index: 5, term: 1, configuration: { members: [] } };
    archive = await buffer(writeArchive(state, at, 0));
  });
  beforeEach(async () => {
    file = await open(join(dir, 'archive'), 'w+');
  });
  afterEach(() => file.close());
  after(() => rmSync(dir, { recursive: true }));

  const readAll = async (bytes: Buffer): Promise<StateRecord[]> => {
    await file.write(bytes, 0, bytes.length, 0);
    const reader = new RecordReader();
    const found: StateRecord[] = [];
    for await (const part of partsOf({ fd: file.fd, limits, index: 7 })) {
      const some = reader.push(inflateRawSync(Buffer.from(part.bytes, 'base64')));
      expect(some).to.have.length(part.records);
      found.push(...some);
    }
    return found;
  };

  it('have all records in order, with the indexes that they get', async () => {
    const found = await readAll(archive);
    expect(found.map(([key]) => key)).to.deep.equal(records.map(([key]) => key));
    expect(JSON.parse(found[2999]![1])).to.deep.equal({ Index: 7, text });
  });

  it('end with the refusal of an archive that is not whole', async () => {
    const broken = await readAll(archive.subarray(0, archive.length - 100)).catch(
      (error: unknown) => error,
    );
    expect(broken).to.be.instanceOf(ApiError).with.nested.property('refusal.code', 'invalid');
  });

  it('end with the error of a file that cannot be read', async () => {
    const folder = await open(dir);
    const error = await partsOf({ fd: folder.fd, limits, index: 7 })
      .next()
      .catch((why: unknown) => why);
    await folder.close();
    expect(error).to.have.property('code', 'EISDIR');
  });

  it('are made as they are taken, and no longer than somebody takes them', async () => {
    await file.write(archive, 0, archive.length, 0);
    let taken = 0;
    for await (const _ of partsOf({ fd: file.fd, limits, index: 7 })) {
      taken += 1;
      if (taken === 2) break;
    }
    expect(taken).to.equal(2);
    // The thread has ended: nobody else reads the file.
    await file.truncate(0);
    expect(await readAll(archive)).to.have.length(records.length);
  });

  it('are made with the priority of a process whose own is lower', async () => {
    await file.write(archive, 0, archive.length, 0);
    const niceness = 15;
    const module = new URL('../../src/service/archives/archive-parts.js', import.meta.url);
    const script = `(async () => {
      const { partsOf } = await import('${module}');
      const parts = partsOf({ fd: 3, limits: { stateBytes: 2 ** 30 }, index: 7 });
      await parts.next();
      // Only on Linux has a thread a priority of its own.
      const tasks = '/proc/self/task';
      const threads = fs.existsSync(tasks) ? fs.readdirSync(tasks).map(Number) : [process.pid];
      console.log(Math.min(...threads.map((id) => os.getPriority(id))));
      await parts.return();
    })()`;
    const { stdout, stderr } = spawnSync(
      'nice',
      ['-n', `${niceness}`, process.execPath, '--eval', script],
      { stdio: ['ignore', 'pipe', 'pipe', file.fd], encoding: 'utf8' },
    );
    expect(stderr).to.equal('');
    expect(Number(stdout)).to.be.at.least(niceness);
  });
});
