/**
 * Suspends the vote of a server whose disk has lost entries that it may have acknowledged
 * (LogPort.bar), until it has them again. Its leader notices the loss when it compares the logs.
 */
import type { RaftLoop } from '../loop.js';
import type { LogPort } from '../ports.js';

export interface VotingSuspensionParts {
  readonly loop: RaftLoop;
  readonly log: LogPort;
  /** All entries are back. */
  readonly found: () => void;
}

/** Keeps the vote suspended while entries are lost. */
export class VotingSuspension {
  readonly #parts: VotingSuspensionParts;
  #lifting = false;

  constructor(parts: VotingSuspensionParts) {
    this.#parts = parts;
    this.look();
  }

  /** Reads the bar again; it may have changed with the log. */
  look(): void {
    const { loop, log } = this.#parts;
    loop.elections.votingSuspended = log.bar?.() !== undefined;
  }

  /** Resumes voting when the lost entries are back. */
  tick(): void {
    if (this.#parts.loop.elections.votingSuspended && !this.#lifting && this.#isWhole())
      this.#lift();
  }

  /** Whether the lost entries are back; see LogPort.bar. */
  #isWhole(): boolean {
    const { loop, log } = this.#parts;
    const bar = log.bar?.();
    const { settledIndex } = loop;
    return (
      bar === undefined || settledIndex >= bar.index || (log.term(settledIndex) ?? 0) > bar.term
    );
  }

  #lift(): void {
    this.#lifting = true;
    this.#parts.log.liftBar?.(() => {
      this.#lifting = false;
      this.look();
      this.#parts.found();
    });
  }
}
