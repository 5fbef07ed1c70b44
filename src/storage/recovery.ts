/**
 * Reads the segments of a log and decides what they say. Batch n + 1 is written only after batch n
 * is durable, and a batch counts only with all its records. So of what is not as it was written:
 *
 *     batches   6 7 8 x          x may be what a crash left of batch 9, which was never durable
 *     batches   6 7 x 9          9 was written, so x was durable: damage, nothing is cut
 *
 * A *run* is a chain of batches without a break. Usually there is one. The first record of a
 * segment names the batch that it follows, so a run goes on where a repair does, whatever lies
 * between. A run that begins after the position of the snapshot lacks entries.
 */
import type { Index } from '../raft/types.js';
import type { DiskFile } from './disk.js';
import type { EntryWindow } from './entry-window.js';
import { Notes, Run } from './recovery-run.js';
import { Segment, truncateSegments } from './segment.js';
import {
  decodeRecord,
  entryOf,
  type LogDamage,
  type LogState,
  recordsAfter,
  saltOf,
  stateOf,
} from './segment-record.js';

/** A file of a log. */
export interface SegmentSource {
  readonly number: number;
  readonly file: DiskFile;
}

/** What the segments of a log say. */
export interface Recovered {
  /** The segments of the log, in order. */
  readonly segments: Segment[];
  readonly window: EntryWindow;
  readonly state: LogState;
  /** Number of the last batch, and the CRC of its last record. */
  readonly batch: number;
  readonly crc: number;
  /** The highest number of a batch in any file. */
  readonly highestBatch: number;
  readonly damage: LogDamage | undefined;
  /** Files that do not belong to the log. They are kept while it is damaged. */
  readonly unused: SegmentSource[];
}

/** Reads segments, sorted by number. `windowBytes` bounds the entries that stay in memory. */
export function recover(sources: readonly SegmentSource[], windowBytes: number): Recovered {
  const notes = new Notes();
  const runs = readRuns(sources, windowBytes, notes);
  const newest = runs.at(-1)!;
  const whole = runs.findLast((run) => run.isWhole)!;
  const { window } = whole;
  const { meta } = newest.state;
  if (meta !== undefined && meta.index >= window.firstIndex()) window.compact(meta);
  const base = window.firstIndex() - 1;
  const isFollowed = whole !== newest || whole.isBroken;
  if (isFollowed) truncate(whole, firstReplaced(sources, whole));
  const damage = damageOf(whole, whole !== newest, notes);
  const used = new Set(whole.segments.map(({ number }) => number));
  const { version, hardState } = damage === undefined ? whole.state : notes.newest;
  return {
    segments: whole.segments,
    window,
    batch: whole.batch,
    crc: whole.crc,
    damage,
    state: {
      version,
      hardState,
      meta: [meta, whole.state.meta].find((each) => each?.index === base),
      bar: whole.state.bar ?? newest.state.bar,
    },
    highestBatch: notes.highestBatch,
    unused: sources.filter(({ number }) => !used.has(number)),
  };
}

function damageOf(whole: Run, isFollowed: boolean, notes: Notes): LogDamage | undefined {
  const { window } = whole;
  const lost = (index: Index, reason: string): LogDamage => {
    return { index, last: Math.max(notes.lastIndex, index - 1), reason };
  };
  const spoiled = whole.firstSpoiled;
  if (spoiled !== undefined) {
    truncate(whole, spoiled);
    return lost(spoiled, `entry ${spoiled} does not match its checksum`);
  }
  const next = window.lastIndex() + 1;
  if (isFollowed) return lost(next, `entry ${next} is missing`);
  if (whole.isBroken) return lost(next, `what was written after entry ${next - 1} is damaged`);
  return undefined;
}

/**
 * The first entry that was replaced behind the end of a broken run, as far as the records there
 * tell: those before it are still trusted.
 */
function firstReplaced(sources: readonly SegmentSource[], { window, batch }: Run): Index {
  let first = window.lastIndex() + 1;
  for (const { number, file } of sources) {
    for (const record of recordsAfter(file.read(0, file.size()), 0, saltOf(number))) {
      if (record.batch <= batch) continue;
      const { index, term } = record.position;
      const isEntry = entryOf(record) !== undefined;
      const before = isEntry ? { index: index - 1, term: record.previousTerm } : { index, term };
      const isSame = window.term(before.index) === before.term;
      first = Math.min(first, isSame ? before.index + 1 : before.index);
    }
  }
  return Math.max(first, window.firstIndex());
}

/** Drops the entries of a run from an index on. */
function truncate({ window, segments }: Run, index: Index): void {
  if (index > window.lastIndex()) return;
  window.truncate(index);
  truncateSegments(segments, index);
}

function readRuns(sources: readonly SegmentSource[], windowBytes: number, notes: Notes): Run[] {
  const nothing = { position: { index: 0, term: 0 }, batch: 0, crc: 0 };
  const runs = [new Run(nothing, windowBytes, notes)];
  for (const { number, file } of sources) {
    const segment = new Segment(number, file);
    const bytes = file.read(0, file.size());
    const first = decodeRecord(bytes, 0, segment.salt);
    const after = first === undefined ? undefined : stateOf(first)?.after;
    if (first !== undefined && after !== undefined) {
      const { position, previous: crc } = first;
      const at = runs.findLastIndex((run) => run.endsAt(after, crc));
      const run = at < 0 ? new Run({ position, batch: after, crc }, windowBytes, notes) : runs[at]!;
      run.read(segment, bytes);
      if (at >= 0) runs.length = at + 1;
      else if (run.hasBatch) runs.push(run);
      if (at >= 0 || run.hasBatch) continue;
    }
    for (const record of recordsAfter(bytes, 0, segment.salt)) {
      notes.add(record);
      runs.at(-1)!.isFollowedBy(record.batch);
    }
  }
  return finished(runs);
}

/** The runs of which something counts; the first one always stays. */
function finished(runs: readonly Run[]): Run[] {
  const kept: Run[] = [];
  for (const run of runs) {
    run.finish();
    if (kept.length === 0 || run.hasBatch) kept.push(run);
    else kept.at(-1)!.isFollowedBy(run.torn);
  }
  return kept;
}
