/** The disk of production: LevelDB, the file system and the real clock. */
import { mkdir } from 'node:fs/promises';
import type { ClassicLevel } from 'classic-level';
import { Level } from 'level';
import {
  type Database,
  type Disk,
  OPERATIONS_PER_TURN,
  type Operation,
  type Range,
  type Snapshot,
} from './disk.js';
import { rootMessage, StorageError } from './errors.js';
import { claimFolder } from './folder.js';
import { NodeFolder } from './node-folder.js';
import { nextTurn } from './record-stream.js';

/**
 * Bytes and records of a slice. With LevelDB's default of 16 KiB, a start would wait for another
 * thread a thousand times.
 */
const SLICE_BYTES = 2 ** 20;
const SLICE_RECORDS = 10_000;
const IN_SLICES = { highWaterMarkBytes: SLICE_BYTES } as const;
/**
 * Bytes of new records in memory, and in LevelDB's own log, before they become a table. Objects
 * with random ids overlap every table, so fewer and larger ones are merged less often than with
 * LevelDB's default of 4 MiB. The ring of batch numbers (state-load.ts) must span such a log.
 */
const WRITE_BUFFER_BYTES = 16 * 2 ** 20;

type LevelSnapshot = ReturnType<ClassicLevel<string, string>['snapshot']>;

class LevelDatabase<T extends string | Buffer> implements Database<T> {
  readonly #db: ClassicLevel<T, T>;

  constructor(db: ClassicLevel<T, T>) {
    this.#db = db;
  }

  /**
   * classic-level encodes text keys into a buffer that it reuses, and enlarges the buffer only if a
   * key fills it to the last byte. A key that is cut off before a multi-byte character leaves the
   * last bytes unused, so the buffer is not enlarged and a wrong key is looked up. Keys with
   * multi-byte characters are therefore passed as bytes.
   */
  get(key: T, snapshot?: Snapshot): T | undefined {
    // A snapshot of this database is one of LevelDB.
    const options = snapshot === undefined ? {} : { snapshot: snapshot as LevelSnapshot };
    if (typeof key !== 'string' || Buffer.byteLength(key) === key.length)
      return this.#db.getSync(key, options);
    return this.#db.getSync<Buffer, T>(Buffer.from(key), { ...options, keyEncoding: 'buffer' });
  }

  /**
   * Uses a chained batch: passing an array makes LevelDB copy and check each operation, which costs
   * several times as much as the write.
   */
  async write(operations: readonly Operation<T>[], { sync }: { sync: boolean }): Promise<void> {
    const batch = this.#db.batch();
    for (const [at, operation] of operations.entries()) {
      if (at % OPERATIONS_PER_TURN === OPERATIONS_PER_TURN - 1) await nextTurn();
      if (operation.type === 'put') batch.put(operation.key, operation.value);
      else batch.del(operation.key);
    }
    await batch.write({ sync });
  }

  keys(range: Range<T>, limit: number): Promise<T[]> {
    return this.#db.keys({ ...range, limit }).all();
  }

  keySlices(range: Range<T>): AsyncIterable<T[]> {
    return slices(this.#db.keys({ ...range, ...IN_SLICES }));
  }

  records(range: Range<T>): AsyncIterable<[T, T][]> {
    return slices(this.#db.iterator({ ...range, ...IN_SLICES }));
  }

  snapshot(): Snapshot {
    return this.#db.snapshot();
  }

  compact(from: T, to: T): Promise<void> {
    return this.#db.compactRange(from, to);
  }

  approximateSize(from: T, to: T): Promise<number> {
    return this.#db.approximateSize(from, to);
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}

/**
 * Yields everything an iterator returns, in slices, because awaiting each record would cost more
 * than reading it. LevelDB reads a slice while the one before is used. Closes the iterator.
 */
async function* slices<R>(iterator: {
  nextv(size: number): Promise<R[]>;
  close(): Promise<void>;
}): AsyncGenerator<R[]> {
  const read = (): Promise<R[]> => {
    const some = iterator.nextv(SLICE_RECORDS);
    // Nobody awaits the slice after the one at which the caller stops.
    some.catch(() => {});
    return some;
  };
  try {
    for (let next = read(); ; ) {
      const some = await next;
      if (some.length === 0) return;
      next = read();
      yield some;
    }
  } finally {
    await iterator.close();
  }
}

async function openDatabase<T extends string | Buffer>(
  dir: string,
  options: ConstructorParameters<typeof ClassicLevel<T, T>>[1],
  advice: string,
): Promise<Database<T>> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  // In Node, `level` is classic-level, but its types omit what only classic-level has (getSync).
  const db = new Level<T, T>(dir, options as never) as unknown as ClassicLevel<T, T>;
  try {
    await db.open();
  } catch (error) {
    const why = rootMessage(error, advice);
    if ((error as { cause?: { code?: string } }).cause?.code === 'LEVEL_LOCKED') {
      throw new StorageError('locked', `${dir} is in use by another process (${why})`, error);
    }
    throw new StorageError('failed', `${dir} cannot be opened: ${why}`, error);
  }
  return new LevelDatabase(db);
}

export const LEVEL_DISK: Disk = {
  clock: {
    now: () => performance.now(),
    wall: () => Date.now(),
    after: (ms, run) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
    soon: (run) => {
      setImmediate(run);
    },
  },
  claim: claimFolder,
  folder: (dir) => new NodeFolder(dir),
  // Not by CURRENT: release 0.3.0 leaves such a file in the folder of the log, where no LevelDB is.
  hasDatabase: async (dir) =>
    new NodeFolder(dir).names().some((name) => name.startsWith('MANIFEST-')),
  openBytes: (dir) =>
    openDatabase<Buffer>(
      dir,
      { keyEncoding: 'buffer', valueEncoding: 'buffer', compression: false },
      'this folder holds no data: remove it, and start the server again',
    ),
  openText: (dir, { cacheBytes }) =>
    openDatabase<string>(
      dir,
      { cacheSize: cacheBytes, writeBufferSize: WRITE_BUFFER_BYTES },
      'move this folder away and start the server again, so that it gets the state from its log ' +
        'or its peers',
    ),
};
