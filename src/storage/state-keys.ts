/**
 * The keys of a state in memory. Whether a key exists, and whether a table or a kind of config
 * entries has any, is a look into a hash table. Most keys are never asked for in order, so a change
 * is put into the order of its table only once somebody asks for that:
 *
 *     add role·b, add role·a   →   unordered: role·b, role·a
 *     keys('role·')            →   ordered: role·a, role·b
 *
 * Each table has an order of its own. To read one table while another is iterated changes nothing
 * under the iteration.
 */
import { tableOf } from '../state/checksum.js';
import { groupBelow, groupOf } from '../state/groups.js';
import { type KeyIndex, keyIndexOf, keySum, keysWith, Tally } from './key-index.js';

/** Changed keys of a table that may wait to be ordered: a bound on the time that this takes. */
const UNORDERED_MAX = 4096;

class TableKeys {
  readonly present: Set<string>;
  /** The keys that were loaded, until somebody asks for order. */
  #loaded: string[];
  #ordered: KeyIndex | undefined;
  /** Keys that were added or deleted since they were last ordered. */
  #unordered: string[] = [];

  constructor(keys: string[] = []) {
    this.present = new Set(keys);
    this.#loaded = keys;
  }

  noteChange(key: string): void {
    this.#unordered.push(key);
    if (this.#unordered.length >= UNORDERED_MAX) this.ordered();
  }

  /** Returns all keys in order. The caller must not change the index. */
  ordered(): KeyIndex {
    if (this.#ordered === undefined) {
      this.#ordered = keyIndexOf(this.#loaded);
      this.#loaded = [];
    }
    if (this.#unordered.length > 0) {
      const changed = this.#unordered.sort();
      this.#unordered = [];
      for (const key of changed) {
        if (this.present.has(key)) this.#ordered.set(key, true);
        else this.#ordered.delete(key);
      }
    }
    return this.#ordered;
  }
}

export class StateKeys {
  readonly #tables = new Map<string, TableKeys>();
  /** The number of keys by group, of the groups that are not whole tables. */
  readonly #counts = new Map<string, number>();
  /** The number of keys and the sum of their checksums. */
  readonly tally = new Tally();

  /** `keys` are different from each other. Those of a group should follow each other. */
  constructor(keys: readonly string[] = []) {
    const tables = new Map<string, string[]>();
    for (const run of runsOf(keys)) {
      const first = run[0]!;
      const table = tableOf(first);
      const some = tables.get(table);
      if (some === undefined) tables.set(table, run);
      else for (const key of run) some.push(key);
      this.#count(table, first, run.length);
    }
    for (const key of keys) this.tally.add(keySum(key));
    for (const [table, some] of tables) this.#tables.set(table, new TableKeys(some));
  }

  has(key: string): boolean {
    return this.#tables.get(tableOf(key))?.present.has(key) === true;
  }

  /** Adds a key unless it is there. */
  add(key: string): void {
    const table = tableOf(key);
    let keys = this.#tables.get(table);
    if (keys === undefined) {
      keys = new TableKeys();
      this.#tables.set(table, keys);
    }
    const { size } = keys.present;
    if (keys.present.add(key).size === size) return;
    keys.noteChange(key);
    this.tally.add(keySum(key));
    this.#count(table, key, 1);
  }

  /** Deletes a key if it is there. */
  delete(key: string): void {
    const table = tableOf(key);
    const keys = this.#tables.get(table);
    if (keys?.present.delete(key) !== true) return;
    keys.noteChange(key);
    this.tally.remove(keySum(key));
    this.#count(table, key, -1);
  }

  /** Whether there are keys of a group. */
  mayHave(group: string): boolean {
    const count = this.#counts.get(group) ?? this.#tables.get(group)?.present.size ?? 0;
    return count > 0;
  }

  /** Returns the number of keys by group, and by table. */
  counts(): ReadonlyMap<string, number> {
    const counts = new Map(this.#counts);
    for (const [table, { present }] of this.#tables) counts.set(table, present.size);
    return counts;
  }

  /** Yields the keys that start with `prefix`, in order; those after `after` if it is given. */
  keys(prefix: string, after?: string): Iterable<string> {
    const group = groupBelow(prefix);
    if (group !== undefined && !this.mayHave(group)) return [];
    return keysOf(prefix, after, this.#tables, (keys) => keys.ordered());
  }

  /** Returns the keys as they are now: later changes do not show. */
  frozen(): (prefix: string, after?: string) => Iterable<string> {
    const tables = new Map<string, KeyIndex>();
    for (const [table, keys] of this.#tables) tables.set(table, keys.ordered().clone());
    return (prefix, after) => keysOf(prefix, after, tables, (index) => index);
  }

  #count(table: string, key: string, by: number): void {
    const group = groupOf(key);
    if (group !== table) this.#counts.set(group, (this.#counts.get(group) ?? 0) + by);
  }
}

/** Yields the keys in pieces. All keys of a piece are of one group. */
function* runsOf(keys: readonly string[]): Iterable<string[]> {
  for (let from = 0, to = 1; from < keys.length; from = to, to += 1) {
    const group = groupBelow(keys[from]!);
    if (group !== undefined) while (keys[to]?.startsWith(`${group}\u0000`)) to += 1;
    yield keys.slice(from, to);
  }
}

/** Yields keys of tables in order. The order of tables is that of their keys: see tableOf. */
function* keysOf<T>(
  prefix: string,
  after: string | undefined,
  tables: ReadonlyMap<string, T>,
  ordered: (keys: T) => KeyIndex,
): Iterable<string> {
  const table = tableOf(prefix);
  if (table !== prefix) {
    const keys = tables.get(table);
    if (keys !== undefined) yield* keysWith(ordered(keys), prefix, after);
    return;
  }
  // The prefix may be the beginning of the names of several tables.
  for (const name of [...tables.keys()].sort()) {
    if (name.startsWith(prefix)) yield* keysWith(ordered(tables.get(name)!), prefix, after);
  }
}
