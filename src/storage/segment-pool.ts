/**
 * Files for the segments of a log. The next one is made before it is needed: a write into a file
 * whose blocks exist needs no entry in the journal of the file system. The files of dropped
 * segments are used again, which saves writing zeros. Their old records have another salt.
 */
import { settled, writeAll } from './calls.js';
import type { DiskFile, DiskFolder } from './disk.js';
import { Segment, segmentName } from './segment.js';

/** Bytes of a segment: 4 MiB are written in some seconds at full load. */
export const SEGMENT_BYTES = 4 * 2 ** 20;
/** Files kept for later use: what compaction drops at once under load. */
const SPARES = 4;
/** Bytes of zeros written at once, so that the writes of the log do not wait for long. */
const ZEROS = Buffer.alloc(2 ** 20);

/** Files whose content is of no use. */
export const SPARE = /^spare-/;

export interface PoolOptions {
  readonly folder: DiskFolder;
  readonly segmentBytes: number;
  readonly number: number;
  /** The disk has failed. */
  readonly onError: (error: unknown) => void;
}

/** The files that are not in use by a log. */
export class SegmentPool {
  readonly #options: PoolOptions;
  #number: number;
  #next: Promise<Segment> | undefined;
  readonly #spares: { readonly name: string; readonly file: DiskFile }[] = [];
  #discards = false;
  /** Renames and removals, one after another. */
  #tasks: Promise<void> = Promise.resolve();

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#number = options.number;
  }

  /** Begins to make the next segment, unless it was made already. */
  prepare(): void {
    if (this.#next !== undefined) return;
    this.#next = this.#tasks.then(() => this.#make());
    this.#tasks = this.#next.then(
      () => {},
      (error) => this.#options.onError(error),
    );
  }

  /** Resolves with a new segment. Rejects if the disk fails. */
  take(): Promise<Segment> {
    this.prepare();
    const next = this.#next!;
    this.#next = undefined;
    return next;
  }

  /** These segments are no longer part of the log. */
  recycle(segments: readonly Segment[]): void {
    for (const { number, file } of segments) {
      this.#do(async () => {
        const name = segmentName(number);
        if (this.#discards || this.#spares.length >= SPARES) return this.#remove(name, file);
        await settled((done) => this.#options.folder.rename(name, `spare-${name}`, done));
        this.#spares.push({ name: `spare-${name}`, file });
      });
    }
  }

  remove(name: string, file: DiskFile | undefined): void {
    this.#do(() => this.#remove(name, file));
  }

  /** Removes all files that hold nothing of the log. Until `reuse`, none is kept. */
  discard(): void {
    this.#discards = true;
    const next = this.#next;
    this.#next = undefined;
    if (next !== undefined) {
      this.#do(async () => {
        const { number, file } = await next;
        await this.#remove(segmentName(number), file);
      });
    }
    this.#do(async () => {
      for (const { name, file } of this.#spares.splice(0)) await this.#remove(name, file);
    });
  }

  /** Keeps files for later use again. */
  reuse(): void {
    this.#discards = false;
  }

  /** Resolves once all that was asked for is done. */
  settled(): Promise<void> {
    return this.#tasks;
  }

  /** Finishes what is under way and closes the files. */
  async close(): Promise<void> {
    await this.#tasks;
    for (const { file } of this.#spares.splice(0)) file.close();
    if (this.#next !== undefined) await this.#next.then(({ file }) => file.close()).catch(() => {});
    this.#next = undefined;
  }

  async #make(): Promise<Segment> {
    const { folder, segmentBytes } = this.#options;
    const number = this.#number++;
    const name = segmentName(number);
    const spare = this.#spares.pop();
    let file: DiskFile;
    if (spare === undefined) {
      file = await settled<DiskFile>((done) => folder.open(name, done));
      await zero(file, 0, segmentBytes);
    } else {
      await settled((done) => folder.rename(spare.name, name, done));
      file = spare.file;
    }
    await settled((done) => folder.sync(done));
    return new Segment(number, file);
  }

  async #remove(name: string, file: DiskFile | undefined): Promise<void> {
    file?.close();
    await settled((done) => this.#options.folder.remove(name, done));
  }

  #do(task: () => Promise<void>): void {
    this.#tasks = this.#tasks.then(task).catch((error) => this.#options.onError(error));
  }
}

/** Writes zeros from `from` to `to`. */
async function zero(file: DiskFile, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += ZEROS.length) {
    const bytes = ZEROS.subarray(0, to - at);
    await settled((done) => writeAll(file, bytes, at, done));
  }
}
