/**
 * Requests for a read index that the core has not answered. All that arrive before a step share one
 * read of the core (§6.4).
 */
import { invariant } from '../../raft/assert.js';
import type { Asker, Index, Input, ReadId } from '../../raft/types.js';

/** Gets the read index, or undefined when there is none. */
export type ReadDone = (index: Index | undefined) => void;

/** How the core makes sure that it still leads: by its lease, or by a round to a quorum (§6.4). */
export type ReadIndexMode = 'lease' | 'quorum';

/** The table of pending reads. */
export class PendingReads {
  readonly #byId = new Map<ReadId, readonly ReadDone[]>();
  /** Requests that no step has taken yet. */
  #waiting: Record<ReadIndexMode, ReadDone[]> = { lease: [], quorum: [] };
  /** The same for followers, each of which asks at most once per mode at a time. */
  #asked: { readonly mode: ReadIndexMode; readonly asker: Asker; readonly done: ReadDone }[] = [];
  #nextId = 1;

  /** Adds a request, of the follower `asker` if that is given. `done` is called once. */
  add(mode: ReadIndexMode, done: ReadDone, asker?: Asker): void {
    if (asker === undefined) this.#waiting[mode].push(done);
    else this.#asked.push({ mode, asker, done });
  }

  /**
   * Inputs for the requests added since the last call: at most one per mode, and one per request of
   * a follower.
   */
  take(): Input[] {
    const inputs: Input[] = [];
    for (const { mode, asker, done } of this.#asked.splice(0)) {
      const id = this.#nextId++;
      this.#byId.set(id, [done]);
      inputs.push({ type: 'read', ids: [id], mode, asker });
    }
    for (const mode of ['lease', 'quorum'] as const) {
      if (this.#waiting[mode].length === 0) continue;
      const id = this.#nextId++;
      this.#byId.set(id, this.#waiting[mode]);
      this.#waiting[mode] = [];
      inputs.push({ type: 'read', ids: [id], mode });
    }
    return inputs;
  }

  /** The core released the read at `index`, or dropped it: undefined. */
  settle(id: ReadId, index: Index | undefined): void {
    const readers = this.#byId.get(id);
    invariant(readers !== undefined, 'a read is answered twice', { id, index });
    this.#byId.delete(id);
    for (const done of readers) done(index);
  }
}
