/** Changes of the log, each written as one synced batch, and how several are merged into one. */
import type { Index } from '../raft/types.js';
import type { Operation } from './disk.js';
import { encodeSealed } from './record.js';
import type { Marks } from './witness.js';

/** One synced batch, and the marks that the witness records before and after it. */
export interface Change {
  readonly operations: Operation<Buffer>[];
  /** The batch also drops every entry above this index. */
  readonly dropAbove?: Index;
  /**
   * Set when the log becomes shorter. The witness must claim no more than this index before the
   * batch is written.
   */
  readonly lowerTo?: Index;
  /** What holds once the batch is written. */
  readonly marks: Marks;
  /** The witness must have synced the marks before the change is reported as done. */
  readonly urgent?: boolean;
}

/** Merges consecutive changes. LevelDB applies the operations of a batch in order. */
export function merge(changes: readonly Change[]): Change {
  if (changes.length === 1) return changes[0]!;
  const lowest = changes.reduce((low, change) => Math.min(low, change.lowerTo ?? low), Infinity);
  return {
    operations: changes.flatMap((change) => change.operations),
    lowerTo: lowest,
    marks: changes.at(-1)!.marks,
    urgent: changes.some((change) => change.urgent),
  };
}

/** Returns the operation that writes a small JSON record with a checksum. */
export const sealedPut = (key: Buffer, content: unknown): Operation<Buffer> => ({
  type: 'put',
  key,
  value: encodeSealed(key, content),
});
