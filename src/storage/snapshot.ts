/**
 * A state on its way to a follower, in numbered chunks.
 *
 *   chunk: crc u32 over the rest · last u8 · (if last) count u64 · sum u64 · records
 *
 * The same number gives the same bytes as long as the source lives, so a transfer that was broken
 * goes on where the receiver stopped. The receiver writes beside its present state, and switches
 * when all of it has arrived and was read back. (The shapes are those of the wire's ChunkSource and
 * ChunkSink.)
 */
import { randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { PinnedView } from '../state/types.js';
import { recordSum, Tally } from './directory.js';
import { StorageError } from './errors.js';
import { readSafe, writeSafe } from './record.js';
import { nextTurn, RecordReader, takeRecords } from './record-stream.js';
import type { DurableState, Installation, StateRecord } from './types.js';

/** Read and encoded in one turn of the event loop: about two milliseconds. */
const CHUNK_BYTES = 128 * 1024;
/** The receiver writes so much in one synced batch. */
const WRITE_BYTES = 2 ** 20;
const HEAD = 5;
const TALLY = 16;

/** Gives out a pinned view in chunks, and closes it in the end. */
export class SnapshotSource {
  readonly id = randomUUID();
  private readonly view: PinnedView;
  private readonly chunkBytes: number;
  /** `after[n]` is the key after which chunk n begins. */
  private readonly after: (string | undefined)[] = [undefined];
  private readonly tally = new Tally();
  private lastNumber: number | undefined;

  constructor(view: PinnedView, chunkBytes: number = CHUNK_BYTES) {
    this.view = view;
    this.chunkBytes = chunkBytes;
  }

  /** Chunk `number`, from 0; it must have been given out before or be the next. */
  async chunk(number: number): Promise<{ readonly data: Buffer; readonly last: boolean }> {
    if (number >= this.after.length) throw new StorageError('invalid', `no chunk ${number} yet`);
    await nextTurn();
    const isNew = number === this.after.length - 1 && this.lastNumber === undefined;
    // What is given out again is in the tally already.
    const tally = isNew ? this.tally : new Tally();
    const { bytes, lastKey } = takeRecords(this.view, this.after[number], this.chunkBytes, tally);
    if (isNew) {
      const more =
        lastKey !== undefined && !this.view.keys('', lastKey)[Symbol.iterator]().next().done;
      if (more) this.after.push(lastKey);
      else this.lastNumber = number;
    }
    const last = number === this.lastNumber;
    return { data: frame(bytes, last ? this.tally : undefined), last };
  }

  close(): void {
    this.view.close();
  }
}

function frame(records: Buffer, tally: Tally | undefined): Buffer {
  const head = Buffer.alloc(HEAD + (tally === undefined ? 0 : TALLY));
  if (tally !== undefined) {
    head[4] = 1;
    writeSafe(head, tally.count, HEAD);
    writeSafe(head, tally.sum, HEAD + 8);
  }
  head.writeUInt32BE(crc32(records, crc32(head.subarray(4))), 0);
  return Buffer.concat([head, records]);
}

/** Takes chunks in order into an installation of the state. */
export class SnapshotReceiver {
  /** The source's id. */
  readonly id: string;
  /** The chunk it waits for. */
  next = 0;
  private readonly installation: Installation;
  private readonly reader = new RecordReader();
  private readonly tally = new Tally();
  /** Records that arrived and were not written yet. */
  private records: StateRecord[] = [];
  private recordBytes = 0;

  constructor(state: DurableState, id: string) {
    this.id = id;
    this.installation = state.install();
  }

  /**
   * Resolves when the chunk is taken; for the last one, when the state is switched in. Rejects and
   * gives up otherwise.
   */
  async write(number: number, data: Uint8Array, last: boolean): Promise<void> {
    try {
      if (number !== this.next) {
        throw new StorageError('invalid', `chunk ${number} came where ${this.next} belongs`);
      }
      const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
      if (bytes.length < HEAD + (last ? TALLY : 0) || (bytes[4] === 1) !== last) {
        throw new StorageError('invalid', `chunk ${number} is not a chunk`);
      }
      if (bytes.readUInt32BE(0) !== crc32(bytes.subarray(4))) {
        throw new StorageError('invalid', `chunk ${number} was changed on its way`);
      }
      const records = this.reader.push(bytes.subarray(HEAD + (last ? TALLY : 0)));
      for (const [key, value] of records) this.tally.add(recordSum(key, value));
      this.records.push(...records);
      this.recordBytes += bytes.length;
      if (last || this.recordBytes >= WRITE_BYTES) {
        await this.installation.add(this.records);
        this.records = [];
        this.recordBytes = 0;
      }
      this.next += 1;
      if (!last) return;
      this.reader.end();
      const announced = { count: readSafe(bytes, HEAD), sum: readSafe(bytes, HEAD + 8) };
      if (!this.tally.equals(announced)) {
        throw new StorageError('invalid', 'the state that arrived is not the one that was sent');
      }
      await this.installation.finish(announced);
    } catch (error) {
      this.abort();
      throw error;
    }
  }

  /** Gives up; the present state stays. */
  abort(): void {
    this.next = -1;
    this.installation.abort();
  }
}
