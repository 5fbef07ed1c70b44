/** What every state store must do, checked for the one in LevelDB and the one in memory. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { NEXT } from '../../src/state/keys.js';
import type { Change, PinnedView, View } from '../../src/state/types.js';
import type { Disk } from '../../src/storage/disk.js';
import { StorageError } from '../../src/storage/errors.js';
import { recordSum, Tally } from '../../src/storage/key-index.js';
import { MemoryState } from '../../src/storage/memory-state.js';
import { LONG_CHARS } from '../../src/storage/shared-values.js';
import { openState } from '../../src/storage/state.js';
import type { DurableState, StateRecord } from '../../src/storage/types.js';
import { fakeMachine } from '../support/fake-machine.js';

/** Commits changes, those below NEXT among them. The key NEXT itself drops those before. */
function commitTo(state: DurableState, changes: readonly Change[]): void {
  const below = changes.filter(([key]) => key.startsWith(NEXT) && key !== NEXT);
  state.commit(
    changes.filter(([key]) => !key.startsWith(NEXT)),
    {
      replaces: changes.some(([key]) => key === NEXT),
      records: below.map(([key, value]) => [key.slice(NEXT.length), value!]),
    },
  );
}

interface Bench {
  open(): Promise<DurableState>;
  reopen(state: DurableState): Promise<DurableState>;
  clean(): Promise<void>;
}

const levelBench = (): Bench => {
  const dirs = new Map<DurableState, string>();
  const openAt = async (dir: string) => {
    const state = await openState(dir, {
      onFatal: (error) => {
        throw error;
      },
    });
    expect(state.damaged).equal(undefined);
    dirs.set(state, dir);
    return state;
  };
  return {
    open: async () => openAt(await mkdtemp(join(tmpdir(), 'state-'))),
    reopen: async (state) => {
      await state.close();
      return openAt(dirs.get(state)!);
    },
    clean: async () => {
      for (const state of dirs.keys()) await state.close();
      for (const dir of new Set(dirs.values())) await rm(dir, { recursive: true });
      dirs.clear();
    },
  };
};
/** The real state on a disk in memory, which loses its power at each `reopen` if it is told to. */
const fakeBench = (withPower: boolean): Bench => {
  let machine = fakeMachine();
  const openAt = async (disk: Disk): Promise<DurableState> => {
    const state = await openState('data/state', {
      onFatal: (error) => {
        throw error;
      },
      disk,
    });
    expect(state.damaged).equal(undefined);
    return state;
  };
  return {
    open: () => {
      machine = fakeMachine();
      return openAt(machine.start());
    },
    reopen: async (state) => {
      await state.close();
      machine.disk.crash(withPower);
      return openAt(machine.start());
    },
    clean: async () => {},
  };
};
const memoryBench = (): Bench => ({
  open: async () => new MemoryState(),
  reopen: async (state) => {
    await state.close();
    return (state as MemoryState).crash();
  },
  clean: async () => {},
});

const contents = (view: View) => [...view.keys('')].map((key) => [key, view.get(key)]);
const tallyOf = (records: readonly StateRecord[]) => {
  const tally = new Tally();
  for (const [key, value] of records) tally.add(recordSum(key, value));
  return tally;
};
const failure = async (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

const benches: [string, Bench][] = [
  ['LevelDB', levelBench()],
  ['a disk in memory', fakeBench(false)],
  ['a disk in memory that loses its power', fakeBench(true)],
  ['memory', memoryBench()],
];
for (const [name, bench] of benches) {
  describe(`state contract: ${name}`, () => {
    afterEach(() => bench.clean());

    it('shows a commit at once, after it is written, and after a restart', async () => {
      let state = await bench.open();
      state.commit([
        ['b', '{"x":1}'],
        ['a\u0000ü', 'ä'],
        ['c', ''],
      ]);
      const expected = [
        ['a\u0000ü', 'ä'],
        ['b', '{"x":1}'],
        ['c', ''],
      ];
      expect(contents(state)).eql(expected);
      await state.flush();
      expect(contents(state)).eql(expected);
      state = await bench.reopen(state);
      expect(contents(state)).eql(expected);
      expect(state.get('nothing')).equal(undefined);
    });

    it('keeps the last of several changes of one key, and deletes', async () => {
      let state = await bench.open();
      state.commit([['k', 'one']]);
      await state.flush();
      state.commit([
        ['k', 'two'],
        ['k', undefined],
      ]);
      expect(state.get('k')).equal(undefined);
      expect([...state.keys('')]).eql([]);
      state.commit([['k', 'three']]);
      expect(state.get('k')).equal('three');
      state.commit([['k', undefined]]);
      state = await bench.reopen(state);
      expect(contents(state)).eql([]);
    });

    it('lists the keys of a prefix in order of code units, optionally after a key', async () => {
      let state = await bench.open();
      const keys = [
        'p',
        'p\u0000',
        'p\u0000a',
        'p\u0000b',
        'p\u0001',
        'p\u{1F600}',
        'p\uFFFF',
        'q',
      ];
      state.commit([...keys].reverse().map((key) => [key, key]));
      const check = () => {
        expect([...state.keys('p')]).eql(keys.slice(0, -1));
        expect([...state.keys('p\u0000')]).eql(['p\u0000', 'p\u0000a', 'p\u0000b']);
        expect([...state.keys('p\u0000', 'p\u0000a')]).eql(['p\u0000b']);
        expect([...state.keys('p\u0000', 'a')]).eql(['p\u0000', 'p\u0000a', 'p\u0000b']);
        expect([...state.keys('p\u0000', 'p\u0000aa')]).eql(['p\u0000b']);
        expect([...state.keys('p\u0000', 'z')]).eql([]);
      };
      check();
      state = await bench.reopen(state);
      check();
    });

    it('treats a lone surrogate alike before and after it was on disk', async () => {
      let state = await bench.open();
      state.commit([['k\uD800', 'v\uDC00']]);
      const expected = [['k\uFFFD', 'v\uFFFD']];
      expect(contents(state)).eql(expected);
      expect(state.get('k\uD800')).equal('v\uFFFD');
      state = await bench.reopen(state);
      expect(contents(state)).eql(expected);
      expect(state.get('k\uD800')).equal('v\uFFFD');
    });

    it('reads keys of any length and alphabet back from disk', async () => {
      const state = await bench.open();
      const keys = ['a', 'é', '€', '😀', 'x€'].flatMap((unit) =>
        Array.from({ length: 80 }, (_, at) => unit.repeat(1 + at * 7)),
      );
      for (const key of keys) state.commit([[key, `value of ${key.length}`]]);
      await state.flush();
      const pinned = state.pin();
      for (const view of [state, pinned]) {
        for (const key of keys) expect(view.get(key), key).equal(`value of ${key.length}`);
      }
      pinned.close();
    });

    it('returns for each pinned view a long value as it was at that time', async () => {
      const state = await bench.open();
      const long = (word: string) => word.repeat(LONG_CHARS);
      const views: PinnedView[] = [];
      const pinWith = async (value: string | undefined) => {
        state.commit([['a', value]]);
        await state.flush();
        const view = state.pin();
        views.push(view);
        return view;
      };
      const read = () => views.map((view) => view.get('a')?.slice(0, 3));
      await pinWith(long('one'));
      expect(read()).eql(['one']);
      await pinWith(long('two'));
      expect(read()).eql(['one', 'two']);
      await pinWith(undefined);
      expect(read()).eql(['one', 'two', undefined]);
      (await pinWith(long('six'))).get('a');
      state.commit([['a', long('ten')]]);
      expect(read()).eql(['one', 'two', undefined, 'six']);
      views.push(state.pin());
      expect(read()).eql(['one', 'two', undefined, 'six', 'ten']);
      const installation = state.install();
      await installation.add([['a', long('new')]]);
      await installation.finish(tallyOf([['a', long('new')]]));
      views.push(state.pin());
      expect(read().reverse()).eql(['new', 'ten', 'six', undefined, 'two', 'one']);
      for (const view of views) view.close();
    });

    it('pins a view that outlives commits, flushes and a new state', async () => {
      const state = await bench.open();
      state.commit([
        ['a', '1'],
        ['b', '1'],
      ]);
      await state.flush();
      state.commit([['a', '2']]);
      const pinned = state.pin();
      const expected = [
        ['a', '2'],
        ['b', '1'],
      ];
      state.commit([
        ['a', '3'],
        ['b', undefined],
        ['c', '3'],
      ]);
      expect(contents(pinned)).eql(expected);
      await state.flush();
      expect(contents(pinned)).eql(expected);
      const installation = state.install();
      await installation.add([['z', 'new']]);
      await installation.finish(tallyOf([['z', 'new']]));
      expect(contents(pinned)).eql(expected);
      expect(contents(state)).eql([['z', 'new']]);
      pinned.close();
      expect(() => pinned.get('a')).throw();
    });

    it('switches to an installed state as a whole, and only once it is finished', async () => {
      let state = await bench.open();
      state.commit([['old', '1']]);
      const installation = state.install();
      await installation.add([
        ['new', '1'],
        ['old', '2'],
      ]);
      await installation.add([['x', '3']]);
      state.commit([['late', '1']]);
      expect(contents(state)).eql([
        ['late', '1'],
        ['old', '1'],
      ]);
      const records: StateRecord[] = [
        ['new', '1'],
        ['old', '2'],
        ['x', '3'],
      ];
      await installation.finish(tallyOf(records));
      expect(contents(state)).eql(records);
      state.commit([['after', '1']]);
      state = await bench.reopen(state);
      expect(contents(state)).eql([['after', '1'], ...records]);
    });

    it('refuses a state that differs from its tally, and keeps the present one', async () => {
      let state = await bench.open();
      state.commit([['old', '1']]);
      const records: StateRecord[] = [
        ['a', '1'],
        ['b', '2'],
      ];
      for (const wrong of [
        [],
        [records[0]!],
        [...records, ['c', '']],
        [
          ['a', '1'],
          ['b', '3'],
        ],
      ]) {
        const installation = state.install();
        await installation.add(records);
        const error = await failure(installation.finish(tallyOf(wrong as StateRecord[])));
        expect(error).instanceOf(StorageError).property('code').equal('invalid');
      }
      expect(contents(state)).eql([['old', '1']]);
      state = await bench.reopen(state);
      expect(contents(state)).eql([['old', '1']]);
    });

    it('installs records below NEXT too, in place of those that it has', async () => {
      let state = await bench.open();
      commitTo(state, [
        ['old', '1'],
        [`${NEXT}old`, '1'],
      ]);
      const records: [string, string][] = [
        ['a', '1'],
        [`${NEXT}a`, '2'],
        [`${NEXT}b`, '3'],
        ['z', '4'],
      ];
      const installation = state.install();
      await installation.add(records.slice(0, 2));
      await installation.add(records.slice(2));
      await installation.finish(tallyOf(records));
      expect(contents(state)).eql(records);
      state = await bench.reopen(state);
      expect(contents(state)).eql(records);
      commitTo(state, [[NEXT, '']]);
      expect(contents(state)).eql([records[0], records[3]]);
      state = await bench.reopen(state);
      expect(contents(state)).eql([records[0], records[3]]);
    });

    it('lets a new installation replace an unfinished one', async () => {
      const state = await bench.open();
      const first = state.install();
      await first.add([['a', '1']]);
      const second = state.install();
      expect(await failure(first.add([['b', '1']]))).instanceOf(StorageError);
      expect(await failure(first.finish(tallyOf([['a', '1']])))).instanceOf(StorageError);
      await second.add([['c', '1']]);
      await second.finish(tallyOf([['c', '1']]));
      expect(contents(state)).eql([['c', '1']]);
    });

    describe('rewrites itself from slices', () => {
      type Slices = Generator<readonly StateRecord[], boolean>;
      const rewritten = (state: DurableState, slices: Slices): Promise<boolean> =>
        new Promise((resolve) => state.rewrite(slices, resolve));

      it('shows the old state until it is done, then the new one, even after a crash', async () => {
        let state = await bench.open();
        state.commit([['old', '1']]);
        const seen: unknown[] = [];
        const pinned = state.pin();
        function* slices(): Slices {
          yield [['a', '1']];
          seen.push(contents(state));
          yield [];
          yield [['b', '2']];
          seen.push(contents(state));
          return true;
        }
        expect(await rewritten(state, slices())).equal(true);
        expect(seen).eql([[['old', '1']], [['old', '1']]]);
        expect(contents(pinned)).eql([['old', '1']]);
        pinned.close();
        state.commit([['c', '3']]);
        const all = [
          ['a', '1'],
          ['b', '2'],
          ['c', '3'],
        ];
        expect(contents(state)).eql(all);
        state = await bench.reopen(state);
        expect(contents(state)).eql(all);
      });

      it('changes nothing if the slices end with false', async () => {
        let state = await bench.open();
        state.commit([['old', '1']]);
        function* slices(): Slices {
          yield [['a', '1']];
          return false;
        }
        expect(await rewritten(state, slices())).equal(false);
        state.commit([['new', '2']]);
        state = await bench.reopen(state);
        expect(contents(state)).eql([
          ['new', '2'],
          ['old', '1'],
        ]);
      });

      it('does not begin during an installation', async () => {
        const state = await bench.open();
        const installation = state.install();
        await installation.add([['a', '1']]);
        function* slices(): Slices {
          yield [['b', '1']];
          return true;
        }
        expect(await rewritten(state, slices())).equal(false);
        await installation.finish(tallyOf([['a', '1']]));
        expect(contents(state)).eql([['a', '1']]);
        expect(await rewritten(state, slices())).equal(true);
        expect(contents(state)).eql([['b', '1']]);
      });

      /** Puts what is below NEXT in force, with another record. */
      const putInForce = (state: DurableState, more: () => void = () => {}): Promise<boolean> =>
        new Promise((resolve) => {
          function* slices(): Slices {
            yield [['more', '1']];
            more();
            yield [];
            return true;
          }
          state.rewrite(slices(), resolve, true);
        });

      it('from the records below NEXT, which stay until then', async () => {
        let state = await bench.open();
        commitTo(state, [
          ['old', '1'],
          [`${NEXT}p\u0000b`, '2'],
        ]);
        state = await bench.reopen(state);
        commitTo(state, [[`${NEXT}a`, '1']]);
        const pinned = state.pin();
        const before = [
          [`${NEXT}a`, '1'],
          [`${NEXT}p\u0000b`, '2'],
          ['old', '1'],
        ];
        const after = [
          ['a', '1'],
          ['more', '1'],
          ['p\u0000b', '2'],
        ];
        expect(await putInForce(state, () => expect(contents(state)).eql(before))).equal(true);
        expect(contents(pinned)).eql(before);
        pinned.close();
        expect(contents(state)).eql(after);
        commitTo(state, [[`${NEXT}again`, '1']]);
        state = await bench.reopen(state);
        expect(contents(state)).eql([after[0], after[1], [`${NEXT}again`, '1'], after[2]]);
      });

      it('keeps the records below NEXT when an installation interrupts it', async () => {
        let state = await bench.open();
        commitTo(state, [[`${NEXT}a`, '1']]);
        expect(await putInForce(state, () => state.install().abort())).equal(false);
        state = await bench.reopen(state);
        expect(contents(state)).eql([[`${NEXT}a`, '1']]);
        expect(await putInForce(state)).equal(true);
        state = await bench.reopen(state);
        expect(contents(state)).eql([
          ['a', '1'],
          ['more', '1'],
        ]);
      });

      it('is aborted by an installation and by closing, and leaves nothing behind', async () => {
        let state = await bench.open();
        let drawn = 0;
        function* slices(): Slices {
          for (;;) {
            drawn += 1;
            if (drawn === 3) void state.install();
            yield [[`a${drawn}`, '1']];
          }
        }
        expect(await rewritten(state, slices())).equal(false);
        expect(drawn).equal(3);
        state.commit([['old', '1']]);
        let stopped: Promise<unknown> | undefined;
        function* more(): Slices {
          yield [['b', '1']];
          stopped = state.close();
          yield [['c', '1']];
          return true;
        }
        state = await bench.reopen(state);
        expect(await rewritten(state, more())).equal(false);
        await stopped;
        state = await bench.reopen(state);
        expect(contents(state)).eql([['old', '1']]);
      });
    });

    it('agrees with a Map under any sequence of calls', async () => {
      const key = fc.constantFrom(
        ...['a', 'b', 'p\u0000a', 'p\u0000b', 'p\u0000c', 'é'],
        ...[NEXT, `${NEXT}a`, `${NEXT}p\u0000b`, `${NEXT}p\u0000é`],
      );
      const changes = fc.array(fc.tuple(key, fc.option(fc.string(), { nil: undefined })), {
        maxLength: 5,
      });
      const step = fc.oneof(
        { weight: 6, arbitrary: changes },
        { weight: 2, arbitrary: fc.constant('flush' as const) },
        { weight: 1, arbitrary: fc.constant('reopen' as const) },
        { weight: 1, arbitrary: fc.constant('pin' as const) },
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), async (steps) => {
          let state = await bench.open();
          const model = new Map<string, string>();
          const wanted = () =>
            [...model].sort(([one], [two]) => (one < two ? -1 : 1)).map(([k, v]) => [k, v]);
          const pins: { pinned: ReturnType<DurableState['pin']>; expected: unknown }[] = [];
          const checkPins = () => {
            for (const { pinned, expected } of pins.splice(0)) {
              expect(contents(pinned)).eql(expected);
              pinned.close();
            }
          };
          for (const what of steps) {
            if (what === 'flush') await state.flush();
            else if (what === 'pin') pins.push({ pinned: state.pin(), expected: wanted() });
            else if (what === 'reopen') {
              checkPins();
              state = await bench.reopen(state);
            } else {
              if (what.some(([k]) => k === NEXT))
                for (const k of [...model.keys()]) if (k.startsWith(NEXT)) model.delete(k);
              for (const [k, value] of what) {
                if (k.startsWith(NEXT)) {
                  if (k !== NEXT) model.set(k, String(value));
                } else if (value === undefined) model.delete(k);
                else model.set(k, value);
              }
              commitTo(
                state,
                what.map(([k, value]): Change => [k, k.startsWith(NEXT) ? String(value) : value]),
              );
            }
            expect(contents(state)).eql(wanted());
          }
          checkPins();
          await state.close();
        }),
        { numRuns: 25 },
      );
    });
  });
}
