import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { StorageError } from '../../src/storage/errors.js';
import { claimFolder } from '../../src/storage/folder.js';
import { LEVEL_DISK } from '../../src/storage/level-disk.js';
import { openLog } from '../../src/storage/open-log.js';
import { readSealed, writeSealed } from '../../src/storage/sealed-file.js';
import { Folders, failure, raw } from './helpers.js';

describe('data folder', () => {
  let base: string;
  let dir: string;
  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'folder-'));
    dir = join(base, 'data');
  });
  afterEach(() => rm(base, { recursive: true }));
  const expectRefusal = async (promise: Promise<unknown>, code: string, words: string) => {
    const error = await failure(promise);
    expect(error).instanceOf(StorageError).property('code').equal(code);
    expect(error).property('message').include(words);
  };

  it('is private to its owner, and made private again if it was opened to others', async () => {
    await claimFolder(dir, 'node.json');
    expect((await stat(dir)).mode & 0o777).equal(0o700);
    await rm(dir, { recursive: true });
    await mkdir(dir, { mode: 0o755 });
    await claimFolder(dir, 'node.json');
    expect((await stat(dir)).mode & 0o777).equal(0o700);
  });

  it('is made private with everything in it', async () => {
    await claimFolder(dir, 'node.json');
    await mkdir(join(dir, 'log'), { mode: 0o755 });
    await writeFile(join(dir, 'node.json'), '{}', { mode: 0o644 });
    await writeFile(join(dir, 'log', '000003.log'), 'x', { mode: 0o664 });
    await claimFolder(dir, 'node.json');
    expect((await stat(join(dir, 'log'))).mode & 0o777).equal(0o700);
    expect((await stat(join(dir, 'node.json'))).mode & 0o777).equal(0o600);
    expect((await stat(join(dir, 'log', '000003.log'))).mode & 0o777).equal(0o600);
  });

  it('is refused and left unchanged if it holds other files but none of ours', async () => {
    await mkdir(dir, { mode: 0o755 });
    await writeFile(join(dir, 'photo.jpg'), 'x');
    await expectRefusal(claimFolder(dir, 'node.json'), 'foreign', 'photo.jpg');
    expect(await readdir(dir)).eql(['photo.jpg']);
    expect((await stat(dir)).mode & 0o777).equal(0o755);
    await writeFile(join(dir, 'node.json'), '{}');
    await claimFolder(dir, 'node.json');
  });

  it('is refused and left unchanged if its log is of release 0.1 or 0.2', async () => {
    const log = join(dir, 'log');
    await raw(log, (db) => db.put(Buffer.from('hard'), Buffer.from('x')));
    const before = await readdir(log);
    const opening = openLog(log, { onFatal: () => {} });
    await expectRefusal(opening, 'foreign', `${log} holds a log of release 0.1 or 0.2, which this`);
    expect(await readdir(log)).eql(before);
  });

  it('is taken with what release 0.3.0 leaves beside its log', async () => {
    const log = join(dir, 'log');
    await mkdir(log, { recursive: true });
    await writeFile(join(log, 'CURRENT'), 'THE LOG IS IN SEGMENTS SINCE RELEASE 0.3.0 - ...\n');
    await (await openLog(log, { onFatal: () => {} })).close();
    expect((await readdir(log)).sort()).eql(['CURRENT', 'lock', 'segments']);
  });

  it('may contain what a crash during its creation left', async () => {
    await mkdir(join(dir, 'lost+found'), { recursive: true });
    await writeFile(join(dir, 'node.json.new'), '{');
    await claimFolder(dir, 'node.json');
  });

  it('keeps small files intact, and detects changes in them', async () => {
    await claimFolder(dir, 'node.json');
    const path = join(dir, 'node.json');
    const folder = LEVEL_DISK.folder(dir);
    expect(await readSealed(folder, 'node.json')).equal(undefined);
    await writeSealed(folder, 'node.json', { v: 1, id: 'a' });
    await writeSealed(folder, 'node.json', { v: 1, id: 'b', seen: { c: 'ü' } });
    expect(await readSealed(folder, 'node.json')).eql({ v: 1, id: 'b', seen: { c: 'ü' } });
    expect((await stat(path)).mode & 0o777).equal(0o600);
    const text = await readFile(path, 'utf8');
    for (const changed of [text.replace('"b"', '"d"'), text.slice(0, 20), '', 'null', '{}']) {
      await writeFile(path, changed);
      await expectRefusal(readSealed(folder, 'node.json'), 'damaged', path);
    }
  });

  it('contains databases that only one process can open at a time', async () => {
    const folders = new Folders();
    const path = await folders.make();
    const log = await folders.log(join(path, 'log'));
    await folders.state(join(path, 'state'));
    await expectRefusal(folders.log(join(path, 'log')), 'locked', 'in use by another process');
    await expectRefusal(folders.state(join(path, 'state')), 'locked', 'in use by another process');
    await log.close();
    await folders.log(join(path, 'log'));
    await folders.clean();
  });
});
