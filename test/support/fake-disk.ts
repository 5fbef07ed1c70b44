/**
 * The disk of a machine, in memory, for log, state and identity of a node (`storage/disk.ts`).
 * It keeps what is synced and what is not apart: a killed process leaves all that it handed over, a
 * power cut a part of what was not synced. Faults spoil it while the machine is off: a batch or a
 * write is dropped, a bit flips, or the disk goes back to what it held before. A full disk fails
 * writes and new names, and a hanging one does not return from a sync, nor, if reads hang too, from
 * a read: then the process stands still. `fake-files.ts` has the files, and
 * `fake-platter.ts` the databases.
 *
 * Time is given from outside, and so is chance: one seed gives one disk.
 */
import type { Random } from '../../cluster/checker/random.js';
import type { Disk, StorageClock } from '../../src/storage/disk.js';
import type { KeyIndex } from '../../src/storage/key-index.js';
import { FakeFiles, isIn } from './fake-files.js';
import type { WriteFault } from './fake-folder.js';
import { Mount, noSpace } from './fake-mount.js';
import { flipped, Platter, type Value } from './fake-platter.js';

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

/** How a process stands still while it waits for a read. */
export interface Standstill {
  begin(): void;
  end(): void;
}

/** What the disk held at some moment. */
export interface DiskImage {
  readonly databases: ReadonlyMap<string, KeyIndex<Value>>;
  readonly files: ReadonlyMap<string, Buffer>;
}

/** See the head of this file. It survives crashes; the process of the moment is attached to it. */
export class FakeDisk {
  readonly temper: DiskTemper = { syncMs: 1, longMs: 60, longProbability: 0.02 };
  /** How often a write to a file writes less than it was given, and says so. */
  shortProbability = 0;
  /** No room: what is written fails. */
  isFull = false;
  /** Another process has the databases open. */
  isLocked = false;
  readonly #time: FakeTime;
  readonly #random: Random;
  readonly files: FakeFiles;
  /** Decides about each write to a file, for tests. */
  fault: (path: string, bytes: Buffer) => WriteFault = (_path, bytes) => this.#shortened(bytes);
  #platters = new Map<string, Platter>();
  #mount: Mount | undefined;
  #isHanging = false;
  #readsHang = false;
  /** Of the process of the moment. */
  #standstill: Standstill | undefined;
  /** What waits for the disk to go on. */
  #held: (() => void)[] = [];
  /** A write has failed: nobody knows how much of it got there. */
  #hasFailed = false;

  constructor(time: FakeTime, random: Random) {
    this.#time = time;
    this.#random = random;
    this.files = new FakeFiles(random);
  }

  /**
   * The disk as a new process has it, until the next `crash`. `deliver` hands the process what is
   * complete, and `standstill` stops it.
   */
  attach(
    clock: StorageClock,
    deliver: (run: () => void) => void = (run) => run(),
    standstill?: Standstill,
  ): Disk {
    this.#standstill = standstill;
    const mount = new Mount({
      clock,
      isLocked: () => this.isLocked,
      isFull: () => this.isFull,
      platters: this.#platters,
      files: this.files,
      fault: (path, bytes) => this.fault(path, bytes),
      sync: (isAlive, done) => this.#sync(isAlive, done),
      change: (run, done) => this.#change(run, done),
      reading: () => {
        if (this.#isHanging && this.#readsHang) this.#standstill?.begin();
      },
      later: (run) => this.#time.after(0, run),
      deliver,
    });
    this.#mount = mount;
    return mount;
  }

  /** Ends the process, and with `withPower` the machine. */
  crash(withPower: boolean): void {
    this.#mount?.end();
    this.#mount = undefined;
    this.#standstill = undefined;
    const power = withPower || this.#hasFailed;
    this.#hasFailed = false;
    for (const platter of this.#platters.values()) this.#crash(platter, power);
    this.files.crash(power);
  }

  /** Nothing returns from a sync, nor from a read if these hang too. */
  hang(withReads = false): void {
    this.#isHanging = true;
    this.#readsHang = withReads;
  }

  /** It does not hang any more: everything that waited is done now. */
  unhang(): void {
    this.#isHanging = false;
    this.#standstill?.end();
    for (const run of this.#held.splice(0)) run();
  }

  /** What a power cut would leave now, at least. */
  image(): DiskImage {
    const databases = new Map<string, KeyIndex<Value>>();
    for (const [dir, platter] of this.#platters) databases.set(dir, platter.durable());
    return { databases, files: this.files.content(undefined, true) };
  }

  /**
   * All bytes that a process finds on the disk, or that are on their way, as text. A power cut may
   * bring back the name of a file that was removed: then the next start has to look.
   */
  *bytes(): Iterable<string> {
    for (const content of this.files.content().values()) yield content.toString('latin1');
    for (const platter of this.#platters.values()) yield* platter.values();
  }

  /** Puts on the disk what it held before, the machine being off. */
  restore({ databases, files }: DiskImage): void {
    this.#platters.clear();
    for (const [dir, records] of databases) this.#platters.set(dir, new Platter(records.clone()));
    this.files.restore(files);
  }

  /** Removes the databases and files below a folder, the machine being off. */
  remove(dir: string): void {
    this.files.wipe(dir);
    for (const path of [...this.#platters.keys()]) if (isIn(dir, path)) this.#platters.delete(path);
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
   * process finds that. Returns whether there was one.
   */
  dropBatch(dir: string): boolean {
    const platter = this.#platters.get(dir);
    if (platter === undefined || platter.journal.length === 0) return false;
    const lost = this.#random.pick(platter.journal);
    platter.journal = platter.journal.filter((batch) => batch !== lost);
    platter.shown = platter.durable();
    return true;
  }

  #crash(platter: Platter, power: boolean): void {
    const journal = platter.journal.filter(({ isLost }) => isLost !== true);
    const waiting = platter.hasFailed ? [] : platter.waiting;
    platter.hasFailed = false;
    const sure = power ? journal.filter((batch) => batch.isSynced) : journal;
    const open = power ? [...journal.filter((batch) => !batch.isSynced), ...waiting] : waiting;
    platter.keep([...sure, ...open.slice(0, this.#random.int(open.length + 1))]);
    platter.isOpen = false;
  }

  /** Calls `done` after the time of a sync, with an error if the disk is full. */
  #sync(isAlive: () => boolean, done: (error: Error | undefined) => void): void {
    const { syncMs, longMs, longProbability } = this.temper;
    this.#time.after(this.#random.delay(syncMs, longMs, longProbability), () =>
      this.#whenFree(() => {
        if (!isAlive()) return;
        if (this.isFull) this.#hasFailed = true;
        done(this.isFull ? noSpace() : undefined);
      }),
    );
  }

  /** A full disk may have no room for another name. */
  #change(run: () => void, done: (error: Error | undefined) => void): void {
    this.#time.after(0, () =>
      this.#whenFree(() => {
        const fails = this.isFull && this.#random.chance(0.5);
        if (!fails) run();
        done(fails ? noSpace() : undefined);
      }),
    );
  }

  #shortened({ length }: Buffer): WriteFault {
    if (length < 2 || !this.#random.chance(this.shortProbability)) return undefined;
    return { shortTo: 1 + this.#random.int(length - 1) };
  }

  #whenFree(run: () => void): void {
    if (this.#isHanging) this.#held.push(run);
    else run();
  }
}
