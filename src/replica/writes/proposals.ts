/**
 * Proposals whose outcome is open: by id until the core has appended them, then by index and term. With the index alone, a
 * caller could get the result of another leader's command.
 */
import type { DropReason, Index, Term } from '../../raft/types.js';
import type { Result } from '../../state/types.js';

/** The outcome of a proposal. `dropped`: certainly not in any log. `unknown`: it may still be in some log. */
export type Outcome =
  | { readonly kind: 'applied'; readonly index: Index; readonly result: Result | undefined }
  | { readonly kind: 'dropped'; readonly reason: DropReason }
  | { readonly kind: 'unknown' };

export type Settle = (outcome: Outcome) => void;

interface Appended {
  readonly term: Term;
  readonly settle: Settle;
}

export class Proposals {
  readonly #offered = new Map<number, Settle>();
  readonly #appended = new Map<Index, Appended>();
  #nextId = 1;

  get size(): number {
    return this.#offered.size + this.#appended.size;
  }

  /** Adds a proposal. Returns the id by which the core refers to it. */
  add(settle: Settle): number {
    const id = this.#nextId++;
    this.#offered.set(id, settle);
    return id;
  }

  /** The core appended it at (index, term). */
  appended(id: number, index: Index, term: Term): void {
    const settle = this.#offered.get(id);
    if (settle === undefined) throw new Error(`proposal ${id} was appended twice`);
    this.#offered.delete(id);
    this.#appended.set(index, { term, settle });
  }

  /** Ends a proposal that was not appended. */
  settle(id: number, outcome: Outcome): void {
    const settle = this.#offered.get(id);
    this.#offered.delete(id);
    settle?.(outcome);
  }

  /** Entries from `index` on are overwritten in this log. They may still be in another one. */
  truncatedFrom(index: Index): void {
    this.#giveUp((at) => at >= index);
  }

  /** A snapshot replaced the log up to `index`: the outcome of entries there cannot be known. */
  skippedTo(index: Index): void {
    this.#giveUp((at) => at <= index);
  }

  /** The entry at (index, term) was applied. If the term differs it is another leader's command, not the one proposed here. */
  applied(index: Index, term: Term, result: Result | undefined): void {
    const appended = this.#appended.get(index);
    if (appended === undefined) return;
    this.#appended.delete(index);
    const isOurs = appended.term === term;
    appended.settle(isOurs ? { kind: 'applied', index, result } : { kind: 'unknown' });
  }

  #giveUp(lost: (index: Index) => boolean): void {
    for (const [index, { settle }] of [...this.#appended]) {
      if (!lost(index)) continue;
      this.#appended.delete(index);
      settle({ kind: 'unknown' });
    }
  }
}
