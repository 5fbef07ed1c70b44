/**
 * Removes deleted values from LevelDB's files, where they would stay until a compaction happens to
 * reach them.
 */
import { SECRET_TABLES } from '../state/secrets.js';
import type { Database, Operation } from './disk.js';
import { rangeOf } from './state-load.js';

/** Keys deleted in one step: bounds how long a step occupies LevelDB. */
const CLEAR_STEP = 2000;

/** Writes that make LevelDB rewrite a range. */
type Marks<K> = readonly Operation<K>[];

/** Flushes LevelDB's memtable into a table file and drops its log. `key` may be any key. */
function flushTables<K>(db: Database<K>, key: K): Promise<void> {
  return db.compact(key, key);
}

/**
 * Rewrites the range between two keys that are never records. Afterwards no file holds a value that
 * was deleted or replaced there, except those that an open snapshot of the database still sees.
 * Calls `write` with the operations to write.
 *
 * LevelDB drops an old value when it merges the table that holds it with a newer, overlapping one.
 * It leaves a table alone if none overlaps it. A value that was written and deleted in the same
 * memtable ends up in one table together with its deletion. So this flushes the memtable, then
 * writes two markers that span the range, which makes the next table overlap all others there:
 *
 *     from                                        to
 *     marker                                  marker      newest table, overlaps everything
 *        [secret=1, secret deleted]                       older table, alone without the markers
 */
export async function rewriteRange<K>(
  db: Database<K>,
  from: K,
  to: K,
  write: (marks: Marks<K>) => Promise<void>,
): Promise<void> {
  await flushTables(db, from);
  await write([
    { type: 'del', key: from },
    { type: 'del', key: to },
  ]);
  await db.compact(from, to);
}

/** Bounds of the keys of all generations, which begin with a digit. */
const FIRST_GENERATION = '0';
const PAST_GENERATIONS = ':';

/** Returns the ranges of keys in which there may be remains of secrets. */
export function secretRanges(generation: number): readonly (readonly [string, string])[] {
  const { gte, lt } = rangeOf(generation);
  // Around the current generation lies a state that is being restored, or the rest of a removal.
  return [
    [FIRST_GENERATION, gte],
    ...SECRET_TABLES.map((table) => [`${gte}${table}\u0000`, `${gte}${table}\u0001`] as const),
    [lt, PAST_GENERATIONS],
  ];
}

/**
 * Deletes the keys from `from` to `to`, both included, in bounded steps, and rewrites the range, so
 * that the space is returned and no file holds the values. Stops early when `isOpen` returns false.
 * Calls `write` with the operations of the rewrite.
 */
export async function removeRange<K>(
  db: Database<K>,
  range: { readonly from: K; readonly to: K },
  isOpen: () => boolean,
  write: (marks: Marks<K>) => Promise<void>,
): Promise<void> {
  const { from, to } = range;
  if (isOpen()) await flushTables(db, from);
  // Each step begins where the last one ended: LevelDB would read all deletions before that again.
  for (let next = from; isOpen(); ) {
    const some = await db.keys({ gte: next, lte: to }, CLEAR_STEP);
    const deletions = some.map((key) => ({ type: 'del' as const, key }));
    if (deletions.length > 0) await db.write(deletions, { sync: false });
    if (some.length < CLEAR_STEP) break;
    next = some.at(-1)!;
  }
  if (isOpen()) await rewriteRange(db, from, to, write);
}
