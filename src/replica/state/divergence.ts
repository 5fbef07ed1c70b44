/** What a server does whose state was found to differ from the other members'. */
import type { Index } from '../../raft/types.js';
import type { Availability } from '../availability.js';

export interface DivergenceParts {
  readonly availability: Availability;
  /** See ReplicaReports. */
  readonly onDiffers?: ((why: string) => void) | undefined;
}

/** Stops serving once the state is known to be wrong. */
export class Divergence {
  readonly #parts: DivergenceParts;
  /** Index at which the state was last replaced as a whole. */
  #replacedIndex: Index = 0;

  constructor(parts: DivergenceParts) {
    this.#parts = parts;
  }

  /** The state was replaced as a whole. Comparisons of the state before it do not count. */
  replaced(index: Index): void {
    this.#replacedIndex = index;
  }

  /** A comparison at `index` found that the state differs in a table. */
  found(index: Index, table: string): void {
    const { availability, onDiffers } = this.#parts;
    if (availability.fault !== undefined || index <= this.#replacedIndex) return;
    const why = `its state differs from the other servers' in table "${table}" at index ${index}`;
    onDiffers?.(why);
    availability.fail(why);
  }
}
