/** The interfaces of storage, beyond the `StateStore` that `state/` declares. */
import type { StateRecord, StateStore } from '../state/types.js';

export type { StateRecord } from '../state/types.js';

/** Record count and checksum of a whole state, to verify it after a transfer. See `recordSum`. */
export interface StateTally {
  readonly count: number;
  /** Sum of the CRC-32 of all records, in any order. */
  readonly sum: number;
}

/**
 * Builds a new state beside the current one and then switches to it. A crash at any point leaves
 * either the old state or the new one. A store has one installation at a time; beginning another
 * one aborts the first.
 */
export interface Installation {
  /**
   * Adds records. Resolves when they are on disk. The caller limits the chunk to about a megabyte.
   * Rejects with StorageError `invalid` if the installation was aborted.
   */
  add(records: readonly StateRecord[]): Promise<void>;
  /**
   * Reads back the added records, compares them with the tally, and switches to them. If they
   * differ, throws StorageError `invalid` and keeps the current state. Without a tally, for records
   * that this node made itself, it only switches. Commits made before the switch are lost with the
   * old state.
   */
  finish(tally?: StateTally): Promise<void>;
  /** Cancels the installation. The added records are removed in the background. */
  abort(): void;
}

/** A state store whose state can be replaced as a whole. */
export interface DurableState extends StateStore {
  install(): Installation;
}
