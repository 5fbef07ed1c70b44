/** The simplest possible StateStore, a map: evidently correct. */
import { Checksums } from '../../src/state/checksum.js';
import { NEXT } from '../../src/state/keys.js';
import type {
  Change,
  NextChanges,
  PinnedView,
  StateRecord,
  StateStore,
} from '../../src/state/types.js';

export class MapStore implements StateStore {
  readonly map: Map<string, string>;
  commits = 0;
  #rewriting:
    | {
        readonly slices: Iterator<readonly StateRecord[], boolean>;
        readonly done: (replaced: boolean) => void;
        readonly records: Map<string, string>;
      }
    | undefined;

  constructor(entries: Iterable<readonly [string, string]> = []) {
    this.map = new Map(entries);
  }
  get(key: string): string | undefined {
    return this.map.get(key);
  }
  keys(prefix: string, after = ''): Iterable<string> {
    return [...this.map.keys()].filter((key) => key > after && key.startsWith(prefix)).sort();
  }
  commit(changes: readonly Change[], next?: NextChanges): void {
    this.commits += 1;
    if (next?.replaces === true) for (const key of this.keys(NEXT)) this.map.delete(key);
    for (const [key, value] of next?.records ?? []) this.map.set(NEXT + key, value);
    for (const [key, value] of changes) {
      if (value === undefined) this.map.delete(key);
      else this.map.set(key, value);
    }
  }
  rewrite(
    slices: Iterator<readonly StateRecord[], boolean>,
    done: (replaced: boolean) => void,
    isNext = false,
  ): void {
    const next = isNext ? [...this.keys(NEXT)] : [];
    const records = new Map(next.map((key) => [key.slice(NEXT.length), this.map.get(key)!]));
    this.#rewriting = { slices, done, records };
  }
  get isRewriting(): boolean {
    return this.#rewriting !== undefined;
  }
  /** One turn of a rewrite; returns the number of records it took. */
  turn(): number {
    const { slices, done, records } = this.#rewriting!;
    const next = slices.next();
    if (next.done !== true) {
      for (const [key, value] of next.value) records.set(key, value);
      return next.value.length;
    }
    this.#rewriting = undefined;
    if (next.value) {
      this.map.clear();
      for (const [key, value] of records) this.map.set(key, value);
    }
    done(next.value);
    return 0;
  }
  /** Aborts the rewrite, as the installation of another state does. */
  giveUp(): void {
    const { done } = this.#rewriting!;
    this.#rewriting = undefined;
    done(false);
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

/** Checksums as the machine keeps them, but for the level, which is put into a store by hand. */
export const sumsOf = (store: MapStore): Record<string, string> => {
  const { level: _level, ...sums } = Checksums.of(store).toJSON();
  return sums;
};
