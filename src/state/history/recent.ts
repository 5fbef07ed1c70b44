/**
 * The newest lines of the history as they were made, with the objects that they left. Who tells of
 * each change as it happens (audit, events) need not read the rings for it.
 */
import type { About, Deed, Line, Link, Ring, RingLine } from './records.js';

/** A line, and what its object is after the change. */
export interface RecentLine extends RingLine {
  /** The text of the object; null if it is gone, or the line is about none. Has its secrets. */
  readonly after: string | null;
}

/** Returns a line of its parts. Thousands are kept: a flat object is smaller than its parts. */
export const recentLine = (
  ring: Ring,
  { index, position }: Pick<Line, 'index' | 'position'>,
  { type, ns, id, name, more, after }: About & Pick<RecentLine, 'after'>,
  { was, count, mark, content }: Link,
  { operation, timeMs, author, reason }: Deed,
): RecentLine => ({
  ring,
  index,
  position,
  operation,
  timeMs,
  author,
  reason,
  type,
  ns,
  id,
  name,
  more,
  after,
  was,
  count,
  mark,
  content,
});

/**
 * Lines in memory: a tenth of a second of writes at full rate, which audit and events let pass.
 * More would outlive the young generation of the heap.
 */
const LINES_MAX = 512;
/** Dropped lines that may still be in memory: they are removed together. */
const DROPPED_MAX = 64;
/** Characters of the objects of these lines. */
const CHARS_MAX = 4 * 2 ** 20;

/** The newest lines of one state. */
export class RecentLines {
  #lines: RecentLine[] = [];
  /** The place of the oldest line that counts. */
  #first = 0;
  #chars = 0;
  /** All lines after this index are here. */
  #from = 0;

  /** Forgets all lines. Those after an index will be added. */
  begin(index: number): void {
    this.#lines = [];
    this.#first = 0;
    this.#chars = 0;
    this.#from = index;
  }

  /** Adds a line. Lines come in the order of indexes and positions. */
  add(line: RecentLine): void {
    this.#lines.push(line);
    this.#chars += charsOf(line);
    while (this.#lines.length - this.#first > LINES_MAX || this.#chars > CHARS_MAX) this.#drop();
    if (this.#first <= DROPPED_MAX) return;
    this.#lines.splice(0, this.#first);
    this.#first = 0;
  }

  /** Returns the lines of entries after an index, oldest first; undefined if some are not here. */
  after(index: number): readonly RecentLine[] | undefined {
    if (index < this.#from) return undefined;
    return this.#lines.slice(this.#placeAfter(index));
  }

  /** Returns the lines of one entry; undefined if some are not here. */
  at(index: number): readonly RecentLine[] | undefined {
    if (index <= this.#from) return undefined;
    const [from, to] = [this.#placeAfter(index - 1), this.#placeAfter(index)];
    return this.#lines.slice(from, to);
  }

  #drop(): void {
    const oldest = this.#lines[this.#first]!;
    this.#from = oldest.index;
    this.#chars -= charsOf(oldest);
    this.#first += 1;
  }

  #placeAfter(index: number): number {
    let [low, high] = [this.#first, this.#lines.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#lines[middle]!.index <= index) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const charsOf = ({ content = '', after }: RecentLine): number =>
  content.length + (after?.length ?? 0);
