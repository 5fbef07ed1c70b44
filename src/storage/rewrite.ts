/**
 * A whole state drawn from slices and put in the place of the present one. See StateStore.rewrite.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { StateRecord } from '../state/types.js';
import { StorageError } from './errors.js';
import type { Installation } from './types.js';

/**
 * Adds every slice in a turn of its own, then switches. Resolves with false when the slices end so,
 * or when the installation is given up for another one. Rejects when the disk fails.
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
