/** One file of the log, and where the entries of the log are in it. */
import type { Entry, Index } from '../raft/types.js';
import type { DiskFile } from './disk.js';
import { decodeRecord, entryOf, HEAD_BYTES, saltOf } from './segment-record.js';

/** Bytes read at first for one entry: most entries are smaller. */
const READ_BYTES = 4096;
/** Bytes read at once for the entries that follow it. */
const BLOCK_BYTES = 64 * 1024;
const NAME = /^([0-9a-f]{16})\.segment$/;

/** The name of the file of a segment. */
export const segmentName = (number: number): string =>
  `${number.toString(16).padStart(16, '0')}.segment`;

/** The number of a segment by the name of its file; undefined for other files. */
export function segmentNumber(name: string): number | undefined {
  const digits = NAME.exec(name)?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 16);
}

/**
 * What was read of a segment last: entries are usually read one after another. Use it for one call
 * only, since entries may be replaced or erased.
 */
export class ReadBlock {
  #file: DiskFile | undefined;
  #at = 0;
  #bytes: Buffer = Buffer.alloc(0);

  /** Returns the bytes of a file from `at` on: at least `length` if it has them. */
  from(file: DiskFile, at: number, length: number): Buffer {
    const follows = file === this.#file;
    const own = at - this.#at;
    if (follows && own >= 0 && own + length <= this.#bytes.length) return this.#bytes.subarray(own);
    this.#bytes = file.read(at, Math.max(length, follows ? BLOCK_BYTES : READ_BYTES));
    this.#file = file;
    this.#at = at;
    return this.#bytes;
  }
}

/** A segment. It holds consecutive entries of the log, and records that no longer count. */
export class Segment {
  readonly number: number;
  readonly salt: number;
  readonly file: DiskFile;
  /** Where the next record goes. */
  end = 0;
  #first: Index = 0;
  /** `offsets[i]` is the offset of the entry at `first + i`. */
  #offsets: number[] = [];

  constructor(number: number, file: DiskFile) {
    this.number = number;
    this.salt = saltOf(number);
    this.file = file;
  }

  /** The last index of the log that is in this segment; 0 if there is none. */
  get lastIndex(): Index {
    return this.#offsets.length === 0 ? 0 : this.#first + this.#offsets.length - 1;
  }

  /**
   * The entry at an index is at this offset. It replaces all that follow. Earlier ones stay if they
   * are its predecessors: after a reset they are not.
   */
  place(index: Index, offset: number): void {
    this.truncate(index);
    if (index !== this.lastIndex + 1) this.#offsets = [];
    if (this.#offsets.length === 0) this.#first = index;
    this.#offsets.push(offset);
  }

  /** The entries from an index on no longer count. */
  truncate(index: Index): void {
    if (index <= this.lastIndex) this.#offsets.length = Math.max(0, index - this.#first);
  }

  /** The offset of an entry; undefined if it is not in this segment. */
  offsetOf(index: Index): number | undefined {
    return this.#offsets[index - this.#first];
  }

  /** Reads an entry; undefined if it is not as it was written. Throws if the disk fails. */
  read(index: Index, block: ReadBlock): Entry | undefined {
    const at = this.offsetOf(index);
    if (at === undefined) return undefined;
    let bytes = block.from(this.file, at, HEAD_BYTES);
    const length = bytes.length < HEAD_BYTES ? 0 : HEAD_BYTES + bytes.readUInt32BE(12);
    if (length > bytes.length && length <= this.end - at) bytes = block.from(this.file, at, length);
    const record = decodeRecord(bytes, 0, this.salt);
    if (record === undefined || record.isSpoiled || record.position.index !== index)
      return undefined;
    return entryOf(record);
  }
}

/** Returns the segment that holds an entry. */
export function segmentOf(segments: readonly Segment[], index: Index): Segment | undefined {
  return segments.findLast((segment) => segment.offsetOf(index) !== undefined);
}

/** Notes in all segments that the entries from an index on no longer count. */
export function truncateSegments(segments: readonly Segment[], index: Index): void {
  for (let i = segments.length; i-- > 0; ) segments[i]!.truncate(index);
}
