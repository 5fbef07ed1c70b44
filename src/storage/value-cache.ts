/**
 * Keeps recently read values, so that reading one again does not go to LevelDB, even if it has
 * changed since.
 *
 * There are two generations. A read of an old value moves it to the young one. When the young
 * generation is half of the limit, it becomes the old one, and the previous old one is dropped.
 */
export class ValueCache {
  #young = new Map<string, string>();
  #old = new Map<string, string>();
  #youngChars = 0;
  readonly #limitChars: number;

  /** `limitChars` bounds the characters of all keys and values together. */
  constructor(limitChars: number) {
    this.#limitChars = limitChars;
  }

  get(key: string): string | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const again = this.#old.get(key);
    if (again !== undefined) this.set(key, again);
    return again;
  }

  set(key: string, value: string): void {
    const before = this.#young.get(key);
    this.#young.set(key, value);
    this.#youngChars += value.length + (before === undefined ? key.length : -before.length);
    if (this.#youngChars <= this.#limitChars / 2) return;
    // Drops what was not read while this half filled up.
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngChars = 0;
  }

  /** Notes that a value has changed. It is kept if the value before is. */
  replace(key: string, value: string): void {
    if (this.#young.has(key) || this.#old.delete(key)) this.set(key, value);
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
    this.#youngChars = 0;
  }
}
