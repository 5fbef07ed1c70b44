/**
 * Long values that pinned views read, each in memory once for all views that show the same: lists
 * that are read slowly keep what they are made of, and many may be read at a time.
 */
import { RecentValues } from './recent-values.js';

/** Values of this length are shared: shorter ones cost less than looking for them. */
export const LONG_CHARS = 16 * 1024;
/** Characters of the values that are kept. */
const KEPT_CHARS = 8 * 2 ** 20;

export class SharedValues {
  /** As they are in the present state. */
  readonly #values = new RecentValues(KEPT_CHARS);
  /** When a key changed last, for those that changed while views are open. */
  readonly #changed = new Map<string, number>();
  #changes = 0;
  #views = 0;

  /** A view is opened; gives what it reads by. */
  open(): number {
    this.#views += 1;
    return this.#changes;
  }

  close(): void {
    this.#views -= 1;
    if (this.#views === 0) this.#changed.clear();
  }

  noteChange(key: string): void {
    this.#values.delete(key);
    if (this.#views === 0) return;
    this.#changes += 1;
    this.#changed.set(key, this.#changes);
  }

  /**
   * The value of a key for a view that was opened at `opened`; `read` gets it from the view itself.
   */
  get(key: string, opened: number, read: () => string | undefined): string | undefined {
    if ((this.#changed.get(key) ?? 0) > opened) return read();
    let value = this.#values.get(key);
    if (value !== undefined) return value;
    value = read();
    if (value !== undefined && value.length >= LONG_CHARS) this.#values.set(key, value);
    return value;
  }

  /** Another state takes the place of this one. */
  clear(): void {
    this.#values.clear();
  }
}
