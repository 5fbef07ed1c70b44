/**
 * A small log, cut at every length and spoiled at every byte. It is recovered whole, or cut at a
 * tail that nobody was told is durable, or says that it is damaged; it never shows a wrong entry,
 * and never lacks one without a word.
 */
import { expect } from 'chai';
import type { Entry, HardState } from '../../src/raft/types.js';
import { StorageError } from '../../src/storage/errors.js';
import { openLogIn, type SegmentLog } from '../../src/storage/log.js';
import { FakeFolder } from '../support/fake-folder.js';
import { command, configuration, done, entriesOf, failure, recordsIn } from './helpers.js';

const SEGMENT_BYTES = 900;

/** What a log says. */
const factsOf = (log: SegmentLog) => ({
  first: log.firstIndex(),
  entries: entriesOf(log),
  hardState: log.hardState(),
  snapshot: log.snapshot(),
  bar: log.bar(),
});
type Facts = ReturnType<typeof factsOf>;

const open = (folder: FakeFolder): Promise<SegmentLog> =>
  openLogIn(folder, {
    segmentBytes: SEGMENT_BYTES,
    onFatal: (error) => {
      throw error;
    },
  });

/** What the log said after each batch, and the folder as a crash leaves it. */
async function history(): Promise<{ folder: FakeFolder; said: Facts[] }> {
  const folder = new FakeFolder();
  const log = await open(folder);
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
  return { folder, said };
}

describe('every byte of a small log', function () {
  this.timeout(120_000);
  let folder: FakeFolder;
  let said: Facts[];
  let used: Map<string, number>;
  before(async () => {
    ({ folder, said } = await history());
    // up to where each segment is used
    used = new Map(recordsIn(folder.content()).map(({ name, record }) => [name, record.end]));
    expect(used.size).greaterThan(1);
  });
  const last = (): Facts => said.at(-1)!;

  /** Marks as they are after a rest, or none. */
  const forget = (files: Map<string, Buffer>): void => {
    files.set('witness', Buffer.alloc(0));
  };

  /** What is opened says something true; returns whether it is whole, cut or damaged. */
  const check = async (spoiled: FakeFolder, where: string): Promise<string> => {
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

  it('spoiled: every byte that counts is missed in a log at rest', async () => {
    const rested = folder.copy();
    await (await open(rested)).close();
    const found = new Map<string, number>();
    for (const [name, end] of used) {
      for (let at = 0; at < end + 20; at++) {
        const spoiled = rested.copy((files) => {
          files.get(name)![at]! ^= 0x10;
        });
        const outcome = await check(spoiled, `${name} at ${at}`);
        found.set(outcome, (found.get(outcome) ?? 0) + 1);
      }
    }
    expect([...found.keys()].sort()).deep.equal(['damaged', 'whole']);
    expect(found.get('damaged')).greaterThan(1000);
  });

  it('spoiled: a byte of the witness changes nothing', async () => {
    const rested = folder.copy();
    await (await open(rested)).close();
    for (let at = 0; at < 8192; at += at % 4096 < 200 ? 1 : 97) {
      const spoiled = rested.copy((files) => {
        const witness = files.get('witness')!;
        if (at < witness.length) witness[at]! ^= 0x10;
      });
      expect(await check(spoiled, `witness at ${at}`)).equal('whole');
    }
  });

  it('spoiled without marks: only the last batch may be taken for a torn one', async () => {
    const batches = recordsIn(folder.content());
    const newest = batches.at(-1)!.record;
    const name = batches.at(-1)!.name;
    for (let at = newest.at; at < newest.end; at++) {
      const spoiled = folder.copy((files) => {
        forget(files);
        files.get(name)![at]! ^= 0x10;
      });
      expect(await check(spoiled, `${name} at ${at}`)).equal('cut');
    }
  });

  it('cut at every length: what was marked is missed, the rest is a torn tail', async () => {
    const rested = folder.copy();
    await (await open(rested)).close();
    const name = [...used.keys()].sort().at(-1)!;
    for (let length = 0; length < used.get(name)!; length++) {
      const cut = (files: Map<string, Buffer>): void => {
        files.set(name, files.get(name)!.subarray(0, length));
      };
      expect(await check(rested.copy(cut), `${name} cut to ${length}`)).equal('damaged');
      const torn = folder.copy((files) => {
        forget(files);
        cut(files);
      });
      expect(await check(torn, `${name} torn at ${length}`)).equal('cut');
    }
  });

  it('any part of the last batch may be missing after a crash', async () => {
    const places = recordsIn(folder.content());
    const { name, record } = places.at(-1)!;
    const first = places.filter((each) => each.record.batch === record.batch)[0]!.record;
    for (let from = first.at; from < record.end; from++) {
      for (const to of [from + 1, Math.min(from + 16, record.end), record.end]) {
        const torn = folder.copy((files) => {
          forget(files);
          files.get(name)!.fill(0, from, to);
        });
        expect(['cut', 'whole']).include(await check(torn, `${name} without ${from} to ${to}`));
      }
    }
  });

  it('refuses to open without the vote', async () => {
    const name = [...used.keys()].sort()[0]!;
    const spoiled = folder.copy((files) => {
      forget(files);
      files.get(name)![20]! ^= 1;
    });
    const error = await failure(open(spoiled));
    expect(error).instanceOf(StorageError).property('message').include('whom it voted for');
  });
});
