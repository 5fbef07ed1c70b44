/**
 * A node whose disk has lost entries that it may have acknowledged (LogPort.bar): it has no vote until it has them again.
 * Its leader sees the loss when it compares the logs.
 */
import type { Driver } from './driver.js';
import type { LogPort } from './ports.js';

export interface LostEntriesParts {
  readonly driver: Driver;
  readonly log: LogPort;
  /** Everything is here again. */
  readonly found: () => void;
}

export class LostEntries {
  readonly #parts: LostEntriesParts;
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
    if (this.#parts.driver.barred && !this.#lifting && this.#isWhole()) this.#lift();
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
}
