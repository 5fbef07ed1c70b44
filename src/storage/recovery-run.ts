/** A chain of batches without a break, as `recovery.ts` reads it. */
import type { Index } from '../raft/types.js';
import { EntryWindow } from './entry-window.js';
import { StorageError } from './errors.js';
import { type Segment, truncateSegments } from './segment.js';
import {
  decodeRecord,
  entryOf,
  isReadable,
  type LogState,
  type Position,
  recordsAfter,
  type StoredRecord,
  stateOf,
} from './segment-record.js';

/**
 * Bytes of entries kept in memory while the log is opened. The start of a node reads the whole log
 * again before the first write evicts most of it.
 */
const OPENING_BYTES = 128 * 2 ** 20;

/** The state of a log that was never written. */
const NO_STATE: LogState = { version: 0, hardState: { term: 0, votedFor: null } };

/** What any record says, also one that does not count. */
export class Notes {
  lastIndex: Index = 0;
  highestBatch = 0;
  /** The state with the newest hard state. */
  newest: LogState = NO_STATE;

  add(record: StoredRecord): void {
    this.lastIndex = Math.max(this.lastIndex, record.position.index);
    this.highestBatch = Math.max(this.highestBatch, record.batch);
    const state = stateOf(record);
    if (state !== undefined && state.version > this.newest.version) this.newest = state;
  }
}

/** A batch that was read, and counts once the next one is found, or if it is whole at the end. */
interface Batch {
  readonly number: number;
  readonly records: StoredRecord[];
  readonly segment: Segment;
}

/** The batches of such a chain, as they are read. */
export class Run {
  readonly window: EntryWindow;
  state: LogState = NO_STATE;
  readonly segments: Segment[] = [];
  /** The last batch that counts, and the CRC of its last record. */
  batch: number;
  crc: number;
  readonly #notes: Notes;
  #waiting: Batch | undefined;
  /** See `torn`; the highest batch that was found behind the end. */
  #torn: number;
  #behind = 0;
  /** Entries whose payload is not as it was written. */
  readonly #spoiled = new Set<Index>();

  /** A run that follows a batch, and whose entries follow those up to a position. */
  constructor(
    after: { readonly position: Position; readonly batch: number; readonly crc: number },
    windowBytes: number,
    notes: Notes,
  ) {
    this.window = new EntryWindow(after.position, windowBytes);
    this.batch = after.batch;
    this.crc = after.crc;
    this.#torn = after.batch + 1;
    this.#notes = notes;
  }

  /** Reads a segment that goes on with this run. */
  read(segment: Segment, bytes: Buffer): void {
    this.segments.push(segment);
    this.#behind = 0;
    let { batch: number, crc } = this.#end();
    let open: StoredRecord[] = [];
    for (let at = 0; ; ) {
      const record = decodeRecord(bytes, at, segment.salt);
      if (record === undefined || record.previous !== crc || !isReadable(record)) break;
      // A repair leaves out the numbers of the batches that it replaces.
      const isNext = at === 0 ? record.batch > number : record.batch === number + 1;
      if (open.length > 0 ? record.batch !== number : !isNext) break;
      number = record.batch;
      crc = record.crc;
      at = record.end;
      open.push(record);
      this.#notes.add(record);
      if (!record.isLastOfBatch) continue;
      this.#apply();
      this.#waiting = { number, records: open, segment };
      segment.end = at;
      open = [];
    }
    this.#torn = open.length > 0 ? number : number + 1;
    for (const record of recordsAfter(bytes, segment.end, segment.salt)) {
      this.#notes.add(record);
      this.isFollowedBy(record.batch);
    }
  }

  /** A record of this batch was found behind the end of the run. */
  isFollowedBy(batch: number): void {
    this.#behind = Math.max(this.#behind, batch);
  }

  /** Ends the run at a batch, if it has that end: then the next segment goes on with it. */
  endsAt(batch: number, crc: number): boolean {
    const end = this.#end();
    if (end.batch === batch && end.crc === crc) this.#apply();
    else if (this.#isTorn && this.batch === batch && this.crc === crc) this.#drop();
    else return false;
    return true;
  }

  /** Decides about the last batch: nothing follows. */
  finish(): void {
    if (this.#isTorn) this.#drop();
    else this.#apply();
  }

  /** Whether there is a batch that counts, or may. */
  get hasBatch(): boolean {
    return this.state !== NO_STATE || this.#waiting !== undefined;
  }

  /** Number of the batch of which there may be a part behind the end. */
  get torn(): number {
    return this.#torn;
  }

  /** Whether entries are missing between the snapshot and the run. */
  get isWhole(): boolean {
    return this.window.firstIndex() - 1 === (this.state.meta?.index ?? 0);
  }

  /** Whether something was durable behind the end of the run. */
  get isBroken(): boolean {
    return this.#behind > this.#torn;
  }

  /** The first entry whose payload is not as it was written. */
  get firstSpoiled(): Index | undefined {
    const first = this.window.firstIndex();
    const live = [...this.#spoiled].filter((index) => index >= first);
    return live.length === 0 ? undefined : Math.min(...live);
  }

  #end(): { readonly batch: number; readonly crc: number } {
    const waiting = this.#waiting;
    if (waiting === undefined) return { batch: this.batch, crc: this.crc };
    return { batch: waiting.number, crc: waiting.records.at(-1)!.crc };
  }

  /**
   * Whether the last batch has a payload that is not as it was written, and that no later record of
   * the batch replaces.
   */
  get #isTorn(): boolean {
    const records = this.#waiting?.records ?? [];
    return records.some(
      ({ isSpoiled, position }, i) =>
        isSpoiled && !records.slice(i + 1).some((later) => replaces(later, position.index)),
    );
  }

  #drop(): void {
    const { segment, records, number } = this.#waiting!;
    segment.end = records[0]!.at;
    this.#torn = number;
    this.#waiting = undefined;
  }

  #apply(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    this.batch = waiting.number;
    this.crc = waiting.records.at(-1)!.crc;
    for (const record of waiting.records) {
      const state = stateOf(record);
      if (state === undefined) this.#applyEntry(record, waiting.segment);
      else this.#applyState(state, record.position);
    }
    this.window.evict(this.window.lastIndex(), OPENING_BYTES);
  }

  #applyState(state: LogState, last: Position): void {
    const { window } = this;
    const { meta } = state;
    this.state = state;
    this.#truncate(last.index + 1, last);
    if (meta !== undefined && meta.index >= window.firstIndex()) window.compact(meta);
  }

  #applyEntry(record: StoredRecord, segment: Segment): void {
    const { index } = record.position;
    const before = { index: index - 1, term: record.previousTerm };
    // Entries before the run may be replaced by it, although it does not know them.
    if (before.index < this.window.firstIndex() - 1) this.#truncate(index, before);
    if (this.window.term(before.index) !== before.term) {
      const what = `entry ${index - 1} is not the one that entry ${index} was written after`;
      throw new StorageError('damaged', `the log cannot be read: ${what}`);
    }
    this.#truncate(index);
    this.window.append([entryOf(record)!]);
    segment.place(index, record.at);
    if (record.isSpoiled) this.#spoiled.add(index);
  }

  /** The entries from an index on no longer count; `last` is what the log ends with then. */
  #truncate(index: Index, last?: Position): void {
    if (index <= this.window.lastIndex()) {
      truncateSegments(this.segments, index);
      for (const each of this.#spoiled) if (each >= index) this.#spoiled.delete(each);
      if (index >= this.window.firstIndex()) this.window.truncate(index);
    }
    if (last !== undefined && this.window.term(last.index) !== last.term) this.window.reset(last);
  }
}

/** Whether an entry no longer counts after a record. */
function replaces(later: StoredRecord, index: Index): boolean {
  const isState = stateOf(later) !== undefined;
  return later.position.index < index || (!isState && later.position.index === index);
}
