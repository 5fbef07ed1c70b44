/**
 * Replaces the whole state by records that arrive in slices. See StateStore.rewrite.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { StateRecord } from '../state/types.js';
import { StorageError } from './errors.js';
import type { Installation } from './types.js';

/**
 * Adds each slice in a turn of its own, then switches to the new state. Resolves with false,
 * changing nothing, if the slices return false or if another installation replaces this one.
 * Rejects if the disk fails.
 */
export async function rewriteBy(
  installation: Installation,
  slices: Iterator<readonly StateRecord[], boolean>,
): Promise<boolean> {
  try {
    for (;;) {
      await turn();
      const { done, value } = slices.next();
      if (done === true) {
        if (value) await installation.finish();
        else installation.abort();
        return value;
      }
      if (value.length > 0) await installation.add(value);
    }
  } catch (error) {
    if (error instanceof StorageError && error.code === 'invalid') return false;
    installation.abort();
    throw error;
  }
}
