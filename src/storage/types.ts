/** What storage offers the node beyond the `StateStore` that `state/` declares. */
import type { StateRecord, StateStore } from '../state/types.js';

export type { StateRecord } from '../state/types.js';

/** What a whole state must be when it has arrived: see `recordSum`. */
export interface StateTally {
  readonly count: number;
  /** Sum of the CRC-32 of all records: does not depend on their order. */
  readonly sum: number;
}

/**
 * A second state, filled beside the present one and then switched in as a whole. A crash at any
 * point leaves the old state or the new one. One at a time per store; beginning another one aborts
 * the first.
 */
export interface Installation {
  /**
   * Adds records; resolves when they are on disk. The caller bounds the chunk (about a megabyte).
   */
  add(records: readonly StateRecord[]): Promise<void>;
  /**
   * Reads back what was added, compares it with the tally, and switches. Throws StorageError
   * `invalid` (and leaves the present state as it was) when they differ. Without a tally, for
   * records made by this node itself, it only switches. Commits made before the switch are gone
   * with the state they belong to.
   */
  finish(tally?: StateTally): Promise<void>;
  /** Gives up; what was added is removed in the background. */
  abort(): void;
}

/** A state store that can be replaced as a whole. */
export interface DurableState extends StateStore {
  install(): Installation;
}
