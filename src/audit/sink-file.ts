/**
 * The file of a sink: it is appended to, and rotated by size and age. A line that a crash tore is
 * cut off at the next start, and a failed write is taken back, so that the file ends with a whole
 * line.
 */
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type ChainEnd, EMPTY_CHAIN, readLine } from './chain.js';
import { type FileLock, lockFile } from './file-lock.js';
import type { SinkSettings } from './settings.js';

/** Bytes that are read at a time to find the last line. */
const STEP_BYTES = 64 * 1024;
const LINE_FEED = 10;

/** The files that a sink uses, for tests of failures. */
export interface Files {
  open(path: string, flags: string, mode: number): Promise<FileHandle>;
}

/** The present file of a sink and those that were rotated. */
export class SinkFile {
  readonly #settings: SinkSettings;
  readonly #files: Files;
  readonly #nowMs: () => number;
  #lock: FileLock | undefined;
  #handle: FileHandle | undefined;
  /** Bytes of whole lines in the present file. */
  #bytes = 0;
  /** The number of its first record, and when that was made. */
  #first: { readonly seq: number; readonly ms: number } | undefined;
  #end: ChainEnd = EMPTY_CHAIN;
  #rotated: string[] = [];
  /** Bytes of a torn line that were cut off when it was opened. */
  lostBytes = 0;

  constructor(settings: SinkSettings, nowMs: () => number, files: Files = { open }) {
    this.#settings = settings;
    this.#nowMs = nowMs;
    this.#files = files;
  }

  get end(): ChainEnd {
    return this.#end;
  }

  /** The present file and the rotated ones. */
  get count(): number {
    return this.#rotated.length + 1;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Opens the file. Throws Error if it cannot be written, does not end with a record, or is another
   * process's.
   */
  async open(): Promise<void> {
    const { path } = this.#settings;
    this.#lock = await lockFile(path);
    try {
      await this.#openLocked(path);
    } catch (error) {
      await this.#lock.release();
      throw error;
    }
  }

  async #openLocked(path: string): Promise<void> {
    this.#rotated = await this.#rotatedFiles();
    await this.#openPresent();
    if (this.#end.seq > 0 || this.#rotated.length === 0) return;
    // Stopped between the rotation and the first record of the new file.
    const newest = await open(join(dirname(path), this.#rotated.at(-1)!), 'r');
    try {
      this.#end = (await lastLineOf(newest, path)).end;
    } finally {
      await newest.close();
    }
  }

  async #openPresent(): Promise<void> {
    const { path } = this.#settings;
    const handle = await this.#openFile();
    try {
      const { end, bytes, size } = await lastLineOf(handle, path);
      if (size > bytes) await handle.truncate(bytes);
      this.lostBytes = size - bytes;
      this.#bytes = bytes;
      this.#end = end;
      this.#first = bytes === 0 ? undefined : await firstOf(handle);
      this.#handle = handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /**
   * Appends whole lines; `end` is that of the last one. With `sync` they are on the disk when it
   * resolves. Rejects, and leaves nothing of them, if they cannot be written.
   */
  async append(lines: Buffer, end: ChainEnd, sync: boolean): Promise<void> {
    await this.#rotateBefore(lines.length);
    if (this.#handle === undefined) await this.#reopen();
    const handle = this.#handle!;
    try {
      await handle.writeFile(lines);
      if (sync) await handle.datasync();
    } catch (error) {
      await this.#takeBack();
      throw error;
    }
    this.#first ??= { seq: this.#end.seq + 1, ms: this.#nowMs() };
    this.#bytes += lines.length;
    this.#end = end;
  }

  /** After a failed write: what was written of it goes, now or when the file is opened again. */
  async #takeBack(): Promise<void> {
    const handle = this.#handle;
    try {
      await handle!.truncate(this.#bytes);
    } catch {
      this.#handle = undefined;
      await handle!.close().catch(() => {});
    }
  }

  /** Opens the file. A new one gets its mode, of which the umask of a node takes bits. */
  async #openFile(): Promise<FileHandle> {
    const { path, mode } = this.#settings;
    let handle: FileHandle;
    try {
      handle = await this.#files.open(path, 'ax+', mode);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      return this.#files.open(path, 'a+', mode);
    }
    // A file system may have no modes, or other ones.
    await handle.chmod(mode).catch(() => {});
    return handle;
  }

  async #reopen(): Promise<void> {
    const handle = await this.#openFile();
    try {
      // Shorter if somebody took the file away: to lengthen it would fill it with zeros.
      this.#bytes = Math.min(this.#bytes, (await handle.stat()).size);
      if (this.#bytes === 0) this.#first = undefined;
      await handle.truncate(this.#bytes);
      this.#handle = handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async #rotateBefore(more: number): Promise<void> {
    const { path, rotateBytes, rotateMs, rotateMaxFiles } = this.#settings;
    const first = this.#first;
    if (first === undefined) return;
    const isDue = this.#bytes + more > rotateBytes || this.#nowMs() - first.ms >= rotateMs;
    if (!isDue) return;
    if (this.#handle === undefined) await this.#reopen();
    await this.#handle!.datasync();
    const name = `${stemOf(path)}-${stampOf(this.#nowMs())}-${first.seq}.json`;
    const isMoved = await moved(path, join(dirname(path), name));
    const old = this.#handle!;
    this.#handle = undefined;
    this.#bytes = 0;
    this.#first = undefined;
    if (isMoved) this.#rotated.push(name);
    await old.close();
    await this.#reopen();
    await syncFolder(dirname(path));
    while (rotateMaxFiles > 0 && this.#rotated.length > rotateMaxFiles)
      await rm(join(dirname(path), this.#rotated.shift()!), { force: true });
  }

  /** Returns the names of the rotated files, the oldest first. */
  async #rotatedFiles(): Promise<string[]> {
    const { path } = this.#settings;
    const stem = stemOf(path);
    const seqOf = (name: string): number => Number(ROTATED.exec(name.slice(stem.length))?.[1]);
    const names = await readdir(dirname(path));
    return names
      .filter((name) => name.startsWith(stem) && ROTATED.test(name.slice(stem.length)))
      .sort((a, b) => seqOf(a) - seqOf(b));
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    try {
      await handle?.datasync();
      await handle?.close();
    } finally {
      await this.#lock?.release();
    }
  }
}

/** What follows the stem in the name of a rotated file. */
const ROTATED = /^-\d{8}T\d{6}\.\d{3}Z-(\d+)\.json$/;
const stemOf = (path: string): string => basename(path).replace(/\.json$/, '');
/** A time as `20261121T200000.123Z`. */
const stampOf = (ms: number): string => new Date(ms).toISOString().replaceAll(/[-:]/g, '');

/** Renames a file. Returns false if it is not there: somebody has moved or deleted it. */
async function moved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return false;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Returns the end of the chain in a file, the bytes of its whole lines, and all its bytes. */
async function lastLineOf(
  handle: FileHandle,
  path: string,
): Promise<{ readonly end: ChainEnd; readonly bytes: number; readonly size: number }> {
  const { size } = await handle.stat();
  let tail: Buffer = Buffer.alloc(0);
  let from = size;
  for (;;) {
    const bytes = tail.lastIndexOf(LINE_FEED) + 1;
    const begin = bytes === 0 ? -1 : tail.lastIndexOf(LINE_FEED, bytes - 2);
    if (from === 0 || begin >= 0) {
      if (bytes === 0) return { end: EMPTY_CHAIN, bytes: 0, size };
      const read = readLine(tail.subarray(begin + 1, bytes - 1));
      if (read === undefined) throw new Error(`the last line of ${path} is not an audit record`);
      return { end: { seq: read.seq, hash: read.hash }, bytes: from + bytes, size };
    }
    const length = Math.min(STEP_BYTES, from);
    const part = Buffer.alloc(length);
    from -= length;
    await handle.read(part, 0, length, from);
    tail = Buffer.concat([part, tail]);
  }
}

/** Returns the number of the first record of a file, and when it was made. */
async function firstOf(handle: FileHandle): Promise<{ seq: number; ms: number } | undefined> {
  let head: Buffer = Buffer.alloc(0);
  for (;;) {
    const part = Buffer.alloc(STEP_BYTES);
    const { bytesRead } = await handle.read(part, 0, STEP_BYTES, head.length);
    head = Buffer.concat([head, part.subarray(0, bytesRead)]);
    const end = head.indexOf(LINE_FEED);
    if (end < 0 && bytesRead > 0) continue;
    const read = readLine(head.subarray(0, end));
    return read && { seq: read.seq, ms: read.createdMs };
  }
}
