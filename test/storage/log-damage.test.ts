/**
 * Data becomes corrupt: acknowledged entries are never silently lost, changed, or taken for a torn
 * tail.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Entry, HardState, Index } from '../../src/raft/types.js';
import { StorageError } from '../../src/storage/errors.js';
import type { SegmentLog } from '../../src/storage/log.js';
import { HEAD_BYTES, stateOf } from '../../src/storage/segment-record.js';
import { Witness } from '../../src/storage/witness.js';
import {
  command,
  configuration,
  done,
  entriesOf,
  Folders,
  failure,
  flipRecord,
  isEntry,
  plain,
  recordsIn,
  segmentsOf,
  until,
} from './helpers.js';

describe('log on a corrupt disk', () => {
  const folders = new Folders();
  afterEach(() => folders.clean());

  const append = (log: SegmentLog, entries: readonly Entry[], hardState?: HardState) =>
    done((resolve) =>
      log.append(hardState === undefined ? { entries } : { hardState, entries }, resolve),
    );
  /** A log of entries 1..8 in two terms, whose entries 6..8 replaced others. */
  const fill = async (log: SegmentLog) => {
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
  const expectDamage = (log: SegmentLog, index: Index) => {
    expect(log.damaged).include({ index, last: 8 });
    expect(entriesOf(log)).eql(expected.slice(0, index - 1));
    expect(log.hardState()).eql({ term: 2, votedFor: 'b' });
    expect(() => log.append({ entries: [] }, () => {})).throw('damaged');
  };
  /** Repairs a damaged log, restores the lost entries as a leader does, and reopens it. */
  const heal = async (log: SegmentLog, dir: string, whole = expected.length) => {
    await done((resolve) => log.repair(resolve));
    const lost = Array.from({ length: whole }, (_, i) => command(i + 1, 3)).slice(log.lastIndex());
    await append(log, lost);
    await done((resolve) => log.liftBar(resolve));
    await (await folders.reopenLog(log, dir)).close();
  };
  const witness = (dir: string) => join(dir, 'segments', 'witness');

  it('detects a changed bit in any record, and does not truncate', async () => {
    const dir = await filled();
    for (let index = 1; index <= 8; index++) {
      for (const offset of [0, 20, HEAD_BYTES, HEAD_BYTES + 2]) {
        const copy = await folders.copy(dir);
        await flipRecord(copy, isEntry(index), offset);
        const log = await folders.log(copy);
        // A batch counts as a whole: those of entries 2 and 8 hold another one.
        const isWithOther = index === 8 || (offset < HEAD_BYTES && index === 2);
        expectDamage(log, isWithOther ? index - 1 : index);
        await heal(log, copy);
      }
    }
  });

  it('reports the first of a changed payload and a changed head', async () => {
    const dir = await filled();
    await flipRecord(dir, isEntry(3));
    await flipRecord(dir, isEntry(5), 0);
    const log = await folders.log(dir);
    expect(log.damaged).include({ index: 3, last: 8 });
    expect(log.damaged?.reason).equal('entry 3 does not match its checksum');
    await heal(log, dir);
  });

  it('ignores a changed entry that was replaced or truncated', async () => {
    const dir = await filled();
    const isOld = (index: Index) => (record: Parameters<ReturnType<typeof isEntry>>[0]) =>
      isEntry(index)(record) && record.position.term === 1;
    await flipRecord(dir, isOld(7));
    let log = await folders.log(dir);
    expect([log.damaged, entriesOf(log)]).eql([undefined, expected]);
    await done((resolve) => log.compact({ index: 3, term: 1, configuration }, resolve));
    await log.close();
    await flipRecord(dir, isOld(2));
    log = await folders.log(dir);
    expect([log.damaged, entriesOf(log)]).eql([undefined, expected.slice(3)]);
  });

  it('detects a missing file: the first, one in the middle, the last, all', async () => {
    const dir = await folders.make();
    const written = await folders.log(dir, { segmentBytes: 300 });
    await fill(written);
    await written.close();
    const names = [...new Set(recordsIn(await segmentsOf(dir)).map(({ name }) => name))];
    expect(names.length).greaterThan(3);
    for (const gone of [names.slice(0, 1), names.slice(1, 2), names.slice(-1), names]) {
      const copy = await folders.copy(dir);
      for (const name of gone) await rm(join(copy, 'segments', name));
      const log = await folders.log(copy);
      expect(log.damaged?.last).equal(8);
      expect(entriesOf(log)).eql(expected.slice(0, log.damaged!.index - 1));
      expect(log.hardState()).eql({ term: 2, votedFor: 'b' });
      await heal(log, copy);
    }
  });

  it('detects a segment under the name of another, and an older copy of one', async () => {
    const dir = await folders.make();
    const log = await folders.log(dir, { segmentBytes: 600 });
    await append(log, [command(1, 1)], { term: 2, votedFor: 'b' });
    const older = await segmentsOf(dir);
    for (let index = 2; index <= 8; index++) await append(log, [command(index, 1)]);
    await log.close();
    const names = [...new Set(recordsIn(await segmentsOf(dir)).map(({ name }) => name))];
    const [first, second] = names as [string, string];
    const files = new Map(await segmentsOf(dir));
    for (const [name, bytes, index] of [
      [second, files.get(first)!, undefined],
      [first, new Map(older).get(first)!, 2],
    ] as const) {
      const copy = await folders.copy(dir);
      await writeFile(join(copy, 'segments', name), bytes);
      const opened = await folders.log(copy);
      expect(opened.damaged?.last).equal(8);
      if (index !== undefined) expect(opened.damaged?.index).equal(index);
      expect(entriesOf(opened)).eql(
        plain([1, 2, 3, 4, 5, 6, 7, 8].map((i) => command(i, 1))).slice(0, opened.lastIndex()),
      );
      await heal(opened, copy);
    }
  });

  it('continues after a torn tail that was never reported durable', async () => {
    const dir = await folders.make();
    const live = await folders.log(dir);
    const ends: number[] = [];
    for (let index = 1; index <= 3; index++) {
      await append(live, [command(index, 1)]);
      ends.push(recordsIn(await segmentsOf(dir)).at(-1)!.record.end);
    }
    const [[name, bytes]] = (await segmentsOf(dir)) as [[string, Buffer]];
    for (const [end, last] of [
      [ends[2]! - 1, 2],
      [ends[1]! + 1, 2],
      [ends[1]!, 2],
      [ends[1]! - 5, 1],
    ] as const) {
      const copy = await folders.copy(dir);
      await writeFile(join(copy, 'segments', name), bytes.subarray(0, end));
      await writeFile(witness(copy), Buffer.alloc(0));
      const log = await folders.log(copy);
      expect([log.damaged, log.bar(), log.lastIndex()]).eql([undefined, undefined, last]);
      await append(log, [command(last + 1, 5)]);
      await folders.reopenLog(log, copy);
    }
  });

  it('reports a changed entry at the very end as damage once the witness has it', async () => {
    const dir = await folders.make();
    const live = await folders.log(dir);
    for (let index = 1; index <= 3; index++) await append(live, [command(index, 1)]);
    await live.close();
    for (const [rotten, from] of [
      [[3], 3],
      [[2, 3], 2],
      [[2], 2],
    ] as const) {
      const copy = await folders.copy(dir);
      for (const index of rotten) await flipRecord(copy, isEntry(index));
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
    for (const index of [4, 5]) {
      const spoiled = await folders.copy(later);
      await flipRecord(spoiled, isEntry(index), 0);
      expect((await folders.log(spoiled)).damaged).include({ index, last: 5 });
    }

    await until(async () => {
      const bytes = await readFile(witness(dir));
      const read = (at: number, length: number) => bytes.subarray(at, at + length);
      const file = { path: '', size: () => 0, read, write() {}, sync() {}, close() {} };
      return new Witness(file).marks?.lastIndex === 5;
    });
    const rested = await folders.copy(dir);
    await flipRecord(rested, isEntry(5));
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
    const isVote = (record: Parameters<typeof stateOf>[0]) =>
      stateOf(record)?.hardState.votedFor === 'b';
    const one = await folders.copy(dir);
    await flipRecord(one, isVote);
    let log = await folders.log(one);
    expect(log.damaged).include({ index: 6, last: 8 });
    expect(log.hardState()).eql(hardState);
    await done((resolve) => log.repair(resolve));
    log = await folders.reopenLog(log, one);
    expect(log.hardState()).eql(hardState);

    const two = await folders.copy(dir);
    await writeFile(witness(two), Buffer.alloc(8192));
    expect((await folders.log(two)).hardState()).eql(hardState);

    const both = await folders.copy(dir);
    await flipRecord(both, isVote);
    await writeFile(witness(both), Buffer.alloc(8192));
    const error = await failure(folders.log(both));
    expect(error).instanceOf(StorageError).property('code').equal('damaged');
    expect(error).property('message').include('add it as a new server');
  });

  it('detects that the log lost a vote, and still knows it', async () => {
    const dir = await folders.make();
    const log = await folders.log(dir);
    await append(log, [command(1, 1)], { term: 1, votedFor: 'a' });
    const [[name, bytes]] = (await segmentsOf(dir)) as [[string, Buffer]];
    await append(log, [], { term: 2, votedFor: 'b' });
    await log.close();
    await writeFile(join(dir, 'segments', name), bytes);
    for (let again = 0; again < 2; again++) {
      const opened = await folders.log(dir);
      expect(opened.hardState()).eql({ term: 2, votedFor: 'b' });
      expect(opened.damaged).include({ index: 2 });
      await opened.close();
    }
  });

  it('detects that a vote went bad as soon as it was reported as stored', async () => {
    const dir = await folders.make();
    const log = await folders.log(dir);
    await append(log, [command(1, 1)], { term: 1, votedFor: 'a' });
    await append(log, [], { term: 2, votedFor: 'b' });
    const crashed = await folders.copy(dir);
    await flipRecord(crashed, (record) => stateOf(record)?.hardState.term === 2);
    const opened = await folders.log(crashed);
    expect(opened.hardState()).eql({ term: 2, votedFor: 'b' });
    expect(opened.damaged).include({ index: 2 });
  });

  it('detects that a last batch is lost which replaced entries', async () => {
    const dir = await folders.make();
    const log = await folders.log(dir);
    await append(log, [command(1, 1), command(2, 1), command(3, 1)], { term: 2, votedFor: null });
    const [[name, bytes]] = (await segmentsOf(dir)) as [[string, Buffer]];
    await append(log, [command(2, 2)]);
    await log.close();
    await writeFile(join(dir, 'segments', name), bytes);
    const opened = await folders.log(dir);
    expect(opened.damaged?.reason).equal('the last batches written before are missing');
    await done((resolve) => opened.repair(resolve));
    expect((await folders.reopenLog(opened, dir)).bar()).eql({ index: 3, term: 2 });
  });

  it('is repaired: keeps intact entries, and suspends voting until the bar is lifted', async () => {
    const dir = await filled();
    await flipRecord(dir, isEntry(4));
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
    await flipRecord(dir, isEntry(4));
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

  it('detects a damaged beginning, and continues from the snapshot', async () => {
    const dir = await folders.make();
    const log = await folders.log(dir, { segmentBytes: 300 });
    await fill(log);
    await done((resolve) => log.compact({ index: 5, term: 1, configuration }, resolve));
    await append(log, [command(9, 2)]);
    await log.close();
    await flipRecord(dir, ({ at }) => at === 0, 0);
    const opened = await folders.log(dir);
    expect(opened.damaged?.last).equal(9);
    expect(opened.lastIndex()).equal(opened.damaged!.index - 1);
    await heal(opened, dir, 9);
  });

  it('verifies an old entry when it is read back from disk', async () => {
    const dir = await folders.make();
    const log = await folders.log(dir, { windowBytes: 1 });
    for (let index = 1; index <= 5; index++) await append(log, [command(index, 1)]);
    expect(log.memoryBytes()).lessThan(200);
    await flipRecord(dir, isEntry(2));
    expect(plain(log.entries(1, 1, 10))).eql(plain([command(1, 1)]));
    expect(() => log.entries(2, 2, 10)).throw('entry 2');
    expect(folders.fatal).lengthOf(1);
  });
});
