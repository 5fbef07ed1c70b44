/**
 * Replaces the whole state by records that arrive in slices. See StateStore.rewrite.
 */
import type { StateRecord } from '../state/types.js';
import { StorageError } from './errors.js';
import type { Installation } from './types.js';

/** Does work in turns of the event loop, which `soon` begins, one for each step but the first. */
export async function inTurns<T>(
  work: Iterator<void, T>,
  soon: (run: () => void) => void,
): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    await new Promise<void>(soon);
  }
}

/**
 * Adds each slice in a turn of its own, which `soon` begins, then switches to the new state.
 * Resolves with false, changing nothing, if the slices return false or if another installation
 * replaces this one. Rejects if the disk fails.
 */
export async function rewriteBy(
  installation: Installation,
  slices: Iterator<readonly StateRecord[], boolean>,
  soon: (run: () => void) => void,
): Promise<boolean> {
  try {
    for (;;) {
      await new Promise<void>(soon);
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
