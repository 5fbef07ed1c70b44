/** The records of a state as bytes (record-bytes.ts), in key order. */
import { readRecord, recordBytes } from '../state/record-bytes.js';
import { isArchived } from '../state/restore.js';
import type { View } from '../state/types.js';
import { StorageError } from './errors.js';
import { recordSum, type Tally } from './key-index.js';
import type { StateRecord } from './types.js';

/** Bytes of one record: far more than the limits of the API admit. */
const RECORD_BYTES_MAX = 64 * 2 ** 20;

/** Consecutive records, encoded. */
export interface Batch {
  readonly bytes: Buffer;
  readonly count: number;
  /** The last key of the batch; undefined if the view has no more records. */
  readonly lastKey: string | undefined;
}

/**
 * Encodes the archived records after the key `after`, up to `limitBytes` but at least one, and adds
 * them to the tally. Throws StorageError `damaged` if a value is missing.
 */
export function takeRecords(
  view: View,
  after: string | undefined,
  limitBytes: number,
  tally: Tally,
): Batch {
  const parts: Buffer[] = [];
  let size = 0;
  let lastKey: string | undefined;
  for (const key of view.keys('', after)) {
    if (!isArchived(key)) continue;
    const value = view.get(key);
    if (value === undefined) throw new StorageError('damaged', 'a listed record has no value');
    const record = recordBytes([key, value]);
    if (parts.length > 0 && size + record.length > limitBytes) break;
    parts.push(record);
    size += record.length;
    tally.add(recordSum(key, value));
    lastKey = key;
  }
  return { bytes: Buffer.concat(parts, size), count: parts.length, lastKey };
}

/**
 * Decodes records from bytes that arrive in pieces. Throws StorageError `invalid` for an impossible
 * length, and for keys out of order.
 */
export class RecordReader {
  #rest: Buffer[] = [];
  #held = 0;
  #wanted = 8;
  #lastKey: string | undefined;

  /** Returns the records that these bytes complete. */
  push(bytes: Buffer): StateRecord[] {
    this.#rest.push(bytes);
    this.#held += bytes.length;
    const records: StateRecord[] = [];
    if (this.#held < this.#wanted) return records;
    const all = this.#rest.length === 1 ? bytes : Buffer.concat(this.#rest, this.#held);
    let at = 0;
    for (;;) {
      const { record, end } = readRecord(all, at);
      this.#wanted = end - at;
      if (this.#wanted > RECORD_BYTES_MAX) {
        throw new StorageError('invalid', 'a record is longer than any record can be');
      }
      if (record === undefined) break;
      if (this.#lastKey !== undefined && record[0] <= this.#lastKey) {
        throw new StorageError('invalid', 'the records are not in order');
      }
      this.#lastKey = record[0];
      records.push(record);
      at = end;
    }
    this.#rest = at === all.length ? [] : [all.subarray(at)];
    this.#held = all.length - at;
    return records;
  }

  /** Throws StorageError `invalid` if the bytes end within a record. */
  end(): void {
    if (this.#held > 0) throw new StorageError('invalid', 'the records end within a record');
  }
}

/** Resolves in the next turn of the event loop. Long work is split with it. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
