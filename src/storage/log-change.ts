/** What the log writes as one synced batch, and how several become one. */
import type { Index } from '../raft/types.js';
import type { Operation } from './batch.js';
import { encodeSealed } from './record.js';
import type { Marks } from './witness.js';

/** One synced batch and what the witness is told around it. */
export interface Change {
  readonly operations: Operation<Buffer>[];
  /** Every entry above is dropped in the same batch. */
  readonly dropAbove?: Index;
  /**
   * The log becomes shorter: the witness must not claim more than this before the batch is written.
   */
  readonly lowerTo?: Index;
  readonly marks: Marks;
  /** The marks must be on disk before the change counts as done. */
  readonly urgent?: boolean;
}

/** Changes that follow each other as one: LevelDB does the operations of a batch in order. */
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

/** Writes a small record of JSON. */
export const sealedPut = (key: Buffer, content: unknown): Operation<Buffer> => ({
  type: 'put',
  key,
  value: encodeSealed(key, content),
});
