/**
 * Data becomes corrupt, or a crash happens in between: the state shown is intact, or the store
 * reports that it is not.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { StorageError } from '../../src/storage/errors.js';
import { recordSum, Tally } from '../../src/storage/key-index.js';
import type { LevelState } from '../../src/storage/state.js';
import { sealed } from '../../src/storage/state-load.js';
import type { StateRecord } from '../../src/storage/types.js';
import {
  contents,
  Folders,
  failBatches,
  failure,
  flip,
  loseBatch,
  raw,
  spoiled,
  verify,
} from './helpers.js';

const tallyOf = (records: readonly StateRecord[]) => {
  const tally = new Tally();
  for (const [key, value] of records) tally.add(recordSum(key, value));
  return tally;
};
/** Replaces a state by `next`. */
async function replace(state: LevelState): Promise<void> {
  const installation = state.install();
  await installation.add(next);
  await installation.finish(tallyOf(next));
}
const old: StateRecord[] = [
  ['a', 'old a'],
  ['b', 'old b'],
];
const next: StateRecord[] = [
  ['b', 'new b'],
  ['c', 'new c'],
  ['d', 'new d'],
];
const prefixes = (dir: string) =>
  raw(dir, async (db) => {
    const keys = (await db.keys().all()).map(String);
    return [...new Set(keys.filter((key) => /^\d/.test(key)).map((key) => key.slice(0, 8)))];
  });

describe('state on a corrupt disk', () => {
  const folders = new Folders();
  afterEach(() => folders.clean());
  const filled = async (records = old): Promise<string> => {
    const dir = await folders.make();
    const state = await folders.state(dir);
    state.commit(records);
    await state.close();
    return dir;
  };
  const fourBatches = async (): Promise<string> => {
    const dir = await folders.make();
    const state = await folders.state(dir);
    for (let i = 1; i <= 4; i++) {
      state.commit([['n', String(i)]]);
      await state.flush();
    }
    await state.close();
    return dir;
  };

  it('detects a changed bit in a value or its checksum when it is read, and stops', async () => {
    const dir = await filled();
    for (const bit of [3, 40, 66, 80, 99]) {
      const copy = await folders.copy(dir);
      await flip(copy, Buffer.from('00000001/a'), bit);
      const state = await folders.state(copy);
      expect(state.get('b')).equal('old b');
      expect(() => state.get('a')).throw(StorageError, 'cannot be read as it was written');
      expect(() => state.get('a')).throw(StorageError);
      expect(folders.fatal.splice(0)).lengthOf(1);
      await state.close();
    }
  });

  it('does not report a record as deleted that only the disk has lost', async () => {
    const state = await folders.state(await filled());
    const { db } = state;
    await db.write([{ type: 'del', key: '00000001/a' }], { sync: false });
    expect(() => state.get('a')).throw(StorageError);
    expect(folders.fatal).lengthOf(1);
    expect(state.get('never')).equal(undefined);
  });

  it('does not name the key in the error, as keys may contain tokens', async () => {
    const dir = await filled([['token-secret\u0000abcdef', 'x']]);
    await flip(dir, Buffer.from('00000001/token-secret\u0000abcdef'), 70);
    const state = await folders.state(dir);
    const error = await failure((async () => state.get('token-secret\u0000abcdef'))());
    expect(error).property('message').include('token-secret').not.include('abcdef');
  });

  it('detects a lost batch among later ones, and can then be replaced', async () => {
    const dir = await fourBatches();
    await loseBatch(dir, 2);
    let state = await folders.state(dir);
    expect(state.damaged).include('lost batch 2');
    await replace(state);
    expect(state.damaged).equal(undefined);
    expect(contents(state)).eql(next);
    for (let again = 0; again < 3; again++) {
      state = await folders.reopenState(state, dir);
      state.commit([['later', String(again)]]);
      await state.flush();
    }
  });

  it('hides and keeps a damaged state, without commits, until another is installed', async () => {
    const dir = await folders.make();
    let state = await folders.state(dir);
    for (const key of ['a', 'b', 'c']) {
      state.commit([[key, `value ${key}`]]);
      await state.flush();
    }
    await state.close();
    await loseBatch(dir, 2, ['00000001/b']);
    for (let again = 0; again < 2; again++) {
      state = await folders.state(dir);
      expect(state.damaged).include('lost batch 2');
      expect([contents(state), state.get('a'), state.counts().size]).eql([[], undefined, 0]);
      const pinned = state.pin();
      expect([contents(pinned), pinned.get('a')]).eql([[], undefined]);
      pinned.close();
      expect(() => state.commit([['d', 'd']])).throw('damaged');
      expect(contents(state.remains!)).eql([
        ['a', 'value a'],
        ['c', 'value c'],
      ]);
      const installation = state.install();
      await installation.add(next);
      const crashed = await folders.copy(dir);
      const reopened = await folders.state(crashed);
      await reopened.settled();
      await reopened.close();
      expect(await prefixes(crashed)).eql(['00000001']);
      expect(await failure(installation.finish({ count: 1, sum: 1 }))).instanceOf(StorageError);
      await state.settled();
      await state.close();
      expect(await prefixes(dir)).eql(['00000001']);
    }
    state = await folders.state(dir);
    await replace(state);
    expect([state.damaged, state.remains]).eql([undefined, undefined]);
    await state.settled();
    await state.close();
    expect(await prefixes(dir))
      .lengthOf(1)
      .not.include('00000001');
    state = await folders.state(dir);
    expect(contents(state)).eql(next);
    await folders.reopenState(state, dir);
  });

  it('does not fall back to an older state if the batch of the switch is lost', async () => {
    const dir = await filled();
    let state = await folders.state(dir);
    await replace(state);
    state.commit([['e', 'new e']]);
    await state.settled();
    await state.close();
    // LevelDB has lost the batch of the switch; the count of a later one survives.
    const older = Buffer.from(sealed({ v: 1, generation: 1, since: 1 }));
    await raw(dir, (db) => db.put(Buffer.from('!state'), older));
    state = await folders.state(dir);
    expect(state.damaged).include('which state is the present one');
    expect(contents(state)).eql([]);
    expect(contents(state.remains!)).eql([...next, ['e', 'new e']]);
    await replace(state);
    await folders.reopenState(state, dir);
  });

  it('stores the current generation twice, and shows nothing if both copies are lost', async () => {
    const dir = await filled();
    await flip(dir, Buffer.from('!state'), 70);
    const whole = await folders.state(dir);
    expect([whole.damaged, contents(whole)]).eql([undefined, old]);
    await whole.close();
    await flip(dir, Buffer.from('!state'), 70);
    await flip(dir, Buffer.from('!keys'), 70);
    const state = await folders.state(dir);
    expect(state.damaged).include('which state is the present one');
    expect(contents(state)).eql([]);
    await replace(state);
    await state.settled();
    const again = await folders.reopenState(state, dir);
    expect(contents(again)).eql(next);
    await again.close();
    expect(await prefixes(dir)).lengthOf(1);
  });

  it('shows a prefix of the commits, or reports damage, whatever byte is changed', async () => {
    const dir = await folders.make();
    const live = await folders.state(dir);
    const after: unknown[] = [[]];
    for (let i = 1; i <= 8; i++) {
      live.commit([
        ['applied', String(i)],
        // Long values, so that the file has several of LevelDB's blocks: it continues after a bad
        // one.
        [`k${i % 3}`, `value ${i} ${'x'.repeat(14_000)}`],
        [`k${(i + 1) % 3}`, undefined],
      ]);
      await live.flush();
      after.push(contents(live));
    }
    const name = (await readdir(dir)).find((file) => file.endsWith('.log'))!;
    const bytes = await readFile(join(dir, name));
    let damaged = 0;
    for (let at = 0; at < bytes.length; at += 2500) {
      const copy = await folders.copy(dir);
      const changed = Buffer.from(bytes);
      changed[at]! ^= 0x20;
      await writeFile(join(copy, name), changed);
      const state = await folders.state(copy);
      if (state.damaged !== undefined) {
        damaged += 1;
        await replace(state);
        state.commit([['later', 'x']]);
      } else {
        const applied = Number(state.get('applied') ?? 0);
        expect(contents(state), `byte ${at}`).eql(after[applied]);
      }
      await (await folders.reopenState(state, copy)).close();
    }
    expect(damaged).greaterThan(5);
  });

  it('never silently alters or loses a value if a byte of a table file changes', async () => {
    const records = Array.from(
      { length: 120 },
      (_, i): StateRecord => [
        `policy\u0000default\u0000${String(i * 7919).padStart(8, '0')}`,
        JSON.stringify({ name: `policy ${i}`, rules: 'x'.repeat(i % 50) }),
      ],
    );
    const dir = await filled(records);
    // Opening moves the contents of LevelDB's log to a table file.
    await (await folders.state(dir)).close();
    const name = (await readdir(dir)).find((file) => file.endsWith('.ldb'))!;
    const bytes = await readFile(join(dir, name));
    const copies: string[] = [];
    for (let at = 0; at < bytes.length; at += 149) {
      const copy = await folders.copy(dir);
      await writeFile(join(copy, name), spoiled(bytes, at));
      copies.push(copy);
    }
    const seen = { refused: 0, damaged: 0, unreadable: 0 };
    const expected = new Map(records);
    for (const found of await verify('state', copies)) {
      if ('refused' in found) {
        seen.refused += 1;
        expect(found.refused).match(/; move this (folder|server's state folder) away/);
      } else if (found.damaged) seen.damaged += 1;
      else {
        expect(found.records).lengthOf(records.length);
        for (const [key, value] of found.records!) {
          if (value === null) seen.unreadable += 1;
          else expect(value).equal(expected.get(key));
        }
      }
    }
    expect(seen.refused + seen.damaged).greaterThan(3);
    expect(seen.unreadable).greaterThan(3);
  });

  it('holds the old or the new state after a crash at any step of an installation', async () => {
    const dir = await filled();
    const state = await folders.state(dir);
    const crashes: [string, string, StateRecord[]][] = [];
    const crash = async (step: string, expected: StateRecord[]) =>
      crashes.push([step, await folders.copy(dir), expected]);

    const installation = state.install();
    await crash('before anything', old);
    await installation.add(next.slice(0, 1));
    await crash('after a chunk', old);
    await installation.add(next.slice(1));
    await crash('before the end', old);
    const { db } = state;
    const write = db.write.bind(db);
    db.write = async (operations, options) => {
      await crash('verified, before the switch', old);
      await write(operations, options);
      await crash('switched on disk, not in memory', next);
    };
    await installation.finish(tallyOf(next));
    db.write = write;
    await state.settled();
    await crash('after the old one was removed', next);

    expect(crashes).lengthOf(6);
    for (const [step, copy, expected] of crashes) {
      const reopened = await folders.state(copy);
      expect(reopened.damaged, step).equal(undefined);
      expect(contents(reopened), step).eql(expected);
      reopened.commit([['later', '1']]);
      await reopened.settled();
      await reopened.close();
      expect(await prefixes(copy), step).lengthOf(1);
      const again = await folders.state(copy);
      expect(contents(again), step).eql([...expected, ['later', '1']]);
      await (await folders.reopenState(again, copy)).close();
    }
  });

  it('refuses an installation whose records became corrupt on disk', async () => {
    const dir = await filled();
    const state = await folders.state(dir);
    const installation = state.install();
    await installation.add(next);
    const { db } = state;
    const bad = { type: 'put', key: '00000002/c', value: '00000000new c' } as const;
    await db.write([bad], { sync: false });
    expect(await failure(installation.finish(tallyOf(next)))).instanceOf(StorageError);
    expect(contents(state)).eql(old);
    await folders.reopenState(state, dir);
  });

  it('detects that the number of a batch was spoiled', async () => {
    const dir = await fourBatches();
    await flip(dir, Buffer.from('#2'), 6);
    const state = await folders.state(dir);
    expect(state.damaged).include('lost batch 2');
  });

  it('says what to do if the files of LevelDB turn out to be damaged later', async () => {
    const state = await folders.state(await filled());
    const cause = Object.assign(new Error('Corruption'), { code: 'LEVEL_CORRUPTION' });
    state.db.get = () => {
      throw cause;
    };
    expect(() => state.get('a')).throw(StorageError, /failed: Corruption; move this server/);
  });

  it('says what to do if the files of LevelDB itself are damaged', async () => {
    const dir = await filled();
    await writeFile(join(dir, 'CURRENT'), 'MANIFEST-009999');
    const error = await failure(folders.state(dir));
    expect(error).instanceOf(StorageError).property('code').equal('failed');
    expect(String(error)).match(/cannot be opened: .*; move this folder away and start the server/);
  });

  it('reports the first failed write once, and fails pending flushes', async () => {
    const state = await folders.state(await folders.make());
    failBatches(state, 'IO error: EIO');
    state.commit(old);
    const first = state.flush();
    state.commit(next);
    const second = state.flush();
    for (const error of [
      await failure(first),
      await failure(second),
      await failure(state.flush()),
    ]) {
      expect(error).instanceOf(StorageError).property('message').include('EIO');
    }
    expect(folders.fatal).lengthOf(1);
  });

  it('reports how many bytes are not on disk yet', async () => {
    const state = await folders.state(await folders.make());
    state.commit([['key', 'x'.repeat(1000)]]);
    expect(state.backlogBytes).within(1000, 1100);
    await state.flush();
    expect(state.backlogBytes).equal(0);
  });
});
