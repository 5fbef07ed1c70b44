/**
 * The state on disk: a LevelDB of text, values read where they are needed, keys also held in memory
 * in order.
 *
 *   !state            which generation is the state
 *   !keys             the same again, how many keys it has, and the sum of their checksums
 *   #<slot>           numbers of the last batches, see below
 *   <generation>/key  the records; a value is 8 hex digits of CRC-32 over key and value, then the value
 *
 * A commit is seen at once, through a layer in memory; a background loop writes what has gathered
 * as one batch. The log is the truth, so nobody waits for that, but each batch is synced all the
 * same: LevelDB closes a full log file without syncing it, and an unsynced batch in it could be
 * lost in a power cut although a later one survives. Few and larger batches, all synced, cost less
 * than many unsynced ones.
 *
 * Bytes that go bad in LevelDB's own log make it skip a batch without a word. So each batch also
 * writes its number into a ring of slots, and with it the count and sum of all keys. A gap in the
 * numbers, or other keys than were counted, mean on opening that the state cannot be trusted
 * (`damaged`). Nothing of it is shown then, but all of it stays on disk until another one was
 * installed; from that one on the numbers count anew. Values are checked when they are read.
 */
import { tableOf } from '../state/checksum.js';
import { SECRET_TABLES } from '../state/secrets.js';
import type { Change, PinnedView, StateRecord, View } from '../state/types.js';
import { type Operation, writeSynced } from './batch.js';
import { type Directory, keySum, keysWith, type Tally, wellFormed } from './directory.js';
import { flushTables, rewriteRange } from './erase.js';
import { rootMessage, StorageError } from './errors.js';
import { LevelInstallation } from './install.js';
import { RecentValues } from './recent-values.js';
import { rewriteBy } from './rewrite.js';
import { SharedValues } from './shared-values.js';
import {
  contentOf,
  KEY_COUNT,
  loadState,
  POINTER,
  prefixOf,
  rangeOf,
  ringKey,
  type Snapshot,
  type StateDatabase,
  sealed,
  storedAt,
  storedValue,
} from './state-load.js';
import type { DurableState, Installation } from './types.js';

/** Commits gather this long before they are written, unless they are many or someone waits. */
const GATHER_MS = 50;
const GATHER_BYTES = 2 ** 20;
/** Bytes of LevelDB's cache of blocks: values that are read often stay in memory. */
const CACHE_BYTES = 32 * 2 ** 20;
/** Records dropped at a time when an old generation is removed. */
const CLEAR_STEP = 2000;
/**
 * Characters of values that were read lately and are kept: a few thousand objects of usual size.
 */
const RECENT_CHARS = 4 * 2 ** 20;
/** Before and after the keys of all generations, which begin with a digit. */
const FIRST_GENERATION = '0';
const PAST_GENERATIONS = ':';

export interface StateOptions {
  /**
   * Called once, when the disk failed or a record cannot be read as it was written. The process
   * must stop.
   */
  readonly onFatal: (error: StorageError) => void;
  /** Bytes of LevelDB's cache of blocks. */
  readonly cacheBytes?: number;
  /** Reads every value on opening too: a value that went bad counts as damage then. */
  readonly checkValues?: boolean;
}

/** Changes not on disk yet; null is a deleted key. */
type Layer = ReadonlyMap<string, string | null>;

/**
 * Opens (or makes) the state in `dir`. Throws StorageError: locked, failed, damaged (nothing can be
 * told from it).
 */
export async function openState(dir: string, options: StateOptions): Promise<LevelState> {
  const { cacheBytes = CACHE_BYTES, checkValues = false } = options;
  return new LevelState(await loadState(dir, { cacheBytes, checkValues }), options);
}

export class LevelState implements DurableState {
  /**
   * Why the state is not to be trusted: nothing of it is shown, and it takes no commits until it is
   * replaced (`install`).
   */
  damaged: string | undefined;
  /** What can still be read of a damaged state, for who makes another one of it. */
  remains: View | undefined;

  private readonly db: StateDatabase;
  private readonly onFatal: (error: StorageError) => void;
  private generation: number;
  private prefix: string;
  private directory: Directory;
  private keyTally: Tally;
  /** Commits since the batch that is being written, and those in that batch. */
  private pending = new Map<string, string | null>();
  private pendingBytes = 0;
  private writing: Layer = new Map();
  private writingBytes = 0;
  /** Values as they are on disk. */
  private readonly recent = new RecentValues(RECENT_CHARS);
  private readonly shared = new SharedValues();
  private timer: NodeJS.Timeout | undefined;
  private waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
  private loop: Promise<void> | undefined;
  /** All writes, one after the other. */
  private chain: Promise<void> = Promise.resolve();
  private batchNumber: number;
  /** The first batch of which the number must be there. */
  private since: number;
  /** Generations to be removed once a damaged state is replaced. */
  private kept: readonly number[];
  private nextGeneration: number;
  /** Ends of the views that are open. */
  private readonly pinned = new Set<Promise<void>>();
  private installation: LevelInstallation | undefined;
  private switching = false;
  private removing: Promise<void> = Promise.resolve();
  private failure: StorageError | undefined;
  private closed = false;

  constructor(loaded: Awaited<ReturnType<typeof loadState>>, options: StateOptions) {
    this.db = loaded.db;
    this.generation = loaded.generation;
    this.nextGeneration = Math.max(loaded.generation, ...loaded.others) + 1;
    this.prefix = prefixOf(loaded.generation);
    this.directory = loaded.directory;
    this.keyTally = loaded.keyTally;
    this.batchNumber = loaded.batchNumber;
    this.since = loaded.since;
    this.damaged = loaded.damaged;
    this.onFatal = options.onFatal;
    this.remains = loaded.wreck?.remains;
    this.kept = loaded.wreck?.generations ?? [];
    for (const generation of loaded.others) this.remove(generation);
  }

  /** Number of records. */
  get size(): number {
    return this.directory.size;
  }

  /**
   * Bytes of commits that are not on disk yet: the driver slows down when the disk does not keep
   * up.
   */
  get backlogBytes(): number {
    return this.pendingBytes + this.writingBytes;
  }

  get(key: string): string | undefined {
    const wanted = wellFormed(key);
    let value = this.pending.get(wanted);
    if (value === undefined) value = this.writing.get(wanted);
    if (value !== undefined) return value ?? undefined;
    value = this.recent.get(wanted);
    if (value !== undefined) return value;
    // Most of what is asked for in vain is not looked for on disk.
    if (this.directory.get(wanted) === undefined) return undefined;
    value = this.read(this.prefix, wanted);
    if (value === undefined) throw this.unreadable(wanted);
    this.recent.set(wanted, value);
    return value;
  }

  keys(prefix: string, after?: string): Iterable<string> {
    return keysWith(this.directory, prefix, after);
  }

  commit(changes: readonly Change[]): void {
    if (this.damaged !== undefined) throw new Error(`commit to a damaged state: ${this.damaged}`);
    for (const [rawKey, rawValue] of changes) {
      const key = wellFormed(rawKey);
      this.recent.delete(key);
      this.shared.noteChange(key);
      if (rawValue === undefined) {
        this.pending.set(key, null);
        if (this.directory.delete(key)) this.keyTally.remove(keySum(key));
      } else {
        this.pending.set(key, wellFormed(rawValue));
        if (this.directory.set(key, true)) this.keyTally.add(keySum(key));
      }
      this.pendingBytes += key.length + (rawValue?.length ?? 0);
    }
    if (this.pendingBytes >= GATHER_BYTES) this.startWriting();
    else this.timer ??= setTimeout(() => this.startWriting(), GATHER_MS);
  }

  flush(): Promise<void> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    if (this.pending.size === 0 && this.writing.size === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      this.startWriting();
    });
  }

  pin(): PinnedView {
    const layers = [new Map(this.pending), this.writing];
    const { prefix } = this;
    const directory = this.directory.clone();
    const snapshot = this.db.snapshot();
    const opened = this.shared.open();
    let open = true;
    let closed = (): void => {};
    const pinned = new Promise<void>((resolve) => {
      closed = resolve;
    });
    this.pinned.add(pinned);
    return {
      get: (key) => {
        if (!open) throw new Error('read of a closed view');
        const wanted = wellFormed(key);
        for (const layer of layers) {
          const value = layer.get(wanted);
          if (value !== undefined) return value ?? undefined;
        }
        const read = (): string | undefined => this.read(prefix, wanted, snapshot);
        return prefix === this.prefix ? this.shared.get(wanted, opened, read) : read();
      },
      keys: (start, after) => keysWith(directory, start, after),
      close: () => {
        if (open) this.shared.close();
        open = false;
        this.pinned.delete(pinned);
        void snapshot.close().then(closed);
      },
    };
  }

  install(): Installation {
    this.installation?.abort();
    const generation = this.nextGeneration;
    this.nextGeneration += 1;
    const installation = new LevelInstallation({
      db: this.db,
      generation,
      prefix: prefixOf(generation),
      write: (operations) => this.write(operations),
      switchTo: (...to) => this.switchTo(generation, ...to),
      remove: () => {
        if (this.installation === installation) this.installation = undefined;
        this.remove(generation);
      },
    });
    this.installation = installation;
    return installation;
  }

  rewrite(
    slices: Iterator<readonly StateRecord[], boolean>,
    done: (replaced: boolean) => void,
  ): void {
    // A state that arrives is newer than one that is made here.
    if (this.installation !== undefined) {
      setImmediate(done, false);
      return;
    }
    rewriteBy(this.install(), slices)
      .then(done)
      .catch((error) => this.fail(error));
  }

  /**
   * Calls `done` once nothing is left in a file of the secrets that were deleted or replaced
   * before. Waits for the views that are open now, which may show them. Never calls it when the
   * state is closed before.
   */
  erase(done: () => void): void {
    const erased = async (): Promise<void> => {
      await this.flush();
      await Promise.all(this.pinned);
      this.removing = this.removing.then(() => this.rewriteSecrets());
      await this.removing;
      if (!this.closed) done();
    };
    erased().catch((error) => this.fail(error));
  }

  private async rewriteSecrets(): Promise<void> {
    const { gte, lt } = rangeOf(this.generation);
    // Around the present generation nothing is left but what a crash kept from being given back.
    const ranges = [
      [FIRST_GENERATION, gte],
      ...SECRET_TABLES.map((table) => [`${gte}${table}\u0000`, `${gte}${table}\u0001`]),
      [lt, PAST_GENERATIONS],
    ];
    for (const [from, to] of ranges) {
      if (this.closed) return;
      await rewriteRange(this.db, from!, to!, (marks) => this.write(marks));
    }
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.installation?.abort();
    if (this.failure === undefined) await this.flush().catch(() => {});
    this.closed = true;
    clearTimeout(this.timer);
    await this.loop;
    await this.chain;
    await this.removing;
    await this.db.close();
  }

  /** Removes a generation that is not the state, in bounded steps in the background. */
  remove(generation: number): void {
    // A chunk of an installation that was given up may still be on its way to disk.
    this.removing = Promise.all([this.removing, this.chain]).then(async () => {
      const range = rangeOf(generation);
      try {
        if (!this.closed) await flushTables(this.db, range.gte);
        while (!this.closed) {
          const some = await this.db.keys({ ...range, limit: CLEAR_STEP }).all();
          if (some.length === 0) break;
          await this.db.batch(some.map((key) => ({ type: 'del' as const, key })));
        }
        if (!this.closed)
          await rewriteRange(this.db, range.gte, range.lt, (marks) => this.write(marks));
      } catch (error) {
        this.fail(error);
      }
    });
  }

  private startWriting(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.switching || this.closed || this.failure !== undefined) return;
    // With nothing to write the loop would end before it is assigned here, and then count as
    // running for ever.
    if (this.pending.size === 0) return;
    this.loop ??= this.writeGathered();
  }

  private async writeGathered(): Promise<void> {
    do {
      const waiting = this.waiting;
      this.waiting = [];
      this.writing = this.pending;
      this.writingBytes = this.pendingBytes;
      this.pending = new Map();
      this.pendingBytes = 0;
      try {
        if (this.writing.size > 0) {
          const operations = operationsOf(this.prefix, this.writing);
          await this.write([...operations, this.keyCount()]);
        }
      } catch (error) {
        const failure = this.fail(error);
        for (const { reject } of [...waiting, ...this.waiting]) reject(failure);
        break;
      }
      this.writing = new Map();
      this.writingBytes = 0;
      for (const { resolve } of waiting) resolve();
    } while (this.waiting.length > 0 || this.pendingBytes >= GATHER_BYTES);
    this.loop = undefined;
  }

  /** One synced batch with its number, after all those before it. */
  private write(operations: readonly Operation<string>[]): Promise<void> {
    const written = this.chain.then(() => {
      const number = ++this.batchNumber;
      const key = ringKey(number);
      return writeSynced(this.db, [...operations, { type: 'put', key, value: String(number) }]);
    });
    this.chain = written.catch(() => {});
    return written;
  }

  private async switchTo(generation: number, directory: Directory, keyTally: Tally): Promise<void> {
    this.switching = true;
    try {
      await this.loop;
      const since = this.batchNumber + 1;
      const value = sealed({ v: 1, generation, since });
      const { count, sum } = keyTally;
      await this.write([
        { type: 'put', key: POINTER, value },
        { type: 'put', key: KEY_COUNT, value: sealed({ generation, since, count, sum }) },
      ]);
      this.since = since;
    } catch (error) {
      throw this.fail(error);
    } finally {
      this.switching = false;
    }
    const old = [this.generation, ...this.kept];
    this.kept = [];
    this.remains = undefined;
    this.generation = generation;
    this.prefix = prefixOf(generation);
    this.directory = directory;
    this.keyTally = keyTally;
    this.pending = new Map();
    this.pendingBytes = 0;
    this.recent.clear();
    this.shared.clear();
    this.damaged = undefined;
    this.installation = undefined;
    for (const { resolve } of this.waiting.splice(0)) resolve();
    for (const each of old) this.remove(each);
  }

  private keyCount(): Operation<string> {
    const { generation, since, keyTally } = this;
    const { count, sum } = keyTally;
    return { type: 'put', key: KEY_COUNT, value: sealed({ generation, since, count, sum }) };
  }

  private read(prefix: string, key: string, snapshot?: Snapshot): string | undefined {
    let stored: string | undefined;
    try {
      stored = storedAt(this.db, prefix + key, snapshot === undefined ? {} : { snapshot });
    } catch (error) {
      throw this.fail(error);
    }
    if (stored === undefined) return undefined;
    const value = contentOf(key, stored);
    if (value === undefined) throw this.unreadable(key);
    return value;
  }

  private unreadable(key: string): StorageError {
    return this.fail(
      new StorageError(
        'damaged',
        `a record of the state (table ${tableOf(key)}) cannot be read as it was written; move this server's state ` +
          'folder away and start it again, so that it gets the state from its log or its peers',
      ),
    );
  }

  private fail(error: unknown): StorageError {
    if (this.closed) return new StorageError('failed', 'the state is closed', error);
    if (this.failure !== undefined) return this.failure;
    this.failure =
      error instanceof StorageError
        ? error
        : new StorageError('failed', `the disk of the state failed: ${rootMessage(error)}`, error);
    this.onFatal(this.failure);
    return this.failure;
  }
}

function operationsOf(prefix: string, layer: Layer): Operation<string>[] {
  const operations: Operation<string>[] = [];
  for (const [key, value] of layer) {
    if (value === null) operations.push({ type: 'del', key: prefix + key });
    else operations.push({ type: 'put', key: prefix + key, value: storedValue(key, value) });
  }
  return operations;
}
