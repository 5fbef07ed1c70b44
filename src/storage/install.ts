/**
 * Installs a whole new state. Its chunks are written beside the current state, under a generation
 * of their own, and not synced: a crash discards them. When the state is complete, it is synced as
 * a whole and read back, and one batch switches the pointer to it.
 */
import { invariant } from '../raft/assert.js';
import { NEXT } from '../state/keys.js';
import type { View } from '../state/types.js';
import type { Operation } from './disk.js';
import { StorageError } from './errors.js';
import { recordSum, Tally, wellFormed } from './key-index.js';
import { StateKeys } from './state-keys.js';
import {
  contentOf,
  type Place,
  rangeOf,
  type StateDatabase,
  storedValue,
  sumOf,
} from './state-load.js';
import type { DurableState, Installation, StateRecord, StateTally } from './types.js';

/** Characters of records that are written as one batch: bounds the memory of a batch. */
const WRITE_CHARS = 2 ** 20;

/**
 * Replaces the whole state by these records: writes them beside it, reads them back, then switches.
 * Throws StorageError.
 */
export async function installRecords(
  state: DurableState,
  records: Iterable<StateRecord>,
): Promise<void> {
  const installation = state.install();
  const tally = new Tally();
  let some: StateRecord[] = [];
  let chars = 0;
  for (const record of records) {
    some.push(record);
    tally.add(recordSum(...record));
    chars += record[0].length + record[1].length;
    if (chars < WRITE_CHARS) continue;
    await installation.add(some);
    some = [];
    chars = 0;
  }
  await installation.add(some);
  await installation.finish(tally);
}

/** Yields the records of a view. Skips a key whose value cannot be read. */
export function* recordsOf(view: View): Iterable<StateRecord> {
  for (const key of view.keys('')) {
    const value = view.get(key);
    if (value !== undefined) yield [key, value];
  }
}

/** What an installation needs from its store. */
export interface InstallHost {
  readonly db: StateDatabase;
  readonly place: Place;
  /** Writes a batch, which a crash may lose until `sync`. */
  write(operations: readonly Operation<string>[]): Promise<void>;
  /** Makes durable what was written. */
  sync(): Promise<void>;
  switchTo(keys: StateKeys): Promise<void>;
  /** Removes the records written so far, in these generations, in the background. */
  remove(generations: readonly number[]): void;
}

/** An installation into LevelDB. See the head of this file. */
export class LevelInstallation implements Installation {
  readonly #host: InstallHost;
  readonly #keys = new StateKeys();
  #state: 'filling' | 'finishing' | 'ended' = 'filling';

  constructor(host: InstallHost) {
    this.#host = host;
  }

  get place(): Place {
    return this.#host.place;
  }

  async add(records: readonly StateRecord[]): Promise<void> {
    this.#mustBe('filling');
    const { place } = this;
    const operations: Operation<string>[] = [];
    for (const [rawKey, rawValue] of records) {
      const key = wellFormed(rawKey);
      this.#keys.add(key, true);
      const value = storedValue(key, wellFormed(rawValue));
      operations.push({ type: 'put', key: place.of(key), value });
    }
    await this.#host.write(operations);
  }

  async finish(tally?: StateTally): Promise<void> {
    this.#mustBe('filling');
    this.#state = 'finishing';
    await this.#host.sync();
    this.#mustBe('finishing');
    if (tally !== undefined) await this.#verify(tally);
    const count = this.#keys.tally.count + (this.#keys.next?.tally.count ?? 0);
    const announced = tally?.count ?? count;
    invariant(count === announced, 'other keys than were verified', { count, announced });
    this.#state = 'ended';
    await this.#host.switchTo(this.#keys);
  }

  abort(): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    const { place } = this;
    this.#host.remove(this.#keys.next === undefined ? [place.generation] : place.generations);
  }

  async #verify(tally: StateTally): Promise<void> {
    const found = await tallyOf(this.#host.db, this.place);
    this.#mustBe('finishing');
    if (found === undefined || !found.equals(tally)) {
      this.abort();
      throw new StorageError(
        'invalid',
        `the new state is incomplete: ${found?.count ?? 'unreadable'} records with sum ${found?.sum}, ` +
          `where ${tally.count} with sum ${tally.sum} were announced; the present state is kept`,
      );
    }
  }

  #mustBe(state: 'filling' | 'finishing'): void {
    if (this.#state !== state) {
      throw new StorageError('invalid', 'the installation of a state was abandoned or replaced');
    }
  }
}

/** Reads a whole state and returns its tally; undefined if a record is damaged. */
async function tallyOf(db: StateDatabase, place: Place): Promise<Tally | undefined> {
  const tally = new Tally();
  for (const generation of place.generations) {
    const range = rangeOf(generation);
    for await (const some of db.records(range)) {
      for (const [key, stored] of some) {
        const sum = sumIn(place, generation, key.slice(range.gte.length), stored);
        if (sum === undefined) return undefined;
        tally.add(sum);
      }
    }
  }
  return tally;
}

/** Returns the checksum of a record under the key that it has in the state. */
function sumIn(place: Place, generation: number, key: string, stored: string): number | undefined {
  if (generation !== place.next) return sumOf(key, stored);
  const value = contentOf(key, stored);
  return value === undefined ? undefined : recordSum(NEXT + key, value);
}
