/**
 * Commands that this node has given to the core and whose fate is open: by id until the core has appended them, then by
 * (index, term). An index alone would hand the result of another leader's command to the wrong caller.
 */
import type { DropReason, Index, Term } from '../../raft/types.js';
import type { Result } from '../../state/types.js';

/** What became of a proposal. `dropped`: certainly not in any log. `unknown`: it may be in a log still. */
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

  /** Takes up a proposal; gives the id by which the core speaks of it. */
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

  /** Entries from `index` on are overwritten in this log. They may live on in another one. */
  truncatedFrom(index: Index): void {
    this.#giveUp((at) => at >= index);
  }

  /** A snapshot took the place of the log up to `index`: what happened there cannot be seen any more. */
  skippedTo(index: Index): void {
    this.#giveUp((at) => at <= index);
  }

  /** The entry at (index, term) was applied. Of another term it is another leader's command, not the one proposed here. */
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
