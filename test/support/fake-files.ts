/**
 * The files of a disk in memory. Of each there is what a process reads and what is durable:
 *
 *     a write under way      A power cut keeps each of its sectors, loses it, or tears it. A
 *                            killed process leaves a beginning of it.
 *     a write that returned  durable
 *     names                  Until the folder is synced, a power cut undoes any of their changes;
 *                            of one file it undoes the last ones.
 *
 * So after `rename a b` and `rename b c`, the file is called a, b or c.
 */
import type { Random } from '../../cluster/checker/random.js';

/** A part of a file that was written. */
interface Piece {
  readonly at: number;
  readonly bytes: Buffer;
  /** What a process read there before. */
  readonly before: Buffer;
  readonly begun: number;
  /** Whether the caller asked to write more. */
  readonly isShort: boolean;
  /** Set once its process has ended. */
  readonly isCached?: boolean;
}

/** A file, under whatever name. */
export interface FakeFile {
  shown: Buffer;
  durable: Buffer;
  /** Written, but not durable for sure; oldest first. */
  unsynced: Piece[];
}

/** A write that is on the disk. */
export interface Written {
  readonly file: FakeFile;
  readonly path: string;
  readonly at: number;
  readonly length: number;
  readonly before: Buffer;
  /** When it began and when it was durable, counted over all writes. */
  readonly begun: number;
  readonly ended: number;
  /** Whether it is only the beginning of what was to be written. */
  readonly isShort: boolean;
}

/** A new name of a file: without `from` it is created, without `to` removed. */
interface Renaming {
  readonly file: FakeFile;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/**
 * What a power cut does not tear usually: the sectors of disks, and a smaller one, since the writes
 * of tests are small.
 */
const SECTOR_BYTES = [64, 512, 4096];
/** Writes that are remembered, so that one of them can get lost. */
const WRITTEN_MAX = 100;

/** See the head of this file. */
export class FakeFiles {
  /** By their paths, as a process sees them, and as a power cut leaves them at least. */
  readonly #names = new Map<string, FakeFile>();
  readonly #durableNames = new Map<string, FakeFile>();
  #renamings: Renaming[] = [];
  #written: Omit<Written, 'path'>[] = [];
  #order = 0;
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** The paths of the files below a folder. */
  paths(dir: string): string[] {
    return [...this.#names.keys()].filter((path) => isIn(dir, path));
  }

  /** Whether there is a file of this name. */
  has(path: string): boolean {
    return this.#names.has(path);
  }

  /** Returns a file, and creates it if it is missing. */
  open(path: string): FakeFile {
    const present = this.#names.get(path);
    if (present !== undefined) return present;
    const file = { shown: Buffer.alloc(0), durable: Buffer.alloc(0), unsynced: [] };
    this.#rename({ file, to: path });
    return file;
  }

  rename(from: string, to: string): void {
    this.#rename({ file: this.#present(from), from, to });
  }

  remove(path: string): void {
    this.#rename({ file: this.#present(path), from: path });
  }

  /** Makes the names in a folder durable. */
  syncNames(dir: string): void {
    const isHere = ({ from, to }: Renaming): boolean => isIn(dir, (from ?? to)!);
    for (const each of this.#renamings.filter(isHere)) apply(this.#durableNames, each);
    this.#renamings = this.#renamings.filter((each) => !isHere(each));
  }

  /** Begins a write, of all bytes or only of the first ones. Returns what ends it. */
  write(file: FakeFile, at: number, bytes: Buffer, isShort = false): () => void {
    const before = partOf(file.shown, at, bytes.length);
    const piece = { at, bytes: Buffer.from(bytes), before, begun: ++this.#order, isShort };
    file.shown = withBytes(file.shown, at, piece.bytes);
    file.unsynced.push(piece);
    return () => this.#finish(file, piece);
  }

  /** Makes all of a file durable that a process reads. */
  sync(file: FakeFile): void {
    file.durable = Buffer.from(file.shown);
    file.unsynced = [];
  }

  /** The process has ended, and with `power` the machine. */
  crash(power: boolean): void {
    const files = new Set([...this.#names.values(), ...this.#durableNames.values()]);
    const sectorBytes = this.#random.pick(SECTOR_BYTES);
    for (const file of files) if (file.unsynced.length > 0) this.#cut(file, power, sectorBytes);
    if (power) this.#cutNames();
  }

  /** The writes to files below a folder that nothing has overwritten, oldest first. */
  writtenIn(dir: string): Written[] {
    const paths = new Map([...this.#names].map(([path, file]) => [file, path]));
    return this.#written.flatMap((each) => {
      const path = paths.get(each.file);
      return path !== undefined && isIn(dir, path) ? [{ ...each, path }] : [];
    });
  }

  /** Loses a write, although later ones are there. */
  lose({ file, at, before }: Written): void {
    this.#put(file, at, before);
  }

  /** Flips a bit of what a write has written. */
  flip({ file, at, length }: Written): void {
    const offset = at + this.#random.int(length);
    const byte = partOf(file.shown, offset, 1);
    byte[0]! ^= 1 << this.#random.int(8);
    this.#put(file, offset, byte);
  }

  /**
   * The content of each file, or of each below a folder, by its path; `durable`: after a power cut,
   * at least.
   */
  content(dir?: string, durable = false): Map<string, Buffer> {
    const content = new Map<string, Buffer>();
    for (const [path, file] of durable ? this.#durableNames : this.#names) {
      if (dir === undefined || isIn(dir, path))
        content.set(path, Buffer.from(durable ? file.durable : file.shown));
    }
    return content;
  }

  /** Puts these files in the place of all, durably. */
  restore(content: ReadonlyMap<string, Buffer>): void {
    this.#renamings = [];
    this.#written = [];
    for (const names of [this.#names, this.#durableNames]) names.clear();
    for (const [path, bytes] of content) {
      const file = { shown: Buffer.from(bytes), durable: Buffer.from(bytes), unsynced: [] };
      for (const names of [this.#names, this.#durableNames]) names.set(path, file);
    }
  }

  /** Removes the files below a folder, durably. */
  wipe(dir: string): void {
    this.#renamings = this.#renamings.filter(({ from, to }) => !isIn(dir, (from ?? to)!));
    for (const names of [this.#names, this.#durableNames])
      for (const path of [...names.keys()]) if (isIn(dir, path)) names.delete(path);
  }

  #present(path: string): FakeFile {
    const file = this.#names.get(path);
    if (file === undefined) throw new Error(`ENOENT: no such file '${path}'`);
    return file;
  }

  #rename(renaming: Renaming): void {
    apply(this.#names, renaming);
    this.#renamings.push(renaming);
  }

  #finish(file: FakeFile, piece: Piece): void {
    const { at, bytes, begun, isShort } = piece;
    const { length } = bytes;
    const before = partOf(file.durable, at, length);
    // What an ended process left in the cache is synced with the bytes that replace it.
    file.unsynced = file.unsynced.flatMap((each) => {
      if (each === piece) return [];
      return each.isCached === true && each.begun < begun ? outside(each, at, at + length) : [each];
    });
    file.durable = withBytes(file.durable, at, bytes);
    const isElsewhere = (each: Omit<Written, 'path'>): boolean =>
      each.file !== file || each.at >= at + length || each.at + each.length <= at;
    this.#written = this.#written.filter(isElsewhere).slice(-WRITTEN_MAX);
    // Nobody would miss what is only preallocated.
    const isZero = bytes.equals(Buffer.alloc(length));
    const ended = ++this.#order;
    if (!isZero) this.#written.push({ file, at, length, before, begun, ended, isShort });
  }

  #put(file: FakeFile, at: number, bytes: Buffer): void {
    file.shown = withBytes(file.shown, at, bytes);
    file.durable = withBytes(file.durable, at, bytes);
  }

  #cut(file: FakeFile, power: boolean, sectorBytes: number): void {
    if (power) {
      for (const { at, bytes } of file.unsynced.splice(0)) {
        for (let from = at; from < at + bytes.length; ) {
          const to = Math.min(from - (from % sectorBytes) + sectorBytes, at + bytes.length);
          const kept = this.#keptOf(to - from);
          const part = bytes.subarray(from - at, from - at + kept);
          if (kept > 0) file.durable = withBytes(file.durable, from, part);
          from = to;
        }
      }
      file.shown = Buffer.from(file.durable);
      return;
    }
    for (const piece of file.unsynced.splice(0).reverse()) {
      const { at, bytes, before } = piece;
      // It is in the cache of the machine: only a power cut can lose it.
      if (piece.isCached === true) {
        file.unsynced.unshift(piece);
        continue;
      }
      const kept = this.#keptOf(bytes.length);
      file.shown = withBytes(file.shown, at + kept, before.subarray(kept));
      if (kept > 0) {
        file.unsynced.unshift({ ...piece, bytes: bytes.subarray(0, kept), isCached: true });
      }
    }
  }

  /** How many of these bytes a crash keeps: usually all or none. */
  #keptOf(length: number): number {
    if (this.#random.chance(0.2)) return this.#random.int(length + 1);
    return this.#random.chance(0.5) ? length : 0;
  }

  #cutNames(): void {
    // Most file systems keep a beginning of all changes; none is bound to.
    const isJournal = this.#random.chance(0.5);
    const undone = new Set<FakeFile>();
    let hasEnded = false;
    for (const each of this.#renamings.splice(0)) {
      const isKept: boolean = !undone.has(each.file) && !hasEnded && this.#random.chance(0.5);
      if (isKept) apply(this.#durableNames, each);
      else undone.add(each.file);
      hasEnded ||= isJournal && !isKept;
    }
    this.#names.clear();
    for (const [path, file] of this.#durableNames) this.#names.set(path, file);
  }
}

function apply(names: Map<string, FakeFile>, { file, from, to }: Renaming): void {
  if (from !== undefined && names.get(from) === file) names.delete(from);
  if (to !== undefined) names.set(to, file);
}

/** Whether a path is a folder, or lies in it. */
export const isIn = (dir: string, path: string): boolean =>
  path === dir || path.startsWith(`${dir}/`);

/** What of a write lies before an offset, and what from another one on. */
function outside(piece: Piece, from: number, to: number): Piece[] {
  const { at, bytes, before } = piece;
  const part = (first: number, last: number): Piece[] => {
    if (first >= last) return [];
    const cut = (whole: Buffer): Buffer => whole.subarray(first - at, last - at);
    return [{ ...piece, at: first, bytes: cut(bytes), before: cut(before) }];
  };
  const end = at + bytes.length;
  return [...part(at, Math.min(end, from)), ...part(Math.max(at, to), end)];
}

/** A copy of some bytes of a file; zeros behind its end. */
function partOf(content: Buffer, at: number, length: number): Buffer {
  const part = Buffer.alloc(length);
  part.set(content.subarray(at, at + length));
  return part;
}

/** Writes bytes into a content, which grows if they go beyond its end. */
function withBytes(content: Buffer, at: number, bytes: Buffer): Buffer {
  let grown = content;
  if (at + bytes.length > content.length) {
    grown = Buffer.alloc(at + bytes.length);
    content.copy(grown);
  }
  bytes.copy(grown, at);
  return grown;
}
