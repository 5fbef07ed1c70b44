/**
 * A machine's disk in memory, for the log, the state and the identity of a node (`storage/disk.ts`).
 * It keeps what is synced and what is not apart: a killed process leaves all that it handed over, a
 * power cut a part of what was not synced. Faults spoil it while the machine is off: a batch is
 * dropped, a bit flips, or the disk goes back to what it held before. A full disk fails writes, and
 * a hanging one does not return from a sync.
 *
 * Time is given from outside, and so is chance: one seed gives one disk.
 */
import type { Random } from '../../cluster/checker/random.js';
import type {
  Database,
  Disk,
  Files,
  OpenFile,
  Operation,
  Range,
  Snapshot,
  StorageClock,
} from '../../src/storage/disk.js';
import { StorageError } from '../../src/storage/errors.js';
import { type KeyIndex, newKeyIndex } from '../../src/storage/key-index.js';

/** Timers of the world. */
export interface FakeTime {
  after(ms: number, run: () => void): unknown;
}

/** How the disk behaves; faults change it while it runs. */
export interface DiskTemper {
  /** Usual and longest duration of a sync in milliseconds, and how often one is long. */
  syncMs: number;
  longMs: number;
  longProbability: number;
}

/** What the disk held at some moment. */
export interface DiskImage {
  readonly databases: ReadonlyMap<string, KeyIndex<Value>>;
  readonly files: ReadonlyMap<string, Buffer>;
}

/** A stored value: the type of its database decides which. */
type Value = string | Buffer;

/** Written batches that a database keeps apart: about what LevelDB's own log holds. */
const JOURNAL_BATCHES = 256;
/** Records of a slice. */
const SLICE_RECORDS = 1000;

interface Batch {
  readonly operations: readonly Operation<Value>[];
  /** When it came to the platter, counted over all that did. */
  order: number;
  isSynced: boolean;
}

/** A database on the platter. Keys are the bytes of the real keys as text, so they sort as bytes. */
class Platter {
  /** What later batches follow. */
  base: KeyIndex<Value>;
  /** Batches after `base`, as far as the process was told. */
  journal: Batch[] = [];
  /** Batches on their way. */
  waiting: Batch[] = [];
  /** What a read shows: `base` and `journal`. */
  shown: KeyIndex<Value>;
  isOpen = false;

  constructor(base: KeyIndex<Value> = newKeyIndex<Value>()) {
    this.base = base;
    this.shown = base.clone();
  }

  written(batch: Batch): void {
    this.waiting = this.waiting.filter((each) => each !== batch);
    this.journal.push(batch);
    if (batch.isSynced) for (const each of this.journal) each.isSynced = true;
    apply(this.shown, batch);
    if (batch.isSynced && this.journal.length > JOURNAL_BATCHES) this.fold();
  }

  /** All that is written is in files that no crash reaches. */
  fold(): void {
    this.base = this.shown.clone();
    this.journal = [];
  }

  /** Keeps these batches alone, and what they follow. */
  keep(batches: readonly Batch[]): void {
    for (const batch of batches) batch.isSynced = true;
    this.journal = [...batches];
    this.waiting = [];
    this.shown = this.durable();
  }

  /** What a power cut leaves at least. */
  durable(): KeyIndex<Value> {
    const durable = this.base.clone();
    for (const batch of this.journal) if (batch.isSynced) apply(durable, batch);
    return durable;
  }
}

function apply(index: KeyIndex<Value>, { operations }: Batch): void {
  for (const operation of operations) {
    const key = bytesOf(operation.key);
    if (operation.type === 'put') index.set(key, operation.value);
    else index.delete(key);
  }
}

function bytesOf(key: Value): string {
  if (typeof key !== 'string') return key.toString('latin1');
  return Buffer.byteLength(key) === key.length ? key : Buffer.from(key).toString('latin1');
}

/** A file: what a read shows, and what is synced. */
interface FakeFile {
  shown: Buffer;
  synced: Buffer;
  unsynced: { readonly at: number; readonly bytes: Buffer }[];
  /** As `Batch.order`. */
  order: number;
}

/** See the head of this file. It survives crashes; the process of the moment is attached to it. */
export class FakeDisk {
  readonly temper: DiskTemper = { syncMs: 1, longMs: 60, longProbability: 0.02 };
  /** No room: what is written fails. */
  isFull = false;
  /** Another process has the databases open. */
  isLocked = false;
  readonly #time: FakeTime;
  readonly #random: Random;
  #platters = new Map<string, Platter>();
  #files = new Map<string, FakeFile>();
  /** Names that a power cut leaves. */
  #names = new Map<string, FakeFile>();
  #mount: Mount | undefined;
  #isHanging = false;
  /** What waits for the disk to go on. */
  #held: (() => void)[] = [];
  #order = 0;
  /** A write has failed: nobody knows how much of it got there. */
  #hasFailed = false;

  constructor(time: FakeTime, random: Random) {
    this.#time = time;
    this.#random = random;
  }

  /**
   * The disk as a new process has it, until the next `crash`. `deliver` hands the process what is
   * complete.
   */
  attach(clock: StorageClock, deliver: (run: () => void) => void = (run) => run()): Disk {
    const mount = new Mount({
      clock,
      isLocked: () => this.isLocked,
      platters: this.#platters,
      files: this.#files,
      names: this.#names,
      sync: (isAlive, done) => this.#sync(isAlive, done),
      deliver,
      nextOrder: () => ++this.#order,
    });
    this.#mount = mount;
    return mount;
  }

  /** Ends the process, and with `withPower` the machine. */
  crash(withPower: boolean): void {
    this.#mount?.end();
    this.#mount = undefined;
    const power = withPower || this.#hasFailed;
    this.#hasFailed = false;
    for (const platter of this.#platters.values()) this.#crash(platter, power);
    if (!power) return;
    for (const file of new Set([...this.#names.values(), ...this.#files.values()]))
      this.#cutFile(file);
    if (this.#random.chance(0.5)) replace(this.#names, this.#files);
    else replace(this.#files, this.#names);
  }

  hang(): void {
    this.#isHanging = true;
  }

  /** It does not hang any more: everything that waited is done now. */
  unhang(): void {
    this.#isHanging = false;
    for (const run of this.#held.splice(0)) run();
  }

  /** What a power cut would leave now, at least. */
  image(): DiskImage {
    const databases = new Map<string, KeyIndex<Value>>();
    for (const [dir, platter] of this.#platters) databases.set(dir, platter.durable());
    const files = new Map<string, Buffer>();
    for (const [path, file] of this.#names) files.set(path, file.synced);
    return { databases, files };
  }

  /** Puts on the disk what it held before, the machine being off. */
  restore({ databases, files }: DiskImage): void {
    this.#platters.clear();
    for (const [dir, records] of databases) this.#platters.set(dir, new Platter(records.clone()));
    this.#files.clear();
    for (const [path, bytes] of files)
      this.#files.set(path, { shown: bytes, synced: bytes, unsynced: [], order: 0 });
    replace(this.#names, this.#files);
  }

  /** Removes the databases and files below a folder, the machine being off. */
  remove(dir: string): void {
    for (const map of [this.#platters, this.#files, this.#names])
      for (const path of [...map.keys()]) if (isIn(dir, path)) map.delete(path);
  }

  /**
   * Flips a bit of a value in a database that nobody has open, among those that `matches` takes.
   * Returns the key; undefined if there is none.
   */
  flip(dir: string, matches: (key: string) => boolean = () => true): string | undefined {
    const platter = this.#platters.get(dir);
    platter?.fold();
    const found = [...(platter?.base.keys() ?? [])].filter(matches);
    if (platter === undefined || found.length === 0) return undefined;
    const key = this.#random.pick(found);
    platter.base.set(key, flipped(platter.base.get(key)!, this.#random));
    platter.shown = platter.base.clone();
    return key;
  }

  /**
   * Loses one of the batches that LevelDB has in its own log, although later ones survive: the next
   * process finds that. `before` names a file: then one that came before its last sync. Returns
   * whether there was one.
   */
  dropBatch(dir: string, before?: string): boolean {
    const platter = this.#platters.get(dir);
    const until = before === undefined ? Infinity : (this.#names.get(before)?.order ?? 0);
    const found = (platter?.journal ?? []).filter(({ order }) => order < until);
    if (platter === undefined || found.length === 0) return false;
    const lost = this.#random.pick(found);
    platter.journal = platter.journal.filter((batch) => batch !== lost);
    platter.shown = platter.durable();
    return true;
  }

  #crash(platter: Platter, power: boolean): void {
    const { journal, waiting } = platter;
    const sure = power ? journal.filter((batch) => batch.isSynced) : journal;
    const open = power ? [...journal.filter((batch) => !batch.isSynced), ...waiting] : waiting;
    platter.keep([...sure, ...open.slice(0, this.#random.int(open.length + 1))]);
    platter.isOpen = false;
  }

  #cutFile(file: FakeFile): void {
    for (const { at, bytes } of file.unsynced) {
      if (this.#random.chance(0.5)) continue;
      const kept = this.#random.chance(0.5) ? bytes.length : this.#random.int(bytes.length + 1);
      file.synced = withBytes(file.synced, at, bytes.subarray(0, kept));
    }
    file.shown = file.synced;
    file.unsynced = [];
  }

  /** Calls `done` after the time of a sync, with an error if the disk is full. */
  #sync(isAlive: () => boolean, done: (error: Error | undefined) => void): void {
    const { syncMs, longMs, longProbability } = this.temper;
    this.#time.after(this.#random.delay(syncMs, longMs, longProbability), () =>
      this.#whenFree(() => {
        if (!isAlive()) return;
        if (this.isFull) this.#hasFailed = true;
        done(this.isFull ? new Error('ENOSPC: no space left on device') : undefined);
      }),
    );
  }

  #whenFree(run: () => void): void {
    if (this.#isHanging) this.#held.push(run);
    else run();
  }
}

interface MountParts {
  readonly clock: StorageClock;
  readonly isLocked: () => boolean;
  readonly platters: Map<string, Platter>;
  readonly files: Map<string, FakeFile>;
  readonly names: Map<string, FakeFile>;
  readonly sync: (isAlive: () => boolean, done: (error: Error | undefined) => void) => void;
  readonly deliver: (run: () => void) => void;
  readonly nextOrder: () => number;
}

/** The disk as one process has it. Once that has ended, nothing it asked for ever returns. */
class Mount implements Disk {
  readonly files: Files;
  readonly clock: StorageClock;
  readonly #parts: MountParts;
  #isAlive = true;

  constructor(parts: MountParts) {
    this.#parts = parts;
    this.clock = parts.clock;
    this.files = new MountedFiles(parts, this);
  }

  end(): void {
    this.#isAlive = false;
  }

  /** Counts what comes to the platter. */
  nextOrder(): number {
    return this.#parts.nextOrder();
  }

  /** Throws in a process that is dead. */
  alive(): void {
    if (!this.#isAlive) throw new Error('this process is dead');
  }

  /** Runs `run` in a process that lives. */
  async live<T>(run: () => T | Promise<T>): Promise<T> {
    return this.#isAlive ? run() : new Promise<T>(() => {});
  }

  /** Resolves after the time of a sync, once `onDisk` has put it on the platter. */
  synced(onDisk: () => void): Promise<void> {
    const { sync, deliver } = this.#parts;
    return new Promise((resolve, reject) =>
      sync(
        () => this.#isAlive,
        (error) => {
          if (error === undefined) onDisk();
          deliver(() => (error === undefined ? resolve() : reject(error)));
        },
      ),
    );
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
    this.#mount.alive();
    const shown = snapshot === undefined ? this.#platter.shown : this.#snapshots.get(snapshot)!;
    // A database holds values of its own type alone.
    return shown.get(bytesOf(key)) as T | undefined;
  }

  write(operations: readonly Operation<T>[], { sync }: { sync: boolean }): Promise<void> {
    return this.#mount.live(() => {
      const batch: Batch = { operations: [...operations], isSynced: false, order: 0 };
      this.#platter.waiting.push(batch);
      const written = this.#last.then(async () => {
        const toPlatter = (): void => {
          batch.isSynced = sync;
          batch.order = this.#mount.nextOrder();
          this.#platter.written(batch);
        };
        if (sync) await this.#mount.synced(toPlatter);
        else toPlatter();
      });
      this.#last = written.catch(() => {});
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

  async *keyBytes(range: Range<T>): AsyncGenerator<Buffer[]> {
    for await (const some of this.#slices(range))
      yield some.map(([key]) => Buffer.from(key, 'latin1'));
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

  /** Flushes what was written before into files, which are synced. */
  compact(): Promise<void> {
    return this.#mount.live(() => {
      const { journal, waiting } = this.#platter;
      if (waiting.length === 0 && journal.every((batch) => batch.isSynced)) this.#platter.fold();
    });
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

class MountedFiles implements Files {
  readonly #parts: MountParts;
  readonly #mount: Mount;

  constructor(parts: MountParts, mount: Mount) {
    this.#parts = parts;
    this.#mount = mount;
  }

  claim(): Promise<void> {
    return this.#mount.live(() => {});
  }

  open(path: string, { empty } = { empty: false }): Promise<OpenFile> {
    const { files } = this.#parts;
    return this.#mount.live(() => {
      const present = empty ? undefined : files.get(path);
      const none = Buffer.alloc(0);
      const file = present ?? { shown: none, synced: none, unsynced: [], order: 0 };
      files.set(path, file);
      return this.#openFile(path, file);
    });
  }

  read(path: string): Promise<Buffer | undefined> {
    return this.#mount.live(() => this.#parts.files.get(path)?.shown);
  }

  rename(from: string, to: string): Promise<void> {
    return this.#mount.live(() => {
      const { files } = this.#parts;
      const file = files.get(from);
      if (file === undefined) throw new Error(`ENOENT: no such file, rename '${from}'`);
      files.set(to, file);
      files.delete(from);
    });
  }

  async syncFolder(dir: string): Promise<void> {
    const { files, names } = this.#parts;
    const toPlatter = (): void => {
      for (const path of [...names.keys()])
        if (isIn(dir, path) && !files.has(path)) names.delete(path);
      for (const [path, file] of files) if (isIn(dir, path)) names.set(path, file);
    };
    await this.#mount.live(() => this.#mount.synced(toPlatter));
  }

  #openFile(path: string, file: FakeFile): OpenFile {
    const { files, names } = this.#parts;
    return {
      read: (at, length) => this.#mount.live(() => file.shown.subarray(at, at + length)),
      write: (bytes, at) =>
        this.#mount.live(() => {
          file.shown = withBytes(file.shown, at, bytes);
          file.unsynced.push({ at, bytes });
        }),
      sync: async () => {
        const toPlatter = (): void => {
          file.synced = file.shown;
          file.unsynced = [];
          file.order = this.#mount.nextOrder();
          // File systems keep a new name with the sync of its file.
          if (!names.has(path) && files.get(path) === file) names.set(path, file);
        };
        await this.#mount.live(() => this.#mount.synced(toPlatter));
      },
      close: () => this.#mount.live(() => {}),
    };
  }
}

const isIn = (dir: string, path: string): boolean => path === dir || path.startsWith(`${dir}/`);

function replace<V>(map: Map<string, V>, by: ReadonlyMap<string, V>): void {
  const entries = [...by];
  map.clear();
  for (const [key, value] of entries) map.set(key, value);
}

function withBytes(content: Buffer, at: number, bytes: Buffer): Buffer {
  const changed = Buffer.alloc(Math.max(content.length, at + bytes.length));
  content.copy(changed);
  bytes.copy(changed, at);
  return changed;
}

function flipped(value: Value, random: Random): Value {
  const bytes = Buffer.from(value);
  const bit = random.int(bytes.length * (typeof value === 'string' ? 7 : 8));
  const width = typeof value === 'string' ? 7 : 8;
  bytes[Math.floor(bit / width)]! ^= 1 << (bit % width);
  return typeof value === 'string' ? bytes.toString() : bytes;
}
