/**
 * What the log, the state and the identity of a node need of its machine: databases, files
 * and a clock. Production uses `LEVEL_DISK` (`level-disk.ts`). The simulation puts a disk in its
 * place that loses, spoils and delays what is written.
 */

/** One operation of a batch. */
export type Operation<T> =
  | { readonly type: 'put'; readonly key: T; readonly value: T }
  | { readonly type: 'del'; readonly key: T };

/** Operations of a large batch that are prepared in one turn of the event loop: a millisecond. */
export const OPERATIONS_PER_TURN = 256;

/** A range of keys, in the order of their bytes. */
export interface Range<T> {
  readonly gt?: T;
  readonly gte?: T;
  readonly lt?: T;
  readonly lte?: T;
}

/** A frozen view of a database. Must be closed. */
export interface Snapshot {
  close(): Promise<void>;
}

/** An ordered database of keys and values of type `T`. Rejects and throws if the disk fails. */
export interface Database<T> {
  /** Returns the value of a key now, or as of a snapshot. */
  get(key: T, snapshot?: Snapshot): T | undefined;
  /**
   * Writes the operations in order, as one atomic batch. It may take turns of the event loop. With
   * `sync`, resolves once they are durable. Otherwise a power cut may lose them, even if it keeps
   * later ones, until `compact`.
   */
  write(operations: readonly Operation<T>[], options: { readonly sync: boolean }): Promise<void>;
  /** Returns the first `limit` keys of a range. */
  keys(range: Range<T>, limit: number): Promise<T[]>;
  /** Yields the keys of a range, many at a time. */
  keySlices(range: Range<T>): AsyncIterable<T[]>;
  /** Yields the records of a range, many at a time. */
  records(range: Range<T>): AsyncIterable<[T, T][]>;
  snapshot(): Snapshot;
  /**
   * Flushes recent writes into files, which are synced, and rewrites the files that hold keys from
   * `from` to `to`, both included, without what was deleted or replaced.
   */
  compact(from: T, to: T): Promise<void>;
  /** Approximate bytes of a range in files. */
  approximateSize(from: T, to: T): Promise<number>;
  close(): Promise<void>;
}

/** Gets null, or why it failed. */
export type Done = (error: Error | null) => void;

/** An open file. What takes `done` calls it in a later turn. */
export interface DiskFile {
  readonly path: string;
  size(): number;
  /** Returns `length` bytes from `at` on, fewer at the end. Throws if the disk fails. */
  read(at: number, length: number): Buffer;
  /**
   * Writes bytes from `at` on. When `done` is called, as many of them as it gets are durable, which
   * may be fewer than were given. A power cut before that keeps any part of them.
   */
  write(bytes: Buffer, at: number, done: (error: Error | null, written: number) => void): void;
  /** Makes durable what an earlier process wrote, which may have ended before its write did. */
  sync(done: Done): void;
  close(): void;
}

/** The files of a folder. What takes `done` calls it in a later turn. */
export interface DiskFolder {
  readonly path: string;
  /** Creates the folder if it is missing. Durable once the folder around it is synced. */
  create(done: Done): void;
  /** Names of the files; none if there is no such folder. */
  names(): string[];
  /** Opens a file, and creates it if it is missing. */
  open(name: string, done: (error: Error | null, file?: DiskFile) => void): void;
  /** Renames a file, and replaces the one that has that name. */
  rename(from: string, to: string, done: Done): void;
  remove(name: string, done: Done): void;
  /** Makes names durable. Before, a power cut may undo each creation, renaming and removal. */
  sync(done: Done): void;
}

/** The clocks of the machine, and the timers on them. */
export interface StorageClock {
  /** Milliseconds of the monotonic clock. */
  now(): number;
  /** Milliseconds of the wall clock. */
  wall(): number;
  /** Calls `run` once after at least `ms` milliseconds. Returns a cancel function. */
  after(ms: number, run: () => void): () => void;
  /** Calls `run` in a later turn of the event loop. */
  soon(run: () => void): void;
}

/** The machine below log, state and identity. See the head of this file. */
export interface Disk {
  readonly clock: StorageClock;
  /** See `claimFolder`. */
  claim(dir: string, marker: string): Promise<void>;
  folder(dir: string): DiskFolder;
  /** Whether a folder holds a database. */
  hasDatabase(dir: string): Promise<boolean>;
  /**
   * Opens a database of bytes, and creates it if it is missing. Throws StorageError `locked` if
   * another process has it open, `failed` if it cannot be opened.
   */
  openBytes(dir: string): Promise<Database<Buffer>>;
  /** The same for a database of text. `cacheBytes` bounds the blocks kept in memory. */
  openText(dir: string, options: { readonly cacheBytes: number }): Promise<Database<string>>;
}
