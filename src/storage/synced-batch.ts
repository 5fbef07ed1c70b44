/** Batches of LevelDB, written with an fsync. */
import type { ClassicLevel } from 'classic-level';

/** One operation of a batch. */
export type Operation<T> =
  | { readonly type: 'put'; readonly key: T; readonly value: T }
  | { readonly type: 'del'; readonly key: T };

/**
 * Writes the operations in order as one batch and syncs it. Uses a chained batch: passing an array
 * makes LevelDB copy and check each operation, which costs several times as much as the write.
 */
export async function writeSynced<T>(
  db: ClassicLevel<T, T>,
  operations: readonly Operation<T>[],
): Promise<void> {
  const batch = db.batch();
  for (const operation of operations) {
    if (operation.type === 'put') batch.put(operation.key, operation.value);
    else batch.del(operation.key);
  }
  await batch.write({ sync: true });
}
