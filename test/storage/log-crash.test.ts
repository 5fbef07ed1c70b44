/**
 * Random work on a log, ended by a power cut that keeps any part of what was being written. What is
 * opened then is what a log in memory said at some point after the last thing reported durable.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Entry, HardState, LogView } from '../../src/raft/types.js';
import { openLogIn, type SegmentLog } from '../../src/storage/log.js';
import { FakeFolder } from '../support/fake-folder.js';
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
        steps: fc.array(step, { minLength: 1, maxLength: 25 }),
        kept: fc.array(fc.nat(3), { minLength: 1, maxLength: 8 }),
      }),
      { minLength: 1, maxLength: 3 },
    );
    await fc.assert(
      fc.asyncProperty(lives, async (all) => {
        let folder = new FakeFolder();
        let model = new MemoryLog();
        for (const { steps, kept } of all) {
          const log = await openLogIn(folder, {
            segmentBytes: 700,
            windowBytes: 200,
            onFatal: (error) => {
              throw error;
            },
          });
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
          // A cut keeps some sectors of what was being written, here of 16 bytes, and spoils others
          // where they change.
          folder = folder.crash(({ bytes }, before) => {
            const left = Buffer.from(bytes);
            for (let at = 0; at < left.length; at += 16) {
              const keep = kept[(at / 16) % kept.length]!;
              if (keep === 0) before.copy(left, at, at, at + 16);
              for (let i = at; keep === 1 && i < Math.min(at + 16, left.length); i++) {
                if (left[i] !== before[i]) left[i] = 0x5a;
              }
            }
            return left;
          });
          const opened = await openLogIn(folder.copy(), {
            segmentBytes: 700,
            onFatal: (error) => {
              throw error;
            },
          });
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
      { numRuns: 400 },
    );
  });
});
