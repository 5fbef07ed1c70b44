/**
 * Taking what was deleted out of LevelDB's files, where it would stay until its own compaction
 * comes by.
 */
import type { ClassicLevel } from 'classic-level';

type Marks<K> = readonly { readonly type: 'del'; readonly key: K }[];

/** Moves what is only in LevelDB's log into a table, and drops that log. */
export function flushTables<K>(db: ClassicLevel<K, K>, key: K): Promise<void> {
  return db.compactRange(key, key);
}

/**
 * Rewrites everything between two keys that are never records, so that no value which was deleted
 * or replaced there is left in a file, but for those that an open snapshot of the database still
 * sees. `write` gets the operations to write.
 *
 * LevelDB drops an old value when it merges the table that holds it with a newer one, and leaves a
 * table alone that no newer one overlaps. A value that was written and deleted while both were in
 * memory lies in one table together with its deletion. So what is in memory becomes a table first,
 * and then two marks that span the range make it overlap.
 */
export async function rewriteRange<K>(
  db: ClassicLevel<K, K>,
  from: K,
  to: K,
  write: (marks: Marks<K>) => Promise<void>,
): Promise<void> {
  await flushTables(db, from);
  await write([
    { type: 'del', key: from },
    { type: 'del', key: to },
  ]);
  await db.compactRange(from, to);
}
