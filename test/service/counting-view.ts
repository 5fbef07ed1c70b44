import type { View } from '../../src/state/types.js';

/** A view that counts the reads of each key. */
export class CountingView implements View {
  readonly reads = new Map<string, number>();
  readonly #view: View;
  constructor(view: View) {
    this.#view = view;
  }
  get(key: string): string | undefined {
    this.reads.set(key, (this.reads.get(key) ?? 0) + 1);
    return this.#view.get(key);
  }
  keys(prefix: string): Iterable<string> {
    return this.#view.keys(prefix);
  }
}
