/**
 * The state on disk: a LevelDB of text. Values are read from disk when they are needed; the keys
 * are also in memory.
 *
 *   !state            the current generation
 *   !keys             the same again, with the number of keys and the sum of their checksums
 *   #<slot>           the numbers of the last batches, see below
 *   <generation>/key  the records; 8 hex digits of CRC-32 over key and value, then the value
 *   <another>/key     the records of a state that is being restored (NEXT): to put it in force is
 *                     one batch
 *
 * A commit is visible immediately, through a layer in memory. A background loop gathers commits and
 * writes them as one batch:
 *
 *     commit -> pending -> writing -> LevelDB       a read looks in this order
 *
 * Nobody waits for the batch, since the log can replay it, but every batch is synced. LevelDB
 * closes a full log file without syncing it, so a power cut could lose an unsynced batch in it
 * although a later batch survives. A few larger synced batches cost less than many small unsynced
 * ones.
 *
 * When bytes of its own log go bad, LevelDB silently skips a batch. So each batch also writes its
 * number into a ring of slots, and the count and sum of all keys. On opening, a gap in the numbers
 * or a wrong sum means that the state cannot be trusted (`damaged`). It is then not shown, but
 * stays on disk until another state is installed; the check of the numbers starts anew from that
 * one. Values are checked when they are read.
 */
import { tableOf } from '../state/checksum.js';
import { NEXT } from '../state/keys.js';
import type { Change, NextChanges, PinnedView, StateRecord, View } from '../state/types.js';
import type { Disk, Operation, Snapshot, StorageClock } from './disk.js';
import { removeRange, rewriteRange, secretRanges } from './erase.js';
import { REPLACE_STATE, rootMessage, StorageError, unreadableRecord } from './errors.js';
import { type InstallHost, LevelInstallation } from './install.js';
import { wellFormed } from './key-index.js';
import { LEVEL_DISK } from './level-disk.js';
import { inTurns, rewriteBy } from './rewrite.js';
import { SharedValues } from './shared-values.js';
import type { StateKeys } from './state-keys.js';
import {
  contentOf,
  keyCount,
  Layer,
  type LoadedState,
  loadState,
  operationsOf,
  Place,
  POINTER,
  rangeOf,
  ringKey,
  type StateDatabase,
  sealed,
} from './state-load.js';
import type { DurableState, Installation } from './types.js';
import { ValueCache } from './value-cache.js';

/** Commits gather for this long before they are written, unless there are many or a flush waits. */
const GATHER_MS = 50;
/** Characters of gathered commits that are written without waiting. */
const GATHER_BYTES = 2 ** 20;
/** Characters of recently read values in memory: a few thousand objects of usual size. */
const RECENT_CHARS = 4 * 2 ** 20;

export interface StateOptions {
  /** Called once, when the disk has failed or a record is damaged. The process must stop. */
  readonly onFatal: (error: StorageError) => void;
  /** Bytes of LevelDB's block cache. */
  readonly cacheBytes?: number;
  /** Whether to check every value on opening too, so that a bad value counts as damage. */
  readonly checkValues?: boolean;
  /** The machine; by default the real one. */
  readonly disk?: Disk | undefined;
  /** The records of this state if they are being read already. `cacheBytes` is then not used. */
  readonly loading?: Promise<LoadedState> | undefined;
}

/**
 * Opens the state in `dir`, and creates it if it is missing. Throws StorageError `locked`, `failed`
 * or `foreign`. A damaged state opens, with `damaged` set.
 */
export async function openState(dir: string, options: StateOptions): Promise<LevelState> {
  const { onFatal, cacheBytes, checkValues, disk = LEVEL_DISK } = options;
  const loaded = await (options.loading ?? loadState(dir, { disk, cacheBytes, checkValues }));
  return new LevelState(loaded, { onFatal, clock: disk.clock });
}

/** The state. See the head of this file. */
export class LevelState implements DurableState {
  /**
   * Why the state cannot be trusted. It then appears empty and takes no commits until `install`
   * replaces it.
   */
  damaged: string | undefined;
  /** The records of a damaged state that can still be read, for rebuilding it. */
  remains: View | undefined;

  /** The open database. Only tests use it from outside, to damage records. */
  readonly db: StateDatabase;

  readonly #onFatal: (error: StorageError) => void;
  readonly #clock: StorageClock;
  #place: Place;
  #keys: StateKeys;
  /** Commits that follow the batch being written, and the commits in that batch. */
  #pending = new Layer();
  #pendingBytes = 0;
  #writing = new Layer();
  #writingBytes = 0;
  /** Recently read values, as they are now. */
  readonly #recent = new ValueCache(RECENT_CHARS);
  readonly #shared = new SharedValues();
  /** Cancels the timer that ends the gathering of commits; undefined while none is set. */
  #cancelGathering: (() => void) | undefined;
  #waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
  /** Pending commits are to be written as soon as the batch before them is. */
  #isDue = false;
  #loop: Promise<void> | undefined;
  /** Serializes all writes. */
  #chain: Promise<void> = Promise.resolve();
  #batchNumber: number;
  /** The first batch whose number must be present. */
  #since: number;
  /** Generations to remove once the damaged state is replaced. */
  #kept: readonly number[];
  #unusedGeneration: number;
  /** One promise per open view; resolves when it closes. */
  readonly #pinned = new Set<Promise<void>>();
  #installation: LevelInstallation | undefined;
  #switching = false;
  #removing: Promise<void> = Promise.resolve();
  #failure: StorageError | undefined;
  #closed = false;

  constructor(
    loaded: LoadedState,
    { onFatal, clock }: Pick<StateOptions, 'onFatal'> & { readonly clock: StorageClock },
  ) {
    this.db = loaded.db;
    this.#place = loaded.place;
    this.#unusedGeneration = Math.max(...loaded.place.generations, ...loaded.others) + 1;
    this.#keys = loaded.keys;
    this.#batchNumber = loaded.batchNumber;
    this.#since = loaded.since;
    this.damaged = loaded.damaged;
    this.#onFatal = onFatal;
    this.#clock = clock;
    this.remains = loaded.damagedState?.remains;
    this.#kept = loaded.damagedState?.generations ?? [];
    this.#removeAll(loaded.others);
  }

  /** Returns the number of records by group (see groups.ts). */
  counts(): ReadonlyMap<string, number> {
    return this.#keys.counts();
  }

  /** The number of records. */
  get size(): number {
    return this.#keys.tally.count;
  }

  /**
   * Bytes of commits that are not on disk yet. The driver slows down if the disk does not keep up.
   */
  get backlogBytes(): number {
    return this.#pendingBytes + this.#writingBytes;
  }

  get(key: string): string | undefined {
    const wanted = wellFormed(key);
    // Most keys that are missing are asked for by rules, often.
    if (!this.#keys.has(wanted)) return undefined;
    let value = this.#pending.get(wanted) ?? this.#writing.get(wanted) ?? this.#recent.get(wanted);
    if (value !== undefined) return value;
    value = this.#read(this.#place, wanted);
    if (value === undefined) throw this.#unreadable(wanted);
    if (!wanted.startsWith(NEXT)) this.#recent.set(wanted, value);
    return value;
  }

  keys(prefix: string, after?: string): Iterable<string> {
    return this.#keys.keys(prefix, after);
  }

  mayHave(group: string): boolean {
    return this.#keys.mayHave(group);
  }

  commit(changes: readonly Change[], next?: NextChanges): void {
    if (this.damaged !== undefined) throw new Error(`commit to a damaged state: ${this.damaged}`);
    for (const [rawKey, rawValue] of changes) {
      const key = wellFormed(rawKey);
      this.#shared.noteChange(key);
      if (rawValue === undefined) {
        this.#recent.delete(key);
        this.#pending.own.set(key, null);
        this.#keys.delete(key);
      } else {
        const value = wellFormed(rawValue);
        this.#pending.own.set(key, value);
        if (!this.#keys.add(key)) this.#recent.replace(key, value);
      }
      this.#pendingBytes += key.length + (rawValue?.length ?? 0);
    }
    if (next !== undefined) this.#commitNext(next);
    if (this.#pendingBytes >= GATHER_BYTES) this.#startWriting();
    else this.#cancelGathering ??= this.#clock.after(GATHER_MS, () => this.#startWriting());
  }

  flush(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#pending.size === 0 && this.#writing.size === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#startWriting();
    });
  }

  pin(): PinnedView {
    const layers = [new Layer(this.#pending), this.#writing];
    const place = this.#place;
    const keys = this.#keys.frozen();
    const snapshot = this.db.snapshot();
    const opened = this.#shared.open();
    let open = true;
    let closed = (): void => {};
    const pinned = new Promise<void>((resolve) => {
      closed = resolve;
    });
    this.#pinned.add(pinned);
    return {
      get: (key) => {
        if (!open) throw new Error('read of a closed view');
        const wanted = wellFormed(key);
        for (const layer of layers) {
          const value = layer.get(wanted);
          if (value !== undefined) return value ?? undefined;
        }
        const read = (): string | undefined => this.#read(place, wanted, snapshot);
        const isShared = place.generation === this.#place.generation && !wanted.startsWith(NEXT);
        if (!isShared || this.#shared.hasChanged(wanted, opened)) return read();
        // The key is as it is now.
        if (!this.#keys.has(wanted)) return undefined;
        return this.#recent.get(wanted) ?? this.#shared.get(wanted, read);
      },
      keys,
      close: () => {
        if (open) this.#shared.close();
        open = false;
        this.#pinned.delete(pinned);
        void snapshot.close().then(closed);
      },
    };
  }

  install(): Installation {
    const place = new Place(this.#unusedGeneration++, this.#unusedGeneration++);
    return this.#begin({
      place,
      write: (operations) => this.#queue(() => this.db.write(operations, { sync: false })),
      sync: () => this.#queue(() => this.db.compact(POINTER, POINTER)),
      switchTo: (keys) => this.#switchTo(keys.next ? place : place.with(undefined), keys),
      remove: (generations) => this.#removeAll(generations),
    });
  }

  /** Puts the records below NEXT in force, with others, which wait in memory for the switch. */
  #installNext(): Installation {
    const place = new Place(this.#place.next ?? this.#unusedGeneration++);
    const held: Operation<string>[] = [];
    return this.#begin({
      place,
      write: async (operations) => void held.push(...operations),
      sync: () => this.flush(),
      switchTo: (added) => this.#switchTo(place, this.#keys.next ?? added, held, added),
      remove: () => {},
    });
  }

  #begin(host: Omit<InstallHost, 'db'>): LevelInstallation {
    this.#installation?.abort();
    const remove = (generations: readonly number[]): void => {
      if (this.#installation === installation) this.#installation = undefined;
      host.remove(generations);
    };
    const installation = new LevelInstallation({ ...host, db: this.db, remove });
    this.#installation = installation;
    return installation;
  }

  rewrite(
    slices: Iterator<readonly StateRecord[], boolean>,
    done: (replaced: boolean) => void,
    isNext = false,
  ): void {
    // A state that is being received is newer than one that is rebuilt here.
    if (this.#installation !== undefined) {
      this.#clock.soon(() => done(false));
      return;
    }
    const installation = isNext ? this.#installNext() : this.install();
    rewriteBy(installation, slices, (run) => this.#clock.soon(run))
      .then(done)
      .catch((error) => this.#fail(error));
  }

  /**
   * Calls `done` once no file holds any secret that was deleted or replaced before. Waits for the
   * views that are open now, which may still show such secrets. Does not call `done` if the state
   * is closed first.
   */
  erase(done: () => void): void {
    const erased = async (): Promise<void> => {
      await this.flush();
      await Promise.all(this.#pinned);
      this.#removing = this.#removing.then(() => this.#rewriteSecrets());
      await this.#removing;
      if (!this.#closed) done();
    };
    erased().catch((error) => this.#fail(error));
  }

  async #rewriteSecrets(): Promise<void> {
    for (const [from, to] of secretRanges(this.#place.generation)) {
      if (this.#closed) return;
      await rewriteRange(this.db, from, to, (marks) => this.#write(marks));
    }
  }

  /** Resolves once the generations dropped so far are removed from the database. */
  settled(): Promise<void> {
    return this.#removing;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#installation?.abort();
    if (this.#failure === undefined) await this.flush().catch(() => {});
    this.#closed = true;
    this.#cancelGathering?.();
    await this.#loop;
    await this.#chain;
    await this.#removing;
    await this.db.close();
  }

  /** Removes an obsolete generation in the background, in bounded steps. */
  remove(generation: number): void {
    // A chunk of an aborted installation may still be on its way to the disk.
    this.#removing = Promise.all([this.#removing, this.#chain]).then(async () => {
      const { gte: from, lt: to } = rangeOf(generation);
      const isOpen = () => !this.#closed;
      try {
        await removeRange(this.db, { from, to }, isOpen, (marks) => this.#write(marks));
      } catch (error) {
        this.#fail(error);
      }
    });
  }

  #removeAll(generations: readonly number[]): void {
    for (const each of generations) this.remove(each);
  }

  #startWriting(): void {
    this.#cancelGathering?.();
    this.#cancelGathering = undefined;
    if (this.#switching || this.#closed || this.#failure !== undefined) return;
    // With nothing to write, the loop would end before the assignment below, and would then count
    // as running for ever.
    if (this.#pending.size === 0) return;
    this.#isDue = true;
    this.#loop ??= this.#writeGathered();
  }

  async #writeGathered(): Promise<void> {
    const soon = (run: () => void): void => this.#clock.soon(run);
    do {
      this.#isDue = false;
      const waiting = this.#waiting;
      this.#waiting = [];
      this.#writing = this.#pending;
      this.#writingBytes = this.#pendingBytes;
      this.#pending = new Layer();
      this.#pendingBytes = 0;
      try {
        if (this.#writing.size > 0) {
          const count = keyCount(this.#place, this.#since, this.#keys);
          const operations = await inTurns(operationsOf(this.#place, this.#writing), soon);
          operations.push(count);
          await this.#write(operations);
        }
      } catch (error) {
        const failure = this.#fail(error);
        for (const { reject } of [...waiting, ...this.#waiting.splice(0)]) reject(failure);
        break;
      }
      this.#writing = new Layer();
      this.#writingBytes = 0;
      for (const { resolve } of waiting) resolve();
      await inTurns(this.#keys.order(), soon);
    } while (this.#isDue || this.#waiting.length > 0);
    this.#loop = undefined;
  }

  /** Writes one synced batch with its number, after all earlier ones. */
  #write(operations: readonly Operation<string>[]): Promise<void> {
    return this.#queue(() => {
      const number = ++this.#batchNumber;
      const key = ringKey(number);
      const numbered: Operation<string> = { type: 'put', key, value: String(number) };
      return this.db.write([...operations, numbered], { sync: true });
    });
  }

  /** Runs something after all earlier writes. What is written after a failed one may be lost. */
  #queue(run: () => Promise<void>): Promise<void> {
    const done = this.#chain.then(run).catch((error) => {
      throw this.#fail(error);
    });
    this.#chain = done.catch(() => {});
    return done;
  }

  #commitNext({ replaces, records }: NextChanges): void {
    if (replaces) this.#dropNext();
    if (records.length > 0 && this.#place.next === undefined)
      this.#place = this.#place.with(this.#unusedGeneration++);
    for (const [rawKey, rawValue] of records) {
      const key = wellFormed(rawKey);
      this.#pending.next.set(key, wellFormed(rawValue));
      this.#keys.addNext(key);
      this.#pendingBytes += key.length + rawValue.length;
    }
  }

  /** Drops the records below NEXT: out of the database once a batch has said that they are gone. */
  #dropNext(): void {
    this.#pending.next = new Map();
    this.#keys.next = undefined;
    const { next } = this.#place;
    if (next === undefined) return;
    this.#place = this.#place.with(undefined);
    // No record has this key, but it makes sure that there is a batch.
    this.#pending.own.set('', null);
    // What else the commit has belongs to the same batch.
    const remove = (): void => this.remove(next);
    this.#clock.soon(() => this.flush().then(remove, () => {}));
  }

  /** Puts another state in force. `more` puts the keys of `added`: no view shows them before. */
  async #switchTo(
    place: Place,
    keys: StateKeys,
    more: readonly Operation<string>[] = [],
    added = keys,
  ): Promise<void> {
    this.#switching = true;
    const others = [...added.keys('')].filter((key) => !keys.has(key));
    try {
      await this.#loop;
      const since = this.#batchNumber + 1;
      const value = sealed({ v: 1, generation: place.generation, since });
      const switching: Operation<string> = { type: 'put', key: POINTER, value };
      const count = keyCount(place, since, keys.countedWith(others));
      await this.#write([...more, switching, count]);
      this.#since = since;
    } finally {
      this.#switching = false;
    }
    const old = [...this.#place.generations, ...this.#kept];
    this.#kept = [];
    this.remains = undefined;
    this.#place = place;
    for (const key of others) keys.add(key);
    this.#keys = keys;
    this.#pending = new Layer();
    this.#pendingBytes = 0;
    this.#recent.clear();
    this.#shared.clear();
    this.damaged = undefined;
    // While the switch was written, another installation may have begun.
    if (this.#installation?.place.generation === place.generation) this.#installation = undefined;
    for (const { resolve } of this.#waiting.splice(0)) resolve();
    this.#removeAll(old.filter((each) => !place.generations.includes(each)));
  }

  #read(place: Place, key: string, snapshot?: Snapshot): string | undefined {
    let stored: string | undefined;
    try {
      stored = this.db.get(place.of(key), snapshot);
    } catch (error) {
      throw this.#fail(error);
    }
    if (stored === undefined) return undefined;
    const value = contentOf(key, stored);
    if (value === undefined) throw this.#unreadable(key);
    return value;
  }

  #unreadable(key: string): StorageError {
    return this.#fail(unreadableRecord(tableOf(key)));
  }

  #fail(error: unknown): StorageError {
    if (this.#closed) return new StorageError('failed', 'the state is closed', error);
    if (this.#failure !== undefined) return this.#failure;
    const why = `the disk of the state failed: ${rootMessage(error, REPLACE_STATE)}`;
    this.#failure = error instanceof StorageError ? error : new StorageError('failed', why, error);
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
    this.#onFatal(this.#failure);
    return this.#failure;
  }
}
