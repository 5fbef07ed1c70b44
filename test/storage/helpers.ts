/** Folders with logs and states in them, and ways to corrupt them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ClassicLevel } from 'classic-level';
import type { Entry, LogView } from '../../src/raft/types.js';
import type { View } from '../../src/state/types.js';
import type { StorageError } from '../../src/storage/errors.js';
import type { SegmentLog } from '../../src/storage/log.js';
import { MemoryState } from '../../src/storage/memory-state.js';
import { type OpenLogOptions, openLog } from '../../src/storage/open-log.js';
import { segmentNumber } from '../../src/storage/segment.js';
import {
  entryOf,
  HEAD_BYTES,
  recordsAfter,
  type StoredRecord,
  saltOf,
} from '../../src/storage/segment-record.js';
import { type LevelState, openState } from '../../src/storage/state.js';
import type { StateRecord } from '../../src/storage/types.js';
import type { Found } from './verify-child.js';

/** Creates folders and removes them; closes what was opened through it. */
export class Folders {
  readonly #dirs: string[] = [];
  readonly #open: { close(): Promise<void> }[] = [];
  /** The errors reported as fatal. */
  readonly fatal: StorageError[] = [];

  async make(): Promise<string> {
    const dir = await mkdtemp(join(tmpdir(), 'storage-'));
    this.#dirs.push(dir);
    return join(dir, 'db');
  }

  /** A copy of the folder as a crash of the process would leave it now. */
  async copy(dir: string): Promise<string> {
    for (;;) {
      const to = await this.make();
      const before = await readdir(dir);
      try {
        await cp(dir, to, { recursive: true });
      } catch (error) {
        // LevelDB has just removed a file: no crash leaves it half removed.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
        throw error;
      }
      if (before.join() === (await readdir(dir)).join()) return to;
    }
  }

  async log(dir: string, options: Partial<OpenLogOptions> = {}): Promise<SegmentLog> {
    const onFatal = (error: StorageError) => this.fatal.push(error);
    // Small segments: what is copied and read again is little.
    const log = await openLog(dir, { onFatal, segmentBytes: 2 ** 16, ...options });
    this.#open.push(log);
    return log;
  }

  async state(dir: string): Promise<LevelState> {
    const state = await openState(dir, { onFatal: (error) => this.fatal.push(error) });
    this.#open.push(state);
    return state;
  }

  /** Closes and reopens an undamaged log: it must report no error and hold the same entries. */
  async reopenLog(log: SegmentLog, dir: string): Promise<SegmentLog> {
    const before = logFacts(log);
    await log.close();
    const again = await this.log(dir);
    expect(again.damaged).equal(undefined);
    expect(logFacts(again)).eql(before);
    return again;
  }

  /** The same for a state. */
  async reopenState(state: LevelState, dir: string): Promise<LevelState> {
    const before = contents(state);
    await state.close();
    const again = await this.state(dir);
    expect(again.damaged).equal(undefined);
    expect(contents(again)).eql(before);
    return again;
  }

  async clean(): Promise<void> {
    for (const one of this.#open.splice(0)) await one.close();
    for (const dir of this.#dirs.splice(0)) await rm(dir, { recursive: true, force: true });
    this.fatal.length = 0;
  }
}

/** Works on the raw records of a database that is not open. */
export async function raw<T>(
  dir: string,
  work: (db: ClassicLevel<Buffer, Buffer>) => Promise<T>,
): Promise<T> {
  const db = new ClassicLevel<Buffer, Buffer>(dir, {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
  });
  await db.open();
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** Removes batch `number` with these records from a state, as when LevelDB skips a batch. */
export const loseBatch = (dir: string, number: number, lost: readonly string[] = []) =>
  raw(dir, (db) =>
    db.batch(
      [`#${number}`, ...lost].map((key) => ({ type: 'del' as const, key: Buffer.from(key) })),
    ),
  );

/** Changes one bit of the value under a key. */
export const flip = (dir: string, key: Buffer, bit = 0): Promise<void> =>
  raw(dir, async (db) => {
    const value = Buffer.from((await db.get(key))!);
    value[(bit >> 3) % value.length]! ^= 1 << (bit % 8);
    await db.put(key, value);
  });

/** The bytes with one bit changed at a place, or sometimes with a whole page of zeros. */
export function spoiled(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  if (at % 5 === 0) changed.fill(0, at, Math.min(at + 4096, bytes.length));
  else changed[at]! ^= 0x04;
  return changed;
}

const child = fileURLToPath(new URL('./verify-child.js', import.meta.url));

/**
 * The contents of the folders as a separate process reads them. Folders that abort the process are
 * left out: they show nothing.
 */
export async function verify(kind: 'log' | 'state', dirs: readonly string[]): Promise<Found[]> {
  const found: Found[] = [];
  let left = [...dirs];
  while (left.length > 0) {
    const running = spawn(process.execPath, [child, kind, ...left], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const exit = once(running, 'exit');
    const before = found.length;
    for await (const line of createInterface({ input: running.stdout })) {
      found.push(JSON.parse(line) as Found);
    }
    const [code, signal] = await exit;
    const done = found.length - before;
    if (done < left.length && signal !== 'SIGABRT') {
      throw new Error(`the folder ${left[done]} ended the process with ${code ?? signal}`);
    }
    left = left.slice(done + 1);
  }
  return found;
}

export const command = (index: number, term: number, text = `c${index}.${term}`): Entry => ({
  kind: 'command',
  index,
  term,
  data: Buffer.from(text),
});
export const configuration = {
  members: [{ id: 'a', name: 'node a', address: '127.0.0.1:1', voter: true }],
};

/** Entries as plain values: Buffers and Uint8Arrays compare alike. */
export const plain = (entries: readonly Entry[]) =>
  entries.map((entry) =>
    entry.kind === 'command' ? { ...entry, data: Buffer.from(entry.data).toString() } : entry,
  );
export const entriesOf = (log: LogView) =>
  plain(log.entries(log.firstIndex(), log.lastIndex(), Infinity));
const logFacts = (log: SegmentLog) => ({
  ...{ entries: entriesOf(log), first: log.firstIndex(), snapshot: log.snapshot() },
  ...{ hardState: log.hardState(), bar: log.bar() },
});
export const contents = (view: View) => [...view.keys('')].map((key) => [key, view.get(key)]);
/** Records of many sizes, with multi-byte characters. */
export const some: readonly StateRecord[] = Array.from({ length: 100 }, (_, i) => [
  `table\u0000${String(i).padStart(3, '0')}`,
  JSON.stringify({ name: `ünïcode ${i}`, text: 'x'.repeat(i * 3) }),
]);
export function stateOf(records: readonly StateRecord[]): MemoryState {
  const state = new MemoryState();
  state.commit(records);
  return state;
}
export const done = (call: (done: () => void) => void) =>
  new Promise<void>((resolve) => call(resolve));
/** Resolves once the condition holds: for changes on disk that nothing announces. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}
export const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** Counts the key and value bytes written from now on; `take` returns those since the last call. */
export function countBytes(store: LevelState): { take(): number } {
  let bytes = 0;
  const { db } = store;
  const write = db.write.bind(db);
  db.write = (operations, options) => {
    for (const operation of operations)
      if (operation.type === 'put') bytes += operation.key.length + operation.value.length;
    return write(operations, options);
  };
  return {
    take() {
      const taken = bytes;
      bytes = 0;
      return taken;
    },
  };
}

/** Fails every later batch of the store with this cause; the result returns how many were tried. */
export function failBatches(store: LevelState, cause: string): () => number {
  let tried = 0;
  store.db.write = () => {
    tried += 1;
    return Promise.reject(new Error('outer', { cause: new Error(cause) }));
  };
  return () => tried;
}

/** A record of a log on disk: the name of its file, and where it is. */
export interface Place {
  readonly name: string;
  readonly record: StoredRecord;
}

/** All records of the segments with these contents, in order. */
export function recordsIn(files: Iterable<readonly [string, Buffer]>): Place[] {
  const places: Place[] = [];
  for (const [name, bytes] of [...files].sort()) {
    const number = segmentNumber(name);
    if (number === undefined) continue;
    for (const record of recordsAfter(bytes, 0, saltOf(number))) places.push({ name, record });
  }
  return places;
}

/** The segments of a log on disk. */
export async function segmentsOf(dir: string): Promise<[string, Buffer][]> {
  const folder = join(dir, 'segments');
  const names = (await readdir(folder)).filter((name) => segmentNumber(name) !== undefined);
  return Promise.all(
    names.map(
      async (name): Promise<[string, Buffer]> => [name, await readFile(join(folder, name))],
    ),
  );
}

/** Changes one bit of the last record of a log that `wanted` takes. */
export async function flipRecord(
  dir: string,
  wanted: (record: StoredRecord) => boolean,
  offset = HEAD_BYTES,
): Promise<void> {
  const files = await segmentsOf(dir);
  const place = recordsIn(files).findLast(({ record }) => wanted(record))!;
  const bytes = new Map(files).get(place.name)!;
  bytes[place.record.at + offset]! ^= 0x10;
  await writeFile(join(dir, 'segments', place.name), bytes);
}

/** Whether a record holds the entry at an index. */
export const isEntry =
  (index: number) =>
  (record: StoredRecord): boolean =>
    entryOf(record) !== undefined && record.position.index === index;
