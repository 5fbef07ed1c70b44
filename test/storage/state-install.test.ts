import { expect } from 'chai';
import { NEXT } from '../../src/state/keys.js';
import type { Disk } from '../../src/storage/disk.js';
import type { StorageError } from '../../src/storage/errors.js';
import { openState } from '../../src/storage/state.js';
import type { Installation, StateRecord } from '../../src/storage/types.js';
import { fakeMachine } from '../support/fake-machine.js';
import { contents, Folders } from './helpers.js';

describe('an installation that begins while another is switched in', () => {
  const folders = new Folders();
  afterEach(() => folders.clean());

  it('remains the newest: no rewrite begins beside it, and its state stays', async () => {
    const state = await folders.state(await folders.make());
    const rewritten = (who: string, turns = 0): Promise<boolean> =>
      new Promise((resolve) => {
        function* slices(): Generator<readonly StateRecord[], boolean> {
          yield [['who', who]];
          for (let i = 0; i < turns; i++) yield [];
          return true;
        }
        state.rewrite(slices(), resolve);
      });
    const { db } = state;
    const write = db.write.bind(db);
    let arriving: Installation | undefined;
    db.write = (operations, options) => {
      if (operations.some(({ key }) => key === '!state')) arriving ??= state.install();
      return write(operations, options);
    };
    expect(await rewritten('first restore')).to.equal(true);
    expect(contents(state)).to.deep.equal([['who', 'first restore']]);
    await arriving!.add([['who', 'snapshot']]);
    const second = rewritten('second restore', 50);
    await arriving!.finish();
    expect(await second).to.equal(false);
    expect(contents(state)).to.deep.equal([['who', 'snapshot']]);
    expect(await rewritten('third restore')).to.equal(true);
    expect(contents(state)).to.deep.equal([['who', 'third restore']]);
  });
});

describe('a view that is pinned while a restore is switched in', () => {
  const folders = new Folders();
  afterEach(() => folders.clean());

  it('has a value for each of its keys, before and after the write', async () => {
    const state = await folders.state(await folders.make());
    state.commit([['old', '1']], { replaces: true, records: [['restored', '2']] });
    const before = contents(state);
    const { db } = state;
    const write = db.write.bind(db);
    const seen: unknown[] = [];
    const look = (): void => {
      const view = state.pin();
      seen.push([...view.keys('')].map((key) => [key, view.get(key)]));
      view.close();
    };
    db.write = async (operations, options) => {
      const isSwitch = operations.some(({ key }) => key === '!state');
      if (isSwitch) look();
      await write(operations, options);
      if (isSwitch) look();
    };
    const records: StateRecord[] = [['kept', '3']];
    function* slices(): Generator<readonly StateRecord[], boolean> {
      yield records;
      return true;
    }
    expect(await new Promise((resolve) => state.rewrite(slices(), resolve, true))).to.equal(true);
    expect(seen).to.deep.equal([before, before]);
    expect(contents(state)).to.deep.equal([...records, ['restored', '2']]);
  });
});

describe('an installation on a full disk', () => {
  it('ends the process at the first chunk, because what follows would be lost', async () => {
    const machine = fakeMachine(1);
    const fatal: StorageError[] = [];
    const onFatal = (error: StorageError) => void fatal.push(error);
    const opened = () => openState('data/state', { onFatal, disk: machine.start() });
    const state = await opened();
    state.commit([['old', '1']]);
    await state.flush();
    machine.disk.isFull = true;
    const chunk = state.install().add([['new', '2']]);
    const error = await chunk.then(
      () => undefined,
      (why: Error) => why,
    );
    expect(error?.message).to.match(/ENOSPC/);
    expect(fatal).to.deep.equal([error]);
    machine.disk.isFull = false;
    state.commit([['lost', '3']]);
    expect(await state.flush().then(() => 'durable', String)).to.match(/ENOSPC/);
    machine.disk.crash(false);
    expect(contents(await opened())).to.deep.equal([['old', '1']]);
  });
});

describe('an installation and a power cut', () => {
  const CHUNKS = 12;
  const chunkOf = (number: number): StateRecord[] =>
    Array.from({ length: 5 }, (_, n) => [`${number}-${n}`, 'new']);
  const all = Array.from({ length: CHUNKS }, (_, number) => chunkOf(number)).flat();
  const next: StateRecord[] = all.map(([key, value]) => [NEXT + key, value]);
  const sorted = (records: readonly StateRecord[]) =>
    [...records].sort(([one], [other]) => (one < other ? -1 : 1));
  const OLD: StateRecord[] = [['old', '1']];

  /** Runs an installation on a disk in memory. `cut` may end the power; it gets each write. */
  const cutAt = async (seed: number, cut: (writes: number) => boolean) => {
    const machine = fakeMachine(seed);
    const opened = (disk: Disk) => openState('data/state', { onFatal: () => {}, disk });
    const state = await opened(machine.start());
    state.commit(OLD);
    await state.flush();
    let isCut = false;
    const ended = new Promise<void>((resolve) => {
      let writes = 0;
      const { db } = state;
      const write = db.write.bind(db);
      db.write = async (...given) => {
        if (isCut) return new Promise(() => {});
        await write(...given);
        writes += 1;
        isCut = cut(writes);
        return isCut ? new Promise(() => resolve()) : undefined;
      };
      const installed = async (): Promise<void> => {
        const installation = state.install();
        for (let at = 0; at < CHUNKS; at++) {
          await installation.add([...chunkOf(at), ...next.slice(5 * at, 5 * at + 5)]);
          // Its own state goes on meanwhile.
          state.commit([['at', String(at)]]);
          if (at % 3 === 0) await state.flush();
        }
        await installation.finish();
      };
      void installed().then(resolve);
    });
    await ended;
    machine.disk.crash(true);
    const again = await opened(machine.start());
    const found = { damaged: again.damaged, contents: contents(again) };
    await again.close();
    return { ...found, isCut };
  };

  it('keeps all of a state that was switched in, whatever was not synced one by one', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { damaged, contents: found } = await cutAt(seed, () => false);
      expect(damaged).to.equal(undefined);
      expect(found).to.deep.equal(sorted([...all, ...next]));
    }
  });

  it('leaves the old state or the new one, at whichever write it comes', async () => {
    const outcomes = new Set<string>();
    for (let at = 1, isCut = true; isCut; at++) {
      const end = await cutAt(at, (writes) => writes === at);
      isCut = end.isCut;
      expect(end.damaged, `at write ${at}`).to.equal(undefined);
      const [first] = end.contents;
      outcomes.add(first![0] === '0-0' ? 'new' : 'old');
      if (first![0] === '0-0') expect(end.contents).to.deep.equal(sorted([...all, ...next]));
      else expect(end.contents.at(-1)).to.deep.equal(OLD[0]);
    }
    expect([...outcomes]).to.deep.equal(['old', 'new']);
  });
});

describe('a state that is being restored and a power cut', () => {
  /** The part that drops those before it. */
  const DROPPED = 8;

  it('has the records of the restore exactly as far as its own', async () => {
    for (let seed = 1; seed <= 120; seed++) {
      const machine = fakeMachine(seed);
      const opened = (disk: Disk) => openState('data/state', { onFatal: () => {}, disk });
      const state = await opened(machine.start());
      const last = 6 + (seed % 6);
      let flushed = 0;
      for (let part = 1; part <= last; part++) {
        const records: StateRecord[] = [
          [`a${part}`, '1'],
          [`b${part}`, '2'],
        ];
        state.commit([['at', String(part)]], { replaces: part === DROPPED, records });
        if (part % 3 !== 0) continue;
        await state.flush();
        flushed = part;
      }
      for (let turn = 0; turn < 10 * (seed % 4); turn++)
        await new Promise((resolve) => setImmediate(resolve));
      machine.disk.crash(true);
      const again = await opened(machine.start());
      expect(again.damaged).to.equal(undefined);
      const at = Number(again.get('at'));
      expect(at).to.be.within(flushed, last);
      const from = at < DROPPED ? 1 : DROPPED;
      const parts = Array.from({ length: at - from + 1 }, (_, n) => n + from);
      const expected = parts.flatMap((part) => [`${NEXT}a${part}`, `${NEXT}b${part}`]).sort();
      expect([...again.keys(NEXT)]).to.deep.equal(expected);
      const switched = await new Promise<boolean>((resolve) => {
        function* slices(): Generator<readonly StateRecord[], boolean> {
          yield [['more', '1']];
          return true;
        }
        again.rewrite(slices(), resolve, true);
      });
      expect(switched).to.equal(true);
      machine.disk.crash(true);
      const restarted = await opened(machine.start());
      expect(restarted.damaged).to.equal(undefined);
      expect([...restarted.keys('')]).to.have.length(expected.length + 1);
      await restarted.close();
    }
  });
});
