/** Synced batches of LevelDB. */
import type { ClassicLevel } from 'classic-level';

/** One record of a batch. */
export type Operation<T> =
  | { readonly type: 'put'; readonly key: T; readonly value: T }
  | { readonly type: 'del'; readonly key: T };

/**
 * Writes operations in order as one batch, and syncs it. Chained, because an array of operations is
 * copied, checked and encoded at several times the cost of all the rest of a write.
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
