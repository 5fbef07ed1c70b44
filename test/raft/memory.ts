/** A log in memory that can lose what was not synced. */
import type { Entry, HardState, Index, LogView, SnapshotMeta, Term } from '../../src/raft/types.js';

interface Kept {
  meta: SnapshotMeta | undefined;
  entries: Entry[];
  hardState: HardState;
}

export class MemoryLog implements LogView {
  hardState: HardState;
  #meta: SnapshotMeta | undefined;
  #entries: Entry[];
  #durable: Kept;
  #unsynced: (() => void)[] = [];

  constructor(kept: Partial<Kept> = {}) {
    this.hardState = kept.hardState ?? { term: 0, votedFor: null };
    this.#meta = kept.meta;
    this.#entries = [...(kept.entries ?? [])];
    this.#durable = { meta: this.#meta, entries: [...this.#entries], hardState: this.hardState };
  }

  firstIndex(): Index {
    return (this.#meta?.index ?? 0) + 1;
  }

  lastIndex(): Index {
    return this.firstIndex() - 1 + this.#entries.length;
  }

  term(index: Index): Term | undefined {
    if (index === this.firstIndex() - 1) return this.#meta?.term ?? 0;
    return this.#entries[index - this.firstIndex()]?.term;
  }

  entries(lo: Index, hi: Index, maxBytes: number): Entry[] {
    const first = this.firstIndex();
    const found: Entry[] = [];
    let bytes = 0;
    for (const entry of this.#entries.slice(lo - first, hi - first + 1)) {
      bytes += entry.kind === 'command' ? entry.data.byteLength : 8;
      if (found.length > 0 && bytes > maxBytes) break;
      found.push(entry);
    }
    return found;
  }

  snapshot(): SnapshotMeta | undefined {
    return this.#meta;
  }

  /** All entries held. */
  all(): readonly Entry[] {
    return this.#entries;
  }

  /** Shows a batch at once; it survives a crash only after `sync`. */
  append(batch: { hardState?: HardState; entries: readonly Entry[] }): void {
    const write = (kept: Kept): void => {
      if (batch.hardState !== undefined) kept.hardState = batch.hardState;
      const from = batch.entries[0]?.index;
      if (from === undefined) return;
      kept.entries = kept.entries.filter((entry) => entry.index < from).concat(batch.entries);
    };
    const shown = { meta: this.#meta, entries: this.#entries, hardState: this.hardState };
    write(shown);
    this.#entries = shown.entries;
    this.hardState = shown.hardState;
    this.#unsynced.push(() => write(this.#durable));
  }

  /** Makes the oldest `count` batches durable. */
  sync(count = this.#unsynced.length): void {
    for (const write of this.#unsynced.splice(0, count)) write();
  }

  /** What a crash would leave now. */
  get durable(): Readonly<Kept> {
    return this.#durable;
  }

  compact(meta: SnapshotMeta): void {
    this.sync();
    this.#entries = this.#entries.filter((entry) => entry.index > meta.index);
    this.#meta = meta;
    this.#durable = { meta, entries: [...this.#entries], hardState: this.hardState };
  }

  /** Replaces the whole log by a snapshot. */
  reset(meta: SnapshotMeta): void {
    this.#unsynced = [];
    this.#entries = [];
    this.#meta = meta;
    this.#durable = { meta, entries: [], hardState: this.hardState };
  }

  /** What a restart finds. */
  afterCrash(): MemoryLog {
    return new MemoryLog(this.#durable);
  }
}
