/**
 * What a log keeps in memory: the terms of all its entries (as runs: a term spans many entries) and
 * the entries of its tail, bounded in bytes. Entries that are not on disk yet are always held.
 */
import type { Entry, Index, SnapshotMeta, Term } from '../raft/types.js';
import { entryBytes } from './record.js';

interface Run {
  readonly from: Index;
  readonly term: Term;
}

export class EntryWindow {
  private base: { readonly index: Index; readonly term: Term };
  private last: Index;
  private runs: Run[] = [];
  /** `held[i]` is the entry at `heldFrom + i`; the newest is at `last`. */
  private held: Entry[] = [];
  private heldFrom: Index;
  private heldBytes = 0;
  private readonly limitBytes: number;

  constructor(meta: SnapshotMeta | undefined, limitBytes: number) {
    this.base = { index: meta?.index ?? 0, term: meta?.term ?? 0 };
    this.last = this.base.index;
    this.heldFrom = this.last + 1;
    this.limitBytes = limitBytes;
  }

  firstIndex(): Index {
    return this.base.index + 1;
  }

  lastIndex(): Index {
    return this.last;
  }

  /** Bytes of entries held in memory. */
  bytes(): number {
    return this.heldBytes;
  }

  term(index: Index): Term | undefined {
    if (index === this.base.index) return this.base.term;
    if (index < this.base.index || index > this.last) return undefined;
    let low = 0;
    let high = this.runs.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.runs[middle]!.from <= index) low = middle;
      else high = middle - 1;
    }
    return this.runs[low]!.term;
  }

  /** The entry, if it is held in memory. */
  get(index: Index): Entry | undefined {
    return this.held[index - this.heldFrom];
  }

  /**
   * Appends entries; what stood at or after the first of them is dropped. Their indexes follow each
   * other.
   */
  append(entries: readonly Entry[]): void {
    const first = entries[0];
    if (first === undefined) return;
    if (first.index <= this.base.index || first.index > this.last + 1) {
      throw new RangeError(
        `entries from ${first.index} do not follow a log of ${this.base.index + 1}..${this.last}`,
      );
    }
    if (first.index <= this.last) this.truncate(first.index);
    for (const entry of entries) {
      if (entry.index !== this.last + 1) {
        throw new RangeError(`entry ${entry.index} does not follow entry ${this.last}`);
      }
      if (this.runs.at(-1)?.term !== entry.term) {
        this.runs.push({ from: entry.index, term: entry.term });
      }
      this.held.push(entry);
      this.heldBytes += entryBytes(entry);
      this.last = entry.index;
    }
  }

  /** Drops the entries from `index` on. */
  truncate(index: Index): void {
    for (let i = this.held.length; i-- > Math.max(0, index - this.heldFrom); ) {
      this.heldBytes -= entryBytes(this.held.pop()!);
    }
    this.last = index - 1;
    this.heldFrom = Math.min(this.heldFrom, index);
    while (this.runs.length > 0 && this.runs.at(-1)!.from > this.last) this.runs.pop();
  }

  /** Drops the entries up to the snapshot's index; with entries beyond it, they stay. */
  compact(meta: SnapshotMeta): void {
    if (meta.index >= this.last) {
      this.reset(meta);
      return;
    }
    this.base = { index: meta.index, term: meta.term };
    this.dropHeldUpTo(meta.index);
    const term = this.term(meta.index + 1)!;
    const next = this.runs.findIndex((run) => run.from > meta.index + 1);
    this.runs = [{ from: meta.index + 1, term }, ...(next < 0 ? [] : this.runs.slice(next))];
  }

  /** Empties the log; it goes on after the snapshot. */
  reset(meta: SnapshotMeta): void {
    this.base = { index: meta.index, term: meta.term };
    this.last = meta.index;
    this.runs = [];
    this.held = [];
    this.heldBytes = 0;
    this.heldFrom = this.last + 1;
  }

  /** Lets go of the oldest entries beyond the limit, of those up to `written`. */
  evict(written: Index, limitBytes = this.limitBytes): void {
    if (this.heldBytes <= limitBytes) return;
    // A quarter more than needed at a time, so that the array is not shifted at every append.
    let bytes = this.heldBytes;
    let upTo = this.heldFrom - 1;
    while (upTo < written && bytes > limitBytes * 0.75) {
      upTo += 1;
      bytes -= entryBytes(this.get(upTo)!);
    }
    this.dropHeldUpTo(upTo);
  }

  private dropHeldUpTo(index: Index): void {
    const count = index - this.heldFrom + 1;
    if (count <= 0) return;
    for (const entry of this.held.splice(0, count)) this.heldBytes -= entryBytes(entry);
    this.heldFrom = index + 1;
  }
}

/**
 * Entries lo..hi within maxBytes, but at least one; `at` gives the entry at an index within the
 * log.
 */
export function takeEntries(
  lo: Index,
  hi: Index,
  maxBytes: number,
  at: (index: Index) => Entry,
): Entry[] {
  const taken: Entry[] = [];
  let bytes = 0;
  for (let index = lo; index <= hi; index++) {
    const entry = at(index);
    bytes += entryBytes(entry);
    if (taken.length > 0 && bytes > maxBytes) break;
    taken.push(entry);
  }
  return taken;
}
