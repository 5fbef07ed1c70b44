/**
 * A small log, cut at every length and spoiled at every byte. It is recovered whole, or cut at a
 * tail that nobody was told is durable, or says that it is damaged; it never shows a wrong entry,
 * and never lacks one without a word.
 */
import { basename } from 'node:path';
import { expect } from 'chai';
import type { Entry, HardState } from '../../src/raft/types.js';
import { StorageError } from '../../src/storage/errors.js';
import type { SegmentLog } from '../../src/storage/log.js';
import { openLog } from '../../src/storage/open-log.js';
import { type FakeMachine, fakeMachine } from '../support/fake-machine.js';
import { command, configuration, done, entriesOf, failure, recordsIn } from './helpers.js';

const SEGMENT_BYTES = 900;
const WITNESS = 'log/segments/witness';
const pathOf = (name: string): string => `log/segments/${name}`;

/** The files of the log by their names. */
const contentOf = ({ disk }: FakeMachine): [string, Buffer][] =>
  [...disk.files.content()].map(([path, bytes]) => [basename(path), bytes]);

/** What a log says. */
const factsOf = (log: SegmentLog) => ({
  first: log.firstIndex(),
  entries: entriesOf(log),
  hardState: log.hardState(),
  snapshot: log.snapshot(),
  bar: log.bar(),
});
type Facts = ReturnType<typeof factsOf>;

const open = (machine: FakeMachine): Promise<SegmentLog> =>
  openLog('log', {
    disk: machine.start(),
    segmentBytes: SEGMENT_BYTES,
    onFatal: (error) => {
      throw error;
    },
  });

/** What the log said after each batch, and the machine. */
async function history(): Promise<{ machine: FakeMachine; said: Facts[] }> {
  const machine = fakeMachine();
  const log = await open(machine);
  const said: Facts[] = [factsOf(log)];
  const append = async (entries: Entry[], hardState?: HardState): Promise<void> => {
    const batch = hardState === undefined ? { entries } : { entries, hardState };
    await done((resolve) => log.append(batch, resolve));
    said.push(factsOf(log));
  };
  await append([command(1, 1), command(2, 1)], { term: 1, votedFor: 'a' });
  await append([{ kind: 'configuration', index: 3, term: 1, configuration }]);
  await append([command(4, 1), command(5, 1), { kind: 'noop', index: 6, term: 1 }]);
  await append([command(5, 2)], { term: 2, votedFor: 'b' });
  await append([command(6, 2, 'x'.repeat(200)), command(7, 2)]);
  await done((resolve) => log.compact({ index: 2, term: 1, configuration }, resolve));
  said.push(factsOf(log));
  for (let index = 8; index <= 11; index++) await append([command(index, 2)]);
  return { machine, said };
}

describe('every byte of a small log', function () {
  this.timeout(120_000);
  let machine: FakeMachine;
  let said: Facts[];
  let used: Map<string, number>;
  before(async () => {
    ({ machine, said } = await history());
    // up to where each segment is used
    used = new Map(recordsIn(contentOf(machine)).map(({ name, record }) => [name, record.end]));
    expect(used.size).greaterThan(1);
  });
  const last = (): Facts => said.at(-1)!;

  /** Marks as they are after a rest, or none. */
  const forget = (files: Map<string, Buffer>): void => {
    files.set(WITNESS, Buffer.alloc(0));
  };

  /** What is opened says something true; returns whether it is whole, cut or damaged. */
  const check = async (spoiled: FakeMachine, where: string): Promise<string> => {
    const opened = await open(spoiled).catch((error: unknown) => error);
    if (!(opened instanceof Object && 'entries' in opened)) {
      expect(opened, where).instanceOf(StorageError).property('code').equal('damaged');
      return 'refused';
    }
    const log = opened as SegmentLog;
    const { damaged } = log;
    const found = factsOf(log);
    if (damaged === undefined) {
      expect(said, where).deep.include(found);
      await log.close();
      const again = await open(spoiled.copy());
      expect([again.damaged, factsOf(again)], where).deep.equal([undefined, found]);
      await again.close();
      return found.entries.length === last().entries.length ? 'whole' : 'cut';
    }
    expect(damaged.last, where).equal(11);
    expect(found.hardState, where).deep.equal(last().hardState);
    // Before the damage is what was there, also what was cut off later.
    const shown = found.entries.filter(({ index }) => index >= last().first);
    expect(shown, where).deep.equal(last().entries.slice(0, shown.length));
    expect(damaged.index, where).equal(log.lastIndex() + 1);
    await done((resolve) => log.repair(resolve));
    const lost = Array.from({ length: 11 - log.lastIndex() }, (_, i) =>
      command(log.lastIndex() + 1 + i, 3),
    );
    await done((resolve) => log.append({ entries: lost }, resolve));
    const healed = factsOf(log);
    await log.close();
    const again = await open(spoiled.copy());
    expect([again.damaged, factsOf(again)], where).deep.equal([undefined, healed]);
    await again.close();
    return 'damaged';
  };

  it('changed: no byte that counts goes unnoticed in a log at rest', async () => {
    const rested = machine.copy();
    await (await open(rested)).close();
    const found = new Map<string, number>();
    for (const [name, end] of used) {
      for (let at = 0; at < end + 20; at++) {
        const spoiled = rested.copy((files) => {
          files.get(pathOf(name))![at]! ^= 0x10;
        });
        const outcome = await check(spoiled, `${name} at ${at}`);
        found.set(outcome, (found.get(outcome) ?? 0) + 1);
      }
    }
    expect([...found.keys()].sort()).deep.equal(['damaged', 'whole']);
    expect(found.get('damaged')).greaterThan(1000);
  });

  it('changed: one byte of the witness loses nothing', async () => {
    const rested = machine.copy();
    await (await open(rested)).close();
    for (let at = 0; at < 8192; at += at % 4096 < 200 ? 1 : 97) {
      const spoiled = rested.copy((files) => {
        const witness = files.get(WITNESS)!;
        if (at < witness.length) witness[at]! ^= 0x10;
      });
      expect(await check(spoiled, `witness at ${at}`)).equal('whole');
    }
  });

  it('changed without a witness: only the last batch may look like a torn one', async () => {
    const batches = recordsIn(contentOf(machine));
    const newest = batches.at(-1)!.record;
    const name = batches.at(-1)!.name;
    for (let at = newest.at; at < newest.end; at++) {
      const spoiled = machine.copy((files) => {
        forget(files);
        files.get(pathOf(name))![at]! ^= 0x10;
      });
      expect(await check(spoiled, `${name} at ${at}`)).equal('cut');
    }
  });

  it('cut at every length: what the witness has is missed, the rest is a torn tail', async () => {
    const rested = machine.copy();
    await (await open(rested)).close();
    const name = [...used.keys()].sort().at(-1)!;
    for (let length = 0; length < used.get(name)!; length++) {
      const cut = (files: Map<string, Buffer>): void => {
        files.set(pathOf(name), files.get(pathOf(name))!.subarray(0, length));
      };
      expect(await check(rested.copy(cut), `${name} cut to ${length}`)).equal('damaged');
      const torn = machine.copy((files) => {
        forget(files);
        cut(files);
      });
      expect(await check(torn, `${name} torn at ${length}`)).equal('cut');
    }
  });

  it('any part of the last batch may be missing after a crash', async () => {
    const places = recordsIn(contentOf(machine));
    const { name, record } = places.at(-1)!;
    const first = places.filter((each) => each.record.batch === record.batch)[0]!.record;
    for (let from = first.at; from < record.end; from++) {
      for (const to of [from + 1, Math.min(from + 16, record.end), record.end]) {
        const torn = machine.copy((files) => {
          forget(files);
          files.get(pathOf(name))!.fill(0, from, to);
        });
        expect(['cut', 'whole']).include(await check(torn, `${name} without ${from} to ${to}`));
      }
    }
  });

  it('refuses to open without the vote', async () => {
    const name = [...used.keys()].sort()[0]!;
    const spoiled = machine.copy((files) => {
      forget(files);
      files.get(pathOf(name))![20]! ^= 1;
    });
    const error = await failure(open(spoiled));
    expect(error).instanceOf(StorageError).property('message').include('how it voted');
  });
});
