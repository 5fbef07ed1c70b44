/**
 * When the results of requests are forgotten because one of them may hold a secret that was deleted: half of the time in
 * which secrets are to be gone after the deletion, so that no caller waits for them and a second deletion meanwhile, which
 * waits for the next turn, is in time too.
 */
import type { ClockPort } from '../replica/ports.js';
import { forgottenAt, type RequestForget } from '../state/requests.js';
import type { View } from '../state/types.js';

/** Results forgotten by one command: some milliseconds of applying. */
const RESULTS_PER_COMMAND = 500;

export interface ForgetScheduleParts {
  readonly view: View;
  readonly clock: Pick<ClockPort, 'now'>;
  /** See Machine. */
  readonly secretLeftAt: () => number;
  readonly secretsGoneMs: number;
}

export class ForgetSchedule {
  readonly #parts: ForgetScheduleParts;
  #due: { readonly upTo: number; readonly atMs: number } | undefined;

  constructor(parts: ForgetScheduleParts) {
    this.#parts = parts;
  }

  /** The command that is due, if one is. */
  next(): RequestForget | undefined {
    const { view, clock, secretLeftAt, secretsGoneMs } = this.#parts;
    const forgotten = forgottenAt(view);
    if (this.#due !== undefined && forgotten >= this.#due.upTo) this.#due = undefined;
    const leftAt = secretLeftAt();
    if (leftAt <= forgotten) return undefined;
    this.#due ??= { upTo: leftAt, atMs: clock.now() + secretsGoneMs / 2 };
    const { upTo, atMs } = this.#due;
    if (clock.now() < atMs) return undefined;
    return { type: 'request.forget', v: 1, upTo, max: RESULTS_PER_COMMAND };
  }

  /** Begins anew: this server has not led for a while. */
  forget(): void {
    this.#due = undefined;
  }
}
