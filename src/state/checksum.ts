/**
 * A checksum per table, kept up to date change by change. It is the sum of a 64-bit hash of every key and value, so
 * neither the order of changes nor the way to a state matters: members with equal state have equal sums.
 */
import { hash } from 'node:crypto';
import type { Change, View } from './types.js';

/** Tables that belong to one node alone, or that hold the checksums themselves. */
const LOCAL = new Set(['machine', 'local']);

/** Table of a key: its first part. */
export function tableOf(key: string): string {
  const end = key.indexOf('\u0000');
  return end < 0 ? key : key.slice(0, end);
}

/** Sums by table. Tables that are empty have no sum. */
export class Checksums {
  readonly #sums = new Map<string, bigint>();

  /** Takes up a change of `key` from `before` to `after` (undefined: absent). */
  change(key: string, before: string | undefined, after: string | undefined): void {
    const table = tableOf(key);
    if (LOCAL.has(table) || before === after) return;
    let sum = this.#sums.get(table) ?? 0n;
    if (before !== undefined) sum -= hashOf(key, before);
    if (after !== undefined) sum += hashOf(key, after);
    sum = BigInt.asUintN(64, sum);
    if (sum === 0n) this.#sums.delete(table);
    else this.#sums.set(table, sum);
  }

  /** Sums as 16 hex digits, tables in order: comparable and storable. */
  toJSON(): Record<string, string> {
    const tables = [...this.#sums].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(
      tables.map(([table, sum]) => [table, sum.toString(16).padStart(16, '0')]),
    );
  }

  static from(stored: Readonly<Record<string, string>>): Checksums {
    const sums = new Checksums();
    for (const [table, sum] of Object.entries(stored)) sums.#sums.set(table, BigInt('0x' + sum));
    return sums;
  }

  /** Counts everything again: what the incremental sums must equal. */
  static of(view: View): Checksums {
    const sums = new Checksums();
    for (const key of view.keys('')) sums.change(key, undefined, view.get(key));
    return sums;
  }
}

/** Takes up the changes of a commit, given the state before it. */
export function changeAll(sums: Checksums, before: View, changes: readonly Change[]): void {
  for (const [key, after] of changes) sums.change(key, before.get(key), after);
}

function hashOf(key: string, value: string): bigint {
  return hash('sha256', `${key}\u0001${value}`, 'buffer').readBigUInt64LE(0);
}
