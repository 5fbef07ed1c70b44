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

/** Keeps changes in memory above a view that does not change meanwhile. */
export class Overlay implements Draft {
  readonly #base: View;
  /** Values read from the base, because reading from disk is slow; null for none. */
  readonly #read = new Map<string, string | null>();
  /** The changes of all commands. */
  readonly #changes = new Map<string, Value>();
  /** The keys that were changed, by group. */
  readonly #changed = new Map<string, Set<string>>();
  /** What `#changes` had before the present command, by the keys that it changed. */
  readonly #undo = new Map<string, Value | undefined>();
  /** Whether `changes` has returned what is to be committed. */
  #isTaken = false;

  constructor(base: View) {
    this.#base = base;
  }

  get(key: string): string | undefined {
    const changed = this.#changes.get(key);
    return changed === undefined ? this.#original(key) : textOf(changed);
  }

  /** Returns the value of a key as it was put. */
  peek(key: string): string | Deferred | undefined {
    const changed = this.#changes.get(key);
    return changed === undefined ? this.#original(key) : (changed ?? undefined);
  }

  put(key: string, value: string | Deferred): void {
    this.#change(key, value);
  }

  del(key: string): void {
    this.#change(key, null);
  }

  mayHave(group: string): boolean {
    return this.#changed.has(group) || (this.#base.mayHave?.(group) ?? true);
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
    for (const [key, was] of visit === undefined ? [] : this.#undo) {
      const before = was === undefined ? this.#original(key) : textOf(was);
      const after = textOf(this.#changes.get(key)!);
      if (before !== after) visit?.(key, before, after);
    }
    this.#undo.clear();
  }

  /** Discards the changes of the present command. */
  discard(): void {
    const facts = { undo: this.#undo.size, changes: this.#changes.size };
    invariant(!this.#isTaken, 'a draft is discarded after its commit', facts);
    for (const [key, was] of this.#undo) {
      if (was === undefined) this.#changes.delete(key);
      else this.#changes.set(key, was);
    }
    this.#undo.clear();
  }

  /** Returns the changes of all commands that differ from the base. Visits them too. */
  changes(visit?: Visit): Change[] {
    invariant(!this.#isTaken, 'a draft is committed twice', { changes: this.#changes.size });
    this.#isTaken = true;
    const changes: Change[] = [];
    for (const [key, value] of this.#changes) {
      const before = this.#original(key);
      const after = textOf(value);
      if (before === after) continue;
      visit?.(key, before, after);
      changes.push([key, after]);
    }
    return changes;
  }

  /** Returns the value in the base. */
  #original(key: string): string | undefined {
    let value = this.#read.get(key);
    if (value === undefined) {
      value = this.#base.get(key) ?? null;
      this.#read.set(key, value);
    }
    return value ?? undefined;
  }

  #change(key: string, value: Value): void {
    const { size } = this.#changes;
    invariant(!this.#isTaken, 'a draft is changed after its commit', { changes: size });
    const was = this.#changes.get(key);
    if (!this.#undo.has(key)) this.#undo.set(key, was);
    if (was === undefined) {
      const group = groupOf(key);
      const changed = this.#changed.get(group);
      if (changed === undefined) this.#changed.set(group, new Set([key]));
      else changed.add(key);
    }
    this.#changes.set(key, value);
  }

  /** Returns the changed keys that start with a prefix, and perhaps others. */
  #changedBelow(prefix: string): ReadonlySet<string> {
    const group = groupBelow(prefix);
    return group === undefined ? new Set(this.#changes.keys()) : (this.#changed.get(group) ?? NONE);
  }

  *#merged(prefix: string, after: string, changed: ReadonlySet<string>): Iterable<string> {
    const put: string[] = [];
    const hidden = new Set<string>();
    for (const key of changed) {
      if (!key.startsWith(prefix)) continue;
      const value = this.#changes.get(key);
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
