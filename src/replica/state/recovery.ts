/**
 * A node whose state is lost, or known to be wrong: nothing is applied and nothing served until the leader has sent its
 * own. The log is not touched by this, so the node goes on voting and storing.
 */
import type { ClockPort } from '../ports.js';
import type { Replica } from '../replica.js';

export interface StateRecoveryParts {
  readonly replica: Replica;
  readonly clock: ClockPort;
  /** Milliseconds between questions. */
  readonly againMs: number;
  /** A state is arriving; asking would begin anew. */
  readonly arriving: () => boolean;
}

export class StateRecovery {
  readonly #parts: StateRecoveryParts;
  #why: string | undefined;

  constructor(parts: StateRecoveryParts) {
    this.#parts = parts;
  }

  /** Asks for a state until there is one, because of `why`. */
  begin(why: string): void {
    const { replica } = this.#parts;
    this.#why = why;
    replica.availability.notReady = `${why}; the state is being fetched from the leader`;
    replica.loop.pauseApply();
    this.#ask();
  }

  /** The state that was arriving did not. */
  failed(): void {
    if (this.#why === undefined) this.#parts.replica.loop.resumeApply();
  }

  /** Another state is in the place of the one that was lost, and the machine has taken it up. */
  found(): void {
    this.#why = undefined;
    this.#parts.replica.availability.notReady = undefined;
  }

  /** Asks no more. */
  stop(): void {
    this.#why = undefined;
  }

  #ask(): void {
    const { replica, clock, againMs, arriving } = this.#parts;
    if (this.#why === undefined) return;
    if (!arriving()) replica.requestState();
    clock.after(againMs, () => this.#ask());
  }
}
