/** A deliberate fault: a change of the compiled text. */
import type { Fault } from './fault-kinds.js';
import type { NetworkKind } from './network.js';
import type { StorageKind } from './parts.js';

export interface Change {
  /** Below `src/` of the build. */
  readonly file: string;
  /** Must be there exactly once. */
  readonly find: string;
  readonly replace: string;
}
export interface Mutation {
  readonly name: string;
  /** What plays the worlds: whole clusters, or the random orders of Raft cores, where elections are far more frequent. */
  readonly by?: 'simulate' | 'worlds';
  /** The suites below `test/` that find it, where worlds would have to wait for it too long. */
  readonly suites?: string;
  /** A kind that each world is to have: else it would be found too, but late. */
  readonly fault?: Fault;
  /** What each world is to have, for the same reason. */
  readonly network?: NetworkKind;
  readonly storage?: StorageKind;
  readonly product?: true;
  readonly rights?: true;
  readonly changes: readonly Change[];
}

/** One that suites find. */
export const unit = (mutation: Mutation, suites: string): Mutation => ({ ...mutation, suites });

/** One change. */
export const one = (name: string, file: string, find: string, replace: string): Mutation => ({
  name,
  changes: [{ file, find, replace }],
});
