/** Files and folders of the real disk. */
import fs from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { settled, writeAll } from '../../src/storage/calls.js';
import type { DiskFile } from '../../src/storage/disk.js';
import { NodeFolder } from '../../src/storage/node-folder.js';
import { failure } from './helpers.js';

describe('a folder of the real disk', () => {
  let dir: string;
  let path: string;
  let folder: NodeFolder;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'files-'));
    path = join(dir, 'witness');
    folder = new NodeFolder(dir);
  });
  afterEach(() => rm(dir, { recursive: true }));
  const open = () => settled<DiskFile>((done) => folder.open('witness', done));

  it('shows no files before it is created, for its owner alone', async () => {
    const inner = new NodeFolder(join(dir, 'inner'));
    expect(inner.names()).to.deep.equal([]);
    for (let again = 0; again < 2; again++) await settled((done) => inner.create(done));
    expect((await stat(inner.path)).mode & 0o777).to.equal(0o700);
    expect(folder.names()).to.deep.equal(['inner']);
  });

  it('keeps the content of a file that it opens', async () => {
    await writeFile(path, 'kept');
    const file = await open();
    expect([file.size(), file.read(0, 10).toString(), file.read(2, 1).toString()]).to.deep.equal([
      4,
      'kept',
      'p',
    ]);
    file.close();
  });

  it('makes a file that is missing, for its owner alone, and writes anywhere in it', async () => {
    const file = await open();
    await settled((done) => writeAll(file, Buffer.from('new'), 5, done));
    await settled((done) => file.sync(done));
    file.close();
    expect(await readFile(path, 'latin1')).to.equal('\0\0\0\0\0new');
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
  });

  it('renames over a file, and removes', async () => {
    await writeFile(path, 'old');
    await writeFile(join(dir, 'other'), 'new');
    await settled((done) => folder.rename('other', 'witness', done));
    await settled((done) => folder.sync(done));
    expect(await readFile(path, 'utf8')).to.equal('new');
    await settled((done) => folder.remove('witness', done));
    expect(folder.names()).to.deep.equal([]);
    expect(await failure(settled((done) => folder.remove('witness', done)))).to.include({
      code: 'ENOENT',
    });
  });

  it('leaves a file as it is that the system cannot open for a moment', async () => {
    await writeFile(path, 'kept');
    const real = fs.open;
    const busy = Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    // The callback is the last of the parameters.
    fs.open = ((...parameters: unknown[]) => {
      fs.open = real;
      syncBuiltinESMExports();
      setImmediate(parameters.at(-1) as (error: Error) => void, busy);
    }) as typeof fs.open;
    syncBuiltinESMExports();
    expect(await failure(open())).to.equal(busy);
    expect(await readFile(path, 'utf8')).to.equal('kept');
  });
});
