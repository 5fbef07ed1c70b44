/** What every log must do, checked for the one on disk and the one in memory. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Entry, SnapshotMeta } from '../../src/raft/types.js';
import type { LogPort } from '../../src/replica/ports.js';
import type { Disk } from '../../src/storage/disk.js';
import { type OpenLogOptions, openLog } from '../../src/storage/open-log.js';
import { fakeMachine } from '../support/fake-machine.js';
import { MemoryLog } from '../support/memory-log.js';

type TestLog = LogPort & { close(): Promise<void> };
interface Bench {
  open(): Promise<TestLog>;
  /** Closes the log and opens it again. */
  reopen(log: TestLog): Promise<TestLog>;
  clean(): Promise<void>;
}

const command = (index: number, term: number, text = `c${index}.${term}`): Entry => ({
  kind: 'command',
  index,
  term,
  data: Buffer.from(text),
});
const configuration = {
  members: [{ id: 'a', name: 'node a', address: '127.0.0.1:1', voter: true }],
};
const meta = (index: number, term: number): SnapshotMeta => ({ index, term, configuration });

/** Entries as plain values: Buffers and Uint8Arrays compare alike. */
const plain = (entries: readonly Entry[]) =>
  entries.map((entry) =>
    entry.kind === 'command' ? { ...entry, data: Buffer.from(entry.data).toString() } : entry,
  );
const all = (log: LogPort) => plain(log.entries(log.firstIndex(), log.lastIndex(), Infinity));
const done = (call: (done: () => void) => void) => new Promise<void>((resolve) => call(resolve));
const append = (log: LogPort, ...entries: Entry[]) =>
  done((resolve) => log.append({ entries }, resolve));

const diskBench = (options: Partial<OpenLogOptions> = {}): Bench => {
  const dirs = new Map<TestLog, string>();
  const openAt = async (dir: string): Promise<TestLog> => {
    const log = await openLog(dir, {
      onFatal: (error) => {
        throw error;
      },
      ...options,
    });
    expect(log.damaged).equal(undefined);
    dirs.set(log, dir);
    return log;
  };
  return {
    open: async () => openAt(await mkdtemp(join(tmpdir(), 'log-'))),
    reopen: async (log) => {
      await log.close();
      return openAt(dirs.get(log)!);
    },
    clean: async () => {
      for (const log of dirs.keys()) await log.close();
      for (const dir of new Set(dirs.values())) await rm(dir, { recursive: true });
      dirs.clear();
    },
  };
};

/** The real log on a disk in memory, which loses its power at each `reopen` if it is told to. */
const fakeBench = (withPower: boolean): Bench => {
  let machine = fakeMachine();
  const onFatal: OpenLogOptions['onFatal'] = (error) => {
    throw error;
  };
  const openAt = async (disk: Disk): Promise<TestLog> => {
    const log = await openLog('data/log', { onFatal, disk, segmentBytes: 2000 });
    expect(log.damaged).equal(undefined);
    return log;
  };
  return {
    open: () => {
      machine = fakeMachine();
      return openAt(machine.start());
    },
    reopen: async (log) => {
      await log.close();
      machine.disk.crash(withPower);
      return openAt(machine.start());
    },
    clean: async () => {},
  };
};

const memoryBench = (): Bench => {
  const open = (from?: MemoryLog): TestLog => {
    let log: MemoryLog;
    const options = { onPending: () => setImmediate(() => log.sync(1)) };
    log = from === undefined ? new MemoryLog(options) : from.crash(0, options);
    return log;
  };
  return {
    open: async () => open(),
    reopen: async (log) => {
      await log.close();
      return open(log as MemoryLog);
    },
    clean: async () => {},
  };
};

const benches: [string, Bench][] = [
  ['segments', diskBench({ segmentBytes: 2 ** 16 })],
  ['segments with a window of one entry', diskBench({ windowBytes: 1, segmentBytes: 2 ** 16 })],
  ['segments of 500 bytes', diskBench({ windowBytes: 1, segmentBytes: 500 })],
  ['a disk in memory', fakeBench(false)],
  ['a disk in memory that loses its power', fakeBench(true)],
  ['memory', memoryBench()],
];
for (const [name, bench] of benches) {
  describe(`log contract: ${name}`, () => {
    afterEach(() => bench.clean());

    it('is empty at first: term 0, no vote, first index 1', async () => {
      const log = await bench.open();
      expect([log.firstIndex(), log.lastIndex(), log.term(0), log.term(1)]).eql([
        1,
        0,
        0,
        undefined,
      ]);
      expect(log.hardState()).eql({ term: 0, votedFor: null });
      expect(log.snapshot()).equal(undefined);
      expect(log.entries(1, 10, 100)).eql([]);
    });

    it('shows entries at once, before they are durable', async () => {
      const log = await bench.open();
      let durable = false;
      const finished = done((resolve) =>
        log.append({ hardState: { term: 2, votedFor: 'b' }, entries: [command(1, 2)] }, () => {
          durable = true;
          resolve();
        }),
      );
      expect(durable).equal(false);
      expect(all(log)).eql(plain([command(1, 2)]));
      expect(log.hardState()).eql({ term: 2, votedFor: 'b' });
      await finished;
      expect(durable).equal(true);
    });

    it('keeps all entries, the hard state and the snapshot position across a restart', async () => {
      const entries: Entry[] = [
        { kind: 'noop', index: 1, term: 1 },
        { kind: 'configuration', index: 2, term: 1, configuration },
        { kind: 'command', index: 3, term: 2 ** 40, data: Buffer.from([0, 255, 128, 10]) },
        { kind: 'command', index: 4, term: 2 ** 40, data: new Uint8Array(0) },
      ];
      let log = await bench.open();
      const hardState = { term: 2 ** 40, votedFor: 'node-ü' };
      await done((resolve) => log.append({ hardState, entries }, resolve));
      log = await bench.reopen(log);
      expect(all(log)).eql(plain(entries));
      expect(log.hardState()).eql(hardState);
      await done((resolve) => log.compact(meta(2, 1), resolve));
      log = await bench.reopen(log);
      expect(log.snapshot()).eql(meta(2, 1));
      expect(all(log)).eql(plain(entries.slice(2)));
    });

    it('calls done in the order of the calls when several are in flight', async () => {
      const log = await bench.open();
      const order: string[] = [];
      log.append({ entries: [command(1, 1), command(2, 1)] }, () => order.push('first'));
      log.append({ entries: [command(2, 2)] }, () => order.push('overwrite'));
      log.append({ hardState: { term: 3, votedFor: null }, entries: [] }, () => order.push('hard'));
      log.compact(meta(1, 1), () => order.push('compact'));
      await append(log, command(3, 3));
      expect(order).eql(['first', 'overwrite', 'hard', 'compact']);
      expect(all(log)).eql(plain([command(2, 2), command(3, 3)]));
    });

    it('replaces everything from the first entry of a batch on', async () => {
      let log = await bench.open();
      await append(log, command(1, 1), command(2, 1), command(3, 1), command(4, 1));
      await append(log, command(2, 2), command(3, 2));
      expect([log.term(1), log.term(2), log.term(3), log.term(4)]).eql([1, 2, 2, undefined]);
      const expected = plain([command(1, 1), command(2, 2), command(3, 2)]);
      expect(all(log)).eql(expected);
      log = await bench.reopen(log);
      expect(all(log)).eql(expected);
    });

    it('refuses entries that leave a gap', async () => {
      const log = await bench.open();
      await append(log, command(1, 1));
      expect(() => log.append({ entries: [command(3, 1)] }, () => {})).throw(RangeError);
      expect(() => log.append({ entries: [command(2, 1), command(4, 1)] }, () => {})).throw(
        RangeError,
      );
    });

    it('returns at least one entry, then as many as fit', async () => {
      const log = await bench.open();
      const entries = [1, 2, 3, 4].map((index) => command(index, 1, 'x'.repeat(1000)));
      await append(log, ...entries);
      expect(log.entries(1, 4, 1)).lengthOf(1);
      expect(log.entries(1, 4, 2500)).lengthOf(2);
      expect(log.entries(2, 3, Infinity).map((entry) => entry.index)).eql([2, 3]);
      expect(log.entries(5, 9, 100)).eql([]);
    });

    it("compacts: knows the snapshot's term, no earlier ones, and no earlier entries", async () => {
      let log = await bench.open();
      await append(log, command(1, 1), command(2, 1), command(3, 2), command(4, 2));
      await done((resolve) => log.compact(meta(3, 2), resolve));
      for (const again of [false, true]) {
        if (again) log = await bench.reopen(log);
        expect([log.firstIndex(), log.lastIndex()]).eql([4, 4]);
        expect([log.term(2), log.term(3), log.term(4)]).eql([undefined, 2, 2]);
        expect(log.entries(2, 4, 1000)).eql([]);
        expect(all(log)).eql(plain([command(4, 2)]));
      }
      await append(log, command(5, 2));
      expect(log.lastIndex()).equal(5);
    });

    it('is reset by a snapshot, whatever it held before', async () => {
      let log = await bench.open();
      await append(log, command(1, 1), command(2, 1), command(3, 1), command(4, 1));
      const hardState = { term: 7, votedFor: null };
      await done((resolve) => log.reset(meta(2, 6), hardState, resolve));
      for (const again of [false, true]) {
        if (again) log = await bench.reopen(log);
        expect([log.firstIndex(), log.lastIndex(), log.term(2)]).eql([3, 2, 6]);
        expect(log.hardState()).eql(hardState);
      }
      await append(log, command(3, 7));
      await done((resolve) => log.reset(meta(100, 8), hardState, resolve));
      log = await bench.reopen(log);
      expect([log.firstIndex(), log.lastIndex(), log.term(100)]).eql([101, 100, 8]);
      await append(log, command(101, 8));
      expect(all(log)).eql(plain([command(101, 8)]));
    });

    it('agrees with a plain array under any sequence of calls', async () => {
      const step = fc.oneof(
        {
          weight: 6,
          arbitrary: fc.record({ back: fc.nat(3), count: fc.integer({ min: 1, max: 4 }) }),
        },
        { weight: 1, arbitrary: fc.record({ compact: fc.nat(3) }) },
        { weight: 1, arbitrary: fc.constant('reopen' as const) },
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
          let log = await bench.open();
          let base = { index: 0, term: 0 };
          let model: Entry[] = [];
          let term = 1;
          for (const what of steps) {
            const last = base.index + model.length;
            if (what === 'reopen') log = await bench.reopen(log);
            else if ('compact' in what) {
              const index = Math.max(base.index, last - what.compact);
              if (index === base.index) continue;
              base = { index, term: log.term(index)! };
              model = model.filter((entry) => entry.index > index);
              await done((resolve) => log.compact(meta(base.index, base.term), resolve));
            } else {
              if (what.back > 0) term += 1;
              const from = Math.max(base.index + 1, last + 1 - what.back);
              const entries = Array.from({ length: what.count }, (_, i) => command(from + i, term));
              model = [...model.filter((entry) => entry.index < from), ...entries];
              await append(log, ...entries);
            }
            expect(all(log)).eql(plain(model));
            expect(log.term(base.index)).equal(base.term);
            for (const entry of model) expect(log.term(entry.index)).equal(entry.term);
          }
          await log.close();
        }),
        { numRuns: 25 },
      );
    });
  });
}
