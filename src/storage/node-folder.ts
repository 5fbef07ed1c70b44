/** The file port of `disk.ts` over the file system. */
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsync,
  mkdir,
  open,
  readdirSync,
  readSync,
  rename,
  unlink,
  write,
} from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { DiskFile, DiskFolder, Done } from './disk.js';

/** `O_DSYNC`: a write returns once it is durable. Node has it wherever the system does. */
const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_DSYNC;

/** A file that is open for synchronous writes. */
export class NodeFile implements DiskFile {
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

/** A folder of the file system. */
export class NodeFolder implements DiskFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  create(done: Done): void {
    mkdir(this.path, { recursive: true, mode: 0o700 }, (error) => done(error));
  }

  names(): string[] {
    try {
      return readdirSync(this.path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }

  open(name: string, done: (error: Error | null, file?: DiskFile) => void): void {
    const path = join(this.path, name);
    open(path, FLAGS, 0o600, (error, fd) => {
      if (error === null) done(null, new NodeFile(fd, path));
      else done(error);
    });
  }

  rename(from: string, to: string, done: Done): void {
    rename(join(this.path, from), join(this.path, to), done);
  }

  remove(name: string, done: Done): void {
    unlink(join(this.path, name), done);
  }

  sync(done: Done): void {
    open(this.path, constants.O_RDONLY, (error, fd) => {
      if (error !== null) done(error);
      else {
        fsync(fd, (failed) => {
          closeSync(fd);
          done(failed);
        });
      }
    });
  }
}

/** Returns the bytes that are free on the file system of a folder. */
export async function freeBytesOf(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return bavail * bsize;
}
