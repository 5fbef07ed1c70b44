/** Erasing a log while it is written, and while its process and its machine end. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Disk, DiskFile, DiskFolder } from '../../src/storage/disk.js';
import type { SegmentLog } from '../../src/storage/log.js';
import { openLog } from '../../src/storage/open-log.js';
import { Segment } from '../../src/storage/segment.js';
import { cleanedBlocks } from '../../src/storage/segment-erase.js';
import { encodeBatch, entryDraft, HEAD_BYTES } from '../../src/storage/segment-record.js';
import { type FakeMachine, fakeMachine } from '../support/fake-machine.js';
import { command, configuration, done, entriesOf } from './helpers.js';

const SEGMENT_BYTES = 1600;
/** See segment-erase.ts. */
const BLOCKS = 16;
const onFatal = (error: Error): never => {
  throw error;
};
const open = (disk: Disk): Promise<SegmentLog> =>
  openLog('log', { disk, onFatal, segmentBytes: SEGMENT_BYTES, windowBytes: 200 });
const turn = () => new Promise((next) => setImmediate(next));

/** Appends an entry with a text that no other entry has. */
const append = (log: SegmentLog, index: number, term: number, bytes = 60): Promise<void> =>
  done((resolve) =>
    log.append({ entries: [command(index, term, textOf(index, term, bytes))] }, resolve),
  );
const textOf = (index: number, term: number, bytes = 60): string =>
  `<${index}.${term}>`.padEnd(bytes, 'x');
const compact = (log: SegmentLog, index: number): Promise<void> =>
  done((resolve) => log.compact({ index, term: log.term(index)!, configuration }, resolve));
const erased = (log: SegmentLog): Promise<void> => done((resolve) => log.erase(resolve));

/** Entries whose text is in a file, as `index.term`. */
const onDisk = ({ disk }: FakeMachine): Set<string> =>
  new Set(
    [...disk.files.content().values()].flatMap((bytes) =>
      [...bytes.toString('latin1').matchAll(/<(\d+\.\d+)>/g)].map((found) => found[1]!),
    ),
  );
const held = (log: SegmentLog): string[] =>
  entriesOf(log).map(({ index, term }) => `${index}.${term}`);

/** The files for later use. */
const spares = ({ disk }: FakeMachine): string[] =>
  disk.files.paths('log').filter((path) => path.includes('spare-'));
/** Flips a bit behind a text, in the file that has it. */
function flipIn(files: Map<string, Buffer>, text: string): void {
  const bytes = [...files.values()].find((each) => each.includes(text))!;
  bytes[bytes.indexOf(text) + text.length]! ^= 1;
}

/** A log whose entries are in many reused files, some of them replaced; most are compacted. */
async function usedLog(machine: FakeMachine, disk = machine.start()): Promise<SegmentLog> {
  const log = await open(disk);
  for (let index = 1; index <= 60; index++) await append(log, index, 1);
  await compact(log, 50);
  for (let index = 58; index <= 90; index++) await append(log, index, 2);
  await compact(log, 75);
  await log.settled();
  for (let index = 88; index <= 96; index++) await append(log, index, 3);
  return log;
}

describe('erasing a log', function () {
  this.timeout(60_000);

  it('lets what is appended wait for the write of one block at most', async () => {
    const machine = fakeMachine();
    const log = await usedLog(machine);
    const writes: ('block' | 'batch')[] = [];
    machine.disk.fault = (path, bytes) => {
      const isBlock = bytes.length === SEGMENT_BYTES / BLOCKS;
      if (path.endsWith('.segment')) writes.push(isBlock ? 'block' : 'batch');
      return undefined;
    };
    let isErased = false;
    void erased(log).then(() => {
      isErased = true;
    });
    for (let index = 97; !isErased; index++) await append(log, index, 3, 5);
    expect(writes.filter((each) => each === 'block')).to.have.length.above(8);
    const together = writes.filter((each, i) => each === 'block' && writes[i - 1] === 'block');
    expect(together).to.deep.equal([]);
  });

  it('reads only a block of a segment in a turn of the event loop if that takes long', async () => {
    const machine = fakeMachine();
    let bytes = 0;
    let nowMs = 0;
    const reading = readsOf(machine.start(), (length) => {
      bytes += length;
      nowMs += 2;
    });
    const clock = { ...reading.clock, now: () => nowMs };
    const disk = withCalls(reading, { clock });
    const log = await usedLog(machine, disk);
    let isErased = false;
    void erased(log).then(() => {
      isErased = true;
    });
    let most = 0;
    while (!isErased) {
      bytes = 0;
      await turn();
      most = Math.max(most, bytes);
    }
    // Also the heads that end in the next block.
    expect(most).to.be.within(1, SEGMENT_BYTES / BLOCKS + 2 * HEAD_BYTES);
  });

  it('overwrites all that does not count, and nothing else', async () => {
    const machine = fakeMachine();
    const log = await usedLog(machine);
    expect(onDisk(machine).size).to.be.above(held(log).length);
    const before = entriesOf(log);
    await erased(log);
    expect([...onDisk(machine)].sort()).to.deep.equal(held(log).sort());
    expect(entriesOf(log)).to.deep.equal(before);
    await log.close();
    const again = await open(machine.start());
    expect([again.damaged, entriesOf(again)]).to.deep.equal([undefined, before]);
  });

  it('finishes while the log is compacted, replaced and erased again', async () => {
    for (let turns = 0; turns < 60; turns += 3) {
      const machine = fakeMachine();
      const log = await usedLog(machine, strict(machine.start()));
      const first = erased(log);
      for (let i = 0; i < turns; i++) await turn();
      const compacted = compact(log, 90);
      const second = erased(log);
      for (let i = 0; i < turns / 3; i++) await turn();
      const hardState = { term: 4, votedFor: null };
      const meta = { index: 120, term: 4, configuration };
      await done((resolve) => log.reset(meta, hardState, resolve));
      await append(log, 121, 4);
      await Promise.all([first, compacted, second, erased(log)]);
      expect([...onDisk(machine)]).to.deep.equal(['121.4']);
      await log.close();
    }
  });

  it('ends when the log is closed, and reads no file after that', async () => {
    for (let turns = 0; turns < 60; turns += 3) {
      const machine = fakeMachine();
      const log = await usedLog(machine, strict(machine.start()));
      const before = entriesOf(log);
      log.erase(() => {});
      for (let i = 0; i < turns; i++) await turn();
      await log.close();
      for (let i = 0; i < 20; i++) await turn();
      const again = await open(machine.start());
      expect([again.damaged, entriesOf(again)]).to.deep.equal([undefined, before]);
    }
  });

  it('may end at any moment with its process or its machine, and is done again', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(120),
        fc.boolean(),
        fc.array(fc.constantFrom('append', 'replace', 'compact', 'erase', 'turn'), {
          maxLength: 12,
        }),
        fc.nat(),
        async (turns, power, steps, seed) => {
          const machine = fakeMachine(seed);
          machine.disk.shortProbability = 0.05;
          const log = await usedLog(machine);
          log.erase(() => {});
          let term = 3;
          for (const step of steps) {
            const last = log.lastIndex();
            if (step === 'append') void append(log, last + 1, term);
            else if (step === 'replace') void append(log, last - 1, ++term);
            else if (step === 'compact') void compact(log, log.firstIndex() + 2);
            else if (step === 'erase') log.erase(() => {});
            await turn();
          }
          for (let i = 0; i < turns; i++) await turn();
          machine.disk.crash(power);
          const again = await open(machine.start());
          expect(again.damaged?.reason).to.equal(undefined);
          const before = entriesOf(again);
          expect(before.length).to.be.above(0);
          await erased(again);
          expect([...onDisk(machine)].sort()).to.deep.equal(held(again).sort());
          expect(entriesOf(again)).to.deep.equal(before);
          await again.close();
          const last = await open(machine.start());
          expect([last.damaged, entriesOf(last)]).to.deep.equal([undefined, before]);
          await last.close();
        },
      ),
      { numRuns: 300 },
    );
  });

  it('removes the files for later use that the start of a damaged log kept', async () => {
    const hardState = { term: 4, votedFor: null };
    const meta = { index: 120, term: 4, configuration };
    const heal = {
      repair: (log: SegmentLog) => done((resolve) => log.repair(resolve)),
      reset: (log: SegmentLog) => done((resolve) => log.reset(meta, hardState, resolve)),
    };
    for (const [name, healed] of Object.entries(heal)) {
      const machine = fakeMachine();
      await (await usedLog(machine)).close();
      const spoiled = machine.copy((files) => flipIn(files, '<85.2>'));
      const kept = spoiled.disk.files.content();
      const log = await open(spoiled.start());
      expect(log.damaged?.index).to.equal(85);
      await log.settled();
      expect(spoiled.disk.files.content(), 'of a damaged log').to.deep.equal(kept);
      expect(spares(spoiled)).to.have.length.above(0);
      await healed(log);
      await erased(log);
      expect(spares(spoiled), name).to.deep.equal([]);
      expect([...onDisk(spoiled)].sort(), name).to.deep.equal(held(log).sort());
      await log.close();
    }
  });

  it('overwrites payloads that go on in the next block, in blocks of any size', () => {
    const sizes = fc.array(fc.nat(200), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(sizes, fc.nat(12), fc.integer({ min: 16, max: 4000 }), fc.nat(300), (...of) => {
        const [lengths, dead, segmentBytes, tail] = of;
        const { segment, bytes, live } = segmentOf(lengths, dead, tail);
        const cleaned = Buffer.from(bytes);
        for (const block of cleanedBlocks(segment, dead + 1, segmentBytes)) {
          block?.bytes.copy(cleaned, block.at);
        }
        expect(cleaned.equals(live)).to.equal(true);
      }),
    );
  });
});

/**
 * A segment with entries of these lengths, 1 to `dead` of them dead, and `tail` bytes behind them;
 * its bytes, and those that it must have once it is erased.
 */
function segmentOf(lengths: readonly number[], dead: number, tail: number) {
  const drafts = lengths.map((length, i) =>
    entryDraft({ kind: 'command', index: i + 1, term: 1, data: Buffer.alloc(length, 0xff) }, 1),
  );
  let bytes: Buffer = Buffer.alloc(0);
  const file = {
    path: 'segment',
    size: () => bytes.length,
    read: (at: number, length: number) => Buffer.from(bytes.subarray(at, at + length)),
  } as DiskFile;
  const segment = new Segment(1, file);
  const batch = encodeBatch(drafts, { salt: segment.salt, batch: 1, previous: 0 });
  bytes = Buffer.concat([batch.bytes, Buffer.alloc(tail, 0xff)]);
  const live = Buffer.from(bytes).fill(0, batch.bytes.length);
  for (const [i, length] of lengths.entries()) {
    segment.place(i + 1, segment.end);
    segment.end += HEAD_BYTES + length;
    if (i < dead) live.fill(0, segment.end - length, segment.end);
  }
  return { segment, bytes, live };
}

/** A disk that tells of each read of a file. */
const readsOf = (disk: Disk, note: (length: number) => void): Disk =>
  withFiles(disk, (file) => ({
    read: (at, length) => {
      note(length);
      return file.read(at, length);
    },
  }));

/** A disk whose files throw when they are used after they were closed, as real ones do. */
const strict = (disk: Disk): Disk =>
  withFiles(disk, (file) => {
    let isClosed = false;
    const mustBeOpen = (): void => {
      if (isClosed) throw new Error(`${file.path} is closed`);
    };
    return {
      size: () => {
        mustBeOpen();
        return file.size();
      },
      read: (at, length) => {
        mustBeOpen();
        return file.read(at, length);
      },
      write: (bytes, at, then) => {
        mustBeOpen();
        file.write(bytes, at, then);
      },
      close: () => {
        mustBeOpen();
        isClosed = true;
      },
    };
  });

/** A disk whose files have some calls of their own. */
function withFiles(disk: Disk, own: (file: DiskFile) => Partial<DiskFile>): Disk {
  const folderOf = (folder: DiskFolder): DiskFolder =>
    withCalls(folder, {
      open: (name, then) =>
        folder.open(name, (error, file) => then(error, file && withCalls(file, own(file)))),
    });
  return withCalls(disk, { folder: (dir) => folderOf(disk.folder(dir)) });
}

/** An object with some calls of its own. */
function withCalls<T extends object>(target: T, own: Partial<T>): T {
  return new Proxy(target, {
    get: (of, name) => {
      const value: unknown = Reflect.get(own, name) ?? Reflect.get(of, name);
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
}
