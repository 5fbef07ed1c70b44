/**
 * Random work on a log, ended by a kill or a power cut that keeps any part of what was being
 * written. What is opened then is what a log in memory said at some point after the last thing
 * reported durable.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Entry, HardState, LogView } from '../../src/raft/types.js';
import type { SegmentLog } from '../../src/storage/log.js';
import { openLog } from '../../src/storage/open-log.js';
import { fakeMachine } from '../support/fake-machine.js';
import { MemoryLog } from '../support/memory-log.js';
import { command, configuration, entriesOf } from './helpers.js';

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      back: fc.nat(3),
      count: fc.integer({ min: 0, max: 4 }),
      vote: fc.boolean(),
      bytes: fc.nat(120),
    }),
  },
  { weight: 2, arbitrary: fc.record({ compact: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ reset: fc.integer({ min: -2, max: 3 }) }) },
  { weight: 1, arbitrary: fc.constant('erase' as const) },
  { weight: 4, arbitrary: fc.record({ turns: fc.integer({ min: 1, max: 6 }) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Leaves a new segment whose first batch is torn, and starts the log twice without a write. */
const STARTED_TWICE: { steps: Step[]; power: boolean }[] = [
  {
    steps: [
      { back: 0, count: 2, vote: true, bytes: 64 },
      { compact: 0 },
      { turns: 6 },
      { back: 0, count: 0, vote: true, bytes: 0 },
      { reset: 0 },
      { turns: 7 },
    ],
    power: false,
  },
  { steps: [], power: false },
];

const factsOf = (log: LogView & { hardState(): HardState }) => ({
  first: log.firstIndex(),
  entries: entriesOf(log),
  hardState: log.hardState(),
  snapshot: log.snapshot(),
});

describe('log and power cuts', function () {
  this.timeout(120_000);

  /** Does a step on both logs, and says so when it is durable. */
  const perform = (
    what: Exclude<Step, { turns: number }>,
    log: SegmentLog,
    model: MemoryLog,
    done: () => void,
  ) => {
    const last = model.lastIndex();
    const term = model.hardState().term;
    if (what === 'erase') {
      log.erase(done);
      return;
    }
    if ('compact' in what) {
      const index = Math.max(model.firstIndex() - 1, last - what.compact);
      // Nothing to cut: the log is asked to write what it says once more.
      if (index < model.firstIndex()) {
        log.erase(done);
        return;
      }
      const meta = { index, term: model.term(index)!, configuration };
      model.compact(meta, () => {});
      log.compact(meta, done);
      return;
    }
    if ('reset' in what) {
      const index = Math.max(1, last + what.reset);
      const meta = { index, term: term + 1, configuration };
      const hardState = { term: term + 1, votedFor: null };
      model.reset(meta, hardState, () => {});
      log.reset(meta, hardState, done);
      return;
    }
    const isNew = what.vote || what.back > 0;
    const now = term + (isNew ? 1 : 0);
    const from = Math.max(model.firstIndex(), last + 1 - what.back);
    const entries: Entry[] = Array.from({ length: what.count }, (_, i) =>
      command(from + i, now, `${from + i}.${now}.${'x'.repeat(what.bytes)}`),
    );
    const batch = isNew ? { hardState: { term: now, votedFor: 'a' }, entries } : { entries };
    model.append(batch, () => {});
    log.append(batch, done);
  };

  it('holds what was reported, in order, and nothing else', async () => {
    const lives = fc.array(
      fc.record({
        steps: fc.array(step, { maxLength: 25 }),
        power: fc.boolean(),
      }),
      { minLength: 1, maxLength: 4 },
    );
    await fc.assert(
      fc.asyncProperty(lives, fc.nat(), async (all, seed) => {
        const machine = fakeMachine(seed);
        machine.disk.shortProbability = 0.05;
        let model = new MemoryLog();
        const options = {
          segmentBytes: 700,
          windowBytes: 200,
          onFatal: (error: Error) => {
            throw error;
          },
        };
        for (const { steps, power } of all) {
          const log = await openLog('log', { ...options, disk: machine.start() });
          expect(log.damaged).equal(undefined);
          expect(factsOf(log)).deep.equal(factsOf(model));
          const said = [factsOf(model)];
          let reported = 0;
          for (const what of steps) {
            if (typeof what === 'object' && 'turns' in what) {
              for (let i = 0; i < what.turns; i++) await new Promise((next) => setImmediate(next));
              continue;
            }
            const number = said.length;
            perform(what, log, model, () => {
              reported = Math.max(reported, number);
            });
            model.sync();
            said.push(factsOf(model));
            expect(factsOf(log)).deep.equal(said.at(-1));
          }
          machine.disk.crash(power);
          const opened = await openLog('log', { ...options, disk: machine.copy().start() });
          expect(opened.damaged?.reason).equal(undefined);
          const found = factsOf(opened);
          expect(said.slice(reported)).deep.include(found);
          await opened.close();
          model = new MemoryLog();
          const { snapshot, hardState, entries } = found;
          if (snapshot !== undefined) model.reset(snapshot, hardState, () => {});
          model.append({ hardState, entries: entries as Entry[] }, () => {});
          model.sync();
        }
      }),
      { numRuns: 400, examples: [[STARTED_TWICE, 279126431]] },
    );
  });
});
