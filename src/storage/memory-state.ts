/**
 * The state's twin in memory: where a state is made again from the log, and for tests. Commits
 * become durable only by `flush`.
 */
import type { Change, PinnedView, StateRecord } from '../state/types.js';
import {
  type Directory,
  keysWith,
  newDirectory,
  recordSum,
  Tally,
  wellFormed,
} from './directory.js';
import { StorageError } from './errors.js';
import { rewriteBy } from './rewrite.js';
import type { DurableState, Installation } from './types.js';

type Records = Directory<string>;

export class MemoryState implements DurableState {
  private records: Records;
  private durable: Records;
  private unflushed: (readonly Change[])[] = [];
  private current: { readonly abort: () => void } | undefined;

  constructor(durable: MemoryStateDisk = newDirectory<string>()) {
    this.durable = durable as Records;
    this.records = this.durable.clone();
  }

  get size(): number {
    return this.records.size;
  }

  /** Commits that a crash would lose. */
  get pending(): number {
    return this.unflushed.length;
  }

  get(key: string): string | undefined {
    return this.records.get(wellFormed(key));
  }

  keys(prefix: string, after?: string): Iterable<string> {
    return keysWith(this.records, prefix, after);
  }

  commit(changes: readonly Change[]): void {
    const clean = changes.map(
      ([key, value]): Change => [
        wellFormed(key),
        value === undefined ? undefined : wellFormed(value),
      ],
    );
    change(this.records, clean);
    this.unflushed.push(clean);
  }

  /** Makes the oldest `count` commits durable (all, if not given), at once. */
  sync(count: number = this.unflushed.length): void {
    for (const changes of this.unflushed.splice(0, count)) change(this.durable, changes);
  }

  async flush(): Promise<void> {
    this.sync();
  }

  pin(): PinnedView {
    const frozen = this.records.clone();
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
    this.current?.abort();
    const records = newDirectory<string>();
    let open = true;
    const mustBeOpen = () => {
      if (!open) {
        throw new StorageError('invalid', 'the installation of a state was given up or replaced');
      }
    };
    const end = () => {
      open = false;
      if (this.current === installation) this.current = undefined;
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
            `the new state is not whole: ${tally.count} records with sum ${tally.sum}, ` +
              `where ${expected.count} with sum ${expected.sum} were announced; the present state stays`,
          );
        }
        this.records = records;
        this.durable = records.clone();
        this.unflushed = [];
      },
      abort: end,
    };
    this.current = installation;
    return installation;
  }

  rewrite(
    slices: Iterator<readonly StateRecord[], boolean>,
    done: (replaced: boolean) => void,
  ): void {
    if (this.current !== undefined) setImmediate(done, false);
    else void rewriteBy(this.install(), slices).then(done);
  }

  /**
   * Cuts the power: unflushed commits are lost, but for the first `kept`. Returns the state as a
   * restart finds it.
   */
  crash(kept = 0): MemoryState {
    this.sync(kept);
    return new MemoryState(this.durable);
  }

  async close(): Promise<void> {
    this.current?.abort();
    this.sync();
  }
}

/** What is durable of a MemoryState; opaque. */
export type MemoryStateDisk = object;

function change(records: Records, changes: readonly Change[]): void {
  for (const [key, value] of changes) {
    if (value === undefined) records.delete(key);
    else records.set(key, value);
  }
}
