/** A disk in memory as one process has it. See `fake-disk.ts`. */
import { settled } from '../../src/storage/calls.js';
import type {
  Database,
  Disk,
  DiskFolder,
  Operation,
  Range,
  Snapshot,
  StorageClock,
} from '../../src/storage/disk.js';
import { StorageError } from '../../src/storage/errors.js';
import type { KeyIndex } from '../../src/storage/key-index.js';
import type { FakeFiles } from './fake-files.js';
import { FakeFolder, type FolderParts } from './fake-folder.js';
import { type Batch, bytesOf, Platter, type Value } from './fake-platter.js';

/** Records of a slice. */
const SLICE_RECORDS = 1000;

export const noSpace = (): Error => new Error('ENOSPC: no space left on device');

/** What a mount needs of its disk. */
export interface MountParts {
  readonly clock: StorageClock;
  readonly isLocked: () => boolean;
  readonly isFull: () => boolean;
  readonly platters: Map<string, Platter>;
  readonly files: FakeFiles;
  readonly fault: FolderParts['fault'];
  readonly sync: (isAlive: () => boolean, done: (error: Error | undefined) => void) => void;
  /** Does something to the names of files in a later turn of the world, unless it fails. */
  readonly change: (run: () => void, done: (error: Error | undefined) => void) => void;
  /** Before a read. */
  readonly reading: () => void;
  /** Runs something in a later turn of the world. */
  readonly later: (run: () => void) => void;
  /** Hands the process what is complete. */
  readonly deliver: (run: () => void) => void;
}

/** The disk as one process has it. Once that has ended, nothing it asked for ever returns. */
export class Mount implements Disk {
  readonly clock: StorageClock;
  readonly #parts: MountParts;
  #isAlive = true;

  constructor(parts: MountParts) {
    this.#parts = parts;
    this.clock = parts.clock;
  }

  end(): void {
    this.#isAlive = false;
  }

  /** Throws in a process that is dead. */
  alive(): void {
    if (!this.#isAlive) throw new Error('this process is dead');
  }

  /** Before a read: see `FolderParts`. */
  reading(): void {
    this.alive();
    this.#parts.reading();
  }

  /** Throws if the disk is full. */
  needRoom(): void {
    if (this.#parts.isFull()) throw noSpace();
  }

  /** Runs `run` in a process that lives. */
  async live<T>(run: () => T | Promise<T>): Promise<T> {
    return this.#isAlive ? run() : new Promise<T>(() => {});
  }

  /** Calls `onDisk` after the time of a sync, unless it fails, and `done` if the process lives. */
  sync(onDisk: () => void, done: (error: Error | null) => void): void {
    const { sync, deliver } = this.#parts;
    sync(
      () => this.#isAlive,
      (error) => {
        if (error === undefined) onDisk();
        deliver(() => done(error ?? null));
      },
    );
  }

  claim(): Promise<void> {
    return this.live(() => {});
  }

  folder(dir: string): DiskFolder {
    const { files, fault, later, change, deliver } = this.#parts;
    return new FakeFolder(dir, {
      files,
      fault,
      reading: () => this.reading(),
      change: (onDisk, done) =>
        change(
          () => {
            if (this.#isAlive) onDisk();
          },
          (error) => {
            if (this.#isAlive) deliver(() => done(error ?? null));
          },
        ),
      hasEnded: () => !this.#isAlive,
      soon: (run) =>
        later(() => {
          if (this.#isAlive) deliver(run);
        }),
      sync: (onDisk, done) => this.sync(onDisk, done),
    });
  }

  hasDatabase(dir: string): Promise<boolean> {
    return this.live(() => this.#parts.platters.has(dir));
  }

  openBytes(dir: string): Promise<Database<Buffer>> {
    return this.#open<Buffer>(dir, (bytes) => Buffer.from(bytes, 'latin1'));
  }

  openText(dir: string): Promise<Database<string>> {
    return this.#open<string>(dir, (bytes) => Buffer.from(bytes, 'latin1').toString());
  }

  #open<T extends Value>(dir: string, keyOf: (bytes: string) => T): Promise<Database<T>> {
    return this.live(() => {
      const { platters, isLocked } = this.#parts;
      const platter = platters.get(dir) ?? new Platter();
      if (platter.isOpen || isLocked()) {
        throw new StorageError('locked', `${dir} is in use by another process`);
      }
      platters.set(dir, platter);
      platter.isOpen = true;
      // LevelDB puts what its log holds into tables when it opens.
      platter.fold();
      return new FakeDatabase<T>(platter, this, keyOf);
    });
  }
}

class FakeDatabase<T extends Value> implements Database<T> {
  readonly #platter: Platter;
  readonly #mount: Mount;
  readonly #keyOf: (bytes: string) => T;
  readonly #snapshots = new WeakMap<Snapshot, KeyIndex<Value>>();
  /** Writes one after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(platter: Platter, mount: Mount, keyOf: (bytes: string) => T) {
    this.#platter = platter;
    this.#mount = mount;
    this.#keyOf = keyOf;
  }

  get(key: T, snapshot?: Snapshot): T | undefined {
    this.#mount.reading();
    const shown = snapshot === undefined ? this.#platter.shown : this.#snapshots.get(snapshot)!;
    // A database holds values of its own type alone.
    return shown.get(bytesOf(key)) as T | undefined;
  }

  write(operations: readonly Operation<T>[], { sync }: { sync: boolean }): Promise<void> {
    return this.#mount.live(() => {
      const batch: Batch = { operations: [...operations], isSynced: false };
      this.#platter.waiting.push(batch);
      const written = this.#last.then(async () => {
        const toPlatter = (): void => {
          batch.isSynced = sync;
          this.#platter.written(batch);
        };
        if (sync) await settled((done) => this.#mount.sync(toPlatter, done));
        else {
          this.#mount.needRoom();
          toPlatter();
        }
      });
      this.#last = written.catch(() => {
        this.#platter.hasFailed = true;
      });
      return written;
    });
  }

  keys(range: Range<T>, limit: number): Promise<T[]> {
    return this.#mount.live(() => {
      const found: T[] = [];
      for (const [key] of this.#recordsIn(range)) {
        if (found.length >= limit) break;
        found.push(this.#keyOf(key));
      }
      return found;
    });
  }

  async *keySlices(range: Range<T>): AsyncGenerator<T[]> {
    for await (const some of this.#slices(range)) yield some.map(([key]) => this.#keyOf(key));
  }

  async *records(range: Range<T>): AsyncGenerator<[T, T][]> {
    for await (const some of this.#slices(range))
      yield some.map(([key, value]) => [this.#keyOf(key), value as T]);
  }

  snapshot(): Snapshot {
    this.#mount.alive();
    const snapshot: Snapshot = { close: async () => {} };
    this.#snapshots.set(snapshot, this.#platter.shown.clone());
    return snapshot;
  }

  /**
   * Flushes what was written before into files, which are synced. LevelDB does not say that it
   * failed: the next write does.
   */
  compact(): Promise<void> {
    const toFiles = (): void => this.#platter.fold();
    return this.#mount.live(() => settled((done) => this.#mount.sync(toFiles, () => done(null))));
  }

  approximateSize(from: T, to: T): Promise<number> {
    return this.#mount.live(() => {
      let bytes = 0;
      for (const [key, value] of this.#recordsIn({ gte: from, lte: to }))
        bytes += key.length + value.length;
      return bytes;
    });
  }

  close(): Promise<void> {
    return this.#mount.live(() => {
      this.#platter.isOpen = false;
    });
  }

  async *#slices(range: Range<T>): AsyncGenerator<[string, Value][]> {
    const records = [...this.#recordsIn(range)];
    for (let at = 0; at < records.length; at += SLICE_RECORDS)
      yield await this.#mount.live(() => records.slice(at, at + SLICE_RECORDS));
  }

  *#recordsIn({ gt, gte, lt, lte }: Range<T>): Iterable<[string, Value]> {
    const low = gt ?? gte;
    const above = gt === undefined ? undefined : bytesOf(gt);
    const [end, last] = [lt, lte].map((key) => (key === undefined ? undefined : bytesOf(key)));
    const from = low === undefined ? undefined : bytesOf(low);
    for (const [key, value] of this.#platter.shown.entries(from)) {
      if ((end !== undefined && key >= end) || (last !== undefined && key > last)) return;
      if (key !== above) yield [key, value];
    }
  }
}
