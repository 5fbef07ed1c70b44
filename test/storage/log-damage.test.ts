/**
 * Data becomes corrupt: acknowledged entries are never silently lost, changed, or taken for a torn
 * tail.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { HardState, Index } from '../../src/raft/types.js';
import { StorageError } from '../../src/storage/errors.js';
import { LEVEL_DISK } from '../../src/storage/level-disk.js';
import type { LevelLog } from '../../src/storage/log.js';
import { entryKey } from '../../src/storage/record.js';
import { Witness } from '../../src/storage/witness.js';
import {
  command,
  configuration,
  done,
  entriesOf,
  Folders,
  failBatches,
  failure,
  flip,
  plain,
  raw,
  spoiled,
  until,
  verify,
} from './helpers.js';

const HARD = Buffer.from('hard');

describe('log on a corrupt disk', function () {
  this.timeout(20_000);
  const folders = new Folders();
  afterEach(() => folders.clean());

  const append = (
    log: LevelLog,
    entries: Parameters<LevelLog['append']>[0]['entries'],
    hardState?: HardState,
  ) =>
    done((resolve) =>
      log.append(hardState === undefined ? { entries } : { hardState, entries }, resolve),
    );
  /** A log of entries 1..8 in two terms, whose entries 6..8 replaced others. */
  const fill = async (log: LevelLog) => {
    await append(log, [command(1, 1), command(2, 1)], { term: 1, votedFor: 'a' });
    for (let index = 3; index <= 7; index++) await append(log, [command(index, 1)]);
    await append(log, [command(6, 2)], { term: 2, votedFor: 'b' });
    await append(log, [command(7, 2), command(8, 2)]);
  };
  const expected = plain([1, 2, 3, 4, 5, 6, 7, 8].map((i) => command(i, i < 6 ? 1 : 2)));
  const filled = async (): Promise<string> => {
    const dir = await folders.make();
    const log = await folders.log(dir);
    await fill(log);
    await log.close();
    return dir;
  };
  const expectDamage = (log: LevelLog, index: Index) => {
    expect(log.damaged).include({ index, last: 8 });
    expect(entriesOf(log)).eql(expected.slice(0, index - 1));
    expect(log.hardState()).eql({ term: 2, votedFor: 'b' });
    expect(() => log.append({ entries: [] }, () => {})).throw('damaged');
  };
  /** Repairs a damaged log, restores the lost entries as a leader does, and reopens it. */
  const heal = async (log: LevelLog, dir: string, whole = expected.length) => {
    await done((resolve) => log.repair(resolve));
    const lost = Array.from({ length: whole }, (_, i) => command(i + 1, 3)).slice(log.lastIndex());
    await append(log, lost);
    await done((resolve) => log.liftBar(resolve));
    await (await folders.reopenLog(log, dir)).close();
  };

  it('detects a changed bit in any record, and does not truncate', async () => {
    const dir = await filled();
    for (let index = 1; index <= 8; index++) {
      // The checksum, the version, the kind, a term, the content.
      for (const bit of index % 2 === 0 ? [0, 41, 110] : [33, 50, 180]) {
        const copy = await folders.copy(dir);
        await flip(copy, entryKey(index), bit);
        const log = await folders.log(copy);
        expectDamage(log, index);
        await heal(log, copy);
      }
    }
  });

  it('detects missing records: first, middle, last, several', async () => {
    const dir = await filled();
    for (const gone of [[1], [4], [8], [7, 8], [1, 2, 3, 4, 5, 6, 7, 8]]) {
      const copy = await folders.copy(dir);
      await raw(copy, (db) => db.batch(gone.map((i) => ({ type: 'del', key: entryKey(i) }))));
      const log = await folders.log(copy);
      expectDamage(log, gone[0]!);
      await heal(log, copy);
    }
  });

  it('detects a record under another key, and an older one in place of a newer', async () => {
    const dir = await filled();
    await raw(dir, async (db) => db.put(entryKey(4), (await db.get(entryKey(3)))!));
    expectDamage(await folders.log(dir), 4);
    // The batch that replaced entry 6 is lost: the old entry 6 is intact, but entry 7 was not
    // written after it.
    const other = await folders.make();
    const log = await folders.log(other);
    await fill(log);
    await log.close();
    const older = await folders.make();
    const before = await folders.log(older);
    for (let index = 1; index <= 7; index++) await append(before, [command(index, 1)]);
    await before.close();
    const stale = await raw(older, (db) => db.get(entryKey(6)));
    await raw(other, (db) => db.put(entryKey(6), stale!));
    const opened = await folders.log(other);
    expect(opened.damaged).include({ index: 7, last: 8 });
    expect(opened.damaged?.reason).include('entry 6 is not the one that entry 7 was written after');
  });

  it('detects any changed byte in its files, or still holds everything', async () => {
    const dir = await folders.make();
    const open = await folders.log(dir);
    await fill(open);
    const files = (await readdir(dir)).filter((name) =>
      /\.log$|witness|MANIFEST|CURRENT/.test(name),
    );
    expect(files).lengthOf(4);
    let found = 0;
    for (const name of files) {
      const bytes = await readFile(join(dir, name));
      const step = name.endsWith('.log') ? 9 : 29;
      for (let at = 0; at < bytes.length; at += step) {
        if (name === 'witness' && at % 4096 > 200) continue;
        const copy = await folders.copy(dir);
        const changed = Buffer.from(bytes);
        changed[at]! ^= 0x10;
        await writeFile(join(copy, name), changed);
        let log: LevelLog;
        try {
          log = await folders.log(copy);
        } catch (error) {
          expect(error).instanceOf(StorageError);
          found += 1;
          continue;
        }
        const where = `${name} at ${at}`;
        expect(log.hardState(), where).eql({ term: 2, votedFor: 'b' });
        if (log.damaged === undefined) {
          const isTail = log.lastIndex() < 8;
          // Only what was written after the witness's last update may be missed, at the very end.
          if (isTail) expect(log.lastIndex(), where).greaterThan(5);
          expect(entriesOf(log), where).eql(expected.slice(0, log.lastIndex()));
          await (await folders.reopenLog(log, copy)).close();
        } else {
          found += 1;
          await heal(log, copy);
        }
      }
    }
    expect(found).greaterThan(30);
  });

  it('detects a batch that LevelDB skipped silently', async () => {
    const dir = await folders.make();
    const log = await folders.log(dir);
    const text = 'x'.repeat(12_000);
    for (let index = 1; index <= 12; index++) await append(log, [command(index, 1, text)]);
    const name = (await readdir(dir)).find((file) => file.endsWith('.log'))!;
    const bytes = await readFile(join(dir, name));
    for (let at = 1000; at < bytes.length - 40_000; at += 9_000) {
      const copy = await folders.copy(dir);
      const changed = Buffer.from(bytes);
      changed[at]! ^= 0x10;
      await writeFile(join(copy, name), changed);
      const opened = await folders.log(copy);
      expect(opened.damaged).property('last').equal(12);
      expect(opened.damaged)
        .property('index')
        .equal(1 + Math.floor(at / 12_060));
      await heal(opened, copy, 12);
    }
  });

  it('never silently alters or loses an entry if a byte of a table file changes', async () => {
    const dir = await folders.make();
    const log = await folders.log(dir);
    const entries = Array.from({ length: 100 }, (_, i) => command(i + 1, 1, `${i}`.repeat(40)));
    await append(log, entries, { term: 2, votedFor: 'b' });
    await log.close();
    await (await folders.log(dir)).close();
    const name = (await readdir(dir)).find((file) => file.endsWith('.ldb'))!;
    const bytes = await readFile(join(dir, name));
    const copies: string[] = [];
    for (let at = 0; at < bytes.length; at += 331) {
      const copy = await folders.copy(dir);
      await writeFile(join(copy, name), spoiled(bytes, at));
      copies.push(copy);
    }
    let damaged = 0;
    for (const found of await verify('log', copies)) {
      if ('refused' in found) continue;
      expect(found.hardState).eql({ term: 2, votedFor: 'b' });
      if (found.damaged) damaged += 1;
      const whole = found.damaged ? found.entries!.length : entries.length;
      expect(found.entries).eql(plain(entries.slice(0, whole)));
    }
    expect(damaged).greaterThan(10);
  });

  it('continues after a torn tail that was never reported durable', async () => {
    const dir = await folders.make();
    const live = await folders.log(dir);
    const ends: number[] = [];
    const name = (await readdir(dir)).find((file) => file.endsWith('.log'))!;
    for (let index = 1; index <= 3; index++) {
      await append(live, [command(index, 1)]);
      ends.push((await readFile(join(dir, name))).length);
    }
    const bytes = await readFile(join(dir, name));
    for (const [end, last] of [
      [ends[2]! - 1, 2],
      [ends[1]! + 1, 2],
      [ends[1]!, 2],
      [ends[1]! - 5, 1],
    ] as const) {
      const copy = await folders.copy(dir);
      await writeFile(join(copy, name), bytes.subarray(0, end));
      const log = await folders.log(copy);
      expect([log.damaged, log.bar(), log.lastIndex()]).eql([undefined, undefined, last]);
      await append(log, [command(last + 1, 5)]);
      await folders.reopenLog(log, copy);
    }
  });

  it('reports a corrupt record at the very end as damage, since a crash leaves none', async () => {
    const dir = await folders.make();
    const live = await folders.log(dir);
    for (let index = 1; index <= 3; index++) await append(live, [command(index, 1)]);
    for (const [rotten, from] of [
      [[3], 3],
      [[2, 3], 2],
      [[2], 2],
    ] as const) {
      const copy = await folders.copy(dir);
      for (const index of rotten) await flip(copy, entryKey(index));
      const log = await folders.log(copy);
      expect(log.damaged).include({ index: from, last: 3 });
      await heal(log, copy, 3);
    }
  });

  it('remembers the entries found on opening and those written before it became idle', async () => {
    const dir = await folders.make();
    const live = await folders.log(dir);
    for (let index = 1; index <= 5; index++) await append(live, [command(index, 1)]);
    // The power fails, the machine restarts and fails again; then the last entries are corrupted.
    const opened = await folders.copy(dir);
    await folders.log(opened);
    const later = await folders.copy(opened);
    await raw(later, (db) => db.batch([4, 5].map((i) => ({ type: 'del', key: entryKey(i) }))));
    expect((await folders.log(later)).damaged).include({ index: 4, last: 5 });

    await until(async () => {
      const { witness, marks } = await Witness.open(join(dir, 'witness'), LEVEL_DISK.files);
      await witness.close();
      return marks?.lastIndex === 5;
    });
    const rested = await folders.copy(dir);
    await raw(rested, (db) => db.del(entryKey(5)));
    expect((await folders.log(rested)).damaged).include({ index: 5, last: 5 });
  });

  it('has the first batch recorded elsewhere before it is reported as stored', async () => {
    const log = await folders.log(await folders.make());
    const order: string[] = [];
    let noted: () => void = () => {};
    log.onceStored(() => {
      order.push('noting');
      return new Promise((resolve) => {
        noted = resolve;
      });
    });
    const first = append(log, [command(1, 1)]).then(() => order.push('first'));
    const second = append(log, [command(2, 1)]).then(() => order.push('second'));
    await until(async () => order.length > 0);
    order.push('noted');
    noted();
    await Promise.all([first, second]);
    await append(log, [command(3, 1)]);
    expect(order).eql(['noting', 'noted', 'first', 'second']);
  });

  it('does not report entries as lost that were replaced by fewer before a crash', async () => {
    const dir = await filled();
    const log = await folders.log(dir);
    await append(log, [command(9, 2)]);
    await append(log, [command(5, 3)]);
    const copy = await folders.copy(dir);
    const opened = await folders.log(copy);
    expect([opened.damaged, opened.lastIndex()]).eql([undefined, 5]);
    await done((resolve) =>
      log.reset({ index: 3, term: 3, configuration }, log.hardState(), resolve),
    );
    const last = await folders.copy(dir);
    const again = await folders.log(last);
    expect([again.damaged, again.lastIndex()]).eql([undefined, 3]);
    await folders.reopenLog(again, last);
  });

  it('reads the hard state from either copy, and refuses to start without one', async () => {
    const dir = await filled();
    const hardState = { term: 2, votedFor: 'b' };
    const one = await folders.copy(dir);
    await flip(one, HARD, 50);
    const log = await folders.log(one);
    expect(log.damaged).equal(undefined);
    expect(log.hardState()).eql(hardState);
    await log.close();
    expect((await folders.log(one)).hardState()).eql(hardState);

    const two = await folders.copy(dir);
    await writeFile(join(two, 'witness'), Buffer.alloc(8192));
    expect((await folders.log(two)).hardState()).eql(hardState);

    const both = await folders.copy(dir);
    await flip(both, HARD, 50);
    await writeFile(join(both, 'witness'), Buffer.alloc(8192));
    const error = await failure(folders.log(both));
    expect(error).instanceOf(StorageError).property('code').equal('damaged');
    expect(error).property('message').include('add it as a new server');
  });

  it('detects that the database lost a vote, and still knows it', async () => {
    const dir = await folders.make();
    const log = await folders.log(dir);
    await append(log, [command(1, 1)], { term: 1, votedFor: 'a' });
    const before = await raw(await folders.copy(dir), (db) => db.get(HARD));
    await append(log, [], { term: 2, votedFor: 'b' });
    await log.close();
    await raw(dir, (db) => db.put(HARD, before!));
    for (let again = 0; again < 2; again++) {
      const opened = await folders.log(dir);
      expect(opened.hardState()).eql({ term: 2, votedFor: 'b' });
      expect(opened.damaged).include({ index: 2 });
      await opened.close();
    }
  });

  it('is repaired: keeps intact entries, and suspends voting until the bar is lifted', async () => {
    const dir = await filled();
    await flip(dir, entryKey(4));
    let log = await folders.log(dir);
    await done((resolve) => log.repair(resolve));
    for (let again = 0; again < 2; again++) {
      expect(log.damaged).equal(undefined);
      expect(log.bar()).eql({ index: 8, term: 2 });
      expect(entriesOf(log)).eql(expected.slice(0, 3));
      expect(log.hardState()).eql({ term: 2, votedFor: 'b' });
      await log.close();
      log = await folders.log(dir);
    }
    await append(log, [command(4, 3)]);
    await done((resolve) => log.liftBar(resolve));
    log = await folders.reopenLog(log, dir);
    expect(log.bar()).equal(undefined);
    expect(log.lastIndex()).equal(4);
  });

  it('is repaired by a snapshot: voting continues only if it covers everything lost', async () => {
    const dir = await filled();
    await flip(dir, entryKey(4));
    for (const [index, bar] of [
      [7, { index: 8, term: 2 }],
      [8, undefined],
      [100, undefined],
    ] as const) {
      const copy = await folders.copy(dir);
      let log = await folders.log(copy);
      const hardState = log.hardState();
      await done((resolve) => log.reset({ index, term: 2, configuration }, hardState, resolve));
      for (let again = 0; again < 2; again++) {
        expect([log.damaged, log.firstIndex(), log.lastIndex()]).eql([undefined, index + 1, index]);
        expect(log.bar()).eql(bar);
        await log.close();
        log = await folders.log(copy);
      }
    }
  });

  it('detects a damaged snapshot position, and repairs it with the rest', async () => {
    const dir = await filled();
    const log = await folders.log(dir);
    await done((resolve) => log.compact({ index: 5, term: 1, configuration }, resolve));
    await done((resolve) => log.erase(resolve));
    await log.close();
    await flip(dir, Buffer.from('meta'), 90);
    const opened = await folders.log(dir);
    expect(opened.damaged?.reason).include('snapshot');
    expect(opened.lastIndex()).equal(0);
    await heal(opened, dir);
  });

  it('reports the first failed write once, never calls done, and does not retry', async () => {
    const log = await folders.log(await folders.make());
    await append(log, [command(1, 1)]);
    const writes = failBatches(log, 'IO error: no space left');
    let durable = 0;
    for (let index = 2; index < 5; index++) {
      log.append({ entries: [command(index, 1)] }, () => {
        durable += 1;
      });
    }
    await log.close();
    log.append({ entries: [] }, () => {
      durable += 1;
    });
    expect([durable, writes()]).eql([0, 1]);
    expect(folders.fatal).lengthOf(1);
    expect(folders.fatal[0]?.message).include('no space left');
  });

  it('verifies an old entry when it is read back from disk', async () => {
    const log = await folders.log(await folders.make(), 1);
    for (let index = 1; index <= 5; index++) await append(log, [command(index, 1)]);
    expect(log.memoryBytes()).lessThan(200);
    const { db } = log;
    const key = entryKey(2);
    const value = Buffer.from(db.get(key)!);
    value[value.length - 1]! ^= 1;
    await db.write([{ type: 'put', key, value }], { sync: false });
    expect(plain(log.entries(1, 1, 10))).eql(plain([command(1, 1)]));
    expect(() => log.entries(2, 2, 10)).throw('entry 2');
    expect(folders.fatal).lengthOf(1);
  });

  it('keeps the entries read on opening in memory until the first write', async () => {
    const dir = await folders.make();
    const before = await folders.log(dir, 1);
    for (let index = 1; index <= 5; index++) await append(before, [command(index, 1)]);
    await before.close();
    const log = await folders.log(dir, 1);
    expect(log.memoryBytes()).greaterThan(5 * 64);
    await append(log, [command(6, 1)]);
    expect(log.memoryBytes()).lessThan(200);
  });

  it('frees disk space when it is truncated', async () => {
    const log = await folders.log(await folders.make(), 10_000);
    const data = Buffer.alloc(20_000);
    for (let i = 0; i < data.length; i++) data[i] = (i * 7919) % 251;
    for (let from = 1; from <= 600; from += 50) {
      await append(
        log,
        Array.from({ length: 50 }, (_, i) => ({ kind: 'command', index: from + i, term: 1, data })),
      );
    }
    await done((resolve) => log.compact({ index: 600, term: 1, configuration }, resolve));
    await log.settled();
    expect(await log.diskBytes()).lessThan(100_000);
    expect(log.memoryBytes()).equal(0);
  });
});
