/**
 * A log in memory that keeps the contract of the log on disk. Nothing becomes durable by itself:
 * `sync` completes what was handed over, in order, and `crash` returns the log as a disk would show
 * it afterwards.
 */
import type { Entry, HardState, Index, SnapshotMeta, Term } from '../../src/raft/types.js';
import { entryBytes } from '../../src/storage/entry-window.js';

/** See `LogPort.bar`: what a damaged log may have acknowledged. */
interface Bar {
  readonly index: Index;
  readonly term: Term;
}

/** A write to a log. */
export type LogWrite =
  | { readonly type: 'bar'; readonly bar: undefined }
  | {
      readonly type: 'append';
      readonly hardState?: HardState | undefined;
      readonly entries: readonly Entry[];
    }
  | { readonly type: 'compact'; readonly meta: SnapshotMeta }
  | { readonly type: 'reset'; readonly meta: SnapshotMeta; readonly hardState: HardState };

/** Content of a log: of what the process sees, or of what would survive a power cut. */
export class LogContent {
  hard: HardState = { term: 0, votedFor: null };
  meta: SnapshotMeta | undefined;
  entries: Entry[] = [];
  bar: Bar | undefined;

  first(): Index {
    return (this.meta?.index ?? 0) + 1;
  }
  last(): Index {
    return this.first() + this.entries.length - 1;
  }
  at(index: Index): Entry | undefined {
    return this.entries[index - this.first()];
  }
  term(index: Index): Term | undefined {
    if (index === this.first() - 1) return this.meta?.term ?? 0;
    return this.at(index)?.term;
  }

  /** Does what a write does. Throws RangeError if entries leave a gap. */
  apply(write: LogWrite): void {
    if (write.type === 'append') this.#append(write.entries, write.hardState);
    else if (write.type === 'compact') this.#compact(write.meta);
    else if (write.type === 'bar') this.bar = undefined;
    else {
      this.meta = write.meta;
      this.hard = write.hardState;
      this.entries = [];
      if (this.bar !== undefined && write.meta.index >= this.bar.index) this.bar = undefined;
    }
  }

  copy(): LogContent {
    const copy = new LogContent();
    copy.hard = this.hard;
    copy.meta = this.meta;
    copy.entries = [...this.entries];
    copy.bar = this.bar;
    return copy;
  }

  #append(entries: readonly Entry[], hardState: HardState | undefined): void {
    const from = entries[0]?.index ?? this.last() + 1;
    const follows = entries.every(({ index }, at) => index === from + at);
    if (from < this.first() || from > this.last() + 1 || !follows)
      throw new RangeError(`entries from ${from} to a log of ${this.first()}..${this.last()}`);
    this.hard = hardState ?? this.hard;
    if (entries.length === 0) return;
    this.entries.length = from - this.first();
    for (const entry of entries) this.entries.push(entry);
  }

  #compact(meta: SnapshotMeta): void {
    if (meta.index < this.first()) return;
    this.entries.splice(0, meta.index - this.first() + 1);
    this.meta = meta;
  }
}

/** What a log tells of itself. */
export interface MemoryLogOptions {
  /**
   * Called whenever something waits to become durable; the simulation then calls `sync` when it
   * likes.
   */
  readonly onPending?: () => void;
  /** Called after each write that became durable. */
  readonly onDurable?: () => void;
  /** Bytes that an entry counts for in `entries`. */
  readonly bytesOf?: (entry: Entry) => number;
}

/** See the head of this file. `disk` is what an earlier one left; this one writes to it. */
export class MemoryLog {
  /** What the process sees. */
  readonly content: LogContent;
  readonly #disk: LogContent;
  readonly #waiting: { readonly write: LogWrite; readonly done: () => void }[] = [];
  readonly #options: MemoryLogOptions;
  #isDead = false;

  constructor(options: MemoryLogOptions = {}, disk = new LogContent()) {
    this.#options = options;
    this.#disk = disk;
    this.content = disk.copy();
  }

  firstIndex(): Index {
    return this.content.first();
  }

  lastIndex(): Index {
    return this.content.last();
  }

  term(index: Index): Term | undefined {
    return this.content.term(index);
  }

  entries(lo: Index, hi: Index, maxBytes: number): Entry[] {
    const { bytesOf = entryBytes } = this.#options;
    const taken: Entry[] = [];
    let bytes = 0;
    for (let index = lo; index <= hi; index++) {
      const entry = this.content.at(index);
      if (entry === undefined) break;
      bytes += bytesOf(entry);
      if (taken.length > 0 && bytes > maxBytes) break;
      taken.push(entry);
    }
    return taken;
  }

  snapshot(): SnapshotMeta | undefined {
    return this.content.meta;
  }

  hardState(): HardState {
    return this.content.hard;
  }

  bar(): Bar | undefined {
    return this.content.bar;
  }

  append(batch: { hardState?: HardState; entries: readonly Entry[] }, done: () => void): void {
    this.#enqueue({ type: 'append', ...batch }, done);
  }

  compact(meta: SnapshotMeta, done: () => void): void {
    this.#enqueue({ type: 'compact', meta }, done);
  }

  reset(meta: SnapshotMeta, hardState: HardState, done: () => void): void {
    this.#enqueue({ type: 'reset', meta, hardState }, done);
  }

  liftBar(done: () => void): void {
    this.#enqueue({ type: 'bar', bar: undefined }, done);
  }

  /** Writes that are not durable yet. */
  get pending(): number {
    return this.#waiting.length;
  }

  /**
   * Makes the oldest `count` writes durable (all, if not given) and calls their `done` in order.
   */
  sync(count: number = this.#waiting.length): void {
    for (const { write, done } of this.#waiting.splice(0, count)) {
      this.#persist(write);
      done();
    }
  }

  /**
   * Cuts the power: what was not durable is lost, but for the first `kept` writes, which had
   * reached the disk although nobody was told. This object is dead afterwards; the one returned is
   * the log as a restart finds it.
   */
  crash(kept = 0, options: MemoryLogOptions = this.#options): MemoryLog {
    for (const { write } of this.#waiting.splice(0, kept)) this.#persist(write);
    this.#waiting.length = 0;
    this.#isDead = true;
    return new MemoryLog(options, this.#disk);
  }

  async close(): Promise<void> {
    this.sync();
    this.#isDead = true;
  }

  #persist(write: LogWrite): void {
    this.#disk.apply(write);
    this.#options.onDurable?.();
  }

  #enqueue(write: LogWrite, done: () => void): void {
    if (this.#isDead) return;
    this.content.apply(write);
    this.#waiting.push({ write, done });
    this.#options.onPending?.();
  }
}
