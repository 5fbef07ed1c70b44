/**
 * A node whose disk has lost entries that it may have acknowledged (LogPort.bar): it has no vote until it has them again,
 * and its leader must not count on what it said before.
 */
import type { NodeId, Term } from '../raft/types.js';
import { decodeAnswer, encodeAsk } from './asks.js';
import type { Driver } from './driver.js';
import type { LogPort, WirePort } from './ports.js';

export interface LostEntriesParts {
  readonly id: NodeId;
  readonly driver: Driver;
  readonly log: LogPort;
  readonly wire: WirePort;
  readonly askMs: number;
  /** Everything is here again. */
  readonly found: () => void;
}

export class LostEntries {
  readonly #parts: LostEntriesParts;
  /** The term whose leader knows. */
  #confessedTerm: Term | undefined;
  #lifting = false;

  constructor(parts: LostEntriesParts) {
    this.#parts = parts;
    this.look();
  }

  /** The bar may have changed with the log. */
  look(): void {
    const { driver, log } = this.#parts;
    driver.barred = log.bar?.() !== undefined;
  }

  tick(): void {
    if (!this.#parts.driver.barred || this.#lifting) return;
    if (this.#isWhole()) this.#lift();
    else this.#confess();
  }

  /** See LogPort.bar for when that is. */
  #isWhole(): boolean {
    const { driver, log } = this.#parts;
    const bar = log.bar?.();
    const { settledIndex } = driver;
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

  /** Says so to each new leader, which then compares the logs anew. */
  #confess(): void {
    const { id, driver, wire, askMs } = this.#parts;
    const { leader, term } = driver.role;
    if (leader === null || leader === id || this.#confessedTerm === term) return;
    this.#confessedTerm = term;
    wire.request(leader, encodeAsk({ type: 'forgotten' }), askMs, (bytes) => {
      const answer = bytes === undefined ? undefined : decodeAnswer(bytes);
      if (answer?.type !== 'done') this.#confessedTerm = undefined;
    });
  }
}
