/**
 * Erases deleted secrets from the disk. The leader makes the cluster forget the results of requests
 * up to an index (`request.forget`), which may hold secrets. When that is applied, every member
 * compacts its log up to the index and rewrites its databases, in the background and one erasure at
 * a time. Each start erases once more, since nothing records whether the last process finished.
 */
import { forgottenAt } from '../../state/requests.js';
import type { View } from '../../state/types.js';
import type { LogPort } from '../ports.js';
import type { Compaction } from './compaction.js';

/** What Erasure needs. */
export interface ErasureParts {
  readonly view: View;
  readonly log: LogPort;
  readonly compaction: Compaction;
  /** Removes deleted records from the files. `done` is called when they are gone. */
  readonly erase: (done: () => void) => void;
}

/** Erases deleted secrets of this server. */
export class Erasure {
  readonly #parts: ErasureParts;
  #erasedAt = 0;
  #busy = false;

  constructor(parts: ErasureParts) {
    this.#parts = parts;
  }

  /** Erases when there is something to erase. */
  tick(): void {
    if (this.#busy) return;
    const { view, log, compaction, erase } = this.#parts;
    const through = forgottenAt(view);
    if (through <= this.#erasedAt) return;
    if (log.firstIndex() <= through) {
      compaction.cutThrough(through);
      return;
    }
    this.#busy = true;
    erase(() => {
      this.#busy = false;
      this.#erasedAt = through;
    });
  }
}
