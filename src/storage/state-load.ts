/** The format of the state's database, and how it is opened. See the head of `state.ts`. */
import { crc32 } from 'node:zlib';
import { tableOf } from '../state/checksum.js';
import { NEXT } from '../state/keys.js';
import type { View } from '../state/types.js';
import { type Database, type Disk, OPERATIONS_PER_TURN, type Operation } from './disk.js';
import { REPLACE_STATE, rootMessage, StorageError } from './errors.js';
import { recordSum, Tally } from './key-index.js';
import { type Counted, StateKeys } from './state-keys.js';
import type { StateTally } from './types.js';

/** The database of a state. Keys and values are text. */
export type StateDatabase = Database<string>;

/** Key of the `Pointer`. */
export const POINTER = '!state';
/** Key of the `KeyCount`. */
const KEY_COUNT = '!keys';
/**
 * Slots for batch numbers: more than the batches in LevelDB's own log of 16 MiB, since the smallest
 * usual ones have 1.5 KiB.
 */
const RING_SLOTS = 16384;
/**
 * Bytes of LevelDB's cache of blocks. More of it makes reads no cheaper: most of their cost is not
 * the disk, which the operating system caches as well.
 */
const CACHE_BYTES = 8 * 2 ** 20;
const GENERATION_DIGITS = 8;
const SUM_DIGITS = 8;

const hex = (sum: number): string => sum.toString(16).padStart(SUM_DIGITS, '0');

/** Returns the key of the slot for a batch number. */
export const ringKey = (batch: number): string => `#${batch % RING_SLOTS}`;
/** Returns the prefix of all keys of a generation. */
export const prefixOf = (generation: number): string =>
  `${String(generation).padStart(GENERATION_DIGITS, '0')}/`;

/**
 * Returns the range of all keys of a generation. `gte` is its prefix; '0' is the next after '/'.
 */
export function rangeOf(generation: number): { gte: string; lt: string } {
  const prefix = prefixOf(generation);
  return { gte: prefix, lt: `${prefix.slice(0, -1)}0` };
}

/**
 * Where the records of a state are in the database: below its generation and, those below NEXT,
 * below another one, under the keys that they have once that state is in force.
 */
export class Place {
  readonly generation: number;
  readonly next: number | undefined;
  readonly prefix: string;
  readonly nextPrefix: string;

  constructor(generation: number, next?: number) {
    this.generation = generation;
    this.next = next;
    this.prefix = prefixOf(generation);
    this.nextPrefix = next === undefined ? '' : prefixOf(next);
  }

  /** Returns the key in the database. */
  of(key: string): string {
    return key.startsWith(NEXT) ? this.nextPrefix + ownKey(key) : this.prefix + key;
  }

  /** The same place with another generation for the records below NEXT. */
  with(next: number | undefined): Place {
    return new Place(this.generation, next);
  }

  get generations(): readonly number[] {
    return this.next === undefined ? [this.generation] : [this.generation, this.next];
  }
}

/** Returns a key without NEXT. Checksums in the database are of keys in this form. */
const ownKey = (key: string): string => (key.startsWith(NEXT) ? key.slice(NEXT.length) : key);

/** Returns a value as it is stored: its checksum, then the value. */
export const storedValue = (key: string, value: string): string =>
  hex(recordSum(ownKey(key), value)) + value;

/** Changes that are not on disk yet. */
export class Layer {
  /** null for a deleted key. */
  readonly own: Map<string, string | null>;
  /** Those below NEXT, without it. */
  next: Map<string, string>;

  constructor(of?: Layer) {
    this.own = new Map(of?.own);
    this.next = new Map(of?.next);
  }

  get size(): number {
    return this.own.size + this.next.size;
  }

  get(key: string): string | null | undefined {
    return key.startsWith(NEXT) ? this.next.get(ownKey(key)) : this.own.get(key);
  }
}

/** Returns the operations that write a layer, in steps. */
export function* operationsOf(place: Place, layer: Layer): Generator<void, Operation<string>[]> {
  const operations: Operation<string>[] = [];
  const { prefix, nextPrefix } = place;
  for (const [key, value] of layer.own) {
    if (endsTurn(operations)) yield;
    if (value === null) operations.push({ type: 'del', key: prefix + key });
    else operations.push({ type: 'put', key: prefix + key, value: storedValue(key, value) });
  }
  for (const [key, value] of layer.next) {
    if (endsTurn(operations)) yield;
    operations.push({ type: 'put', key: nextPrefix + key, value: storedValue(key, value) });
  }
  return operations;
}

const endsTurn = ({ length }: readonly unknown[]): boolean =>
  length % OPERATIONS_PER_TURN === OPERATIONS_PER_TURN - 1;

/** Returns the operation that writes the number of keys and their checksums. */
export function keyCount(place: Place, since: number, keys: Counted): Operation<string> {
  const { generation, next } = place;
  const { count, sum } = keys.tally;
  const tally = next === undefined ? undefined : (keys.next?.tally ?? new Tally());
  const below = tally && { next: { generation: next!, count: tally.count, sum: tally.sum } };
  const value = sealed({ generation, since, count, sum, ...below });
  return { type: 'put', key: KEY_COUNT, value };
}

/** Returns the checksum of a stored record; undefined if it does not match. */
export function sumOf(key: string, stored: string): number | undefined {
  const sum = Number.parseInt(stored.slice(0, SUM_DIGITS), 16);
  return sum === recordSum(ownKey(key), stored.slice(SUM_DIGITS)) ? sum : undefined;
}

/** Returns the value of a stored record; undefined if it is damaged. */
export function contentOf(key: string, stored: string): string | undefined {
  return sumOf(key, stored) === undefined ? undefined : stored.slice(SUM_DIGITS);
}

/** Returns a record of the store itself: its checksum, then JSON. */
export function sealed(content: Pointer | KeyCount): string {
  const json = JSON.stringify(content);
  return hex(crc32(json)) + json;
}

function unseal<T>(stored: string | undefined): T | undefined {
  const json = stored?.slice(SUM_DIGITS);
  if (json === undefined || stored!.slice(0, SUM_DIGITS) !== hex(crc32(json))) return undefined;
  return JSON.parse(json) as T;
}

/** Names the current generation, and the first batch whose number must be present. */
export interface Pointer {
  readonly v: 1;
  readonly generation: number;
  /** The first batch that matters: losses before it were replaced. Absent: 1. */
  readonly since?: number;
}

/**
 * The number of keys and the sum of their checksums; also a second copy of the pointer.
 */
export interface KeyCount extends Omit<Pointer, 'v'>, StateTally {
  /** The same of the generation that holds the records below NEXT, if there is one. */
  readonly next?: StateTally & { readonly generation: number };
}

/** What is left of a damaged state. */
export interface DamagedState {
  /** The records that can still be read. */
  readonly remains: View;
  /** The generations that may be the state. They must stay until another state replaces it. */
  readonly generations: readonly number[];
}

/** A state as it was found on disk. */
export interface LoadedState {
  readonly db: StateDatabase;
  readonly place: Place;
  /** Obsolete generations that a crash left behind. */
  readonly others: readonly number[];
  readonly keys: StateKeys;
  readonly batchNumber: number;
  readonly since: number;
  /** Why the state cannot be trusted. */
  readonly damaged: string | undefined;
  /** Set if the state is damaged. `generation` is then a new, empty one. */
  readonly damagedState: DamagedState | undefined;
}

/** Options for loading a state. */
export interface LoadOptions {
  readonly disk: Disk;
  /** Bytes of LevelDB's block cache. */
  readonly cacheBytes?: number | undefined;
  /** Whether to check every value too, not only the keys. */
  readonly checkValues?: boolean | undefined;
}

/**
 * Opens the state in `dir`, and creates it if it is missing. Reads all keys. Throws StorageError
 * `locked`, `failed` or `foreign`; damage is reported in the result.
 */
export async function loadState(dir: string, options: LoadOptions): Promise<LoadedState> {
  const { disk, cacheBytes = CACHE_BYTES } = options;
  // Checked before opening: a database with corrupt files may open as an empty one.
  const isNew = !(await disk.hasDatabase(dir));
  const db = await disk.openText(dir, { cacheBytes });
  try {
    const generations = await listGenerations(db);
    return isNew ? await createState(db) : await readState(db, generations, options);
  } catch (error) {
    await db.close();
    if (error instanceof StorageError) throw error;
    const why = rootMessage(error, REPLACE_STATE);
    throw new StorageError('failed', `the state in ${dir} cannot be read: ${why}`, error);
  }
}

async function createState(db: StateDatabase): Promise<LoadedState> {
  await db.write(firstRecords(), { sync: true });
  const found = { place: new Place(1), others: [], batchNumber: 0, since: 1 };
  const keys = new StateKeys();
  return { db, ...found, keys, damaged: undefined, damagedState: undefined };
}

/** Reads the state of an existing database and finds out whether it is damaged. */
async function readState(
  db: StateDatabase,
  generations: readonly number[],
  { disk, checkValues = false }: LoadOptions,
): Promise<LoadedState> {
  const pointer = unseal<Pointer>(db.get(POINTER));
  if (pointer !== undefined && pointer.v !== 1) {
    const format = String(pointer.v);
    throw new StorageError('foreign', `the state has format ${format}, this version reads 1`);
  }
  const count = unseal<KeyCount>(db.get(KEY_COUNT));
  // The newer of the two if they differ: the batch that switched may be lost.
  const known = [pointer, count]
    .filter((each) => each !== undefined)
    .reduce((a, b) => (b.generation > a.generation ? b : a), NOTHING);
  const { generation, since = 1 } = known;
  const agreed = [pointer, count].every((each) => (each ?? known).generation === generation);
  const isCertain = known !== NOTHING && agreed;
  const next = count?.generation === generation ? count.next : undefined;
  const [ring, found, below] = await Promise.all([
    readRing(db, since),
    readKeys(db, generation, checkValues),
    next && readKeys(db, next.generation, checkValues),
  ]);
  const keys = new StateKeys(found.keys);
  if (below !== undefined) keys.next = new StateKeys(below.keys);
  let lost: string | undefined;
  if (!isCertain) lost = 'the records that say which state is the present one';
  else if (ring.gap !== undefined) lost = `batch ${ring.gap} of the writes`;
  else if (count === undefined || !keys.tally.equals(count)) lost = 'keys, or has foreign ones';
  else if (next !== undefined && keys.next?.tally.equals(next) !== true)
    lost = 'keys of the state that was being restored';
  else if (found.unreadable + (below?.unreadable ?? 0) > 0)
    lost = unreadable(below === undefined ? [found] : [found, below]);
  const rest = { db, batchNumber: ring.last, since };
  const place = new Place(generation, next?.generation);
  const others = generations.filter((other) => !place.generations.includes(other));
  if (lost !== undefined) {
    const remains = remainsOf(db, place, keys);
    const all = [...place.generations, ...others];
    return {
      ...rest,
      keys: new StateKeys(),
      place: new Place(Math.max(unusedGeneration(disk), ...all.map((each) => each + 1))),
      others: isCertain ? others : [],
      damaged: `the state has lost ${lost}`,
      damagedState: { remains, generations: isCertain ? place.generations : all },
    };
  }
  if (pointer === undefined) {
    const value = sealed({ v: 1, generation, since });
    await db.write([{ type: 'put', key: POINTER, value }], { sync: true });
  }
  return { ...rest, keys, place, others, damaged: undefined, damagedState: undefined };
}

/** Says which records cannot be read. */
function unreadable(found: readonly { unreadable: number; tables: string }[]): string {
  const count = found.reduce((sum, each) => sum + each.unreadable, 0);
  const tables = found.map((each) => each.tables).filter((each) => each !== '');
  return `records that cannot be read (${count}, in table ${tables.join(', ')})`;
}

function remainsOf(db: StateDatabase, place: Place, keys: StateKeys): View {
  const get = (key: string): string | undefined => {
    try {
      const stored = db.get(place.of(key));
      return stored === undefined ? undefined : contentOf(key, stored);
    } catch {
      // LevelDB cannot read a corrupt block.
      return undefined;
    }
  };
  return { get, keys: (prefix, after) => keys.keys(prefix, after) };
}

/** Stands for: no record names the current generation. */
const NOTHING: Omit<Pointer, 'v'> = { generation: 0 };

/**
 * Returns the generation that stands in for a damaged state; it is empty until another state is
 * installed. Unreadable files may hold keys of any generation, so this number, minutes since 1970,
 * is one that counting from 1 has never reached.
 */
const unusedGeneration = ({ clock }: Disk): number => Math.floor(clock.wall() / 60_000);

const firstRecords = () => [
  { type: 'put' as const, key: POINTER, value: sealed({ v: 1, generation: 1 }) },
  { type: 'put' as const, key: KEY_COUNT, value: sealed({ generation: 1, count: 0, sum: 0 }) },
];

/** Returns the generations that have keys. Throws StorageError `foreign` for any other key. */
async function listGenerations(db: StateDatabase): Promise<number[]> {
  const found: number[] = [];
  let from = '0';
  for (;;) {
    const [key] = await db.keys({ gte: from }, 1);
    if (key === undefined) return found;
    const generation = Number(key.slice(0, GENERATION_DIGITS));
    if (!Number.isSafeInteger(generation) || !key.startsWith(prefixOf(generation))) {
      throw new StorageError('foreign', 'the folder of the state contains keys of another program');
    }
    found.push(generation);
    from = rangeOf(generation).lt;
  }
}

/**
 * Returns the number of the last batch, and the first number that is missing from `since` on. Only
 * the newest numbers are known; older slots are overwritten.
 */
async function readRing(
  db: StateDatabase,
  since: number,
): Promise<{ last: number; gap: number | undefined }> {
  const numbers = new Set<number>();
  // One that is spoiled counts as 0, and so as missing.
  for await (const some of db.records({ gte: '#', lt: '$' }))
    for (const [, number] of some) numbers.add(Number(number) || 0);
  const last = Math.max(0, ...numbers);
  for (let number = Math.max(since, last - RING_SLOTS + 1); number <= last; number++) {
    if (!numbers.has(number)) return { last, gap: number };
  }
  return { last, gap: undefined };
}

/**
 * Returns the keys of a generation and, with `checkValues`, the number of damaged values and their
 * tables.
 */
async function readKeys(db: StateDatabase, generation: number, checkValues: boolean) {
  const keys: string[] = [];
  const { gte, lt } = rangeOf(generation);
  for await (const some of db.keySlices({ gte, lt })) keys.push(...withoutPrefix(some, gte.length));
  const tables = new Set<string>();
  let unreadable = 0;
  if (checkValues) {
    for await (const some of db.records({ gte, lt })) {
      for (const [key, stored] of some) {
        const own = key.slice(gte.length);
        if (sumOf(own, stored) !== undefined) continue;
        unreadable += 1;
        tables.add(tableOf(own));
      }
    }
  }
  return { keys, unreadable, tables: [...tables].join(', ') };
}

/**
 * Returns the keys without the first `length` characters, each as a text of its own: a substring
 * would keep the whole key in memory. Copying many at once costs half of decoding one after the
 * other.
 */
function withoutPrefix(keys: readonly string[], length: number): string[] {
  const all = keys.join('');
  const bytes = Buffer.from(all);
  const isAscii = bytes.length === all.length;
  if (!isAscii) return keys.map((key) => Buffer.from(key.slice(length)).toString());
  let end = 0;
  return keys.map((key) => {
    end += key.length;
    return bytes.toString('latin1', end - key.length + length, end);
  });
}
