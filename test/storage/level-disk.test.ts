/** The files of the real disk. */
import fs from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { LEVEL_DISK } from '../../src/storage/level-disk.js';
import { failure } from './helpers.js';

describe('files of the real disk', () => {
  let dir: string;
  let path: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'files-'));
    path = join(dir, 'witness');
  });
  afterEach(() => rm(dir, { recursive: true }));

  it('keep their content unless they are opened empty', async () => {
    await writeFile(path, 'kept');
    const kept = await LEVEL_DISK.files.open(path);
    expect((await kept.read(0, 10)).toString()).to.equal('kept');
    await kept.close();
    const emptied = await LEVEL_DISK.files.open(path, { empty: true });
    expect(await emptied.read(0, 10)).to.have.lengthOf(0);
    await emptied.close();
  });

  it('are made if they are missing, for their owner alone', async () => {
    const file = await LEVEL_DISK.files.open(path);
    await file.write(Buffer.from('new'), 0);
    await file.close();
    expect(await readFile(path, 'utf8')).to.equal('new');
    expect(fs.statSync(path).mode & 0o777).to.equal(0o600);
  });

  it('keep their content if the system cannot open them for a moment', async () => {
    await writeFile(path, 'kept');
    const { open } = fs.promises;
    let attempts = 0;
    fs.promises.open = (...args) => {
      attempts += 1;
      if (attempts > 1) return open(...args);
      return Promise.reject(Object.assign(new Error('too many open files'), { code: 'EMFILE' }));
    };
    syncBuiltinESMExports();
    try {
      const error = await failure(LEVEL_DISK.files.open(path).then((file) => file.close()));
      expect(error).to.include({ code: 'EMFILE' });
    } finally {
      fs.promises.open = open;
      syncBuiltinESMExports();
    }
    expect(await readFile(path, 'utf8')).to.equal('kept');
  });
});
