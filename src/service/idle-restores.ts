/**
 * Restores that died: the server that took the upload went away, or a part was applied after its restore was given up. A
 * restore that is alive adds parts all the time, so one that has not grown for long enough is dead.
 */
import type { ClockPort } from '../replica/ports.js';
import { restoreParts } from '../state/restore.js';
import type { View } from '../state/types.js';

interface Seen {
  readonly parts: number;
  readonly sinceMs: number;
}

export class IdleRestores {
  readonly #view: View;
  readonly #clock: Pick<ClockPort, 'now'>;
  readonly #idleMs: number;
  #seen = new Map<string, Seen>();

  /** `idleMs`: milliseconds without a new part after which a restore is dead. */
  constructor(view: View, clock: Pick<ClockPort, 'now'>, idleMs: number) {
    this.#view = view;
    this.#clock = clock;
    this.#idleMs = idleMs;
  }

  /** Looks at the restores under way; gives the id of one that is dead. */
  next(): string | undefined {
    const now = this.#clock.now();
    const before = this.#seen;
    this.#seen = new Map();
    let dead: string | undefined;
    for (const [id, parts] of restoreParts(this.#view)) {
      const known = before.get(id);
      const seen = known?.parts === parts ? known : { parts, sinceMs: now };
      this.#seen.set(id, seen);
      if (now - seen.sinceMs >= this.#idleMs) dead = id;
    }
    return dead;
  }

  /** Begins to watch anew: this server has not led for a while. */
  forget(): void {
    this.#seen = new Map();
  }
}
