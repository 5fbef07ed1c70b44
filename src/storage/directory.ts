/**
 * The keys of a state in memory, in order (by UTF-16 code unit, the same on every node). A clone
 * costs nothing until one of the two is changed.
 */
import { crc32 } from 'node:zlib';
import sortedBtree from 'sorted-btree';
import { bulkLoad } from 'sorted-btree/extended/bulkLoad.js';
import type { StateTally } from './types.js';

const NODE_SIZE = 64;
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Keys with their values; a directory of keys alone has `true` for each, which `get` tells faster
 * than `has`.
 */
export type Directory<V = true> = InstanceType<typeof sortedBtree.default<string, V>>;

/** An empty directory. */
export function newDirectory<V = true>(): Directory<V> {
  return new sortedBtree.default<string, V>(undefined, compare, NODE_SIZE);
}

/** A directory of these keys, which may be almost in order, and their tally. */
export function directoryOf(keys: string[]): { directory: Directory; keyTally: Tally } {
  const keyTally = new Tally();
  for (const key of keys) keyTally.add(keySum(key));
  // LevelDB sorts by UTF-8 bytes: that differs from our order only for characters beyond the basic
  // plane.
  if (keys.some((key, i) => i > 0 && keys[i - 1]! >= key)) keys.sort(compare);
  if (keys.length === 0) return { directory: newDirectory(), keyTally };
  const present = new Array<true>(keys.length).fill(true);
  return { directory: bulkLoad(keys, present, NODE_SIZE, compare), keyTally };
}

/** Keys that start with `prefix`, strictly after `after` if given. */
export function* keysWith<V>(
  directory: Directory<V>,
  prefix: string,
  after?: string,
): IterableIterator<string> {
  const from = after !== undefined && after > prefix ? after : prefix;
  for (const key of directory.keys(from)) {
    if (!key.startsWith(prefix)) return;
    if (key !== after) yield key;
  }
}

/**
 * Text as it comes back from UTF-8. A lone surrogate has no UTF-8 form; it becomes U+FFFD at once,
 * so that a read gives the same before and after the write to disk, and on every node.
 */
export function wellFormed(text: string): string {
  return isWellFormed.call(text) ? text : Buffer.from(text).toString();
}
const { isWellFormed } = String.prototype as unknown as { isWellFormed: () => boolean };

/** CRC-32 over a record: key and value. */
export function recordSum(key: string, value: string): number {
  return crc32(value, crc32(key));
}

/** CRC-32 over a key alone. */
export const keySum = (key: string): number => crc32(key);

/** Adds records up: two states with the same tally hold the same records, but for chance. */
export class Tally implements StateTally {
  count = 0;
  sum = 0;
  add(sum: number): void {
    this.count += 1;
    this.sum = (this.sum + sum) % 2 ** 48;
  }
  remove(sum: number): void {
    this.count -= 1;
    this.sum = (this.sum - sum + 2 ** 48) % 2 ** 48;
  }
  equals(other: StateTally): boolean {
    return this.count === other.count && this.sum === other.sum;
  }
}
