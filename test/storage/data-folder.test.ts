import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openDataFolder } from '../../src/storage/data-folder.js';
import { StorageError } from '../../src/storage/errors.js';
import { openLog } from '../../src/storage/log.js';
import { openState } from '../../src/storage/state.js';

describe('data folder', () => {
  let base: string;
  let dir: string;
  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'folder-'));
    dir = join(base, 'data');
  });
  afterEach(() => rm(base, { recursive: true }));
  const failure = (promise: Promise<unknown>) =>
    promise.then(
      () => undefined,
      (error: unknown) => error,
    );
  const expectRefusal = async (promise: Promise<unknown>, code: string, words: string) => {
    const error = await failure(promise);
    expect(error).instanceOf(StorageError);
    expect(error).property('code').equal(code);
    expect(error).property('message').include(words);
  };

  it('is made once, readable by its owner alone, and is the same node ever after', async () => {
    const first = await openDataFolder(dir, { nodeId: 'n1' });
    expect(first.identity).include({ nodeId: 'n1', clusterId: null });
    expect((await stat(dir)).mode & 0o777).equal(0o700);
    expect((await stat(join(dir, 'identity.json'))).mode & 0o777).equal(0o600);
    await first.setClusterId('c1');
    const again = await openDataFolder(dir, {});
    expect(again.identity).eql({ ...first.identity, clusterId: 'c1' });
  });

  it('makes another incarnation in another folder', async () => {
    const one = await openDataFolder(dir, { nodeId: 'n1' });
    const two = await openDataFolder(join(base, 'other'), { nodeId: 'n1' });
    expect(one.identity.incarnation).not.equal(two.identity.incarnation);
  });

  it('keeps the incarnations of other nodes', async () => {
    const folder = await openDataFolder(dir, {});
    folder.incarnations.set('b', 'b1');
    folder.incarnations.set('c', 'c1');
    folder.incarnations.forget('c');
    await folder.close();
    const again = await openDataFolder(dir, {});
    expect(again.incarnations.get('b')).equal('b1');
    expect(again.incarnations.get('c')).equal(undefined);
  });

  it('refuses another node id, another cluster, and a folder with other files', async () => {
    const folder = await openDataFolder(dir, { nodeId: 'n1' });
    await folder.setClusterId('c1');
    await expectRefusal(openDataFolder(dir, { nodeId: 'n2' }), 'foreign', 'belongs to node "n1"');
    await expectRefusal(folder.setClusterId('c2'), 'foreign', 'belongs to cluster "c1"');
    const other = join(base, 'other');
    await mkdir(other);
    await writeFile(join(other, 'photo.jpg'), 'x');
    await expectRefusal(openDataFolder(other, {}), 'foreign', 'photo.jpg');
    expect(await readFile(join(other, 'photo.jpg'), 'utf8')).equal('x');
  });

  it('refuses an identity that was changed or is of a later format', async () => {
    const path = join(dir, 'identity.json');
    await openDataFolder(dir, { nodeId: 'n1' });
    const text = await readFile(path, 'utf8');
    for (const [changed, code] of [
      [text.replace('n1', 'n2'), 'damaged'],
      [text.slice(0, 20), 'damaged'],
      ['', 'damaged'],
      [text.replace('"format": 1', '"format": 2'), 'foreign'],
    ] as const) {
      await writeFile(path, changed);
      await expectRefusal(openDataFolder(dir, {}), code, 'identity.json');
    }
  });

  it('has databases that one opener at a time can use', async () => {
    const folder = await openDataFolder(dir, {});
    const onFatal = (error: Error) => {
      throw error;
    };
    const log = await openLog(folder.logDir, { onFatal });
    const state = await openState(folder.stateDir, { onFatal });
    await expectRefusal(openLog(folder.logDir, { onFatal }), 'locked', 'in use by another process');
    await expectRefusal(openState(folder.stateDir, { onFatal }), 'locked', 'in use');
    await log.close();
    await state.close();
    await (await openLog(folder.logDir, { onFatal })).close();
  });
});
