/** The format of the state's database, and how it is opened. See the head of `state.ts`. */

import { crc32 } from 'node:zlib';
import type { ClassicLevel } from 'classic-level';
import { type Directory, directoryOf, recordSum } from './directory.js';
import { rootMessage, StorageError } from './errors.js';
import { openDatabase } from './log-load.js';

export type StateDatabase = ClassicLevel<string, string>;

export const POINTER = '!state';
/** More batches than LevelDB's own log of 4 MiB can hold of ordinary size. */
export const RING_SLOTS = 16384;
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

export function pointerValue(generation: number): string {
  const json = JSON.stringify({ v: 1, generation });
  return hex(crc32(json)) + json;
}

function readPointer(stored: string): number | undefined {
  const json = stored.slice(SUM_DIGITS);
  if (hex(crc32(json)) !== stored.slice(0, SUM_DIGITS)) return undefined;
  const { v, generation } = JSON.parse(json) as { v: number; generation: number };
  if (v !== 1) {
    throw new StorageError('foreign', `the state has format ${v}; this version reads format 1`);
  }
  return generation;
}

export interface LoadedState {
  readonly db: StateDatabase;
  readonly generation: number;
  /** Generations that a crash left behind. */
  readonly others: readonly number[];
  readonly directory: Directory;
  readonly batchNumber: number;
  readonly damaged: string | undefined;
}

export async function loadState(dir: string, cacheBytes: number): Promise<LoadedState> {
  const db: StateDatabase = await openDatabase<string, string>(dir, { cacheSize: cacheBytes });
  try {
    const generations = await listGenerations(db);
    const stored = await db.get(POINTER);
    const ring = await readRing(db);
    if (stored === undefined && generations.length === 0 && ring.last === 0) {
      await db.put(POINTER, pointerValue(1), { sync: true });
      return {
        db,
        generation: 1,
        others: [],
        directory: directoryOf([]),
        batchNumber: 0,
        damaged: undefined,
      };
    }
    const pointer = stored === undefined ? undefined : readPointer(stored);
    // Without a pointer nothing is shown: the state is empty until another one is installed.
    const generation = pointer ?? Math.max(0, ...generations) + 1;
    let damaged: string | undefined;
    if (pointer === undefined) damaged = 'the record that says which state is the present one';
    else if (ring.gap !== undefined) damaged = `batch ${ring.gap} of the writes`;
    return {
      db,
      generation,
      others: generations.filter((other) => other !== generation),
      directory: directoryOf(await readKeys(db, generation)),
      batchNumber: ring.last,
      damaged: damaged === undefined ? undefined : `the state has lost ${damaged}`,
    };
  } catch (error) {
    await db.close();
    if (error instanceof StorageError) throw error;
    const why = rootMessage(error);
    throw new StorageError('failed', `the state in ${dir} cannot be read: ${why}`, error);
  }
}

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

/** The number of the last batch, and the first number that is missing among the newest. */
async function readRing(db: StateDatabase): Promise<{ last: number; gap: number | undefined }> {
  const numbers = new Set<number>();
  for (const number of await db.values({ gte: '#', lt: '$' }).all()) numbers.add(Number(number));
  let last = 0;
  for (const number of numbers) last = Math.max(last, number);
  for (let number = Math.max(1, last - RING_SLOTS + 1); number <= last; number++) {
    if (!numbers.has(number)) return { last, gap: number };
  }
  return { last, gap: undefined };
}

async function readKeys(db: StateDatabase, generation: number): Promise<string[]> {
  const keys: string[] = [];
  const { gte, lt } = rangeOf(generation);
  const iterator = db.keys<Buffer>({
    gte: Buffer.from(gte),
    lt: Buffer.from(lt),
    keyEncoding: 'buffer',
  });
  try {
    for (;;) {
      const some = await iterator.nextv(5000);
      if (some.length === 0) return keys;
      // Decoded here, so that a key does not keep the prefixed text it was cut from in memory.
      for (const key of some) keys.push(key.toString('utf8', gte.length));
    }
  } finally {
    await iterator.close();
  }
}
