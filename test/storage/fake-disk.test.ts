/** The disk in memory fails as a real one may, and the real log and state on it notice. */
import { expect } from 'chai';
import { settled } from '../../src/storage/calls.js';
import type { Disk, DiskFile } from '../../src/storage/disk.js';
import { StorageError } from '../../src/storage/errors.js';
import { LEVEL_DISK } from '../../src/storage/level-disk.js';
import type { SegmentLog } from '../../src/storage/log.js';
import { openLog } from '../../src/storage/open-log.js';
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
  const logOn = (disk: Disk): Promise<SegmentLog> =>
    openLog(LOG, { onFatal, disk, segmentBytes: 20_000 });
  const stateOn = (disk: Disk): Promise<LevelState> => openState(STATE, { onFatal, disk });
  const append = (log: SegmentLog, index: number): Promise<void> =>
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

  it('has no room for a new file when it is full, now and then', async () => {
    const outcomes = new Set<string | undefined>();
    for (const seed of SEEDS) {
      const machine = fakeMachine(seed);
      const folder = machine.start().folder('data');
      const file = await settled<DiskFile>((resolve) => folder.open('a', resolve));
      machine.disk.isFull = true;
      expect(await settled<DiskFile>((resolve) => folder.open('a', resolve))).to.include({
        path: 'data/a',
      });
      for (const change of [
        () => settled<DiskFile>((resolve) => folder.open('b', resolve)),
        () => settled((resolve) => folder.rename('a', 'c', resolve)),
      ])
        outcomes.add(
          (
            await change().then(
              () => undefined,
              (error: Error) => error,
            )
          )?.message,
        );
      expect(file).to.include({ path: 'data/a' });
    }
    expect([...outcomes]).to.have.members([undefined, 'ENOSPC: no space left on device']);
  });

  it('stops a process that reads while it hangs, until it goes on', async () => {
    const machine = fakeMachine();
    const stages: string[] = [];
    const standstill = { begin: () => stages.push('stands'), end: () => stages.push('goes on') };
    const disk = machine.disk.attach(LEVEL_DISK.clock, undefined, standstill);
    const file = await settled<DiskFile>((resolve) => disk.folder('data').open('a', resolve));
    machine.disk.hang();
    file.read(0, 1);
    expect(stages).to.deep.equal([]);
    machine.disk.hang(true);
    file.read(0, 1);
    machine.disk.unhang();
    file.read(0, 1);
    expect(stages).to.deep.equal(['stands', 'goes on']);
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

  it('shows the log a bit that has flipped in a batch', async () => {
    for (const seed of SEEDS) {
      const machine = fakeMachine(seed);
      const log = await logOn(machine.start());
      for (const index of [1, 2, 3]) await append(log, index);
      const { disk } = machine;
      disk.crash(true);
      const batches = disk.files.writtenIn(LOG).filter(({ path }) => path.endsWith('.segment'));
      disk.files.flip(batches[1]!);
      const again = await logOn(machine.start());
      expect(again.damaged, `seed ${seed}`).to.include({ index: 2, last: 3 });
    }
  });

  it('shows the log a write that was lost, wherever it was', async () => {
    for (let lost = 0; lost < 4; lost++) {
      const machine = fakeMachine();
      const log = await logOn(machine.start());
      for (const index of [1, 2, 3, 4]) await append(log, index);
      await log.close();
      const { disk } = machine;
      disk.crash(true);
      const batches = disk.files.writtenIn(LOG).filter(({ path }) => path.endsWith('.segment'));
      disk.files.lose(batches[lost]!);
      const again = await logOn(machine.start());
      expect(again.damaged, `batch ${lost}`).to.include({ index: lost + 1, last: 4 });
    }
  });

  it('undoes names that were not synced, the last ones of a file first', async () => {
    const found = new Set<string>();
    for (const seed of SEEDS) {
      const machine = fakeMachine(seed);
      const folder = machine.start().folder('data');
      const { files } = machine.disk;
      files.open('data/a');
      await settled((done) => folder.sync(done));
      await settled((done) => folder.rename('a', 'b', done));
      await settled((done) => folder.rename('b', 'c', done));
      machine.disk.crash(true);
      found.add(files.paths('data').join());
    }
    expect([...found].sort()).to.deep.equal(['data/a', 'data/b', 'data/c']);
  });

  it('keeps each sector of a write under way, loses it, or tears it', async () => {
    const found = new Set<string>();
    for (let seed = 1; seed <= 60; seed++) {
      const { disk } = fakeMachine(seed);
      const file = disk.files.open('data/a');
      disk.files.write(file, 0, Buffer.alloc(8192, 1))();
      disk.files.syncNames('data');
      disk.files.write(file, 0, Buffer.alloc(8192, 2));
      disk.crash(true);
      const [bytes] = [...disk.files.content('data').values()];
      const halves = [bytes!.subarray(0, 4096), bytes!.subarray(4096)];
      found.add(
        halves.map((half) => (half.every((byte) => byte === half[0]) ? half[0] : 'torn')).join(),
      );
    }
    expect([...found]).to.include.members(['1,1', '1,2', '2,1', '2,2', 'torn,torn']);
  });

  it('never brings back a write of an ended process over what replaced it', async () => {
    for (const power of [true, false])
      for (let seed = 1; seed <= 60; seed++) {
        const { disk } = fakeMachine(seed);
        const file = disk.files.open('data/a');
        disk.files.syncNames('data');
        disk.files.write(file, 0, Buffer.alloc(300, 1))();
        disk.files.write(file, 100, Buffer.alloc(100, 2));
        disk.crash(false);
        disk.files.write(file, 50, Buffer.alloc(100, 3))();
        disk.crash(power);
        const [bytes] = [...disk.files.content('data').values()];
        expect(
          bytes!.subarray(50, 150).every((byte) => byte === 3),
          `seed ${seed}`,
        ).to.equal(true);
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
    for (const seed of SEEDS) {
      const machine = fakeMachine(seed);
      const folder = machine.start().folder('data');
      await writeSealed(folder, 'node.json', { number: 1 });
      void writeSealed(folder, 'node.json', { number: 2 });
      for (let turn = 0; turn < seed % 9; turn++) await new Promise(setImmediate);
      machine.disk.crash(true);
      const again = machine.start().folder('data');
      found.add((await readSealed(again, 'node.json'))?.['number']);
    }
    expect([...found].sort()).to.deep.equal([1, 2]);
  });
});
