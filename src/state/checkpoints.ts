/** The checksums that a member remembers, so that members can compare theirs at equal indexes. */
import { invariant } from '../raft/assert.js';
import type { Index } from '../raft/types.js';

/** The checksums of a member's state after the entry at an index. */
export interface Checkpoint {
  readonly index: Index;
  readonly sums: Readonly<Record<string, string>>;
}

/** Checkpoints that a member remembers: a member that lags this far behind cannot be compared. */
const CHECKPOINTS_KEPT = 64;

/** The newest checkpoints, in order. */
export class Checkpoints {
  readonly #kept: Checkpoint[] = [];

  remember(checkpoint: Checkpoint): void {
    const [index, newest] = [checkpoint.index, this.#kept.at(-1)?.index ?? 0];
    invariant(index > newest, 'a checkpoint before the newest one', { index, newest });
    this.#kept.push(checkpoint);
    if (this.#kept.length > CHECKPOINTS_KEPT) this.#kept.shift();
  }

  /** Returns the checkpoint at `index`, or the newest one; undefined if it is not remembered. */
  at(index?: Index): Checkpoint | undefined {
    if (index === undefined) return this.#kept.at(-1);
    return this.#kept.find((checkpoint) => checkpoint.index === index);
  }
}
