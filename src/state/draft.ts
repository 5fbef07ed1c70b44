/** The draft of a command: the state and, above it, changes that are not committed yet. */
import type { Change, Draft, View } from './types.js';

/** Keeps changes in memory above a view that does not change meanwhile. */
export class Overlay implements Draft {
  readonly #base: View;
  /** Values read from the base, because reading from disk is slow. */
  readonly #read = new Map<string, string | undefined>();
  readonly #changes = new Map<string, string | undefined>();

  constructor(base: View) {
    this.#base = base;
  }

  get(key: string): string | undefined {
    if (this.#changes.has(key)) return this.#changes.get(key);
    const value = this.before(key);
    this.#read.set(key, value);
    return value;
  }

  /** Returns the value in the base. */
  before(key: string): string | undefined {
    return this.#read.has(key) ? this.#read.get(key) : this.#base.get(key);
  }

  put(key: string, value: string): void {
    this.#changes.set(key, value);
  }

  del(key: string): void {
    this.#changes.set(key, undefined);
  }

  /**
   * Yields the keys of the base and those that were put, without those that were deleted. Does not
   * see changes made during the iteration.
   */
  *keys(prefix: string, after = ''): Iterable<string> {
    const put: string[] = [];
    for (const [key, value] of this.#changes) {
      if (value !== undefined && key > after && key.startsWith(prefix)) put.push(key);
    }
    put.sort(compare);
    const changed = new Map(this.#changes);
    let next = 0;
    for (const key of this.#base.keys(prefix, after)) {
      while (next < put.length && put[next]! < key) yield put[next++]!;
      if (!changed.has(key)) yield key;
    }
    while (next < put.length) yield put[next++]!;
  }

  /** Returns the changes that differ from the base. */
  changes(): Change[] {
    return [...this.#changes].filter(([key, value]) => this.before(key) !== value);
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
