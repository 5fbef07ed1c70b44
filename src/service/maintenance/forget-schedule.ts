/**
 * Decides when the leader makes all members forget the remembered results of requests, because one
 * of them may contain a deleted secret. It waits for three eighths of the time in which deleted
 * secrets must be gone. By then no caller waits for such a result. A secret that is deleted while
 * the first one waits has to wait for three eighths after that, and is gone in time too: the rest
 * is for the members, which erase one after another (`eraseSpreadMs`).
 */
import type { ClockPort } from '../../replica/ports.js';
import { forgottenAt, type RequestForget } from '../../state/request-forget.js';
import type { View } from '../../state/types.js';

/** Results that one command forgets. Applying it takes a few milliseconds. */
const RESULTS_PER_COMMAND = 500;

/** The part of `secretsGoneMs` that it waits. */
const WAITED = 3 / 8;

export interface ForgetScheduleParts {
  readonly view: View;
  readonly clock: Pick<ClockPort, 'now'>;
  /** Returns the last index at which a secret was deleted or replaced. See `Machine`. */
  readonly secretLeftAt: () => number;
  /** Milliseconds after its deletion in which a secret must be gone from all disks. */
  readonly secretsGoneMs: number;
}

/** Schedules `request.forget` while this server leads. */
export class ForgetSchedule {
  readonly #parts: ForgetScheduleParts;
  #due: { readonly upTo: number; readonly atMs: number } | undefined;

  constructor(parts: ForgetScheduleParts) {
    this.#parts = parts;
  }

  /** Returns the command if it is due. */
  next(): RequestForget | undefined {
    const { view, clock, secretLeftAt, secretsGoneMs } = this.#parts;
    const forgotten = forgottenAt(view);
    if (this.#due !== undefined && forgotten >= this.#due.upTo) this.#due = undefined;
    const leftAt = secretLeftAt();
    if (leftAt <= forgotten) return undefined;
    this.#due ??= { upTo: leftAt, atMs: clock.now() + secretsGoneMs * WAITED };
    const { upTo, atMs } = this.#due;
    if (clock.now() < atMs) return undefined;
    return { type: 'request.forget', v: 1, upTo, max: RESULTS_PER_COMMAND };
  }

  /** Starts over, because this server does not lead: another leader has a schedule of its own. */
  reset(): void {
    this.#due = undefined;
  }
}
