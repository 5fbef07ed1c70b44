/**
 * The Raft log on disk, in segment files. It implements the node's LogPort. docs/formats.md has the
 * format.
 *
 * Writes: an appended entry is visible at once through the memory window, and `done` is called when
 * it is durable. The first failed write is reported once and never retried, because the content of
 * the disk is unknown after a failed sync.
 *
 * Damage (see `recovery.ts`) is not cut automatically. A damaged log shows the entries before the
 * damage, refuses appends, and `damaged` says where the damage begins. `repair` drops everything
 * from there on and durably sets a bar. While `bar()` is set, the node may follow but must neither
 * vote nor campaign, because it has forgotten entries that it acknowledged. The bar may be lifted
 * once the node holds a committed entry of a term above `bar().term`, or matches its leader up to
 * `bar().index`: it then holds again everything that it may have acknowledged. If the cluster no
 * longer has those entries, `reset` to a snapshot has the same effect.
 */
import type { Entry, HardState, Index, SnapshotMeta, Term } from '../raft/types.js';
import { settled, writeAll } from './calls.js';
import type { DiskFolder, StorageClock } from './disk.js';
import { type EntryWindow, takeEntries } from './entry-window.js';
import { rootMessage, StorageError } from './errors.js';
import { type Loaded, loadLog } from './log-load.js';
import { type Job, LogWriter } from './log-writer.js';
import { ReadBlock, type Segment, segmentOf } from './segment.js';
import { type Block, cleanedBlocks } from './segment-erase.js';
import { SEGMENT_BYTES, SegmentPool } from './segment-pool.js';
import {
  type Draft,
  entryDraft,
  type LogDamage,
  type LogState,
  type Position,
  stateDraft,
} from './segment-record.js';
import type { Witness } from './witness.js';

/** Bytes of recent entries kept in memory: what followers and apply usually read. */
const WINDOW_BYTES = 4 * 2 ** 20;

/** Milliseconds in a turn of the event loop after which erasing reads no further block. */
const READING_MS = 2;

export interface LogOptions {
  /** Called once, when the disk has failed. The process must stop. */
  readonly onFatal: (error: StorageError) => void;
  /** Bytes of recent entries in memory: reading them needs no disk. */
  readonly windowBytes?: number | undefined;
  readonly segmentBytes?: number | undefined;
  readonly clock: StorageClock;
  /** Gets the milliseconds that it took to write a batch and sync it. */
  readonly onSynced?: ((ms: number) => void) | undefined;
  readonly onClosed?: (() => Promise<void>) | undefined;
}

/**
 * Opens the log in a folder. Throws StorageError `failed`, or `damaged` if the vote may be lost.
 */
export async function openLogIn(folder: DiskFolder, options: LogOptions): Promise<SegmentLog> {
  return new SegmentLog(await loadLog(folder, options.windowBytes ?? WINDOW_BYTES), options);
}

/** The log. See the head of this file. */
export class SegmentLog {
  /** Set if the entries from `index` on cannot be trusted; see the head of this file. */
  damaged: LogDamage | undefined;

  readonly #witness: Witness;
  readonly #window: EntryWindow;
  readonly #writer: LogWriter;
  readonly #pool: SegmentPool;
  readonly #options: LogOptions;
  /** See Loaded. Removed once the log is not damaged. */
  #unused: Loaded['unused'];
  #log: LogState;
  #state: 'open' | 'failed' | 'closed' = 'open';
  #erasing: Promise<void> = Promise.resolve();

  constructor(loaded: Loaded, options: LogOptions) {
    const { segmentBytes = SEGMENT_BYTES, clock, onSynced } = options;
    const { folder, window, witness, segments, state, batch, crc, damage } = loaded;
    const onError = (error: unknown): void => void this.#fail(error);
    this.#witness = witness;
    this.#window = window;
    this.#log = state;
    this.#unused = loaded.unused;
    this.#options = options;
    this.damaged = damage;
    this.#pool = new SegmentPool({ folder, segmentBytes, number: loaded.nextSegment, onError });
    this.#writer = new LogWriter({
      segments,
      witness,
      segmentBytes,
      batch,
      crc,
      state,
      onError,
      clock,
      onSynced,
      pool: this.#pool,
      nextBatch: (damage === undefined ? batch : Math.max(batch, loaded.highestBatch)) + 1,
      last: this.#last(),
      written: (index) => this.#window.evict(index),
    });
    if (damage === undefined) this.#tidy();
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
    const block = new ReadBlock();
    const at = (index: Index): Entry => this.#window.get(index) ?? this.#read(index, block);
    return takeEntries(lo, upTo, maxBytes, at);
  }

  snapshot(): SnapshotMeta | undefined {
    return this.#log.meta;
  }

  hardState(): HardState {
    return this.#log.hardState;
  }

  /** Set after `repair`, until `liftBar`: this node must neither vote nor campaign. */
  bar(): Position | undefined {
    return this.#log.bar;
  }

  memoryBytes(): number {
    return this.#window.bytes();
  }

  append(batch: { hardState?: HardState; entries: readonly Entry[] }, done: () => void): void {
    this.#mustBeWhole();
    const { entries, hardState } = batch;
    const before = this.#last();
    const first = entries[0];
    this.#window.append(entries);
    const drafts: Draft[] = [];
    if (hardState !== undefined) {
      this.#log = this.#withHardState(hardState);
      drafts.push(stateDraft(this.#log, before));
    }
    let previousTerm = first === undefined ? 0 : this.#window.term(first.index - 1)!;
    for (const entry of entries) {
      drafts.push(entryDraft(entry, previousTerm));
      previousTerm = entry.term;
    }
    const isUrgent = hardState !== undefined;
    this.#add(drafts, done, { from: first?.index ?? Infinity, isUrgent });
  }

  /**
   * Runs `run` once, after the next batch is durable and before its `done` callbacks are called.
   */
  onceStored(run: () => Promise<void>): void {
    this.#writer.onceStored(run);
  }

  compact(meta: SnapshotMeta, done: () => void): void {
    this.#mustBeWhole();
    this.#window.compact(meta);
    this.#log = { ...this.#log, meta };
    const drop = (): void => {
      this.#writer.drop(meta.index);
      done();
    };
    this.#add([stateDraft(this.#log, this.#last())], drop, {});
  }

  /**
   * Calls `done` once no file holds anything of the entries that were compacted before. What is
   * appended meanwhile waits for the write of one block at most.
   */
  erase(done: () => void): void {
    this.#mustBeWhole();
    const first = this.firstIndex();
    this.#erasing = this.#erasing
      .then(() => this.#erase(first))
      .then((isDone) => {
        if (isDone) done();
      })
      .catch((error) => void this.#fail(error));
  }

  reset(meta: SnapshotMeta, hardState: HardState, done: () => void): void {
    const { damaged } = this;
    const raised = damaged === undefined ? this.#log.bar : this.#raised(damaged.last);
    const bar = raised !== undefined && meta.index >= raised.index ? undefined : raised;
    this.#log = { ...this.#withHardState(hardState), meta, bar };
    this.#window.reset(meta);
    const drop = (): void => {
      this.#tidy();
      this.#writer.drop(meta.index);
      done();
    };
    const job = { isUrgent: true, opensSegment: damaged !== undefined };
    this.#add([stateDraft(this.#log, this.#last())], drop, job);
    this.damaged = undefined;
  }

  /** Drops the damaged entries and all that follow, and bars this node from voting. */
  repair(done: () => void): void {
    const { damaged } = this;
    if (damaged === undefined) throw new Error('repair of a log that is not damaged');
    this.damaged = undefined;
    const bar = this.#raised(damaged.last);
    this.#log = { ...this.#withHardState(this.#log.hardState), bar };
    const tidy = (): void => {
      this.#tidy();
      done();
    };
    const options = { isUrgent: true, opensSegment: true };
    this.#add([stateDraft(this.#log, this.#last())], tidy, options);
  }

  /** Allows this node to vote again. The head of this file says when that is safe. */
  liftBar(done: () => void): void {
    this.#log = { ...this.#log, bar: undefined };
    this.#add([stateDraft(this.#log, this.#last())], done, {});
  }

  /** Resolves once the files of the entries cut off so far are removed or ready for other use. */
  settled(): Promise<void> {
    return this.#pool.settled();
  }

  /** Finishes pending writes, then closes the files. */
  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    await this.#writer.finish();
    this.#writer.stop();
    if (this.#state === 'open' && this.damaged === undefined) {
      await settled((done) => this.#writer.mark(done)).catch((error) => this.#fail(error));
    }
    this.#state = 'closed';
    await this.#pool.close();
    for (const { file } of [...this.#writer.segments, ...this.#unused]) file?.close();
    if (this.#witness.isIdle) this.#witness.close();
    await this.#options.onClosed?.();
  }

  /**
   * Erases what is before an index. Begins a segment in a file that holds nothing else, so that all
   * that is to be erased is in segments that are no longer written to. The witness knows of it: the
   * batch before it, of which entries may be erased, must not look like a torn one. Returns false
   * if the log was closed first.
   */
  async #erase(first: Index): Promise<boolean> {
    const { segments } = this.#writer;
    const { clock, segmentBytes = SEGMENT_BYTES } = this.#options;
    this.#pool.discard();
    this.#pool.prepare();
    await this.#pool.settled();
    await new Promise<void>((resolve) => {
      const opened = (): void => {
        this.#writer.drop(first - 1);
        resolve();
      };
      const job = { isUrgent: true, opensSegment: true };
      this.#add([stateDraft(this.#log, this.#last())], opened, job);
    });
    let sinceMs = clock.now();
    for (const segment of segments.slice(0, -1)) {
      const blocks = cleanedBlocks(segment, first, segmentBytes);
      // Once it is no longer part of the log, its file is closed, and will be removed.
      while (this.#state === 'open' && segments.includes(segment)) {
        const { done, value: block } = blocks.next();
        if (done === true) break;
        if (block !== undefined) await this.#overwrite(segment, block);
        else if (clock.now() - sinceMs < READING_MS) continue;
        else await new Promise<void>((resolve) => clock.soon(resolve));
        sinceMs = clock.now();
      }
    }
    if (this.#state !== 'open') return false;
    await this.#pool.settled();
    this.#pool.reuse();
    return true;
  }

  #overwrite(segment: Segment, { at, bytes }: Block): Promise<void> {
    const work = async (): Promise<void> => {
      if (!this.#writer.segments.includes(segment)) return;
      await settled((done) => writeAll(segment.file, bytes, at, done));
    };
    return new Promise((resolve) => this.#add([], resolve, { work }));
  }

  #withHardState(hardState: HardState): LogState {
    return { ...this.#log, version: this.#log.version + 1, hardState };
  }

  /** The bar, raised to this index and the present term. */
  #raised(index: Index): Position {
    const { bar, hardState } = this.#log;
    return {
      index: Math.max(index, bar?.index ?? 0),
      term: Math.max(hardState.term, bar?.term ?? 0),
    };
  }

  #last(): Position {
    const index = this.lastIndex();
    return { index, term: this.#window.term(index)! };
  }

  #mustBeWhole(): void {
    if (this.damaged !== undefined) {
      throw new Error(`write to a log that is damaged from entry ${this.damaged.index} on`);
    }
  }

  #add(drafts: readonly Draft[], done: () => void, job: Partial<Job>): void {
    if (this.#state !== 'open') return;
    const { from = Infinity } = job;
    this.#writer.add({ ...job, from, drafts, state: this.#log, last: this.#last(), done });
  }

  /** Removes the files and segments that hold nothing of the log. */
  #tidy(): void {
    for (const { name, file } of this.#unused.splice(0)) this.#pool.remove(name, file);
    this.#writer.drop(this.firstIndex() - 1);
  }

  #read(index: Index, block: ReadBlock): Entry {
    let entry: Entry | undefined;
    try {
      entry = segmentOf(this.#writer.segments, index)?.read(index, block);
    } catch (error) {
      throw this.#fail(error);
    }
    if (entry === undefined || entry.term !== this.term(index)) {
      throw this.#fail(
        new StorageError(
          'damaged',
          `entry ${index} of the log cannot be read as it was written; restart the node so that it checks its log`,
        ),
      );
    }
    return entry;
  }

  #fail(error: unknown): StorageError {
    const failure =
      error instanceof StorageError
        ? error
        : new StorageError('failed', `the disk of the log failed: ${rootMessage(error)}`, error);
    if (this.#state === 'open') {
      this.#state = 'failed';
      this.#writer.stop();
      this.#options.onFatal(failure);
    }
    return failure;
  }
}
