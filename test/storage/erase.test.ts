import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { keys } from '../../src/state/keys.js';
import { openLog } from '../../src/storage/open-log.js';
import { fakeMachine } from '../support/fake-machine.js';
import { command, configuration, entriesOf, Folders } from './helpers.js';

/** Random, so that LevelDB finds no equal piece elsewhere and stores it uncompressed. */
const SECRET = '5ec2e703-9b1f-4c7d-8e2a-6f0d1b3c5a79';
const token = keys.token('default', 'a');

const onFatal = (error: Error): never => {
  throw error;
};

describe('deleted data', () => {
  const folders = new Folders();
  afterEach(() => folders.clean());

  const isIn = async (dir: string, text: string): Promise<boolean> => {
    for (const entry of await readdir(dir, { withFileTypes: true, recursive: true })) {
      if (!entry.isFile()) continue;
      if ((await readFile(join(entry.parentPath, entry.name))).includes(text)) return true;
    }
    return false;
  };
  const erased = (store: { erase(done: () => void): void }) =>
    new Promise<void>((resolve) => store.erase(resolve));

  it('is in no file of the state once it is erased; everything else is unchanged', async () => {
    const dir = await folders.make();
    let state = await folders.state(dir);
    state.commit([
      [token, SECRET],
      [keys.token('default', 'b'), 'kept'],
    ]);
    await state.flush();
    expect(await isIn(dir, SECRET)).to.equal(true);
    state.commit([[token, undefined]]);
    await erased(state);
    expect(await isIn(dir, SECRET)).to.equal(false);
    expect(state.get(keys.token('default', 'b'))).to.equal('kept');
    // Creates a table file for the first value, which the deletion does not overlap by itself.
    state.commit([[token, SECRET]]);
    state.commit([[token, 'another']]);
    await erased(state);
    expect(await isIn(dir, SECRET)).to.equal(false);
    await state.close();
    state = await folders.state(dir);
    expect([state.damaged, state.get(token)]).to.deep.equal([undefined, 'another']);
  });

  it('is erased from the state once the views that show it are closed', async () => {
    const dir = await folders.make();
    const state = await folders.state(dir);
    state.commit([[token, SECRET]]);
    await state.flush();
    const view = state.pin();
    state.commit([[token, undefined]]);
    const done = erased(state);
    await state.flush();
    expect(view.get(token)).to.equal(SECRET);
    view.close();
    await done;
    expect(await isIn(dir, SECRET)).to.equal(false);
  });

  it('is in no file of a state that was replaced', async () => {
    const dir = await folders.make();
    const state = await folders.state(dir);
    state.commit([[token, SECRET]]);
    await state.flush();
    const installation = state.install();
    await installation.add([[keys.token('default', 'b'), 'kept']]);
    await installation.finish();
    await erased(state);
    expect(await isIn(dir, SECRET)).to.equal(false);
    expect(state.get(keys.token('default', 'b'))).to.equal('kept');
  });

  it('is in no file of the log once it was truncated', async () => {
    const dir = await folders.make();
    const log = await folders.log(dir);
    const secret = { ...command(1, 1), data: Buffer.from(SECRET) };
    const entries = [secret, command(2, 1), command(3, 1)];
    await new Promise<void>((resolve) => log.append({ entries }, resolve));
    expect(await isIn(dir, SECRET)).to.equal(true);
    log.compact({ index: 2, term: 1, configuration }, () => {});
    await erased(log);
    expect(await isIn(dir, SECRET)).to.equal(false);
    expect([log.firstIndex(), log.lastIndex()]).to.deep.equal([3, 3]);
  });

  it('is in no file of the log, replaced entries and reused files included', async () => {
    const { disk, start } = fakeMachine();
    const options = { onFatal, segmentBytes: 800 };
    const log = await openLog('log', { ...options, disk: start() });
    const append = (index: number, term: number, text: string) =>
      new Promise<void>((resolve) => {
        const data = Buffer.from(text);
        log.append({ entries: [{ kind: 'command', index, term, data }] }, resolve);
      });
    for (let index = 1; index <= 30; index++) await append(index, 1, SECRET);
    await append(30, 2, 'replaced');
    await append(31, 2, 'kept');
    await new Promise<void>((resolve) => {
      log.compact({ index: 29, term: 1, configuration }, resolve);
    });
    for (let index = 32; index <= 36; index++) await append(index, 2, 'x'.repeat(200));
    const files = () => [...disk.files.content().values()];
    expect(files().some((bytes) => bytes.includes(SECRET))).to.equal(true);
    await erased(log);
    expect(files().some((bytes) => bytes.includes(SECRET))).to.equal(false);
    const before = entriesOf(log);
    await log.close();
    disk.crash(true);
    const again = await openLog('log', { ...options, disk: start() });
    expect(again.damaged).to.equal(undefined);
    expect(entriesOf(again)).to.deep.equal(before);
    expect(again.lastIndex()).to.equal(36);
  });

  it('does not delay closing while a view keeps it from being erased', async () => {
    const state = await folders.state(await folders.make());
    state.commit([[token, SECRET]]);
    const view = state.pin();
    state.erase(() => {
      throw new Error('it is not erased');
    });
    await state.close();
    view.close();
  });
});
