/** A log of a release before 0.3.0 becomes one of segments, once, whatever happens meanwhile. */
import { cpSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Entry } from '../../src/raft/types.js';
import { StorageError } from '../../src/storage/errors.js';
import { openLogFolder } from '../../src/storage/take-over.js';
import { type LevelLogContent, levelKey, writeLevelLog } from '../support/level-log.js';
import {
  command,
  configuration,
  done,
  entriesOf,
  Folders,
  failure,
  flip,
  plain,
  raw,
} from './helpers.js';

describe('a log of an earlier release', function () {
  this.timeout(60_000);
  const folders = new Folders();
  afterEach(() => folders.clean());

  const entries: Entry[] = [
    { kind: 'noop', index: 6, term: 2 },
    { kind: 'configuration', index: 7, term: 2, configuration },
    ...Array.from({ length: 2500 }, (_, i) => command(8 + i, 3)),
  ];
  const content: LevelLogContent = {
    entries,
    hardState: { term: 4, votedFor: 'b' },
    meta: { index: 5, term: 1, configuration },
  };
  const write = async (what: LevelLogContent): Promise<string> => {
    const dir = await folders.make();
    await writeLevelLog(dir, what);
    return dir;
  };
  const oldFiles = async (dir: string) =>
    (await readdir(dir)).filter((name) => name !== 'lock' && name !== 'segments');

  it('is taken over with all that it says, and goes on', async () => {
    const dir = await write({ ...content, bar: { index: 9, term: 2 } });
    let log = await folders.log(dir);
    for (let again = 0; again < 2; again++) {
      expect(log.damaged).equal(undefined);
      expect(entriesOf(log)).eql(plain(entries));
      expect(log.hardState()).eql(content.hardState);
      expect(log.snapshot()).eql(content.meta);
      expect(log.bar()).eql({ index: 9, term: 2 });
      expect(await oldFiles(dir)).eql([]);
      log = await folders.reopenLog(log, dir);
    }
    await done((resolve) => log.append({ entries: [command(2508, 4)] }, resolve));
    expect((await folders.reopenLog(log, dir)).lastIndex()).equal(2508);
  });

  it('is taken over when it was never written to', async () => {
    const log = await folders.log(
      await write({ entries: [], hardState: { term: 0, votedFor: null } }),
    );
    expect([log.firstIndex(), log.lastIndex(), log.damaged]).eql([1, 0, undefined]);
  });

  it('is whole after a crash at any step', async () => {
    const dir = await write(content);
    const crashes: string[] = [];
    const names: string[] = [];
    for (let i = 0; i < 40; i++) names.push(await folders.make());
    const folder = await openLogFolder(dir, () => {
      const to = names[crashes.length]!;
      cpSync(dir, to, { recursive: true });
      crashes.push(to);
    });
    await folder.close();
    expect(crashes.length).greaterThan(12);
    for (const crashed of crashes) {
      const log = await folders.log(crashed);
      expect(log.damaged).equal(undefined);
      expect(entriesOf(log)).eql(plain(entries));
      expect(log.hardState()).eql(content.hardState);
      expect(log.snapshot()).eql(content.meta);
      expect(await oldFiles(crashed)).eql([]);
      await (await folders.reopenLog(log, crashed)).close();
    }
  });

  it('is not taken over twice: what an old release leaves there is removed', async () => {
    const dir = await write(content);
    const log = await folders.log(dir);
    await done((resolve) => log.append({ entries: [command(2508, 4)] }, resolve));
    await log.close();
    await writeLevelLog(dir, { entries: [], hardState: { term: 0, votedFor: null } });
    const again = await folders.log(dir);
    expect([again.lastIndex(), again.hardState()]).eql([2508, content.hardState]);
    expect(await oldFiles(dir)).eql([]);
  });

  it('stays damaged where it was, and is repaired as it would have been', async () => {
    const last = entries.at(-1)!.index;
    for (const [spoil, index, reason] of [
      [(dir: string) => flip(dir, levelKey(100)), 100, 'checksum'],
      [(dir: string) => raw(dir, (db) => db.del(levelKey(100))), 100, 'missing'],
      [(dir: string) => raw(dir, (db) => db.del(levelKey(last))), last, 'on disk before'],
      [(dir: string) => flip(dir, Buffer.from('meta'), 90), 1, 'snapshot'],
    ] as const) {
      const dir = await write(content);
      await spoil(dir);
      let log = await folders.log(dir);
      for (let again = 0; again < 2; again++) {
        expect(log.damaged).include({ index, last });
        expect(log.damaged?.reason).include(reason);
        const whole = index === 1 ? [] : entries.filter((entry) => entry.index < index);
        expect(entriesOf(log)).eql(plain(whole));
        expect(log.hardState()).eql(content.hardState);
        await log.close();
        log = await folders.log(dir);
      }
      await done((resolve) => log.repair(resolve));
      log = await folders.reopenLog(log, dir);
      expect(log.bar()).eql({ index: last, term: 4 });
    }
  });

  it('takes the vote from either copy, and is refused and left alone without one', async () => {
    const one = await write(content);
    await flip(one, Buffer.from('hard'), 50);
    expect((await folders.log(one)).hardState()).eql(content.hardState);
    const none = await write(content);
    await flip(none, Buffer.from('hard'), 50);
    await writeFile(join(none, 'witness'), Buffer.alloc(8192));
    const error = await failure(folders.log(none));
    expect(error).instanceOf(StorageError).property('code').equal('damaged');
    expect(await oldFiles(none)).include('CURRENT');
  });
});
