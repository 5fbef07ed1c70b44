/**
 * The Raft log on disk: a LevelDB of its own, synced batches in order. What was appended is visible
 * at once through the memory window; `done` is called when it is durable. What is handed over while
 * a batch is synced is written together by the next one. The first write that fails is reported
 * once and is never tried again: after a failed fsync nobody knows what is on disk. (It has the
 * shape of the node's LogPort.)
 *
 * On opening every record is read. A crash takes whole batches off the end, as LevelDB's are
 * atomic, so a record that is not as it was written is damage wherever it stands, and may be an
 * acknowledged entry. So may be what is missing below the witness's marks. Damage is not cut: the
 * log shows what stands before it, takes no appends, and `damaged` says where it begins. `repair`
 * makes it usable again: it drops everything from there and sets a bar, which is durable. While
 * `bar()` is set the node must neither vote nor campaign, since it has forgotten entries it once
 * acknowledged; it may follow. The bar can be lifted once the node holds a committed entry of a
 * term above `bar().term`, or has matched its leader up to `bar().index`: then it has everything
 * again that it may have acknowledged. Where the damage is below what the cluster still keeps,
 * `reset` by a snapshot does the same.
 */
import type { ClassicLevel } from 'classic-level';
import type { Entry, HardState, Index, SnapshotMeta, Term } from '../raft/types.js';
import { type Operation, writeSynced } from './batch.js';
import { type EntryWindow, takeEntries } from './entry-window.js';
import { flushTables, rewriteRange } from './erase.js';
import { rootMessage, StorageError } from './errors.js';
import { type Change, merge, sealedPut } from './log-change.js';
import { type Bar, KEYS, type LogDamage, loadLog } from './log-load.js';
import { decodeEntry, encodeEntry, entryKey } from './record.js';
import type { Marks, Witness } from './witness.js';

/**
 * How often the witness is told how far the log is synced while entries come in, and how soon after
 * the last one. It only narrows what rot could go unnoticed.
 */
const WITNESS_EVERY_MS = 1000;
/** Operations that may be written as one batch: bounds the wait of the first of them. */
const GROUP_OPERATIONS = 10_000;
/** Bytes of recent entries kept in memory: what followers and apply usually read. */
const WINDOW_BYTES = 16 * 2 ** 20;
/** Keys dropped at a time when the log is cut: bounds the time one step holds LevelDB. */
const CLEAR_STEP = 2000;

export interface LogOptions {
  /** Called once, when the disk failed. The process must stop. */
  readonly onFatal: (error: StorageError) => void;
  /**
   * Bytes of recent entries kept in memory: what followers and apply read without
   * touching the disk.
   */
  readonly windowBytes?: number;
}

/**
 * Opens (or makes) the log in `dir`. Throws StorageError: locked, failed, or damaged (the hard
 * state, in both copies).
 */
export async function openLog(dir: string, options: LogOptions): Promise<LevelLog> {
  return new LevelLog(await loadLog(dir, options.windowBytes ?? WINDOW_BYTES), options);
}

interface Job {
  /** First entry this job writes; Infinity when it writes none. */
  readonly from: Index;
  readonly upTo: Index;
  readonly change: Change;
  readonly done: () => void;
}

type Loaded = Awaited<ReturnType<typeof loadLog>>;

export class LevelLog {
  /** Set when entries from `index` on are not to be trusted; see the head of this file. */
  damaged: LogDamage | undefined;

  private readonly db: ClassicLevel<Buffer, Buffer>;
  private readonly witness: Witness;
  private readonly window: EntryWindow;
  private readonly onFatal: (error: StorageError) => void;
  private meta: SnapshotMeta | undefined;
  private hard: HardState;
  private hardVersion: number;
  private barred: Bar | undefined;
  private readonly jobs: Job[] = [];
  private running: Promise<void> | undefined;
  private cleaning: Promise<void> = Promise.resolve();
  /** Entries up to here are in LevelDB as the window shows them. */
  private written: Index;
  /** What the witness file says. */
  private witnessed: Marks;
  private witnessedAt = 0;
  private idle: NodeJS.Timeout | undefined;
  private beforeReport: (() => Promise<void>) | undefined;
  private state: 'open' | 'failed' | 'closed' = 'open';

  constructor(loaded: Loaded, options: LogOptions) {
    this.db = loaded.db;
    this.witness = loaded.witness;
    this.window = loaded.window;
    this.meta = loaded.meta;
    this.hard = loaded.hardState;
    this.hardVersion = loaded.hardVersion;
    this.barred = loaded.bar;
    this.damaged = loaded.damaged;
    this.witnessed = loaded.marks;
    this.written = this.window.lastIndex();
    this.onFatal = options.onFatal;
    if (this.meta !== undefined) this.clean(this.meta.index);
  }

  firstIndex(): Index {
    return this.window.firstIndex();
  }

  lastIndex(): Index {
    return this.window.lastIndex();
  }

  term(index: Index): Term | undefined {
    return this.window.term(index);
  }

  entries(lo: Index, hi: Index, maxBytes: number): Entry[] {
    if (lo < this.firstIndex()) return [];
    const upTo = Math.min(hi, this.lastIndex());
    return takeEntries(lo, upTo, maxBytes, (index) => this.window.get(index) ?? this.read(index));
  }

  snapshot(): SnapshotMeta | undefined {
    return this.meta;
  }

  hardState(): HardState {
    return this.hard;
  }

  /** Set after `repair`, until `liftBar`: this node must neither vote nor campaign. */
  bar(): Bar | undefined {
    return this.barred;
  }

  /** Bytes of entries held in memory. */
  memoryBytes(): number {
    return this.window.bytes();
  }

  /** Bytes the entries take on disk, about: the newest ones may still be in LevelDB's own log. */
  async diskBytes(): Promise<number> {
    return this.db.approximateSize(entryKey(0), entryKey(Number.MAX_SAFE_INTEGER));
  }

  append(batch: { hardState?: HardState; entries: readonly Entry[] }, done: () => void): void {
    this.mustBeWhole();
    const { entries } = batch;
    const operations: Operation<Buffer>[] = [];
    const first = entries[0];
    const shrinks = first !== undefined && first.index <= this.lastIndex();
    if (shrinks) {
      for (let index = first.index + entries.length; index <= this.lastIndex(); index++) {
        operations.push({ type: 'del', key: entryKey(index) });
      }
    }
    this.window.append(entries);
    for (const entry of entries) {
      const value = encodeEntry(entry, this.window.term(entry.index - 1)!);
      operations.push({ type: 'put', key: entryKey(entry.index), value });
    }
    if (batch.hardState !== undefined) operations.push(this.setHardState(batch.hardState));
    if (first !== undefined) this.written = Math.min(this.written, first.index - 1);
    this.enqueue(first?.index ?? Infinity, this.lastIndex(), done, {
      operations,
      ...(shrinks ? { lowerTo: first.index - 1 } : {}),
      marks: this.marks(),
      urgent: batch.hardState !== undefined,
    });
  }

  /** Runs `run` once, when the next batch is on disk and before anybody is told so. */
  onceStored(run: () => Promise<void>): void {
    this.beforeReport = run;
  }

  compact(meta: SnapshotMeta, done: () => void): void {
    this.mustBeWhole();
    this.meta = meta;
    this.window.compact(meta);
    const cleanAndReport = () => {
      this.clean(meta.index);
      done();
    };
    const operations = [sealedPut(KEYS.meta, meta)];
    this.enqueue(Infinity, 0, cleanAndReport, { operations, marks: this.marks() });
  }

  /** Calls `done` once nothing of the entries that were cut off before is left in a file. */
  erase(done: () => void): void {
    const change = { operations: [], marks: this.marks() };
    this.enqueue(Infinity, 0, () => void this.cleaning.then(done), change);
  }

  reset(meta: SnapshotMeta, hardState: HardState, done: () => void): void {
    const operations: Operation<Buffer>[] = [
      sealedPut(KEYS.meta, meta),
      this.setHardState(hardState),
    ];
    const damaged = this.damaged;
    if (damaged !== undefined) this.raiseBar(damaged.last);
    if (this.barred !== undefined && meta.index >= this.barred.index) this.barred = undefined;
    operations.push(this.barOperation());
    this.meta = meta;
    this.window.reset(meta);
    this.written = meta.index;
    this.damaged = undefined;
    const cleanAndReport = () => {
      this.clean(meta.index);
      done();
    };
    this.enqueue(Infinity, 0, cleanAndReport, {
      operations,
      dropAbove: meta.index,
      // As long as the log is damaged the witness must go on saying so.
      ...(damaged === undefined ? { lowerTo: meta.index } : {}),
      marks: this.marks(),
      urgent: true,
    });
  }

  /**
   * Drops the damaged entries and all after them, writes the other records anew, and bars this node
   * from voting.
   */
  repair(done: () => void): void {
    const damaged = this.damaged;
    if (damaged === undefined) throw new Error('repair of a log that is not damaged');
    this.damaged = undefined;
    this.raiseBar(damaged.last);
    this.enqueue(Infinity, 0, done, {
      operations: [this.barOperation(), this.metaOperation(), this.setHardState(this.hard)],
      dropAbove: damaged.index - 1,
      marks: this.marks(),
      urgent: true,
    });
  }

  /** Lets this node vote again. See the head of this file for when. */
  liftBar(done: () => void): void {
    this.barred = undefined;
    this.enqueue(Infinity, 0, done, { operations: [this.barOperation()], marks: this.marks() });
  }

  /** Finishes what is under way and closes. */
  async close(): Promise<void> {
    if (this.state === 'closed') return;
    while (this.running !== undefined) await this.running;
    clearTimeout(this.idle);
    if (this.state === 'open' && this.damaged === undefined) {
      await this.tellWitness(this.marks(), true);
    }
    this.state = 'closed';
    await this.cleaning;
    await this.witness.close();
    await this.db.close();
  }

  private setHardState(hardState: HardState): Operation<Buffer> {
    this.hard = hardState;
    this.hardVersion += 1;
    return sealedPut(KEYS.hard, { version: this.hardVersion, hardState });
  }

  private raiseBar(index: Index): void {
    this.barred = {
      index: Math.max(index, this.barred?.index ?? 0),
      term: Math.max(this.hard.term, this.barred?.term ?? 0),
    };
  }

  private barOperation(): Operation<Buffer> {
    if (this.barred === undefined) return { type: 'del', key: KEYS.bar };
    return sealedPut(KEYS.bar, this.barred);
  }

  private metaOperation(): Operation<Buffer> {
    if (this.meta === undefined) return { type: 'del', key: KEYS.meta };
    return sealedPut(KEYS.meta, this.meta);
  }

  private marks(): Marks {
    return { version: this.hardVersion, hardState: this.hard, lastIndex: this.lastIndex() };
  }

  private mustBeWhole(): void {
    if (this.damaged !== undefined) {
      throw new Error(`write to a log that is damaged from entry ${this.damaged.index} on`);
    }
  }

  private async write(change: Change): Promise<void> {
    const { lowerTo = Infinity, dropAbove } = change;
    if (lowerTo < this.witnessed.lastIndex) {
      await this.tellWitness({ ...this.witnessed, lastIndex: lowerTo }, true);
    }
    const operations = [...change.operations];
    if (dropAbove !== undefined) {
      const range = { gt: entryKey(dropAbove), lte: entryKey(Number.MAX_SAFE_INTEGER) };
      for (const key of await this.db.keys(range).all()) operations.push({ type: 'del', key });
    }
    if (operations.length > 0) await writeSynced(this.db, operations);
    const due = performance.now() - this.witnessedAt >= WITNESS_EVERY_MS;
    if (change.urgent || due) await this.tellWitness(change.marks, change.urgent ?? false);
  }

  private async tellWitness(marks: Marks, sync: boolean): Promise<void> {
    await this.witness.write(marks, sync);
    this.witnessed = marks;
    this.witnessedAt = performance.now();
  }

  private enqueue(from: Index, upTo: Index, done: () => void, change: Change): void {
    if (this.state !== 'open') return;
    this.jobs.push({ from, upTo, change, done });
    this.running ??= this.drain();
  }

  private async drain(): Promise<void> {
    while (this.jobs.length > 0) {
      const group = this.takeGroup();
      try {
        await this.write(merge(group.map((job) => job.change)));
        if (this.beforeReport !== undefined) await this.beforeReport();
        this.beforeReport = undefined;
      } catch (error) {
        this.fail(error);
        break;
      }
      this.settle(group);
      for (const job of group) job.done();
    }
    this.running = undefined;
    if (this.state === 'open') this.rest();
  }

  /** When nothing was written for a while, the witness is told of the last that was. */
  private rest(): void {
    this.idle ??= setTimeout(() => {
      if (this.witnessed.lastIndex >= this.lastIndex() || this.damaged !== undefined) return;
      const change = { operations: [], marks: this.marks(), urgent: true };
      this.enqueue(Infinity, 0, () => {}, change);
    }, WITNESS_EVERY_MS).unref();
    this.idle.refresh();
  }

  /** What has gathered while the last batch was synced, as far as it may stand in one batch. */
  private takeGroup(): Job[] {
    let operations = 0;
    const ends = this.jobs.findIndex((job, i) => {
      operations += job.change.operations.length;
      const alone = job.change.dropAbove !== undefined;
      return i > 0 && (alone || operations > GROUP_OPERATIONS);
    });
    const first = this.jobs[0]!.change.dropAbove !== undefined ? 1 : this.jobs.length;
    return this.jobs.splice(0, Math.min(first, ends < 0 ? first : ends));
  }

  /**
   * After a batch: what it wrote may leave the memory, unless a later job is about to replace it.
   */
  private settle(group: readonly Job[]): void {
    const last = group.findLast((job) => job.from !== Infinity);
    if (last !== undefined) {
      this.written = this.jobs.reduce((low, later) => Math.min(low, later.from - 1), last.upTo);
    }
    this.window.evict(this.written);
  }

  /**
   * Removes entries up to `index` in the background, then gives the space back: also where a crash
   * came between, of which nothing tells.
   */
  private clean(index: Index): void {
    this.cleaning = this.cleaning.then(async () => {
      try {
        const range = { gte: entryKey(0), lte: entryKey(index) };
        if (this.state === 'open') await flushTables(this.db, range.gte);
        while (this.state === 'open') {
          const some = await this.db.keys({ ...range, limit: CLEAR_STEP }).all();
          if (some.length === 0) break;
          await this.db.batch(some.map((key) => ({ type: 'del' as const, key })));
        }
        if (this.state === 'open')
          await rewriteRange(this.db, range.gte, range.lte, (marks) => this.db.batch([...marks]));
      } catch (error) {
        this.fail(error);
      }
    });
  }

  private read(index: Index): Entry {
    const key = entryKey(index);
    let record: Buffer | undefined;
    try {
      record = this.db.getSync(key);
    } catch (error) {
      throw this.fail(error);
    }
    const decoded = record === undefined ? undefined : decodeEntry(index, record);
    if (decoded === undefined || decoded.entry.term !== this.term(index)) {
      throw this.fail(
        new StorageError(
          'damaged',
          `the log's entry ${index} cannot be read as it was written; start the node again so that it checks its log`,
        ),
      );
    }
    return decoded.entry;
  }

  private fail(error: unknown): StorageError {
    const failure =
      error instanceof StorageError
        ? error
        : new StorageError('failed', `the disk of the log failed: ${rootMessage(error)}`, error);
    if (this.state === 'open') {
      this.state = 'failed';
      this.jobs.length = 0;
      this.onFatal(failure);
    }
    return failure;
  }
}
