/**
 * Finds abandoned restores: the server that received the upload stopped, or a part was applied
 * after its restore was aborted. A live restore adds parts all the time, so one that has not grown
 * for long enough is abandoned.
 */
import type { ClockPort } from '../../replica/ports.js';
import { restoreParts } from '../../state/restore.js';
import type { View } from '../../state/types.js';

/** The size of a restore, and since when it has had that size. */
interface Progress {
  readonly parts: number;
  readonly sinceMs: number;
}

/** Watches the restores under way while this server leads. */
export class IdleRestores {
  readonly #view: View;
  readonly #clock: Pick<ClockPort, 'now'>;
  readonly #idleMs: number;
  #progress = new Map<string, Progress>();

  /** `idleMs`: milliseconds without a new part after which a restore counts as abandoned. */
  constructor(view: View, clock: Pick<ClockPort, 'now'>, idleMs: number) {
    this.#view = view;
    this.#clock = clock;
    this.#idleMs = idleMs;
  }

  /** Compares the restores under way with the last call. Returns the id of an abandoned one. */
  next(): string | undefined {
    const now = this.#clock.now();
    const before = this.#progress;
    this.#progress = new Map();
    let abandoned: string | undefined;
    for (const [id, parts] of restoreParts(this.#view)) {
      const known = before.get(id);
      const progress = known?.parts === parts ? known : { parts, sinceMs: now };
      this.#progress.set(id, progress);
      if (now - progress.sinceMs >= this.#idleMs) abandoned = id;
    }
    return abandoned;
  }

  /** Starts over, because this server does not lead. */
  reset(): void {
    this.#progress = new Map();
  }
}
