/** The simplest StateStore there is: a map. What it says is right by inspection. */
import type { Change, PinnedView, StateStore } from '../../src/state/types.js';

export class MapStore implements StateStore {
  readonly map: Map<string, string>;
  commits = 0;

  constructor(entries: Iterable<readonly [string, string]> = []) {
    this.map = new Map(entries);
  }
  get(key: string): string | undefined {
    return this.map.get(key);
  }
  keys(prefix: string, after = ''): Iterable<string> {
    return [...this.map.keys()].filter((key) => key > after && key.startsWith(prefix)).sort();
  }
  commit(changes: readonly Change[]): void {
    this.commits += 1;
    for (const [key, value] of changes) {
      if (value === undefined) this.map.delete(key);
      else this.map.set(key, value);
    }
  }
  flush(): Promise<void> {
    return Promise.resolve();
  }
  pin(): PinnedView {
    const frozen = new MapStore(this.map);
    return { get: (key) => frozen.get(key), keys: (p, a) => frozen.keys(p, a), close: () => {} };
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}
