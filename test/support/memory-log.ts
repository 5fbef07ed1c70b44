/**
 * A log in memory with the contract of the log on disk. Nothing becomes durable by itself: `sync`
 * completes pending operations in order, and `crash` returns the log as a disk would show it
 * afterwards.
 */
import type { Entry, HardState, Index, SnapshotMeta, Term } from '../../src/raft/types.js';
import { EntryWindow, takeEntries } from '../../src/storage/entry-window.js';

type Operation =
  | { readonly type: 'append'; readonly hardState?: HardState; readonly entries: readonly Entry[] }
  | { readonly type: 'compact'; readonly meta: SnapshotMeta }
  | { readonly type: 'reset'; readonly meta: SnapshotMeta; readonly hardState: HardState };

/** A log's content, both the visible one and the one on disk. */
class Content {
  hard: HardState = { term: 0, votedFor: null };
  meta: SnapshotMeta | undefined;
  readonly window = new EntryWindow(undefined, Infinity);

  apply(operation: Operation): void {
    if (operation.type !== 'append') this.meta = operation.meta;
    if (operation.type === 'compact') this.window.compact(operation.meta);
    else if (operation.type === 'reset') this.window.reset(operation.meta);
    else this.window.append(operation.entries);
    if (operation.type !== 'compact') this.hard = operation.hardState ?? this.hard;
  }

  copy(): Content {
    const copy = new Content();
    if (this.meta !== undefined) copy.window.reset(this.meta);
    copy.meta = this.meta;
    copy.hard = this.hard;
    copy.window.append(this.all());
    return copy;
  }

  all(): Entry[] {
    const { window } = this;
    return takeEntries(window.firstIndex(), window.lastIndex(), Infinity, (i) => window.get(i)!);
  }
}

export interface MemoryLogOptions {
  /**
   * Called whenever something waits to become durable; the simulation then calls `sync` when it
   * chooses to.
   */
  readonly onPending?: () => void;
}

export class MemoryLog {
  private readonly visible: Content;
  private readonly disk: Content;
  private readonly waiting: { readonly operation: Operation; readonly done: () => void }[] = [];
  private readonly options: MemoryLogOptions;
  private dead = false;

  constructor(options: MemoryLogOptions = {}, disk: MemoryLogDisk = new Content()) {
    this.options = options;
    this.disk = disk as Content;
    this.visible = this.disk.copy();
  }

  firstIndex(): Index {
    return this.visible.window.firstIndex();
  }

  lastIndex(): Index {
    return this.visible.window.lastIndex();
  }

  term(index: Index): Term | undefined {
    return this.visible.window.term(index);
  }

  entries(lo: Index, hi: Index, maxBytes: number): Entry[] {
    if (lo < this.firstIndex()) return [];
    const { window } = this.visible;
    return takeEntries(lo, Math.min(hi, this.lastIndex()), maxBytes, (i) => window.get(i)!);
  }

  snapshot(): SnapshotMeta | undefined {
    return this.visible.meta;
  }

  hardState(): HardState {
    return this.visible.hard;
  }

  append(batch: { hardState?: HardState; entries: readonly Entry[] }, done: () => void): void {
    this.enqueue({ type: 'append', ...batch }, done);
  }

  compact(meta: SnapshotMeta, done: () => void): void {
    this.enqueue({ type: 'compact', meta }, done);
  }

  reset(meta: SnapshotMeta, hardState: HardState, done: () => void): void {
    this.enqueue({ type: 'reset', meta, hardState }, done);
  }

  /** Operations that are not durable yet. */
  get pending(): number {
    return this.waiting.length;
  }

  /**
   * Makes the oldest `count` operations durable (all by default) and calls their `done` in
   * order.
   */
  sync(count: number = this.waiting.length): void {
    for (const { operation, done } of this.waiting.splice(0, count)) {
      this.disk.apply(operation);
      done();
    }
  }

  /**
   * Cuts the power: what was not durable is lost, except the first `kept` operations, which had
   * reached the disk without having been reported. This object is dead afterwards; the returned one
   * is the log as a restart finds it.
   */
  crash(kept = 0, options: MemoryLogOptions = this.options): MemoryLog {
    for (const { operation } of this.waiting.splice(0, kept)) this.disk.apply(operation);
    this.waiting.length = 0;
    this.dead = true;
    return new MemoryLog(options, this.disk);
  }

  async close(): Promise<void> {
    this.sync();
    this.dead = true;
  }

  private enqueue(operation: Operation, done: () => void): void {
    if (this.dead) return;
    this.visible.apply(operation);
    this.waiting.push({ operation, done });
    this.options.onPending?.();
  }
}

/** The durable content of a MemoryLog; opaque. */
export type MemoryLogDisk = object;
