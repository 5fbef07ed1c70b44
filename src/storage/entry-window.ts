/**
 * The part of a log that is in memory: the terms of all entries, and the newest entries up to a
 * limit in bytes. Entries that are not on disk yet always stay. Terms are stored as runs, since one
 * term spans many entries:
 *
 *     index  1 2 3 4 5 6 7        runs  {from 1, term 1} {from 4, term 3}
 *     term   1 1 1 3 3 3 3        held      5 6 7  (1 to 4 are only on disk)
 */
import type { Entry, Index, Term } from '../raft/types.js';
import type { Position } from './segment-record.js';

interface Run {
  readonly from: Index;
  readonly term: Term;
}

/** See the head of this file. `limitBytes` bounds the entries that are also on disk. */
export class EntryWindow {
  #base: Position;
  #last: Index;
  #runs: Run[] = [];
  /** `held[i]` is the entry at `heldFrom + i`; the newest is at `last`. */
  #held: Entry[] = [];
  #heldFrom: Index;
  #heldBytes = 0;
  readonly #limitBytes: number;

  constructor(base: Position | undefined, limitBytes: number) {
    this.#base = { index: base?.index ?? 0, term: base?.term ?? 0 };
    this.#last = this.#base.index;
    this.#heldFrom = this.#last + 1;
    this.#limitBytes = limitBytes;
  }

  firstIndex(): Index {
    return this.#base.index + 1;
  }

  lastIndex(): Index {
    return this.#last;
  }

  /** Bytes of entries held in memory. */
  bytes(): number {
    return this.#heldBytes;
  }

  term(index: Index): Term | undefined {
    if (index === this.#base.index) return this.#base.term;
    if (index < this.#base.index || index > this.#last) return undefined;
    let low = 0;
    let high = this.#runs.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#runs[middle]!.from <= index) low = middle;
      else high = middle - 1;
    }
    return this.#runs[low]!.term;
  }

  /** Returns the entry if it is in memory. */
  get(index: Index): Entry | undefined {
    return this.#held[index - this.#heldFrom];
  }

  /**
   * Appends entries with consecutive indexes, and drops the existing ones from the first of these
   * indexes on. Throws RangeError if they leave a gap.
   */
  append(entries: readonly Entry[]): void {
    const first = entries[0];
    if (first === undefined) return;
    if (first.index <= this.#base.index || first.index > this.#last + 1) {
      throw new RangeError(
        `entries from ${first.index} do not follow a log of ${this.#base.index + 1}..${this.#last}`,
      );
    }
    if (first.index <= this.#last) this.truncate(first.index);
    for (const entry of entries) {
      if (entry.index !== this.#last + 1) {
        throw new RangeError(`entry ${entry.index} does not follow entry ${this.#last}`);
      }
      if (this.#runs.at(-1)?.term !== entry.term) {
        this.#runs.push({ from: entry.index, term: entry.term });
      }
      this.#held.push(entry);
      this.#heldBytes += entryBytes(entry);
      this.#last = entry.index;
    }
  }

  /** Drops the entries from `index` on. */
  truncate(index: Index): void {
    for (let i = this.#held.length; i-- > Math.max(0, index - this.#heldFrom); ) {
      this.#heldBytes -= entryBytes(this.#held.pop()!);
    }
    this.#last = index - 1;
    this.#heldFrom = Math.min(this.#heldFrom, index);
    while (this.#runs.length > 0 && this.#runs.at(-1)!.from > this.#last) this.#runs.pop();
  }

  /** Drops the entries up to the snapshot's index and keeps those after it. */
  compact(meta: Position): void {
    if (meta.index >= this.#last) {
      this.reset(meta);
      return;
    }
    this.#base = { index: meta.index, term: meta.term };
    this.#dropHeldUpTo(meta.index);
    const term = this.term(meta.index + 1)!;
    const next = this.#runs.findIndex((run) => run.from > meta.index + 1);
    this.#runs = [{ from: meta.index + 1, term }, ...(next < 0 ? [] : this.#runs.slice(next))];
  }

  /** Drops all entries; the next one follows the snapshot. */
  reset(meta: Position): void {
    this.#base = { index: meta.index, term: meta.term };
    this.#last = meta.index;
    this.#runs = [];
    this.#held = [];
    this.#heldBytes = 0;
    this.#heldFrom = this.#last + 1;
  }

  /** Drops the oldest entries in excess of the limit, but none after `written`. */
  evict(written: Index, limitBytes = this.#limitBytes): void {
    if (this.#heldBytes <= limitBytes) return;
    // Frees a quarter of the limit at once, so that the array is not shifted at every append.
    let bytes = this.#heldBytes;
    let upTo = this.#heldFrom - 1;
    while (upTo < written && bytes > limitBytes * 0.75) {
      upTo += 1;
      bytes -= entryBytes(this.get(upTo)!);
    }
    this.#dropHeldUpTo(upTo);
  }

  #dropHeldUpTo(index: Index): void {
    const count = index - this.#heldFrom + 1;
    if (count <= 0) return;
    for (const entry of this.#held.splice(0, count)) this.#heldBytes -= entryBytes(entry);
    this.#heldFrom = index + 1;
  }
}

/** Bytes that an entry counts for in memory. */
export function entryBytes(entry: Entry): number {
  return entry.kind === 'command' ? entry.data.length + 64 : 256;
}

/**
 * Returns entries lo..hi up to maxBytes, but at least one if there is any. `at` returns the entry
 * at an index.
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
