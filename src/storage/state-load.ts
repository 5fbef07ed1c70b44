/** The format of the state's database, and how it is opened. See the head of `state.ts`. */

import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { ClassicLevel } from 'classic-level';
import { tableOf } from '../state/checksum.js';
import type { View } from '../state/types.js';
import { type Directory, directoryOf, keysWith, recordSum, type Tally } from './directory.js';
import { rootMessage, StorageError } from './errors.js';
import { openDatabase } from './log-load.js';
import { IN_SLICES, slices } from './slices.js';

export type StateDatabase = ClassicLevel<string, string>;
export type Snapshot = ReturnType<StateDatabase['snapshot']>;

export const POINTER = '!state';
export const KEY_COUNT = '!keys';
/** More batches than LevelDB's own log of 4 MiB can hold of ordinary size. */
const RING_SLOTS = 16384;
const GENERATION_DIGITS = 8;
const SUM_DIGITS = 8;

const hex = (sum: number): string => sum.toString(16).padStart(SUM_DIGITS, '0');

export const ringKey = (batch: number): string => `#${batch % RING_SLOTS}`;
export const prefixOf = (generation: number): string =>
  `${String(generation).padStart(GENERATION_DIGITS, '0')}/`;

/** All keys of a generation; `gte` is its prefix. ('0' follows '/'.) */
export function rangeOf(generation: number): { gte: string; lt: string } {
  const prefix = prefixOf(generation);
  return { gte: prefix, lt: `${prefix.slice(0, -1)}0` };
}

/** A value as it is stored: with its checksum before it. */
export const storedValue = (key: string, value: string): string =>
  hex(recordSum(key, value)) + value;

/** The checksum of a stored record; undefined when it does not hold. */
export function sumOf(key: string, stored: string): number | undefined {
  const sum = Number.parseInt(stored.slice(0, SUM_DIGITS), 16);
  return sum === recordSum(key, stored.slice(SUM_DIGITS)) ? sum : undefined;
}

/** The value of a stored record; undefined when it is damaged. */
export function contentOf(key: string, stored: string): string | undefined {
  return sumOf(key, stored) === undefined ? undefined : stored.slice(SUM_DIGITS);
}

/** A record of the store itself: JSON after its checksum. */
export function sealed(content: Pointer | KeyCount): string {
  const json = JSON.stringify(content);
  return hex(crc32(json)) + json;
}

function unseal<T>(stored: string | undefined): T | undefined {
  const json = stored?.slice(SUM_DIGITS);
  if (json === undefined || stored!.slice(0, SUM_DIGITS) !== hex(crc32(json))) return undefined;
  return JSON.parse(json) as T;
}

/** Which generation is the state, and from which batch on no number may be missing. */
export interface Pointer {
  readonly v: 1;
  readonly generation: number;
  /** The first batch that counts: what was lost before it was replaced. Absent: 1. */
  readonly since?: number;
}

/**
 * How many keys the state has, and the sum of their checksums; also a second copy of the pointer.
 */
export interface KeyCount extends Omit<Pointer, 'v'> {
  readonly count: number;
  readonly sum: number;
}

/** A state that is damaged. */
export interface Wreck {
  /** What is left of it: a record that cannot be read is none. */
  readonly remains: View;
  /** The generations that may be it: not to be removed before it is replaced. */
  readonly generations: readonly number[];
}

export interface LoadedState {
  readonly db: StateDatabase;
  readonly generation: number;
  /** Generations that a crash left behind. */
  readonly others: readonly number[];
  readonly directory: Directory;
  readonly keyTally: Tally;
  readonly batchNumber: number;
  readonly since: number;
  readonly damaged: string | undefined;
  /** Set when the state is damaged: `generation` is a new, empty one then. */
  readonly wreck: Wreck | undefined;
}

export interface LoadOptions {
  readonly cacheBytes: number;
  /** Reads every value too, not only the keys. */
  readonly checkValues: boolean;
}

export async function loadState(dir: string, options: LoadOptions): Promise<LoadedState> {
  const { cacheBytes, checkValues } = options;
  // Asked before: a database whose files went bad may open as an empty one.
  const isNew = await access(join(dir, 'CURRENT')).then(
    () => false,
    () => true,
  );
  const db: StateDatabase = await openDatabase<string, string>(dir, { cacheSize: cacheBytes });
  try {
    const generations = await listGenerations(db);
    const stored = await db.get(POINTER);
    if (isNew) {
      await db.batch(firstRecords(), { sync: true });
      return {
        db,
        generation: 1,
        others: [],
        ...directoryOf([]),
        batchNumber: 0,
        since: 1,
        damaged: undefined,
        wreck: undefined,
      };
    }
    const pointer = unseal<Pointer>(stored);
    if (pointer !== undefined && pointer.v !== 1) {
      const format = String(pointer.v);
      throw new StorageError('foreign', `the state has format ${format}, this version reads 1`);
    }
    const keys = unseal<KeyCount>(await db.get(KEY_COUNT));
    // The newer of the two, if they differ: a batch that switched may be lost.
    const known = [pointer, keys]
      .filter((each) => each !== undefined)
      .reduce((a, b) => (b.generation > a.generation ? b : a), NOTHING);
    const { generation, since = 1 } = known;
    const agreed = [pointer, keys].every((each) => (each ?? known).generation === generation);
    const ring = await readRing(db, since);
    const found = await readKeys(db, generation, checkValues);
    const loaded = directoryOf(found.keys);
    let lost: string | undefined;
    if (known === NOTHING || !agreed) lost = 'the records that say which state is the present one';
    else if (ring.gap !== undefined) lost = `batch ${ring.gap} of the writes`;
    else if (keys === undefined || !loaded.keyTally.equals(keys))
      lost = 'keys, or has foreign ones';
    else if (found.unreadable > 0)
      lost = `records that cannot be read (${found.unreadable}, in table ${found.tables})`;
    const rest = { db, batchNumber: ring.last };
    const others = generations.filter((other) => other !== generation);
    if (lost !== undefined) {
      const damaged = `the state has lost ${lost}`;
      const remains = remainsOf(db, generation, loaded.directory);
      const isCertain = known !== NOTHING && agreed;
      const wreck = { remains, generations: isCertain ? [generation] : [generation, ...others] };
      const fresh = Math.max(unusedGeneration(), generation + 1, ...others.map((each) => each + 1));
      return {
        ...{ ...rest, ...directoryOf([]), since, damaged, wreck },
        ...{ generation: fresh, others: isCertain ? others : [] },
      };
    }
    if (pointer === undefined) {
      await db.put(POINTER, sealed({ v: 1, generation, since }), { sync: true });
    }
    return { ...rest, ...loaded, generation, others, since, damaged: undefined, wreck: undefined };
  } catch (error) {
    await db.close();
    if (error instanceof StorageError) throw error;
    const why = rootMessage(error);
    throw new StorageError('failed', `the state in ${dir} cannot be read: ${why}`, error);
  }
}

/**
 * A stored record. classic-level writes text keys into a buffer that it keeps, and enlarges it when
 * one fills it to the last byte. A key cut off before a character of several bytes does not, and
 * another key is looked up: such keys go as bytes.
 */
export function storedAt(
  db: StateDatabase,
  key: string,
  options: { snapshot?: Snapshot } = {},
): string | undefined {
  if (Buffer.byteLength(key) === key.length) return db.getSync(key, options);
  return db.getSync<Buffer, string>(Buffer.from(key), { ...options, keyEncoding: 'buffer' });
}

function remainsOf(db: StateDatabase, generation: number, directory: Directory): View {
  const prefix = prefixOf(generation);
  const get = (key: string): string | undefined => {
    try {
      const stored = storedAt(db, prefix + key);
      return stored === undefined ? undefined : contentOf(key, stored);
    } catch {
      // LevelDB refuses a block that went bad
      return undefined;
    }
  };
  return { get, keys: (start, after) => keysWith(directory, start, after) };
}

/** No record says which generation is the state. */
const NOTHING: Omit<Pointer, 'v'> = { generation: 0 };

/**
 * Of a damaged state nothing is shown: it is empty until another one is installed. Keys of any
 * generation may hide in files that cannot be read now, so the number is one that counting from 1
 * has never reached: minutes since 1970.
 */
const unusedGeneration = (): number => Math.floor(Date.now() / 60_000);

const firstRecords = () => [
  { type: 'put' as const, key: POINTER, value: sealed({ v: 1, generation: 1 }) },
  { type: 'put' as const, key: KEY_COUNT, value: sealed({ generation: 1, count: 0, sum: 0 }) },
];

/** The generations of which there are keys. */
async function listGenerations(db: StateDatabase): Promise<number[]> {
  const found: number[] = [];
  let from = '0';
  for (;;) {
    const [key] = await db.keys({ gte: from, limit: 1 }).all();
    if (key === undefined) return found;
    const generation = Number(key.slice(0, GENERATION_DIGITS));
    if (!Number.isSafeInteger(generation) || !key.startsWith(prefixOf(generation))) {
      throw new StorageError('foreign', 'the folder of the state holds keys that are not ours');
    }
    found.push(generation);
    from = rangeOf(generation).lt;
  }
}

/**
 * The number of the last batch, and the first number from `since` on that is missing among the
 * newest.
 */
async function readRing(
  db: StateDatabase,
  since: number,
): Promise<{ last: number; gap: number | undefined }> {
  const numbers = new Set<number>();
  for (const number of await db.values({ gte: '#', lt: '$' }).all()) numbers.add(Number(number));
  let last = 0;
  for (const number of numbers) last = Math.max(last, number);
  for (let number = Math.max(since, last - RING_SLOTS + 1); number <= last; number++) {
    if (!numbers.has(number)) return { last, gap: number };
  }
  return { last, gap: undefined };
}

/**
 * The keys of a generation; with `checkValues`, how many values are not what was written, and in
 * which tables.
 */
async function readKeys(db: StateDatabase, generation: number, checkValues: boolean) {
  const keys: string[] = [];
  const { gte, lt } = rangeOf(generation);
  const iterator = db.keys<Buffer>({
    gte: Buffer.from(gte),
    lt: Buffer.from(lt),
    keyEncoding: 'buffer',
    ...IN_SLICES,
  });
  for await (const some of slices(iterator)) {
    // Decoded here, so that a key does not keep the prefixed text it was cut from in memory.
    for (const key of some) keys.push(key.toString('utf8', gte.length));
  }
  const tables = new Set<string>();
  let unreadable = 0;
  if (checkValues) {
    for await (const some of slices(db.iterator({ gte, lt, ...IN_SLICES }))) {
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
