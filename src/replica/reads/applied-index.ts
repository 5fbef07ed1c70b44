/**
 * Calls that wait until an index is applied. Indexes come nearly in order, so a sorted list is
 * enough.
 */
import type { Index } from '../../raft/types.js';

interface Waiter {
  readonly index: Index;
  readonly run: () => void;
  waiting: boolean;
}

/** The applied index of this server, and who waits for it. */
export class AppliedIndex {
  readonly #applied: () => Index;
  /** Sorted by index, ascending. */
  #waiters: Waiter[] = [];

  constructor(applied: () => Index) {
    this.#applied = applied;
  }

  get size(): number {
    return this.#waiters.length;
  }

  /** Calls `run` when `index` is applied, which may be at once. Returns a cancel function. */
  when(index: Index, run: () => void): () => void {
    if (this.#applied() >= index) {
      run();
      return () => {};
    }
    const waiter: Waiter = { index, run, waiting: true };
    let at = this.#waiters.length;
    while (at > 0 && this.#waiters[at - 1]!.index > index) at -= 1;
    this.#waiters.splice(at, 0, waiter);
    return () => {
      if (!waiter.waiting) return;
      waiter.waiting = false;
      this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
    };
  }

  reached(index: Index): void {
    if (this.#waiters.length === 0 || this.#waiters[0]!.index > index) return;
    const after = this.#waiters.findIndex((waiter) => waiter.index > index);
    const ready = after < 0 ? this.#waiters.splice(0) : this.#waiters.splice(0, after);
    for (const waiter of ready) {
      if (!waiter.waiting) continue;
      waiter.waiting = false;
      waiter.run();
    }
  }
}
