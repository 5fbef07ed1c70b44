/** The state with the changes of one command on top, until they are committed or dropped. */
import type { Change, Draft, View } from './types.js';

export class Overlay implements Draft {
  readonly #base: View;
  readonly #changes = new Map<string, string | undefined>();

  constructor(base: View) {
    this.#base = base;
  }

  get(key: string): string | undefined {
    return this.#changes.has(key) ? this.#changes.get(key) : this.#base.get(key);
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
    return [...this.#changes].filter(([key, value]) => this.#base.get(key) !== value);
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
