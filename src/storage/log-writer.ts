/**
 * Writes the batches of a log, one after another. What arrives while a write is under way is the
 * next batch (group commit). A batch is one write, which is durable when it returns:
 *
 *     wait    the next segment, if the batch does not fit
 *     write   the batch
 *     wait    the witness, if the hard state changed; then `done` of each job, in order
 */
import { invariant } from '../raft/assert.js';
import type { Index } from '../raft/types.js';
import { writeAll } from './calls.js';
import type { Done, StorageClock } from './disk.js';
import { type Segment, truncateSegments } from './segment.js';
import type { SegmentPool } from './segment-pool.js';
import {
  batchBytes,
  type Draft,
  encodeBatch,
  HEAD_BYTES,
  holdsEntry,
  type LogState,
  type Position,
  stateDraft,
} from './segment-record.js';
import type { Witness } from './witness.js';

/**
 * Interval at which the witness records how far the log is synced, and the delay after the last
 * entry. Entries synced since the last mark are those whose loss would go unnoticed.
 */
const WITNESS_EVERY_MS = 1000;
/** Bytes in one batch: bounds how long the first of its jobs waits. */
const GROUP_BYTES = 2 ** 20;

/** Records that are written together, and what holds afterwards. */
export interface Job {
  readonly drafts: readonly Draft[];
  /** The first entry that the job writes; Infinity if it writes none. */
  readonly from: Index;
  /** State and last entry of the log once the job is written. */
  readonly state: LogState;
  readonly last: Position;
  /** The witness must record the state before the job is done. */
  readonly isUrgent?: boolean;
  /** Written alone, and into a new segment, whatever lies behind the last batch. */
  readonly opensSegment?: boolean;
  /** Done alone, after the records are durable; nothing else is written meanwhile. */
  readonly work?: () => Promise<void>;
  readonly done: () => void;
}

export interface WriterParts {
  readonly segments: Segment[];
  readonly pool: SegmentPool;
  readonly segmentBytes: number;
  readonly witness: Witness;
  /** The last batch and the CRC of its last record; the number of the next batch. */
  readonly batch: number;
  readonly crc: number;
  readonly nextBatch: number;
  readonly state: LogState;
  readonly last: Position;
  /** The entries up to an index are on the disk as they are in memory. */
  readonly written: (index: Index) => void;
  readonly onError: (error: unknown) => void;
  readonly clock: StorageClock;
  readonly onSynced?: ((ms: number) => void) | undefined;
}

export class LogWriter {
  readonly segments: Segment[];
  readonly #parts: WriterParts;
  readonly #witness: Witness;
  readonly #jobs: Job[] = [];
  #batch: number;
  #crc: number;
  #nextBatch: number;
  /** State and last entry as they are on the disk. */
  #state: LogState;
  #last: Position;
  /** The last index that a segment holds. */
  #placed: Index;
  #witnessedAt = 0;
  /** Cancels the timer that waits for the log to be idle. */
  #cancelRest: () => void = () => {};
  #beforeReport: (() => Promise<void>) | undefined;
  #isBusy = false;
  #hasStopped = false;
  #idle: (() => void)[] = [];

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.segments = parts.segments;
    this.#witness = parts.witness;
    this.#batch = parts.batch;
    this.#crc = parts.crc;
    this.#nextBatch = parts.nextBatch;
    this.#state = parts.state;
    this.#last = parts.last;
    this.#placed = parts.last.index;
  }

  /** Runs `run` once, after the next batch is durable and before its jobs are done. */
  onceStored(run: () => Promise<void>): void {
    this.#beforeReport = run;
  }

  /** Adds a job. It is written in a later turn, after all earlier ones. */
  add(job: Job): void {
    if (this.#hasStopped) return;
    this.#jobs.push(job);
    this.#pump();
  }

  /**
   * Drops the segments that hold no entry after an index. The newest one with a record stays: it
   * says what the log is. After it there may be a segment whose first batch is not durable yet, or
   * was torn by a crash.
   */
  drop(index: Index): void {
    const { segments } = this;
    const newest = segments.findLastIndex(({ end }) => end > 0);
    const kept = segments.findIndex(({ lastIndex }, i) => i >= newest || lastIndex > index);
    if (kept > 0) this.#parts.pool.recycle(segments.splice(0, kept));
  }

  /**
   * Takes no more jobs, and forgets those that wait. `finish` still waits for a write that is under
   * way.
   */
  stop(): void {
    this.#hasStopped = true;
    this.#jobs.length = 0;
    this.#cancelRest();
  }

  /** Resolves once all jobs are done, or the writer has stopped. */
  async finish(): Promise<void> {
    while (this.#isBusy || this.#jobs.length > 0) {
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  /** Makes the witness record what is on the disk. `done` gets null, or why it failed. */
  mark(done: Done): void {
    const { version, hardState } = this.#state;
    this.#witnessedAt = this.#parts.clock.now();
    const { marks, isIdle } = this.#witness;
    const batch = this.#batch;
    if (isIdle && marks?.batch === batch) done(null);
    else this.#witness.write({ version, hardState, batch, lastIndex: this.#last.index }, done);
  }

  /** Makes the witness record what is on the disk; nothing waits for it. */
  #markAside(): void {
    this.mark((error) => {
      if (error !== null) this.#parts.onError(error);
    });
  }

  /** Goes on with a group unless something failed or the writer has stopped. */
  #unless(error: unknown, goOn: () => void): void {
    if (error !== null && !this.#hasStopped) this.#parts.onError(error);
    if (!this.#hasStopped) goOn();
    else this.#becomeIdle();
  }

  #becomeIdle(): void {
    this.#isBusy = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #pump(): void {
    if (this.#isBusy || this.#hasStopped) return;
    if (this.#jobs.length === 0) {
      this.#becomeIdle();
      this.#rest();
      return;
    }
    this.#isBusy = true;
    this.#place(this.#takeGroup());
  }

  /** Takes what fits into one batch: at least one job; some are alone. */
  #takeGroup(): Job[] {
    const isAlone = (job: Job): boolean => job.opensSegment === true || job.work !== undefined;
    let bytes = 0;
    const end = this.#jobs.findIndex((job, i) => {
      bytes += batchBytes(job.drafts);
      return i > 0 && (bytes > GROUP_BYTES || isAlone(job) || isAlone(this.#jobs[i - 1]!));
    });
    return this.#jobs.splice(0, end < 0 ? this.#jobs.length : end);
  }

  /** Finds the segment for a group. */
  #place(group: readonly Job[]): void {
    const drafts = group.length === 1 ? group[0]!.drafts : group.flatMap((job) => job.drafts);
    if (drafts.length === 0) {
      this.#stored(group);
      return;
    }
    const { pool, segmentBytes } = this.#parts;
    const segment = this.segments.at(-1);
    const end = segment?.end ?? 0;
    const fits = end === 0 || end + batchBytes(drafts) <= segmentBytes;
    if (segment !== undefined && fits && group[0]!.opensSegment !== true) {
      if (end > segmentBytes / 2) pool.prepare();
      this.#write(group, drafts, segment);
      return;
    }
    const goOn = (next: Segment): void => {
      const [number, newest] = [next.number, segment?.number ?? -1];
      invariant(number > newest, 'a segment older than the newest one', { number, newest });
      this.segments.push(next);
      this.#unless(null, () => this.#write(group, drafts, next));
    };
    pool
      .take()
      .then(goOn)
      .catch((error) => this.#unless(error, () => {}));
  }

  #write(group: readonly Job[], some: readonly Draft[], segment: Segment): void {
    const drafts = segment.end === 0 ? [this.#start(), ...some] : some;
    const place = { salt: segment.salt, batch: this.#nextBatch, previous: this.#crc };
    const { bytes, crc } = encodeBatch(drafts, place);
    const { clock, onSynced } = this.#parts;
    const since = onSynced === undefined ? 0 : clock.now();
    writeAll(segment.file, bytes, segment.end, (error) =>
      this.#unless(error, () => {
        onSynced?.(clock.now() - since);
        this.#batch = this.#nextBatch;
        this.#nextBatch += 1;
        this.#crc = crc;
        this.#note(drafts, segment);
        this.#stored(group);
      }),
    );
  }

  /** The first record of a segment. It holds all that earlier segments say besides entries. */
  #start(): Draft {
    return stateDraft({ ...this.#state, after: this.#batch }, this.#last);
  }

  /** Notes where the entries of a batch are. */
  #note(drafts: readonly Draft[], segment: Segment): void {
    for (const draft of drafts) {
      const isEntry = holdsEntry(draft);
      const { index } = draft.position;
      const keeps = isEntry ? index - 1 : index;
      if (keeps < this.#placed) truncateSegments(this.segments, keeps + 1);
      const placed = Math.min(this.#placed, keeps);
      invariant(!isEntry || index === placed + 1, 'a gap in the segments', { index, placed });
      if (isEntry) segment.place(index, segment.end);
      this.#placed = index;
      segment.end += HEAD_BYTES + draft.payload.length;
    }
  }

  /** The records of a group are durable. */
  #stored(group: readonly Job[]): void {
    const { state, last } = group.at(-1)!;
    this.#state = state;
    this.#last = last;
    const report = (): void => this.#report(group);
    if (group.some((job) => job.isUrgent)) this.mark((error) => this.#unless(error, report));
    else {
      const isDue = this.#parts.clock.now() - this.#witnessedAt >= WITNESS_EVERY_MS;
      if (isDue && this.#witness.isIdle) this.#markAside();
      report();
    }
  }

  #report(group: readonly Job[]): void {
    const before = this.#beforeReport ?? group[0]!.work;
    if (before === undefined) {
      this.#settle(group);
      return;
    }
    const run = async (): Promise<void> => {
      await this.#beforeReport?.();
      this.#beforeReport = undefined;
      await group[0]!.work?.();
    };
    run().then(
      () => this.#unless(null, () => this.#settle(group)),
      (error) => this.#unless(error, () => {}),
    );
  }

  /**
   * The entries of a group may leave the memory, unless a later job is about to replace them.
   */
  #settle(group: readonly Job[]): void {
    const last = group.findLast((job) => job.from !== Infinity);
    if (last !== undefined) {
      const { index } = last.last;
      this.#parts.written(this.#jobs.reduce((low, { from }) => Math.min(low, from - 1), index));
    }
    for (const job of group) job.done();
    this.#isBusy = false;
    if (this.#hasStopped) this.#becomeIdle();
    else this.#pump();
  }

  /** Makes the witness record the rest once nothing has been written for a while. */
  #rest(): void {
    this.#cancelRest();
    this.#cancelRest = this.#parts.clock.after(WITNESS_EVERY_MS, () => {
      if (!this.#hasStopped && !this.#isBusy) this.#markAside();
    });
  }
}
