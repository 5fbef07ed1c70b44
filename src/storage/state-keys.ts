/**
 * The keys of a state in memory. Whether a key exists, and whether a table or a kind of config
 * entries has any, is a look into a hash table. Most keys are never asked for in order, so a change
 * is put into the order of its table only once somebody asks for that:
 *
 *     add role·b, add role·a   →   unordered: role·b, role·a
 *     keys('role·')            →   ordered: role·a, role·b
 *
 * Each table has an order of its own. To read one table while another is iterated changes nothing
 * under the iteration. Keys below NEXT are the keys of another state, which is being filled:
 * nothing is put into order until that state is in force.
 */
import { tableOf } from '../state/checksum.js';
import { groupBelow, groupOf } from '../state/groups.js';
import { NEXT } from '../state/keys.js';
import { crcOf } from './crc.js';
import { type KeyIndex, keyIndexOf, keysWith, Tally } from './key-index.js';

/** Changed keys of a table that may wait to be ordered: a bound on the time that this takes. */
const UNORDERED_MAX = 4096;
/** From so many on, they are put into order once the next batch is written. */
const UNORDERED_MANY = 512;
/** Keys that are then put into order in one turn of the event loop. */
const ORDERED_PER_STEP = 256;

class TableKeys {
  /** The keys as they are now. */
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

  /** Records a key that was added to a state that is being filled. */
  noteFilled(key: string): void {
    if (this.#isUntouched) this.#loaded.push(key);
    else this.noteChange(key);
  }

  /** Whether nobody has asked for order yet, and nothing has changed that was in force. */
  get #isUntouched(): boolean {
    return this.#ordered === undefined && this.#unordered.length === 0;
  }

  /** Returns what makes the keys as they are now, in order, if somebody asks for them. */
  filled(): () => KeyIndex {
    let index = this.#isUntouched ? undefined : this.ordered().clone();
    const loaded = this.#loaded;
    const { length } = loaded;
    return () => {
      index ??= keyIndexOf(loaded.slice(0, length));
      return index;
    };
  }

  noteChange(key: string): void {
    this.#unordered.push(key);
    if (this.#unordered.length >= UNORDERED_MAX) this.ordered();
  }

  /** Whether many keys wait to be ordered. */
  get isBehind(): boolean {
    return this.#unordered.length >= UNORDERED_MANY;
  }

  /** Returns all keys in order. The caller must not change the index. */
  ordered(): KeyIndex {
    return this.order(this.#unordered.length);
  }

  /** Puts up to `max` changed keys into order. Returns all that are. */
  order(max: number): KeyIndex {
    if (this.#ordered === undefined) {
      this.#ordered = keyIndexOf(this.#loaded);
      this.#loaded = [];
    }
    for (const key of this.#unordered.splice(0, max).sort()) {
      if (this.present.has(key)) this.#ordered.set(key, true);
      else this.#ordered.delete(key);
    }
    return this.#ordered;
  }
}

/** How many keys a state has, and with which checksums. */
export type Counted = Pick<StateKeys, 'tally' | 'next'>;

/** The table of the keys below NEXT. */
const NEXT_TABLE = tableOf(NEXT);

type Listing = (prefix: string, after?: string) => Iterable<string>;

export class StateKeys {
  /** The keys below NEXT, without it; they are deleted together. */
  next: StateKeys | undefined;
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
    for (const key of keys) this.tally.add(crcOf(key));
    for (const [table, some] of tables) this.#tables.set(table, new TableKeys(some));
  }

  has(key: string): boolean {
    if (key.startsWith(NEXT)) return this.next?.has(key.slice(NEXT.length)) === true;
    return this.#tables.get(tableOf(key))?.present.has(key) === true;
  }

  /**
   * Adds a key unless it is there. Returns whether it was not. `isFilled`: nobody reads this state
   * yet.
   */
  add(key: string, isFilled = false): boolean {
    if (key.startsWith(NEXT)) {
      this.addNext(key.slice(NEXT.length));
      return true;
    }
    const table = tableOf(key);
    let keys = this.#tables.get(table);
    if (keys === undefined) {
      keys = new TableKeys();
      this.#tables.set(table, keys);
    }
    const { size } = keys.present;
    if (keys.present.add(key).size === size) return false;
    if (isFilled) keys.noteFilled(key);
    else keys.noteChange(key);
    this.tally.add(crcOf(key));
    this.#count(table, key, 1);
    return true;
  }

  /** Puts the keys of tables that have changed much into order, in steps. */
  *order(): Generator<void> {
    for (const keys of this.#tables.values()) {
      while (keys.isBehind) {
        keys.order(ORDERED_PER_STEP);
        yield;
      }
    }
  }

  /** Adds a key below NEXT, which it does not have. */
  addNext(key: string): void {
    this.next ??= new StateKeys();
    this.next.add(key, true);
  }

  /** Deletes a key if it is there. */
  delete(key: string): void {
    const table = tableOf(key);
    const keys = this.#tables.get(table);
    if (keys?.present.delete(key) !== true) return;
    keys.noteChange(key);
    this.tally.remove(crcOf(key));
    this.#count(table, key, -1);
  }

  /** Counts these keys and others, which it does not have. */
  countedWith(others: readonly string[]): Counted {
    const tally = Object.assign(new Tally(), this.tally);
    for (const key of others) tally.add(crcOf(key));
    return { tally, next: this.next };
  }

  /** Whether there are keys of a group. */
  mayHave(group: string): boolean {
    const count = this.#counts.get(group) ?? this.#tables.get(group)?.present.size ?? 0;
    return count > 0 || (group === NEXT_TABLE && this.next !== undefined);
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
    const own: Listing = (from, last) => keysOf(from, last, this.#tables, (keys) => keys.ordered());
    const { next } = this;
    if (next === undefined) return own(prefix, after);
    return withNext(own, (...range) => next.keys(...range))(prefix, after);
  }

  /** Returns the keys as they are now: later changes do not show. */
  frozen(): Listing {
    const tables = new Map<string, KeyIndex>();
    for (const [table, keys] of this.#tables) tables.set(table, keys.ordered().clone());
    const own: Listing = (prefix, after) => keysOf(prefix, after, tables, (index) => index);
    return this.next === undefined ? own : withNext(own, this.next.#filled());
  }

  /** The same for a state that is being filled. */
  #filled(): Listing {
    const tables = new Map<string, () => KeyIndex>();
    for (const [table, keys] of this.#tables) tables.set(table, keys.filled());
    return (prefix, after) => keysOf(prefix, after, tables, (index) => index());
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
    const prefix = `${group}\u0000`;
    if (group !== undefined) while (keys[to]?.startsWith(prefix)) to += 1;
    yield keys.slice(from, to);
  }
}

/** Adds the keys of another state, below NEXT. */
function withNext(own: Listing, next: Listing): Listing {
  return function* (prefix, after = '') {
    if (!NEXT.startsWith(prefix) && !prefix.startsWith(NEXT)) {
      yield* own(prefix, after);
      return;
    }
    const below = function* (): Iterable<string> {
      const isWithin = after.startsWith(NEXT);
      if (after > NEXT && !isWithin) return;
      const from = isWithin ? after.slice(NEXT.length) : '';
      for (const key of next(prefix.slice(NEXT.length), from)) yield NEXT + key;
    };
    let isBefore = true;
    for (const key of own(prefix, after)) {
      if (isBefore && key > NEXT) yield* below();
      isBefore &&= key < NEXT;
      yield key;
    }
    if (isBefore) yield* below();
  };
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
