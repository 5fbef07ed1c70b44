/**
 * Erases deleted secrets from the disk. The leader makes the cluster forget the results of requests
 * up to an index (`request.forget`), which may hold secrets. When that is applied, every member
 * compacts its log up to the index and rewrites its databases, in the background and one erasure at
 * a time.
 *
 * All members apply that entry at the same moment, and erasing occupies their disks. So each begins
 * at a random time within `spreadMs`, and the leader after the others:
 *
 *     applied   a begins         b begins    the leader begins
 *     |---------|----------------|-----------|
 *
 * Each start erases once more and at once, since nothing records whether the last process finished.
 */
import type { Index } from '../../raft/types.js';
import { forgottenAt } from '../../state/request-forget.js';
import type { View } from '../../state/types.js';
import type { LogPort } from '../ports.js';
import type { Compaction } from './compaction.js';

export interface ErasureParts {
  readonly view: View;
  readonly log: LogPort;
  readonly compaction: Pick<Compaction, 'cutThrough'>;
  readonly isLeader: () => boolean;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  /** See the head of this file. */
  readonly spreadMs: number;
  /** Removes deleted records from the files. `done` is called when they are gone. */
  readonly erase: (done: () => void) => void;
}

/** Erases deleted secrets of this server. */
export class Erasure {
  readonly #parts: ErasureParts;
  /** What was forgotten before this start. */
  readonly #found: Index;
  /** The last erasure that was begun erases up to here. */
  #through: Index = 0;
  /** When the next erasure became necessary, and the part of the time that it waits. */
  #waiting: { readonly sinceMs: number; readonly part: number } | undefined;
  #busy = false;

  constructor(parts: ErasureParts) {
    this.#parts = parts;
    this.#found = forgottenAt(parts.view);
  }

  /** Erases when there is something to erase and it is time to. */
  tick(nowMs: number): void {
    const { view, log, compaction, erase } = this.#parts;
    const through = forgottenAt(view);
    if (through <= this.#through) return;
    this.#waiting ??= { sinceMs: nowMs, part: this.#parts.random() };
    if (this.#busy || nowMs < this.#waiting.sinceMs + this.#waitMs(through)) return;
    if (log.firstIndex() <= through) {
      compaction.cutThrough(through);
      return;
    }
    this.#busy = true;
    this.#through = through;
    this.#waiting = undefined;
    erase(() => {
      this.#busy = false;
    });
  }

  #waitMs(through: Index): number {
    const { isLeader, spreadMs } = this.#parts;
    if (through <= this.#found) return 0;
    return (isLeader() ? 1 : this.#waiting!.part) * spreadMs;
  }
}
