/**
 * A checksum per table, updated with every change. It is the sum of 64-bit hashes, one of each key
 * with its value. A sum does not depend on the order of changes, so members with equal states have
 * equal checksums:
 *
 *     put a, put b, delete a   →   h(a) + h(b) - h(a) = h(b)
 */
import type { View } from './types.js';

/**
 * Tables without a checksum: the records of one node, the record with the checksums, and a state
 * that is being restored, whose checksums are in a record of the restore.
 */
const LOCAL = new Set(['machine', 'local', 'next']);

/** The key that was asked for last, and its table: what is done with a key asks several times. */
const last = { key: '', table: '' };

/** Returns the table of a key: its first part. */
export function tableOf(key: string): string {
  if (key === last.key) return last.table;
  const end = key.indexOf('\u0000');
  last.table = end < 0 ? key : key.slice(0, end);
  last.key = key;
  return last.table;
}

/** A sum as two halves of 32 bits. */
interface Sum {
  high: number;
  low: number;
  /** The sum as 16 hex digits; undefined since it changed. */
  text: string | undefined;
}

/** The hash of one record in two halves, as signed integers, which are the smallest in memory. */
export interface RecordHash {
  readonly high: number;
  readonly low: number;
}

/** Returns the hash of a record. */
export function hashOf(key: string, value: string): RecordHash {
  hashInto(lanes, key, value);
  return { high: lanes.high | 0, low: lanes.low | 0 };
}

/** The hash of a record whose value grows at its end: what is added is hashed once. */
export class GrowingHash {
  readonly #state: Mixing = { a: 0, b: 0 };

  constructor(key: string) {
    begin(this.#state, key);
  }

  /** Adds to the end of the value. */
  add(text: string): void {
    mix(this.#state, text);
  }

  get value(): RecordHash {
    finish(this.#state, lanes);
    return { high: lanes.high | 0, low: lanes.low | 0 };
  }
}

/** The checksums by table. An empty table has none. */
export class Checksums {
  /** In order of the tables once `#isSorted`. */
  #sums = new Map<string, Sum>();
  #isSorted = true;

  /** Adds a change of `key` from `before` to `after`; undefined stands for absent. */
  change(key: string, before: string | undefined, after: string | undefined): void {
    const table = tableOf(key);
    if (LOCAL.has(table) || before === after) return;
    const sum = this.#sumOf(table);
    if (before !== undefined) {
      hashInto(lanes, key, before);
      sum.high = (sum.high - lanes.high) >>> 0;
      sum.low = (sum.low - lanes.low) >>> 0;
    }
    if (after !== undefined) {
      hashInto(lanes, key, after);
      sum.high = (sum.high + lanes.high) >>> 0;
      sum.low = (sum.low + lanes.low) >>> 0;
    }
    sum.text = undefined;
    if (sum.high === 0 && sum.low === 0) this.#sums.delete(table);
  }

  /** Adds a change of a record by its hashes; undefined stands for absent. */
  replace(key: string, before: RecordHash | undefined, after: RecordHash | undefined): void {
    const table = tableOf(key);
    const sum = this.#sumOf(table);
    sum.high = (sum.high - (before?.high ?? 0) + (after?.high ?? 0)) >>> 0;
    sum.low = (sum.low - (before?.low ?? 0) + (after?.low ?? 0)) >>> 0;
    sum.text = undefined;
    if (sum.high === 0 && sum.low === 0) this.#sums.delete(table);
  }

  /**
   * Returns the checksums by table, as 16 hex digits each. The tables are in order, so that equal
   * checksums have equal texts.
   */
  toJSON(): Record<string, string> {
    if (!this.#isSorted) this.#sums = new Map([...this.#sums].sort(([a], [b]) => (a < b ? -1 : 1)));
    this.#isSorted = true;
    const json: Record<string, string> = {};
    for (const [table, sum] of this.#sums) {
      sum.text ??= hex(sum.high) + hex(sum.low);
      json[table] = sum.text;
    }
    return json;
  }

  /** Returns the checksums that `toJSON` returned. */
  static from(stored: Readonly<Record<string, string>>): Checksums {
    const sums = new Checksums();
    for (const [table, text] of Object.entries(stored)) {
      const [high, low] = [text.slice(0, 8), text.slice(8)].map((half) =>
        Number.parseInt(half, 16),
      );
      sums.#sums.set(table, { high: high!, low: low!, text });
    }
    sums.#isSorted = false;
    return sums;
  }

  /** Computes the checksums of a whole state, which the incremental ones must equal. */
  static of(view: View): Checksums {
    const sums = new Checksums();
    for (const key of view.keys('')) sums.change(key, undefined, view.get(key));
    return sums;
  }

  #sumOf(table: string): Sum {
    let sum = this.#sums.get(table);
    if (sum === undefined) {
      sum = { high: 0, low: 0, text: undefined };
      this.#sums.set(table, sum);
      this.#isSorted = false;
    }
    return sum;
  }
}

/** Returns 8 hex digits. A commit makes dozens of them, and padding takes longer. */
const hex = (lane: number): string =>
  lane >= 0x10000000 ? lane.toString(16) : (lane + 0x100000000).toString(16).slice(1);

interface Lanes {
  high: number;
  low: number;
}
const lanes: Lanes = { high: 0, low: 0 };

/** Two multiplicative hashes of characters, before they are mixed with each other. */
interface Mixing {
  a: number;
  b: number;
}
const mixing: Mixing = { a: 0, b: 0 };

/**
 * Computes two multiplicative hashes of the characters, and mixes each with the other at the end.
 * They detect faults, not attacks. States contain the results, so the function may never change
 * under the same record version.
 */
function hashInto(into: Lanes, key: string, value: string): void {
  begin(mixing, key);
  mix(mixing, value);
  finish(mixing, into);
}

function begin(state: Mixing, key: string): void {
  state.a = 0x9e3779b9 | 0;
  state.b = 0x85ebca6b | 0;
  mix(state, key);
  // Separates key and value: no character has this code.
  state.a = Math.imul(state.a ^ 0x10000, 0x01000193);
  state.b = Math.imul(state.b + 0x10000, 0xc2b2ae35);
}

function mix(state: Mixing, text: string): void {
  let { a, b } = state;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b + unit, 0xc2b2ae35);
  }
  state.a = a;
  state.b = b;
}

function finish({ a, b }: Mixing, into: Lanes): void {
  into.high = mixed(a ^ (b >>> 13));
  into.low = mixed(b ^ (a >>> 15));
}

function mixed(lane: number): number {
  let mixing = Math.imul(lane ^ (lane >>> 16), 0x7feb352d);
  mixing = Math.imul(mixing ^ (mixing >>> 15), 0x846ca68b);
  return (mixing ^ (mixing >>> 16)) >>> 0;
}
