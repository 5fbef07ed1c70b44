/**
 * The Raft log on disk, in a LevelDB of its own. It implements the node's LogPort.
 *
 * Writes: an appended entry is visible at once through the memory window, and `done` is called when
 * it is durable. Batches are synced one after another; everything that arrives while one is being
 * synced goes into the next (group commit). The first failed write is reported once and never
 * retried, because the content of the disk is unknown after a failed fsync.
 *
 * Damage (see `log-load.ts`) is not cut automatically. A damaged log shows the entries before the
 * damage, refuses appends, and `damaged` says where the damage begins. `repair` drops everything
 * from there on and durably sets a bar. While `bar()` is set, the node may follow but must neither
 * vote nor campaign, because it has forgotten entries that it acknowledged. The bar may be lifted
 * once the node holds a committed entry of a term above `bar().term`, or matches its leader up to
 * `bar().index`: it then holds again everything that it may have acknowledged. If the cluster no
 * longer has those entries, `reset` to a snapshot has the same effect.
 */
import type { Entry, HardState, Index, SnapshotMeta, Term } from '../raft/types.js';
import type { Disk, Operation, StorageClock } from './disk.js';
import { type EntryWindow, takeEntries } from './entry-window.js';
import { removeRange } from './erase.js';
import { rootMessage, StorageError } from './errors.js';
import { LEVEL_DISK } from './level-disk.js';
import { type Change, merge, sealedPut } from './log-change.js';
import { type Bar, KEYS, type LogDamage, type LogDatabase, loadLog } from './log-load.js';
import { decodeEntry, encodeEntry, entryKey } from './record.js';
import type { Marks, Witness } from './witness.js';

/**
 * Interval at which the witness records how far the log is synced, and the delay after the last
 * entry. Entries synced since the last mark are those whose loss would go unnoticed.
 */
const WITNESS_EVERY_MS = 1000;
/** Operations in one batch: bounds how long the first of them waits. */
const GROUP_OPERATIONS = 10_000;
/** Bytes of recent entries kept in memory: what followers and apply usually read. */
const WINDOW_BYTES = 16 * 2 ** 20;

/** Options of a log. */
export interface LogOptions {
  /** Called once, when the disk has failed. The process must stop. */
  readonly onFatal: (error: StorageError) => void;
  /** Bytes of recent entries in memory: reading them needs no disk. */
  readonly windowBytes?: number | undefined;
  /** The machine; by default the real one. */
  readonly disk?: Disk | undefined;
}

/**
 * Opens the log in `dir`, and creates it if it is missing. Throws StorageError `locked`, `failed`,
 * or `damaged` if both copies of the hard state are damaged.
 */
export async function openLog(dir: string, options: LogOptions): Promise<LevelLog> {
  const { windowBytes = WINDOW_BYTES, disk = LEVEL_DISK } = options;
  return new LevelLog(await loadLog(dir, disk, windowBytes), { ...options, clock: disk.clock });
}

interface Job {
  /** First entry that this job writes; Infinity if it writes none. */
  readonly from: Index;
  readonly upTo: Index;
  readonly change: Change;
  readonly done: () => void;
}

type Loaded = Awaited<ReturnType<typeof loadLog>>;

/** The log. See the head of this file. */
export class LevelLog {
  /** Set if the entries from `index` on cannot be trusted; see the head of this file. */
  damaged: LogDamage | undefined;

  /** The open database. Only tests use it from outside, to damage records. */
  readonly db: LogDatabase;

  readonly #witness: Witness;
  readonly #window: EntryWindow;
  readonly #onFatal: (error: StorageError) => void;
  readonly #clock: StorageClock;
  #meta: SnapshotMeta | undefined;
  #hard: HardState;
  #hardVersion: number;
  #barred: Bar | undefined;
  readonly #jobs: Job[] = [];
  #running: Promise<void> | undefined;
  #cleaning: Promise<void> = Promise.resolve();
  /** LevelDB holds the same entries as the window, up to this index. */
  #written: Index;
  /** What the witness file holds. */
  #witnessed: Marks;
  #witnessedAt = 0;
  /** Cancels the timer that waits for the log to be idle. */
  #cancelRest: () => void = () => {};
  #beforeReport: (() => Promise<void>) | undefined;
  #state: 'open' | 'failed' | 'closed' = 'open';

  constructor(
    loaded: Loaded,
    { onFatal, clock }: Pick<LogOptions, 'onFatal'> & { readonly clock: StorageClock },
  ) {
    this.db = loaded.db;
    this.#witness = loaded.witness;
    this.#window = loaded.window;
    this.#meta = loaded.meta;
    this.#hard = loaded.hardState;
    this.#hardVersion = loaded.hardVersion;
    this.#barred = loaded.bar;
    this.damaged = loaded.damaged;
    this.#witnessed = loaded.marks;
    this.#written = this.#window.lastIndex();
    this.#onFatal = onFatal;
    this.#clock = clock;
    if (this.#meta !== undefined) this.#clean(this.#meta.index);
  }

  firstIndex(): Index {
    return this.#window.firstIndex();
  }

  lastIndex(): Index {
    return this.#window.lastIndex();
  }

  term(index: Index): Term | undefined {
    return this.#window.term(index);
  }

  entries(lo: Index, hi: Index, maxBytes: number): Entry[] {
    if (lo < this.firstIndex()) return [];
    const upTo = Math.min(hi, this.lastIndex());
    return takeEntries(lo, upTo, maxBytes, (index) => this.#window.get(index) ?? this.#read(index));
  }

  snapshot(): SnapshotMeta | undefined {
    return this.#meta;
  }

  hardState(): HardState {
    return this.#hard;
  }

  /** Set after `repair`, until `liftBar`: this node must neither vote nor campaign. */
  bar(): Bar | undefined {
    return this.#barred;
  }

  /** Bytes of the entries in memory. */
  memoryBytes(): number {
    return this.#window.bytes();
  }

  /** Approximate bytes of the entries on disk. The newest may still be in LevelDB's own log. */
  async diskBytes(): Promise<number> {
    return this.db.approximateSize(entryKey(0), entryKey(Number.MAX_SAFE_INTEGER));
  }

  append(batch: { hardState?: HardState; entries: readonly Entry[] }, done: () => void): void {
    this.#mustBeWhole();
    const { entries } = batch;
    const operations: Operation<Buffer>[] = [];
    const first = entries[0];
    const shrinks = first !== undefined && first.index <= this.lastIndex();
    if (shrinks) {
      for (let index = first.index + entries.length; index <= this.lastIndex(); index++) {
        operations.push({ type: 'del', key: entryKey(index) });
      }
    }
    this.#window.append(entries);
    for (const entry of entries) {
      const value = encodeEntry(entry, this.#window.term(entry.index - 1)!);
      operations.push({ type: 'put', key: entryKey(entry.index), value });
    }
    if (batch.hardState !== undefined) operations.push(this.#setHardState(batch.hardState));
    if (first !== undefined) this.#written = Math.min(this.#written, first.index - 1);
    this.#enqueue(first?.index ?? Infinity, this.lastIndex(), done, {
      operations,
      ...(shrinks ? { lowerTo: first.index - 1 } : {}),
      marks: this.#marks(),
      urgent: batch.hardState !== undefined,
    });
  }

  /**
   * Runs `run` once, after the next batch is durable and before its `done` callbacks are called.
   */
  onceStored(run: () => Promise<void>): void {
    this.#beforeReport = run;
  }

  compact(meta: SnapshotMeta, done: () => void): void {
    this.#mustBeWhole();
    this.#meta = meta;
    this.#window.compact(meta);
    const cleanAndReport = () => {
      this.#clean(meta.index);
      done();
    };
    const operations = [sealedPut(KEYS.meta, meta)];
    this.#enqueue(Infinity, 0, cleanAndReport, { operations, marks: this.#marks() });
  }

  /** Calls `done` once no file holds anything of the entries that were compacted before. */
  erase(done: () => void): void {
    const change = { operations: [], marks: this.#marks() };
    this.#enqueue(Infinity, 0, () => void this.#cleaning.then(done), change);
  }

  reset(meta: SnapshotMeta, hardState: HardState, done: () => void): void {
    const operations: Operation<Buffer>[] = [
      sealedPut(KEYS.meta, meta),
      this.#setHardState(hardState),
    ];
    const damaged = this.damaged;
    if (damaged !== undefined) this.#raiseBar(damaged.last);
    if (this.#barred !== undefined && meta.index >= this.#barred.index) this.#barred = undefined;
    operations.push(this.#barOperation());
    this.#meta = meta;
    this.#window.reset(meta);
    this.#written = meta.index;
    this.damaged = undefined;
    const cleanAndReport = () => {
      this.#clean(meta.index);
      done();
    };
    this.#enqueue(Infinity, 0, cleanAndReport, {
      operations,
      dropAbove: meta.index,
      // While the log is damaged the witness must keep its evidence.
      ...(damaged === undefined ? { lowerTo: meta.index } : {}),
      marks: this.#marks(),
      urgent: true,
    });
  }

  /**
   * Drops the damaged entries and all that follow, rewrites the other records, and bars this node
   * from voting.
   */
  repair(done: () => void): void {
    const damaged = this.damaged;
    if (damaged === undefined) throw new Error('repair of a log that is not damaged');
    this.damaged = undefined;
    this.#raiseBar(damaged.last);
    this.#enqueue(Infinity, 0, done, {
      operations: [this.#barOperation(), this.#metaOperation(), this.#setHardState(this.#hard)],
      dropAbove: damaged.index - 1,
      marks: this.#marks(),
      urgent: true,
    });
  }

  /** Allows this node to vote again. The head of this file says when that is safe. */
  liftBar(done: () => void): void {
    this.#barred = undefined;
    this.#enqueue(Infinity, 0, done, { operations: [this.#barOperation()], marks: this.#marks() });
  }

  /** Resolves once the entries cut off so far are removed from the database. */
  settled(): Promise<void> {
    return this.#cleaning;
  }

  /** Finishes pending writes, then closes the database. */
  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    while (this.#running !== undefined) await this.#running;
    this.#cancelRest();
    if (this.#state === 'open' && this.damaged === undefined) {
      await this.#tellWitness(this.#marks(), true);
    }
    this.#state = 'closed';
    await this.#cleaning;
    await this.#witness.close();
    await this.db.close();
  }

  #setHardState(hardState: HardState): Operation<Buffer> {
    this.#hard = hardState;
    this.#hardVersion += 1;
    return sealedPut(KEYS.hard, { version: this.#hardVersion, hardState });
  }

  #raiseBar(index: Index): void {
    this.#barred = {
      index: Math.max(index, this.#barred?.index ?? 0),
      term: Math.max(this.#hard.term, this.#barred?.term ?? 0),
    };
  }

  #barOperation(): Operation<Buffer> {
    if (this.#barred === undefined) return { type: 'del', key: KEYS.bar };
    return sealedPut(KEYS.bar, this.#barred);
  }

  #metaOperation(): Operation<Buffer> {
    if (this.#meta === undefined) return { type: 'del', key: KEYS.meta };
    return sealedPut(KEYS.meta, this.#meta);
  }

  #marks(): Marks {
    return { version: this.#hardVersion, hardState: this.#hard, lastIndex: this.lastIndex() };
  }

  #mustBeWhole(): void {
    if (this.damaged !== undefined) {
      throw new Error(`write to a log that is damaged from entry ${this.damaged.index} on`);
    }
  }

  async #write(change: Change): Promise<void> {
    const { lowerTo = Infinity, dropAbove } = change;
    if (lowerTo < this.#witnessed.lastIndex) {
      await this.#tellWitness({ ...this.#witnessed, lastIndex: lowerTo }, true);
    }
    const operations = [...change.operations];
    if (dropAbove !== undefined) {
      const range = { gt: entryKey(dropAbove), lte: entryKey(Number.MAX_SAFE_INTEGER) };
      for (const key of await this.db.keys(range, Infinity)) operations.push({ type: 'del', key });
    }
    if (operations.length > 0) await this.db.write(operations, { sync: true });
    const due = this.#clock.now() - this.#witnessedAt >= WITNESS_EVERY_MS;
    if (change.urgent || due) await this.#tellWitness(change.marks, change.urgent ?? false);
  }

  async #tellWitness(marks: Marks, sync: boolean): Promise<void> {
    await this.#witness.write(marks, sync);
    this.#witnessed = marks;
    this.#witnessedAt = this.#clock.now();
  }

  #enqueue(from: Index, upTo: Index, done: () => void, change: Change): void {
    if (this.#state !== 'open') return;
    this.#jobs.push({ from, upTo, change, done });
    this.#running ??= this.#drain();
  }

  async #drain(): Promise<void> {
    while (this.#jobs.length > 0) {
      const group = this.#takeGroup();
      try {
        await this.#write(merge(group.map((job) => job.change)));
        if (this.#beforeReport !== undefined) await this.#beforeReport();
        this.#beforeReport = undefined;
      } catch (error) {
        this.#fail(error);
        break;
      }
      this.#settle(group);
      for (const job of group) job.done();
    }
    this.#running = undefined;
    if (this.#state === 'open') this.#rest();
  }

  /** Updates the witness's mark once nothing has been written for a while. */
  #rest(): void {
    this.#cancelRest();
    this.#cancelRest = this.#clock.after(WITNESS_EVERY_MS, () => {
      if (this.#witnessed.lastIndex >= this.lastIndex() || this.damaged !== undefined) return;
      const change = { operations: [], marks: this.#marks(), urgent: true };
      this.#enqueue(Infinity, 0, () => {}, change);
    });
  }

  /** Takes the jobs that arrived while the last batch was synced, as many as fit in one batch. */
  #takeGroup(): Job[] {
    let operations = 0;
    const ends = this.#jobs.findIndex((job, i) => {
      operations += job.change.operations.length;
      const alone = job.change.dropAbove !== undefined;
      return i > 0 && (alone || operations > GROUP_OPERATIONS);
    });
    const first = this.#jobs[0]!.change.dropAbove !== undefined ? 1 : this.#jobs.length;
    return this.#jobs.splice(0, Math.min(first, ends < 0 ? first : ends));
  }

  /**
   * Runs after a batch. The entries that it wrote may leave the memory, unless a later job is about
   * to replace them.
   */
  #settle(group: readonly Job[]): void {
    const last = group.findLast((job) => job.from !== Infinity);
    if (last !== undefined) {
      this.#written = this.#jobs.reduce((low, later) => Math.min(low, later.from - 1), last.upTo);
    }
    this.#window.evict(this.#written);
  }

  /**
   * Removes entries up to `index` in the background, then returns the space to the file system.
   * Runs at each start too, because a crash may have interrupted it without a trace.
   */
  #clean(index: Index): void {
    this.#cleaning = this.#cleaning.then(async () => {
      try {
        const range = { from: entryKey(0), to: entryKey(index) };
        const isOpen = () => this.#state === 'open';
        const write = (marks: readonly Operation<Buffer>[]) =>
          this.db.write(marks, { sync: false });
        await removeRange(this.db, range, isOpen, write);
      } catch (error) {
        this.#fail(error);
      }
    });
  }

  #read(index: Index): Entry {
    const key = entryKey(index);
    let record: Buffer | undefined;
    try {
      record = this.db.get(key);
    } catch (error) {
      throw this.#fail(error);
    }
    const decoded = record === undefined ? undefined : decodeEntry(index, record);
    if (decoded === undefined || decoded.entry.term !== this.term(index)) {
      throw this.#fail(
        new StorageError(
          'damaged',
          `the log's entry ${index} cannot be read as it was written; start the node again so that it checks its log`,
        ),
      );
    }
    return decoded.entry;
  }

  #fail(error: unknown): StorageError {
    const failure =
      error instanceof StorageError
        ? error
        : new StorageError('failed', `the disk of the log failed: ${rootMessage(error)}`, error);
    if (this.#state === 'open') {
      this.#state = 'failed';
      this.#jobs.length = 0;
      this.#onFatal(failure);
    }
    return failure;
  }
}
