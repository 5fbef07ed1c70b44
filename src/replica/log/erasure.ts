/**
 * Taking secrets off the disk after they were deleted. The leader has the cluster forget the results of requests up to some
 * index (`request.forget`), which may hold them; once that is applied, every member cuts its log up to there and rewrites
 * what its databases still hold. One at a time, in the background. A start erases once more, since nothing tells whether
 * the process before it came to the end.
 */
import { forgottenAt } from '../../state/requests.js';
import type { View } from '../../state/types.js';
import type { LogPort } from '../ports.js';
import type { Compaction } from './compaction.js';

export interface ErasureParts {
  readonly view: View;
  readonly log: LogPort;
  readonly compaction: Compaction;
  /** Takes what was deleted out of the files; `done` once it is gone. */
  readonly erase: (done: () => void) => void;
}

export class Erasure {
  readonly #parts: ErasureParts;
  #erasedAt = 0;
  #busy = false;

  constructor(parts: ErasureParts) {
    this.#parts = parts;
  }

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
