/**
 * Shares long values between pinned views. A slowly read list keeps its view, and many lists may be
 * read at once, so each long value is in memory only once for all views that show the same one.
 */
import { ValueCache } from './value-cache.js';

/** Values of at least this length are shared: looking up a shorter one costs more than it saves. */
export const LONG_CHARS = 16 * 1024;
/** Characters of the shared values in memory. */
const KEPT_CHARS = 8 * 2 ** 20;

export class SharedValues {
  /** Values of the current state. */
  readonly #values = new ValueCache(KEPT_CHARS);
  /** Number of the last change of each key that has changed while a view was open. */
  readonly #changed = new Map<string, number>();
  #changes = 0;
  #views = 0;

  /** Registers a view. Returns the number of the last change that the view shows. */
  open(): number {
    this.#views += 1;
    return this.#changes;
  }

  /** Unregisters a view. */
  close(): void {
    this.#views -= 1;
    if (this.#views === 0) this.#changed.clear();
  }

  /** Records that a commit changes `key`. */
  noteChange(key: string): void {
    this.#values.delete(key);
    if (this.#views === 0) return;
    this.#changes += 1;
    this.#changed.set(key, this.#changes);
  }

  /** Whether a key has changed since a view was opened at `opened`. */
  hasChanged(key: string, opened: number): boolean {
    return (this.#changed.get(key) ?? 0) > opened;
  }

  /**
   * Returns the value of a key that has not changed since a view was opened. `read` reads it
   * through the view.
   */
  get(key: string, read: () => string | undefined): string | undefined {
    let value = this.#values.get(key);
    if (value !== undefined) return value;
    value = read();
    if (value !== undefined && value.length >= LONG_CHARS) this.#values.set(key, value);
    return value;
  }

  /** Drops all values: another state has replaced this one. */
  clear(): void {
    this.#values.clear();
  }
}
