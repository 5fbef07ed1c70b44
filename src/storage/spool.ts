/**
 * Stores a stream in a file while it is verified. The file is unlinked as soon as it is open, so it
 * disappears with its last reader, even after a crash.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { reject } from '../base/errors.js';
import { freeBytesOf } from './node-folder.js';

/** Bytes that a stream may have, and that it must leave free on the disk. */
export interface SpoolLimits {
  readonly bytesMax: number;
  readonly reserveBytes: number;
}

/** A stream in an unlinked file. Use `Spool.of`. */
export class Spool {
  readonly #file: FileHandle;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /**
   * Writes all of `source` to a file in `dir`. Throws ApiError `too_large` and `no_space`, and the
   * errors of the source and the disk. Does not destroy the source: a destroyed request cannot be
   * answered.
   */
  static async of(source: Readable, dir: string, limits: SpoolLimits): Promise<Spool> {
    const { bytesMax, reserveBytes } = limits;
    const path = join(dir, `upload-${randomUUID()}`);
    const file = await open(path, 'wx+', 0o600);
    try {
      await rm(path);
      let bytes = 0;
      for await (const part of source.iterator({ destroyOnReturn: false })) {
        const { length } = part as Buffer;
        bytes += length;
        if (bytes > bytesMax) reject('too_large', `the snapshot is longer than ${bytesMax} bytes`);
        // A node whose log finds no space ends.
        if ((await freeBytesOf(dir)) < reserveBytes + length)
          reject('no_space', 'The disk of this server has no room for the archive');
        await file.appendFile(part as Buffer);
      }
    } catch (error) {
      await file.close();
      throw error;
    }
    return new Spool(file);
  }

  /** The descriptor of the file. */
  get fd(): number {
    return this.#file.fd;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
