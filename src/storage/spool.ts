/**
 * A stream kept in a file while it is verified. The file has no name from the moment it is open, so
 * it is gone with its last reader, after a crash too.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { reject } from '../errors.js';

export class Spool {
  readonly #file: FileHandle;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /**
   * Writes all of `source` to a file in `dir`. Throws ApiError `too_large` for more than
   * `bytesMax`, and what the source or the disk throws. The source is not destroyed: a request that
   * is destroyed can no longer be answered.
   */
  static async of(source: Readable, dir: string, bytesMax: number): Promise<Spool> {
    const path = join(dir, `upload-${randomUUID()}`);
    const file = await open(path, 'wx+', 0o600);
    try {
      await rm(path);
      let bytes = 0;
      for await (const part of source.iterator({ destroyOnReturn: false })) {
        bytes += (part as Buffer).length;
        if (bytes > bytesMax) reject('too_large', `the snapshot is longer than ${bytesMax} bytes`);
        await file.appendFile(part as Buffer);
      }
    } catch (error) {
      await file.close();
      throw error;
    }
    return new Spool(file);
  }

  /** What was written, from the beginning. One reader at a time. */
  read(): Readable {
    return this.#file.createReadStream({ start: 0, autoClose: false });
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
