/**
 * The draft of the commands of one apply: the state and, above it, their changes, which are not
 * committed yet. Each command sees those of the commands before it:
 *
 *     put a 1   accept    →   a 1
 *     put a 2   discard   →   a 1        the command was refused
 *     put b 1   accept    →   a 1, b 1   changes() of the whole apply
 */
import { compare } from '../base/text.js';
import { invariant } from '../raft/assert.js';
import { groupBelow, groupOf } from './groups.js';
import type { Change, Draft, View } from './types.js';

/** Called with a change of a command. */
type Visit = (key: string, before: string | undefined, after: string | undefined) => void;

/** A value that becomes text only when somebody reads it, or at the commit. */
export interface Deferred {
  readonly text: string;
}

/** What a key was changed to; null for a deletion. */
type Value = string | Deferred | null;

const textOf = (value: Value): string | undefined =>
  typeof value === 'string' ? value : value?.text;

/** What is known of a key, and what becomes of it. */
interface Cell {
  readonly key: string;
  /** The value in the base; null for none, undefined until somebody asks. */
  before: string | null | undefined;
  /** What the commands changed it to; undefined: nothing. */
  value: Value | undefined;
  /** What `value` was before the present command, if that changes it. */
  was: Value | undefined;
  /** Whether the present command changes it. */
  isTouched: boolean;
  /** Whether it is among the cells that were changed. */
  isListed: boolean;
}

/** Keeps changes in memory above a view that does not change meanwhile. */
export class Overlay implements Draft {
  readonly #base: View;
  /** What was read, because reading from disk is slow, and what was changed. */
  readonly #cells = new Map<string, Cell>();
  /** What any command has changed. */
  readonly #changed: Cell[] = [];
  /** What the present command changes. */
  #touched: Cell[] = [];
  /** The keys of `#changed`, by group, as far as somebody has asked. */
  readonly #groups = new Map<string, Set<string>>();
  #grouped = 0;
  /** Whether `changes` has returned what is to be committed. */
  #isTaken = false;

  constructor(base: View) {
    this.#base = base;
  }

  get(key: string): string | undefined {
    const cell = this.#cell(key);
    return cell.value === undefined ? this.#original(cell) : textOf(cell.value);
  }

  /** Returns the value of a key as it was put. */
  peek(key: string): string | Deferred | undefined {
    const cell = this.#cell(key);
    return cell.value === undefined ? this.#original(cell) : (cell.value ?? undefined);
  }

  put(key: string, value: string | Deferred): void {
    this.#change(key, value);
  }

  del(key: string): void {
    this.#change(key, null);
  }

  mayHave(group: string): boolean {
    return (this.#base.mayHave?.(group) ?? true) || this.#byGroup().has(group);
  }

  /**
   * Returns the keys of the base and those that were put, without those that were deleted. The
   * iteration does not see changes made meanwhile.
   */
  keys(prefix: string, after = ''): Iterable<string> {
    const changed = this.#changedBelow(prefix);
    return changed.size === 0
      ? this.#base.keys(prefix, after)
      : this.#merged(prefix, after, changed);
  }

  /** Keeps the changes of the present command. Visits those that changed a value. */
  accept(visit?: Visit): void {
    for (const cell of visit === undefined ? [] : this.#touched) {
      const { key, value, was } = cell;
      const before = was === undefined ? this.#original(cell) : textOf(was);
      const after = textOf(value!);
      if (before !== after) visit?.(key, before, after);
    }
    this.#endCommand();
  }

  /** Discards the changes of the present command. */
  discard(): void {
    const facts = { undo: this.#touched.length, changes: this.#changed.length };
    invariant(!this.#isTaken, 'a draft is discarded after its commit', facts);
    for (const cell of this.#touched) cell.value = cell.was;
    this.#endCommand();
  }

  /** Returns the changes of all commands that differ from the base. Visits them too. */
  changes(visit?: Visit): Change[] {
    invariant(!this.#isTaken, 'a draft is committed twice', { changes: this.#changed.length });
    this.#isTaken = true;
    const changes: Change[] = [];
    for (const cell of this.#changed) {
      const { key, value } = cell;
      if (value === undefined) continue;
      const before = this.#original(cell);
      const after = textOf(value);
      if (before === after) continue;
      visit?.(key, before, after);
      changes.push([key, after]);
    }
    return changes;
  }

  #endCommand(): void {
    for (const cell of this.#touched) {
      cell.was = undefined;
      cell.isTouched = false;
    }
    this.#touched = [];
  }

  #cell(key: string): Cell {
    const known = this.#cells.get(key);
    if (known !== undefined) return known;
    const cell: Cell = {
      key,
      before: undefined,
      value: undefined,
      was: undefined,
      isTouched: false,
      isListed: false,
    };
    this.#cells.set(key, cell);
    return cell;
  }

  #original(cell: Cell): string | undefined {
    if (cell.before === undefined) cell.before = this.#base.get(cell.key) ?? null;
    return cell.before ?? undefined;
  }

  #change(key: string, value: Value): void {
    invariant(!this.#isTaken, 'a draft is changed after its commit', {
      changes: this.#changed.length,
    });
    const cell = this.#cell(key);
    if (!cell.isTouched) {
      cell.isTouched = true;
      cell.was = cell.value;
      this.#touched.push(cell);
    }
    if (!cell.isListed) {
      cell.isListed = true;
      this.#changed.push(cell);
    }
    cell.value = value;
  }

  #byGroup(): ReadonlyMap<string, ReadonlySet<string>> {
    for (; this.#grouped < this.#changed.length; this.#grouped += 1) {
      const { key } = this.#changed[this.#grouped]!;
      const group = groupOf(key);
      const keys = this.#groups.get(group);
      if (keys === undefined) this.#groups.set(group, new Set([key]));
      else keys.add(key);
    }
    return this.#groups;
  }

  /** Returns the changed keys that start with a prefix, and perhaps others. */
  #changedBelow(prefix: string): ReadonlySet<string> {
    const group = groupBelow(prefix);
    if (group === undefined) return new Set(this.#changed.map(({ key }) => key));
    return this.#byGroup().get(group) ?? NONE;
  }

  *#merged(prefix: string, after: string, changed: ReadonlySet<string>): Iterable<string> {
    const put: string[] = [];
    const hidden = new Set<string>();
    for (const key of changed) {
      if (!key.startsWith(prefix)) continue;
      const value = this.#cells.get(key)!.value;
      if (value !== undefined) hidden.add(key);
      if (value != null && key > after) put.push(key);
    }
    put.sort(compare);
    let next = 0;
    for (const key of this.#base.keys(prefix, after)) {
      while (next < put.length && put[next]! < key) yield put[next++]!;
      if (!hidden.has(key)) yield key;
    }
    while (next < put.length) yield put[next++]!;
  }
}

const NONE: ReadonlySet<string> = new Set();
