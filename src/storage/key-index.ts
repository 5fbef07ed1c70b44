/**
 * Keys in memory, ordered by UTF-16 code unit, which is the same on every node. A clone shares its
 * nodes with the original until one of them changes.
 */

import { crc32 } from 'node:zlib';
import sortedBtree from 'sorted-btree';
import { bulkLoad } from 'sorted-btree/extended/bulkLoad.js';
import { compare } from '../base/text.js';
import { invariant } from '../raft/assert.js';
import { crcOf } from './crc.js';
import type { StateTally } from './types.js';

const NODE_SIZE = 64;

/**
 * An ordered map of keys to values. An index of keys alone maps each to `true`, because `get` is
 * faster than `has`.
 */
export type KeyIndex<V = true> = InstanceType<typeof sortedBtree.default<string, V>>;

/** Returns an empty index. */
export function newKeyIndex<V = true>(): KeyIndex<V> {
  return new sortedBtree.default<string, V>(undefined, compare, NODE_SIZE);
}

/** Returns an index of these keys. */
export function keyIndexOf(keys: readonly string[]): KeyIndex {
  // LevelDB sorts by UTF-8 bytes. The two orders differ only for characters outside the BMP.
  const isSorted = !keys.some((key, i) => i > 0 && keys[i - 1]! >= key);
  const ordered = isSorted ? keys.slice() : keys.toSorted(compare);
  if (ordered.length === 0) return newKeyIndex();
  const present = new Array<true>(ordered.length).fill(true);
  return bulkLoad(ordered, present, NODE_SIZE, compare);
}

/** Yields the keys that start with `prefix`, in order; those after `after` if it is given. */
export function* keysWith<V>(
  keyIndex: KeyIndex<V>,
  prefix: string,
  after?: string,
): IterableIterator<string> {
  const from = after !== undefined && after > prefix ? after : prefix;
  for (const key of keyIndex.keys(from)) {
    if (!key.startsWith(prefix)) return;
    if (key !== after) yield key;
  }
}

/**
 * Returns the text as it would come back from UTF-8. A lone surrogate has no UTF-8 form and becomes
 * U+FFFD here, so that a read returns the same before and after the write to disk, on every node.
 */
export function wellFormed(text: string): string {
  return isWellFormed.call(text) ? text : Buffer.from(text).toString();
}
const { isWellFormed } = String.prototype as unknown as { isWellFormed: () => boolean };

/** The CRC-32 of a record: its key, then its value. */
export function recordSum(key: string, value: string): number {
  return crc32(value, crcOf(key));
}

/** The number of sums that a tally distinguishes. */
const SUMS = 2 ** 48;

/**
 * Sums checksums of records, in any order. Two states with the same tally hold the same records,
 * except by a collision.
 */
export class Tally implements StateTally {
  count = 0;
  sum = 0;
  add(sum: number): void {
    this.count += 1;
    this.sum += sum;
    if (this.sum >= SUMS) this.sum -= SUMS;
  }
  remove(sum: number): void {
    invariant(this.count > 0, 'more records removed than added', { count: this.count });
    this.count -= 1;
    this.sum = (this.sum - sum + SUMS) % SUMS;
  }
  equals(other: StateTally): boolean {
    return this.count === other.count && this.sum === other.sum;
  }
}
