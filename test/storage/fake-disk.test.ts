/** The disk in memory fails as a real one may, and the real log and state on it notice. */
import { join } from 'node:path';
import { expect } from 'chai';
import type { Disk } from '../../src/storage/disk.js';
import { StorageError } from '../../src/storage/errors.js';
import { type LevelLog, openLog } from '../../src/storage/log.js';
import { entryKey } from '../../src/storage/record.js';
import { readSealed, writeSealed } from '../../src/storage/sealed-file.js';
import { type LevelState, openState } from '../../src/storage/state.js';
import { fakeMachine } from '../support/fake-machine.js';
import { command, contents, done, entriesOf, failure } from './helpers.js';

const LOG = 'data/log';
const STATE = 'data/state';
const SEEDS = Array.from({ length: 20 }, (_, i) => i + 1);

describe('a disk in memory', () => {
  const fatal: StorageError[] = [];
  beforeEach(() => {
    fatal.length = 0;
  });
  const onFatal = (error: StorageError): void => {
    fatal.push(error);
  };
  const logOn = (disk: Disk): Promise<LevelLog> => openLog(LOG, { onFatal, disk });
  const stateOn = (disk: Disk): Promise<LevelState> => openState(STATE, { onFatal, disk });
  const append = (log: LevelLog, index: number): Promise<void> =>
    done((resolve) => log.append({ entries: [command(index, 1)] }, resolve));

  it('keeps what was synced over a power cut, and some of what was under way', async () => {
    const lengths = new Set<number>();
    for (const seed of SEEDS) {
      const machine = fakeMachine(seed);
      const log = await logOn(machine.start());
      await append(log, 1);
      log.append({ entries: [command(2, 1)] }, () => {});
      machine.disk.crash(true);
      const again = await logOn(machine.start());
      expect(again.damaged).to.equal(undefined);
      lengths.add(entriesOf(again).length);
    }
    expect([...lengths].sort()).to.deep.equal([1, 2]);
  });

  it('answers nothing to a process that has ended', async () => {
    const machine = fakeMachine();
    const state = await stateOn(machine.start());
    state.commit([['a', '1']]);
    let isAnswered = false;
    void state.flush().then(() => {
      isAnswered = true;
    });
    machine.disk.crash(false);
    const again = await stateOn(machine.start());
    expect(isAnswered).to.equal(false);
    expect(contents(again)).to.deep.equal([]);
  });

  it('shows the log a bit that has flipped in an entry', async () => {
    const machine = fakeMachine();
    const log = await logOn(machine.start());
    for (const index of [1, 2, 3]) await append(log, index);
    machine.disk.crash(true);
    const second = entryKey(2).toString('latin1');
    machine.disk.flip(LOG, (key) => key === second);
    const again = await logOn(machine.start());
    expect(again.damaged).to.include({ index: 2, last: 3 });
  });

  it('shows the log a batch that was dropped, wherever it was', async () => {
    for (const seed of SEEDS) {
      const machine = fakeMachine(seed);
      const log = await logOn(machine.start());
      for (const index of [1, 2, 3, 4]) await append(log, index);
      await log.close();
      machine.disk.dropBatch(LOG);
      machine.disk.crash(true);
      const again = await logOn(machine.start());
      const isWhole = again.damaged === undefined && entriesOf(again).length === 4;
      // the first batch holds no entry, and the witness has what it holds
      expect(again.damaged !== undefined || isWhole, `seed ${seed}`).to.equal(true);
    }
  });

  it('shows the state a batch that was dropped among later ones', async () => {
    const machine = fakeMachine();
    const state = await stateOn(machine.start());
    for (const key of ['a', 'b', 'c']) {
      state.commit([[key, '1']]);
      await state.flush();
    }
    const { disk } = machine;
    disk.dropBatch(STATE);
    disk.crash(true);
    const again = await stateOn(machine.start());
    expect(again.damaged).to.match(/the state has lost/);
  });

  it('shows the state a bit that has flipped in a value when it is read', async () => {
    const machine = fakeMachine();
    const state = await stateOn(machine.start());
    state.commit([['a', 'value']]);
    await state.flush();
    machine.disk.crash(true);
    machine.disk.flip(STATE, (key) => key.endsWith('/a'));
    const again = await stateOn(machine.start());
    expect(() => again.get('a')).to.throw(StorageError, 'cannot be read as it was written');
    expect(fatal.map(({ code }) => code)).to.deep.equal(['damaged']);
  });

  it('fails the log once it is full', async () => {
    const machine = fakeMachine();
    const log = await logOn(machine.start());
    machine.disk.isFull = true;
    let isDone = false;
    log.append({ entries: [command(1, 1)] }, () => {
      isDone = true;
    });
    await log.close();
    expect(fatal.map(({ message }) => message)).to.deep.equal([
      'the disk of the log failed: ENOSPC: no space left on device',
    ]);
    expect(isDone).to.equal(false);
  });

  it('returns from no sync while it hangs', async () => {
    const machine = fakeMachine();
    const log = await logOn(machine.start());
    machine.disk.hang();
    let isDone = false;
    const appended = append(log, 1).then(() => {
      isDone = true;
    });
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    expect(isDone).to.equal(false);
    machine.disk.unhang();
    await appended;
  });

  it('goes back to what it held before', async () => {
    const machine = fakeMachine();
    const log = await logOn(machine.start());
    await append(log, 1);
    const image = machine.disk.image();
    await append(log, 2);
    machine.disk.crash(true);
    machine.disk.restore(image);
    const again = await logOn(machine.start());
    expect(again.damaged).to.equal(undefined);
    expect(again.lastIndex()).to.equal(1);
  });

  it('fails a flush that waits for a state to be replaced, if that fails', async () => {
    const machine = fakeMachine();
    const state = await stateOn(machine.start());
    const installation = state.install();
    await installation.add([['b', '2']]);
    machine.disk.hang();
    const replaced = failure(installation.finish());
    state.commit([['a', '1']]);
    const flushed = failure(state.flush());
    machine.disk.isFull = true;
    machine.disk.unhang();
    expect(await replaced).to.include({ code: 'failed' });
    expect(await flushed).to.equal(fatal[0]);
  });

  it('lets one process have a database at a time', async () => {
    const machine = fakeMachine();
    const disk = machine.start();
    await logOn(disk);
    expect(await failure(logOn(disk))).to.include({ code: 'locked' });
  });

  it('leaves a file that is replaced as it was or as it is to be', async () => {
    const found = new Set<unknown>();
    const path = join('data', 'node.json');
    for (const seed of SEEDS) {
      const machine = fakeMachine(seed);
      const { files } = machine.start();
      await writeSealed(path, { number: 1 }, files);
      void writeSealed(path, { number: 2 }, files);
      for (let turn = 0; turn < seed % 5; turn++) await new Promise(setImmediate);
      machine.disk.crash(true);
      found.add((await readSealed(path, machine.start().files))?.['number']);
    }
    expect([...found].sort()).to.deep.equal([1, 2]);
  });
});
