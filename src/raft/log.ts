/** The log as the core sees it: the tail of this step over what was handed over before. */
import { invariant } from './assert.js';
import type { Entry, Index, LogView, SnapshotMeta, Term } from './types.js';

/**
 * What an entry costs besides its data: keys, framing, bookkeeping. So a window in bytes bounds the
 * count too.
 */
const ENTRY_BYTES = 48;
const MEMBER_BYTES = 192;

/** Size of an entry for all limits in bytes. */
export function entryBytes(entry: Entry): number {
  if (entry.kind === 'command') return ENTRY_BYTES + entry.data.byteLength;
  if (entry.kind === 'noop') return ENTRY_BYTES;
  return ENTRY_BYTES + MEMBER_BYTES * entry.configuration.members.length;
}

/** A run of entries for one message. The same object for every peer that needs the same run. */
export interface Run {
  readonly entries: readonly Entry[];
  readonly bytes: number;
}
const NOTHING: Run = { entries: [], bytes: 0 };

export class Log {
  /** Position of the last entry, the tail included. */
  last: Index;
  lastTerm: Term;
  /** Everything up to here is durable and will not be replaced by what is under way. */
  stored: Index;
  /** Entries of this step; `last` is the last of them if there are any. */
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

  /** Begins a step: what the last one put out is in the view now. */
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
   * Term at index; undefined when compacted or beyond the end. The position before the first entry
   * has term 0.
   */
  term(index: Index): Term | undefined {
    if (index === this.last) return this.lastTerm;
    if (index > this.last) return undefined;
    if (index === 0) return this.#view.firstIndex() === 1 ? 0 : undefined;
    const from = this.#tailFrom();
    return index >= from ? this.tail[index - from]!.term : this.#view.term(index);
  }

  /** Whether a log ending at (term, index) is at least as up to date as this one (§3.6.1). */
  isUpToDate(lastTerm: Term, lastIndex: Index): boolean {
    return lastTerm > this.lastTerm || (lastTerm === this.lastTerm && lastIndex >= this.last);
  }

  /**
   * The greatest index up to `index` whose term is at most `term`; terms never fall along a log, so
   * it is searched by halves. Below the first index nothing is known: then `index` itself, or the
   * last position that is compacted.
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
   * Drops everything from `index` on; an append of another entry at `index` must follow in the same
   * step.
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
   * Takes a confirmation; false when it tells nothing new or is about an entry overwritten
   * meanwhile.
   */
  confirm(index: Index, term: Term): boolean {
    if (index <= this.stored) return false;
    const compacted = index < this.firstIndex() - 1;
    if (!compacted && this.term(index) !== term) return false;
    this.stored = index;
    return true;
  }

  /** The view starts behind a switched-in snapshot. */
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

  /** Entries from `from` on, at least one if there is any, then as many as fit in `maxBytes`. */
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
