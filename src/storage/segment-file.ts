/**
 * What the log needs of a file system, and how Node gives it. A write is durable when it is done;
 * a crash before that may keep any part of it. Fakes of these two interfaces keep the bytes of each
 * file twice, as written and as durable, and fail, shorten or delay writes.
 */
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsync,
  open,
  readdirSync,
  readSync,
  rename,
  unlink,
  write,
} from 'node:fs';
import { join } from 'node:path';

/** Gets null, or why it failed. */
export type Done = (error: Error | null) => void;

/** An open file of a log. Nothing calls back before the call has returned. */
export interface SegmentFile {
  /** Its path, for messages. */
  readonly path: string;
  /** Bytes of the file. */
  size(): number;
  /**
   * Returns `length` bytes from `at` on, fewer at the end of the file. Throws if the disk fails.
   */
  read(at: number, length: number): Buffer;
  /**
   * Writes bytes from `at` on, and makes them durable. `done` gets how many were written, which may
   * be fewer.
   */
  write(bytes: Buffer, at: number, done: (error: Error | null, written: number) => void): void;
  /** Makes durable what an earlier process may have written without seeing the end of it. */
  sync(done: Done): void;
  close(): void;
}

/** The folder of a log. */
export interface SegmentFolder {
  /** Names of the files. */
  names(): string[];
  /** Opens a file, and creates it if it is missing. Its name is durable after `sync`. */
  open(name: string, done: (error: Error | null, file?: SegmentFile) => void): void;
  rename(from: string, to: string, done: Done): void;
  remove(name: string, done: Done): void;
  /** Makes the names of the files durable. */
  sync(done: Done): void;
  /** Gives up the lock on the folder. */
  close(): Promise<void>;
}

/** Writes all of the bytes, however many writes it takes. */
export function writeAll(file: SegmentFile, bytes: Buffer, at: number, done: Done): void {
  file.write(bytes, at, (error, written) => {
    if (error !== null) done(error);
    else if (written === bytes.length) done(null);
    else if (written === 0) done(new Error(`a write to ${file.path} wrote nothing`));
    else writeAll(file, bytes.subarray(written), at + written, done);
  });
}

/** A file that is open for synchronous writes (`O_DSYNC`). */
export class DiskFile implements SegmentFile {
  readonly path: string;
  readonly #fd: number;

  constructor(fd: number, path: string) {
    this.#fd = fd;
    this.path = path;
  }

  size(): number {
    return fstatSync(this.#fd).size;
  }

  read(at: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const count = readSync(this.#fd, bytes, filled, length - filled, at + filled);
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  }

  write(bytes: Buffer, at: number, done: (error: Error | null, written: number) => void): void {
    write(this.#fd, bytes, 0, bytes.length, at, (error, written) => done(error, written));
  }

  sync(done: Done): void {
    fdatasync(this.#fd, done);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** A folder of the file system. `unlock` is called when it is closed. */
export class DiskFolder implements SegmentFolder {
  readonly #dir: string;
  readonly #unlock: () => Promise<void>;

  constructor(dir: string, unlock: () => Promise<void>) {
    this.#dir = dir;
    this.#unlock = unlock;
  }

  names(): string[] {
    return readdirSync(this.#dir);
  }

  open(name: string, done: (error: Error | null, file?: SegmentFile) => void): void {
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_DSYNC;
    const path = join(this.#dir, name);
    open(path, flags, 0o600, (error, fd) => {
      if (error === null) done(null, new DiskFile(fd, path));
      else done(error);
    });
  }

  rename(from: string, to: string, done: Done): void {
    rename(join(this.#dir, from), join(this.#dir, to), done);
  }

  remove(name: string, done: Done): void {
    unlink(join(this.#dir, name), done);
  }

  sync(done: Done): void {
    open(this.#dir, constants.O_RDONLY, (error, fd) => {
      if (error !== null) done(error);
      else {
        fsync(fd, (failed) => {
          closeSync(fd);
          done(failed);
        });
      }
    });
  }

  close(): Promise<void> {
    return this.#unlock();
  }
}

/** Calls a function of the interfaces above, and resolves or rejects with what it gives. */
export function settled<T = void>(
  call: (done: (error: Error | null, value?: T) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    // `value` is there whenever T is not void.
    call((error, value) => (error === null ? resolve(value as T) : reject(error)));
  });
}
