/** A folder of a disk in memory, as one process has it. See `fake-files.ts`. */
import type { DiskFile, DiskFolder, Done } from '../../src/storage/disk.js';
import type { FakeFile, FakeFiles } from './fake-files.js';

/** What a test or a world makes of a write: an error, fewer bytes, or no end before a promise. */
export type WriteFault =
  | { readonly error: Error }
  | { readonly shortTo: number }
  | { readonly held: Promise<void> }
  | undefined;

/** What a process does for its folders. */
export interface FolderParts {
  readonly files: FakeFiles;
  /** Whether it has ended: then nothing that it asks for happens, and nothing calls back. */
  readonly hasEnded: () => boolean;
  /** Before a read: throws in a process that has ended, and a hanging disk stops the process. */
  readonly reading: () => void;
  /** Calls back in a later turn, unless the process has ended by then. */
  readonly soon: (run: () => void) => void;
  /** As `soon`, after a change of names, unless that fails. */
  readonly change: (onDisk: () => void, done: Done) => void;
  /** Calls `onDisk` after the time of a sync, unless it fails, and `done` in the process. */
  readonly sync: (onDisk: () => void, done: Done) => void;
  readonly fault: (path: string, bytes: Buffer) => WriteFault;
}

/** See the head of this file. */
export class FakeFolder implements DiskFolder {
  readonly path: string;
  readonly #parts: FolderParts;

  constructor(path: string, parts: FolderParts) {
    this.path = path;
    this.#parts = parts;
  }

  create(done: Done): void {
    this.#parts.soon(() => done(null));
  }

  names(): string[] {
    this.#parts.reading();
    const names = this.#parts.files
      .paths(this.path)
      .map((path) => path.slice(this.path.length + 1));
    return names.filter((name) => !name.includes('/'));
  }

  open(name: string, done: (error: Error | null, file?: DiskFile) => void): void {
    if (this.#parts.hasEnded()) return;
    const { files, soon, change } = this.#parts;
    const path = `${this.path}/${name}`;
    const opened = (): OpenFile => new OpenFile(path, files.open(path), this.#parts);
    if (files.has(path)) soon(() => done(null, opened()));
    else
      change(
        () => files.open(path),
        (error) => (error === null ? done(null, opened()) : done(error)),
      );
  }

  rename(from: string, to: string, done: Done): void {
    if (this.#parts.hasEnded()) return;
    const { files, change } = this.#parts;
    change(() => files.rename(`${this.path}/${from}`, `${this.path}/${to}`), done);
  }

  remove(name: string, done: Done): void {
    if (this.#parts.hasEnded()) return;
    this.#parts.files.remove(`${this.path}/${name}`);
    this.#parts.soon(() => done(null));
  }

  sync(done: Done): void {
    this.#parts.sync(() => this.#parts.files.syncNames(this.path), done);
  }
}

class OpenFile implements DiskFile {
  readonly path: string;
  readonly #file: FakeFile;
  readonly #parts: FolderParts;

  constructor(path: string, file: FakeFile, parts: FolderParts) {
    this.path = path;
    this.#file = file;
    this.#parts = parts;
  }

  size(): number {
    this.#parts.reading();
    return this.#file.shown.length;
  }

  read(at: number, length: number): Buffer {
    this.#parts.reading();
    return Buffer.from(this.#file.shown.subarray(at, at + length));
  }

  write(bytes: Buffer, at: number, done: (error: Error | null, written: number) => void): void {
    const { files, sync, fault: faultOf, soon, hasEnded } = this.#parts;
    if (hasEnded()) return;
    const fault = faultOf(this.path, bytes);
    if (fault !== undefined && 'error' in fault) {
      soon(() => done(fault.error, 0));
      return;
    }
    const isShort = fault !== undefined && 'shortTo' in fault;
    const part = isShort ? bytes.subarray(0, fault.shortTo) : bytes;
    const finish = files.write(this.#file, at, part, isShort);
    const go = (): void => sync(finish, (error) => done(error, error === null ? part.length : 0));
    if (fault !== undefined && 'held' in fault) void fault.held.then(go);
    else go();
  }

  sync(done: Done): void {
    this.#parts.sync(() => this.#parts.files.sync(this.#file), done);
  }

  close(): void {}
}
