/** Each invariant of the storage, with what breaks it. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { Entry } from '../../src/raft/types.js';
import type { DiskFile } from '../../src/storage/disk.js';
import { LevelInstallation } from '../../src/storage/install.js';
import { recordSum, Tally } from '../../src/storage/key-index.js';
import { LogWriter } from '../../src/storage/log-writer.js';
import { Segment } from '../../src/storage/segment.js';
import type { SegmentPool } from '../../src/storage/segment-pool.js';
import { entryDraft } from '../../src/storage/segment-record.js';
import { Place, type StateDatabase, storedValue } from '../../src/storage/state-load.js';

const noop = (index: number): Entry => ({ kind: 'noop', index, term: 1 });
const hardState = { term: 1, votedFor: null };
const file: DiskFile = {
  path: 'a',
  size: () => 0,
  read: () => Buffer.alloc(0),
  write: (bytes, _at, done) => done(null, bytes.length),
  sync: (done) => done(null),
  close: () => {},
};

/** Writes an entry to a log that is empty, whose pool has segment 3. Throws what it reports. */
async function write(index: number, segments: Segment[] = []): Promise<void> {
  const errors: unknown[] = [];
  const state = { version: 1, hardState };
  const last = { index: 0, term: 0 };
  const writer = new LogWriter({
    segments,
    state,
    last,
    segmentBytes: 2 ** 20,
    // The parts of them that this write needs.
    pool: { take: async () => new Segment(3, file) } as unknown as SegmentPool,
    witness: {} as ConstructorParameters<typeof LogWriter>[0]['witness'],
    batch: 0,
    crc: 0,
    nextBatch: 1,
    written: () => {},
    onError: (error) => errors.push(error),
    clock: { now: () => 0, wall: () => 0, after: () => () => {}, soon: () => {} },
  });
  const drafts = [entryDraft(noop(index), 1)];
  writer.add({ drafts, from: index, state, last: noop(index), done: () => {}, opensSegment: true });
  await turn();
  writer.stop();
  if (errors.length > 0) throw errors[0];
}

const CASES: readonly (readonly [broken: string, breaks: () => unknown])[] = [
  ['a gap in the segments (index 3, placed 0)', () => write(3)],
  [
    'a segment older than the newest one (number 3, newest 4)',
    () => write(1, [new Segment(4, file)]),
  ],
  ['more records removed than added (count 0)', () => new Tally().remove(7)],
  [
    'other keys than were verified (count 0, announced 1)',
    () => {
      const place = new Place(1);
      const records = async function* () {
        yield [[place.of('k'), storedValue('k', 'v')]];
      };
      const nothing = async (): Promise<void> => {};
      const calls = { write: nothing, sync: nothing, switchTo: nothing, remove: () => {} };
      const db = { records } as unknown as StateDatabase;
      const tally = new Tally();
      tally.add(recordSum('k', 'v'));
      return new LevelInstallation({ db, place, ...calls }).finish(tally);
    },
  ],
];

describe('the invariants of the storage', () => {
  for (const [broken, breaks] of CASES)
    it(broken, async () => {
      const error: unknown = await Promise.resolve()
        .then(breaks)
        .catch((thrown) => thrown);
      expect(error).to.be.an('error').with.property('message', `invariant broken: ${broken}`);
    });
});
