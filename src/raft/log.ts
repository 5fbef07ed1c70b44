/**
 * The log as the core sees it: the entries of this step (the tail) after those that earlier steps
 * have passed to the driver (the view).
 *
 *     view      1 2 3 4 5        stored is 4: entry 5 is still being synced
 *     tail                6 7    last is 7
 */
import { invariant } from './assert.js';
import type { Entry, Index, LogView, SnapshotMeta, Term } from './types.js';

/**
 * Overhead of an entry: key, framing, bookkeeping. Because of it a limit in bytes bounds the number
 * of entries too.
 */
const ENTRY_BYTES = 48;
/** Bytes of one member of a configuration. */
const MEMBER_BYTES = 192;

/** Returns the size of an entry, for every limit in bytes. */
export function entryBytes(entry: Entry): number {
  if (entry.kind === 'command') return ENTRY_BYTES + entry.data.byteLength;
  if (entry.kind === 'noop') return ENTRY_BYTES;
  return ENTRY_BYTES + MEMBER_BYTES * entry.configuration.members.length;
}

/** The entries of one message. Peers that need the same entries share the same object. */
export interface Run {
  readonly entries: readonly Entry[];
  readonly bytes: number;
}
const NOTHING: Run = { entries: [], bytes: 0 };

export class Log {
  /** Index of the last entry, including the tail. */
  last: Index;
  lastTerm: Term;
  /** Entries up to this index are durable, and no pending batch replaces them. */
  stored: Index;
  /** Entries of this step. If there are any, the last of them is at `last`. */
  tail: Entry[] = [];
  readonly #view: LogView;
  #run: Run = NOTHING;
  #runFrom: Index = 0;

  constructor(view: LogView) {
    this.#view = view;
    this.last = view.lastIndex();
    this.lastTerm = this.last === 0 ? 0 : this.#mustTerm(this.last);
    this.stored = this.last;
  }

  /** Begins a step. The view now contains the entries of the last output. */
  begin(): void {
    this.tail = [];
    this.#runFrom = 0;
    const last = this.#view.lastIndex();
    invariant(last === this.last, 'the log view does not end where the core left it', {
      view: last,
      core: this.last,
    });
  }

  firstIndex(): Index {
    return this.#view.firstIndex();
  }

  snapshot(): SnapshotMeta | undefined {
    return this.#view.snapshot();
  }

  /**
   * Returns the term at an index; undefined if it is compacted or beyond the end. Index 0 has term
   * 0.
   */
  term(index: Index): Term | undefined {
    if (index === this.last) return this.lastTerm;
    if (index > this.last) return undefined;
    if (index === 0) return this.#view.firstIndex() === 1 ? 0 : undefined;
    const from = this.#tailFrom();
    return index >= from ? this.tail[index - from]!.term : this.#view.term(index);
  }

  /** Whether a log that ends at (term, index) is at least as up to date as this one (§3.6.1). */
  isUpToDate(lastTerm: Term, lastIndex: Index): boolean {
    return lastTerm > this.lastTerm || (lastTerm === this.lastTerm && lastIndex >= this.last);
  }

  /**
   * Returns the greatest index, up to `index`, whose term is at most `term`. Terms never decrease
   * along a log, so this is a binary search. Compacted positions count as term 0.
   */
  lastOfTerm(index: Index, term: Term): Index {
    let low = this.firstIndex() - 2;
    let high = index;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.term(middle) ?? 0) <= term) low = middle;
      else high = middle - 1;
    }
    return high;
  }

  append(entry: Entry): void {
    invariant(entry.index === this.last + 1, 'an entry is appended with a gap', {
      entry: entry.index,
      last: this.last,
    });
    invariant(entry.term >= this.lastTerm, 'terms fall along the log', {
      entry: entry.term,
      last: this.lastTerm,
    });
    this.tail.push(entry);
    this.last = entry.index;
    this.lastTerm = entry.term;
    this.#runFrom = 0;
  }

  /**
   * Drops the entries from `index` on. An append of another entry at `index` must follow in the
   * same step.
   */
  truncate(index: Index): void {
    const from = this.#tailFrom();
    if (index > from) this.tail.length = index - from;
    else this.tail = [];
    this.lastTerm = this.#termBefore(index, from);
    this.last = index - 1;
    this.stored = Math.min(this.stored, this.last);
    this.#runFrom = 0;
  }

  /**
   * Records that entries up to `index` are durable. Returns false if that is known already, or if
   * the entry has been overwritten since.
   */
  confirm(index: Index, term: Term): boolean {
    if (index <= this.stored) return false;
    const compacted = index < this.firstIndex() - 1;
    if (!compacted && this.term(index) !== term) return false;
    this.stored = index;
    return true;
  }

  /** Continues after an installed snapshot, after which the view starts now. */
  restart(meta: SnapshotMeta): void {
    invariant(this.#view.lastIndex() === meta.index, 'the log was not reset to the snapshot', {
      view: this.#view.lastIndex(),
      snapshot: meta.index,
    });
    this.tail = [];
    this.#runFrom = 0;
    this.last = meta.index;
    this.lastTerm = meta.term;
    this.stored = meta.index;
  }

  /** Returns entries from `from` on, up to `maxBytes` but at least one if there is any. */
  runFrom(from: Index, maxBytes: number): Run {
    if (from > this.last) return NOTHING;
    if (from === this.#runFrom) return this.#run;
    const tailFrom = this.#tailFrom();
    const entries =
      from < tailFrom
        ? this.#view.entries(from, tailFrom - 1, maxBytes)
        : this.tail.slice(from - tailFrom);
    let bytes = 0;
    let count = 0;
    for (; count < entries.length; count++) {
      const more = entryBytes(entries[count]!);
      if (count > 0 && bytes + more > maxBytes) break;
      bytes += more;
    }
    invariant(count > 0 && entries[0]!.index === from, 'the log view has no entry in its range', {
      wanted: from,
      got: entries[0]?.index,
    });
    this.#runFrom = from;
    this.#run = { entries: count < entries.length ? entries.slice(0, count) : entries, bytes };
    return this.#run;
  }

  #tailFrom(): Index {
    return this.last + 1 - this.tail.length;
  }

  #termBefore(index: Index, tailFrom: Index): Term {
    if (index > tailFrom) return this.tail.at(-1)!.term;
    return index === 1 ? 0 : this.#mustTerm(index - 1);
  }

  #mustTerm(index: Index): Term {
    const term = this.#view.term(index);
    invariant(term !== undefined, 'the log view does not know a term in its range', {
      index,
      first: this.#view.firstIndex(),
      last: this.#view.lastIndex(),
    });
    return term;
  }
}
