/** A log of a release before 0.3.0 becomes one of segments, once, whatever happens meanwhile. */
import { cpSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Entry } from '../../src/raft/types.js';
import { rootMessage, StorageError } from '../../src/storage/errors.js';
import type { SegmentLog } from '../../src/storage/log.js';
import { NodeFile, NodeFolder } from '../../src/storage/node-folder.js';
import { openLog } from '../../src/storage/open-log.js';
import { fakeMachine } from '../support/fake-machine.js';
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
  spoiled,
} from './helpers.js';

/** Calls `then` after each operation on files that changes the disk. Returns what undoes that. */
function afterEachOperation(then: () => void): () => void {
  type Calls = Record<string, (...parameters: unknown[]) => void>;
  const undo: (() => void)[] = [];
  const wrap = (prototype: object, names: readonly string[]): void => {
    // The last parameter of each is its callback.
    const calls = prototype as Calls;
    for (const name of names) {
      const real = calls[name]!;
      calls[name] = function (this: unknown, ...parameters) {
        const done = parameters.pop() as (...results: unknown[]) => void;
        real.call(this, ...parameters, (...results: unknown[]) => {
          then();
          done(...results);
        });
      };
      undo.push(() => {
        calls[name] = real;
      });
    }
  };
  wrap(NodeFolder.prototype, ['create', 'open', 'rename', 'remove', 'sync']);
  wrap(NodeFile.prototype, ['write', 'sync']);
  return () => {
    for (const each of undo) each();
  };
}

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

  const never = (error: Error): never => {
    throw error;
  };
  const expectWhole = (log: SegmentLog, whole = entries): void => {
    expect(log.damaged).equal(undefined);
    expect(entriesOf(log)).eql(plain(whole));
    expect(log.hardState()).eql(content.hardState);
    expect(log.snapshot()).eql(content.meta);
  };

  it('is taken over with all that it says, and goes on', async () => {
    const dir = await write({ ...content, bar: { index: 9, term: 2 } });
    let log = await folders.log(dir);
    for (let again = 0; again < 2; again++) {
      expect(log.damaged).equal(undefined);
      expect(entriesOf(log)).eql(plain(entries));
      expect(log.hardState()).eql(content.hardState);
      expect(log.snapshot()).eql(content.meta);
      expect(log.bar()).eql({ index: 9, term: 2 });
      expect(await oldFiles(dir)).eql(['CURRENT']);
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

  it('is whole after a crash at any operation on the disk', async () => {
    const dir = await write(content);
    const crashes: string[] = [];
    const undo = afterEachOperation(() => {
      const to = join(copies, String(crashes.length));
      cpSync(dir, to, { recursive: true });
      crashes.push(to);
    });
    const copies = await folders.make();
    try {
      await (await openLog(dir, { onFatal: never })).close();
    } finally {
      undo();
    }
    expect(crashes.length).greaterThan(20);
    for (const crashed of crashes) {
      const log = await folders.log(crashed);
      expectWhole(log);
      expect(await oldFiles(crashed)).eql(['CURRENT']);
      await (await folders.reopenLog(log, crashed)).close();
    }
  });

  it('is whole after a power cut at any moment', async () => {
    let isTakenOver = false;
    const few = entries.slice(0, 60);
    for (let turns = 0; !isTakenOver; turns++) {
      for (let seed = 1; seed <= 5; seed++) {
        const { disk, start } = fakeMachine(seed);
        await writeLevelLog('log', { ...content, entries: few }, start());
        disk.crash(false);
        const options = { onFatal: never, segmentBytes: 2000 };
        const first = start();
        void openLog('log', { ...options, disk: first }).catch(() => {});
        for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
        isTakenOver = !(await first.hasDatabase('log'));
        disk.crash(true);
        const log = await openLog('log', { ...options, disk: start() });
        expectWhole(log, few);
        await log.close();
      }
      expect(turns).lessThan(1000);
    }
  });

  it('makes LevelDB refuse the folder, with the reason', async () => {
    for (const dir of [await write(content), await folders.make()]) {
      await (await folders.log(dir)).close();
      const error = await failure(raw(dir, async () => {}));
      expect(rootMessage(error)).match(/THE LOG IS IN SEGMENTS SINCE RELEASE 0\.3\.0/);
      // What LevelDB has left there meanwhile is removed.
      const log = await folders.log(dir);
      expect(await oldFiles(dir)).eql(['CURRENT']);
      await log.close();
    }
  });

  it('is the log as long as its CURRENT is there, whatever a take-over had written', async () => {
    const dir = await write(content);
    const other = await write({ entries: [], hardState: { term: 9, votedFor: 'c' } });
    await (await folders.log(other)).close();
    cpSync(join(other, 'segments'), join(dir, 'segments'), { recursive: true });
    const log = await folders.log(dir);
    expectWhole(log);
  });

  it('is left alone when what says where the log is has gone bad', async () => {
    const dir = await write(content);
    await (await folders.log(dir)).close();
    const current = join(dir, 'CURRENT');
    const bytes = await readFile(current);
    await writeFile(current, spoiled(bytes, 1));
    const error = await failure(folders.log(dir));
    expect(error).instanceOf(StorageError).property('message').include('cannot be opened');
    await writeFile(current, bytes);
    expectWhole(await folders.log(dir));
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
