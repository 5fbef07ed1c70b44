/** The state with the changes of one command on top, until they are committed or dropped. */
import type { Change, Draft, View } from './types.js';

export class Overlay implements Draft {
  readonly #base: View;
  /** What was read of the base: it stays the same as long as this lives, and reading from disk is slow. */
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

  /** The value in the base. */
  before(key: string): string | undefined {
    return this.#read.has(key) ? this.#read.get(key) : this.#base.get(key);
  }

  put(key: string, value: string): void {
    this.#changes.set(key, value);
  }

  del(key: string): void {
    this.#changes.set(key, undefined);
  }

  /** Keys of the base merged with those put, without those deleted. Changes made while iterating are not followed. */
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

  /** What differs from the base. */
  changes(): Change[] {
    return [...this.#changes].filter(([key, value]) => this.before(key) !== value);
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
