/** A state in memory with something in it. */
import type { View } from '../../src/state/types.js';
import { MemoryState } from '../../src/storage/memory-state.js';
import type { StateRecord } from '../../src/storage/types.js';

export const some: readonly StateRecord[] = Array.from({ length: 100 }, (_, i) => [
  `table\u0000${String(i).padStart(3, '0')}`,
  JSON.stringify({ name: `ünïcode ${i}`, text: 'x'.repeat(i * 3) }),
]);

export function stateOf(records: readonly StateRecord[]): MemoryState {
  const state = new MemoryState();
  state.commit(records);
  return state;
}

export const contents = (view: View): StateRecord[] =>
  [...view.keys('')].map((key) => [key, view.get(key)!]);

/** What a promise was rejected with; undefined when it was not. */
export const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );
