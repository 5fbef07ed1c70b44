/**
 * What the log, the state and the identity of a node need of its machine: databases, small files
 * and a clock. Production uses `LEVEL_DISK` (`level-disk.ts`). The simulation puts a disk in its
 * place that loses, spoils and delays what is written.
 */

/** One operation of a batch. */
export type Operation<T> =
  | { readonly type: 'put'; readonly key: T; readonly value: T }
  | { readonly type: 'del'; readonly key: T };

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
   * Writes the operations in order, as one atomic batch. With `sync`, resolves once they and all
   * earlier batches are durable. Otherwise a power cut may lose them.
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
   * Flushes recent writes into files, and rewrites the files that hold keys from `from` to `to`,
   * both included, without what was deleted or replaced.
   */
  compact(from: T, to: T): Promise<void>;
  /** Approximate bytes of a range in files. */
  approximateSize(from: T, to: T): Promise<number>;
  close(): Promise<void>;
}

/** An open file. */
export interface OpenFile {
  /** Returns up to `length` bytes from `at` on: fewer at the end of the file. */
  read(at: number, length: number): Promise<Buffer>;
  /** Writes bytes at a position. A power cut may lose them, or keep a part, until `sync`. */
  write(bytes: Buffer, at: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Small files beside the databases. */
export interface Files {
  /** See `claimFolder`. */
  claim(dir: string, marker: string): Promise<void>;
  /** Opens a file, and creates it if it is missing. `empty` drops its content. */
  open(path: string, options?: { readonly empty: boolean }): Promise<OpenFile>;
  /** Returns the content of a file; undefined if there is none. */
  read(path: string): Promise<Buffer | undefined>;
  /** Renames a file, and replaces the one that has that name. Durable after `syncFolder`. */
  rename(from: string, to: string): Promise<void>;
  /** Makes the names in a folder durable. */
  syncFolder(dir: string): Promise<void>;
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
  readonly files: Files;
  readonly clock: StorageClock;
  /** Whether a database was ever made in a folder. */
  hasDatabase(dir: string): Promise<boolean>;
  /**
   * Opens a database of bytes, and creates it if it is missing. Throws StorageError `locked` if
   * another process has it open, `failed` if it cannot be opened.
   */
  openBytes(dir: string): Promise<Database<Buffer>>;
  /** The same for a database of text. `cacheBytes` bounds the blocks kept in memory. */
  openText(dir: string, options: { readonly cacheBytes: number }): Promise<Database<string>>;
}
