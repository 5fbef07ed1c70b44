/**
 * A state that arrives: written beside the present one under a generation of its own, chunk by
 * chunk, read back whole, then switched in by the one batch that changes the pointer.
 */
import type { View } from '../state/types.js';
import type { Operation } from './batch.js';
import { type Directory, keySum, newDirectory, recordSum, Tally, wellFormed } from './directory.js';
import { StorageError } from './errors.js';
import { IN_SLICES, slices } from './slices.js';
import { rangeOf, type StateDatabase, storedValue, sumOf } from './state-load.js';
import type { DurableState, Installation, StateRecord, StateTally } from './types.js';

/** Characters of records that are written as one batch. */
const WRITE_CHARS = 2 ** 20;

/**
 * Puts these records in the place of the whole state: written beside it, read back, then switched
 * in.
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

/** The records of a view; a key whose value cannot be read is left out. */
export function* recordsOf(view: View): Iterable<StateRecord> {
  for (const key of view.keys('')) {
    const value = view.get(key);
    if (value !== undefined) yield [key, value];
  }
}

/** What an installation needs of its store. */
export interface InstallHost {
  readonly db: StateDatabase;
  readonly generation: number;
  readonly prefix: string;
  write(operations: readonly Operation<string>[]): Promise<void>;
  switchTo(directory: Directory, keyTally: Tally): Promise<void>;
  /** Removes what was written, in the background. */
  remove(): void;
}

export class LevelInstallation implements Installation {
  private readonly host: InstallHost;
  private readonly directory: Directory = newDirectory();
  private readonly keyTally = new Tally();
  private state: 'filling' | 'finishing' | 'ended' = 'filling';

  constructor(host: InstallHost) {
    this.host = host;
  }

  async add(records: readonly StateRecord[]): Promise<void> {
    this.mustBe('filling');
    const { prefix } = this.host;
    const operations: Operation<string>[] = [];
    for (const [rawKey, rawValue] of records) {
      const key = wellFormed(rawKey);
      if (this.directory.set(key, true)) this.keyTally.add(keySum(key));
      const value = storedValue(key, wellFormed(rawValue));
      operations.push({ type: 'put', key: prefix + key, value });
    }
    await this.host.write(operations);
  }

  async finish(tally?: StateTally): Promise<void> {
    this.mustBe('filling');
    this.state = 'finishing';
    if (tally !== undefined) await this.verify(tally);
    this.state = 'ended';
    await this.host.switchTo(this.directory, this.keyTally);
  }

  abort(): void {
    if (this.state === 'ended') return;
    this.state = 'ended';
    this.host.remove();
  }

  private async verify(tally: StateTally): Promise<void> {
    const found = await tallyOf(this.host.db, this.host.generation);
    this.mustBe('finishing');
    if (found === undefined || !found.equals(tally)) {
      this.abort();
      throw new StorageError(
        'invalid',
        `the new state is not whole: ${found?.count ?? 'unreadable'} records with sum ${found?.sum}, ` +
          `where ${tally.count} with sum ${tally.sum} were announced; the present state stays`,
      );
    }
  }

  private mustBe(state: 'filling' | 'finishing'): void {
    if (this.state !== state) {
      throw new StorageError('invalid', 'the installation of a state was given up or replaced');
    }
  }
}

/** Reads a whole generation from disk and adds it up; undefined when a record is damaged. */
async function tallyOf(db: StateDatabase, generation: number): Promise<Tally | undefined> {
  const tally = new Tally();
  const range = rangeOf(generation);
  for await (const some of slices(db.iterator({ ...range, ...IN_SLICES }))) {
    for (const [key, stored] of some) {
      const sum = sumOf(key.slice(range.gte.length), stored);
      if (sum === undefined) return undefined;
      tally.add(sum);
    }
  }
  return tally;
}
