/**
 * A state in memory with the behaviour of the one on disk. It is used to rebuild a state from the
 * log, and in tests. Commits become durable only through `flush`.
 */

import { NEXT } from '../state/keys.js';
import type { Change, NextChanges, PinnedView, StateRecord } from '../state/types.js';
import { StorageError } from './errors.js';
import { type KeyIndex, keysWith, newKeyIndex, recordSum, Tally, wellFormed } from './key-index.js';
import type { DurableState, Installation } from './types.js';

type Records = KeyIndex<string>;

/**
 * See the head of this file. `durable` is what an earlier one left. `soon` begins a later turn of
 * the event loop.
 */
export class MemoryState implements DurableState {
  #records: Records;
  #durable: Records;
  readonly #soon: (run: () => void) => void;
  #unflushed: (readonly Change[])[] = [];
  #current: { readonly abort: () => void } | undefined;

  constructor(
    durable: MemoryStateDisk = newKeyIndex<string>(),
    soon: (run: () => void) => void = setImmediate,
  ) {
    this.#soon = soon;
    this.#durable = (durable as Records).clone();
    this.#records = this.#durable.clone();
  }

  get size(): number {
    return this.#records.size;
  }

  /** Number of commits that a crash would lose. */
  get pending(): number {
    return this.#unflushed.length;
  }

  get(key: string): string | undefined {
    return this.#records.get(wellFormed(key));
  }

  keys(prefix: string, after?: string): Iterable<string> {
    return keysWith(this.#records, prefix, after);
  }

  commit(changes: readonly Change[], next?: NextChanges): void {
    const dropped = next?.replaces === true ? [...this.keys(NEXT)] : [];
    const all: Change[] = dropped.map((key) => [key, undefined]);
    for (const [key, value] of next?.records ?? []) all.push([NEXT + key, value]);
    const clean = [...changes, ...all].map(
      ([key, value]): Change => [
        wellFormed(key),
        value === undefined ? undefined : wellFormed(value),
      ],
    );
    change(this.#records, clean);
    this.#unflushed.push(clean);
  }

  /** Makes the oldest `count` commits durable immediately, all by default. */
  sync(count: number = this.#unflushed.length): void {
    for (const changes of this.#unflushed.splice(0, count)) change(this.#durable, changes);
  }

  async flush(): Promise<void> {
    this.sync();
  }

  pin(): PinnedView {
    const frozen = this.#records.clone();
    let open = true;
    return {
      get: (key) => {
        if (!open) throw new Error('read of a closed view');
        return frozen.get(wellFormed(key));
      },
      keys: (prefix, after) => keysWith(frozen, prefix, after),
      close: () => {
        open = false;
      },
    };
  }

  install(): Installation {
    this.#current?.abort();
    const records = newKeyIndex<string>();
    let open = true;
    const mustBeOpen = () => {
      if (!open) {
        throw new StorageError('invalid', 'the installation of a state was abandoned or replaced');
      }
    };
    const end = () => {
      open = false;
      if (this.#current === installation) this.#current = undefined;
    };
    const installation: Installation = {
      add: async (some) => {
        mustBeOpen();
        for (const [key, value] of some) records.set(wellFormed(key), wellFormed(value));
      },
      finish: async (expected) => {
        mustBeOpen();
        end();
        const tally = new Tally();
        records.forEachPair((key, value) => tally.add(recordSum(key, value)));
        if (expected !== undefined && !tally.equals(expected)) {
          throw new StorageError(
            'invalid',
            `the new state is incomplete: ${tally.count} records with sum ${tally.sum}, ` +
              `where ${expected.count} with sum ${expected.sum} were announced; the present state is kept`,
          );
        }
        this.#replaceBy(records);
      },
      abort: end,
    };
    this.#current = installation;
    return installation;
  }

  rewrite(
    slices: Iterator<readonly StateRecord[], boolean>,
    done: (replaced: boolean) => void,
    isNext = false,
  ): void {
    if (this.#current !== undefined) {
      this.#soon(() => done(false));
      return;
    }
    const records = newKeyIndex<string>();
    for (const key of isNext ? this.keys(NEXT) : [])
      records.set(key.slice(NEXT.length), this.#records.get(key)!);
    const rewriting = {
      abort: () => {
        if (this.#current !== rewriting) return;
        this.#current = undefined;
        this.#soon(() => done(false));
      },
    };
    this.#current = rewriting;
    this.#soon(() => this.#drawNext(rewriting, slices, records, done));
  }

  #drawNext(
    rewriting: object,
    slices: Iterator<readonly StateRecord[], boolean>,
    records: Records,
    done: (replaced: boolean) => void,
  ): void {
    if (this.#current !== rewriting) return;
    const { done: isDone, value } = slices.next();
    if (isDone !== true) {
      for (const [key, text] of value) records.set(wellFormed(key), wellFormed(text));
      this.#soon(() => this.#drawNext(rewriting, slices, records, done));
      return;
    }
    this.#current = undefined;
    if (value) this.#replaceBy(records);
    done(value);
  }

  #replaceBy(records: Records): void {
    this.#records = records;
    this.#durable = records.clone();
    this.#unflushed = [];
  }

  /** A copy of what is durable. */
  durable(): MemoryStateDisk {
    return this.#durable.clone();
  }

  /**
   * Simulates a power cut: unflushed commits are lost except the first `kept`. Returns the state
   * that a restart finds.
   */
  crash(kept = 0): MemoryState {
    this.sync(kept);
    return new MemoryState(this.#durable);
  }

  async close(): Promise<void> {
    this.#current?.abort();
    this.sync();
  }
}

/** The durable part of a MemoryState; opaque. */
export type MemoryStateDisk = object;

function change(records: Records, changes: readonly Change[]): void {
  for (const [key, value] of changes) {
    if (value === undefined) records.delete(key);
    else records.set(key, value);
  }
}
