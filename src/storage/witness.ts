/**
 * A second copy, in a file of its own, of what a log must never forget: the hard state, and how far
 * the log was synced. The log cannot tell these losses from a crash by itself:
 *
 *     the last batch has gone bad         looks like one that a crash left in part
 *     the newest file is gone             looks like a log that ended before
 *     the record of the last vote is bad  nothing else says for whom this node voted
 *
 * The file has two slots that are written alternately, so a torn write leaves the previous one:
 *
 *     byte 0      turn 6   {version 3, term 4, votedFor a, batch 40, lastIndex 120}
 *     byte 4096   turn 7   {version 3, term 4, votedFor a, batch 52, lastIndex 180}    the newest
 *
 * It is written after a batch is durable, and the numbers of batches only grow. So a log that ends
 * before the batch of its witness has lost something, also if a batch had made it shorter.
 */
import type { HardState, Index } from '../raft/types.js';
import { writeAll } from './calls.js';
import type { DiskFile, Done } from './disk.js';
import { decodeSealed, encodeSealed } from './record.js';

/** What a witness records. */
export interface Marks {
  /** Number of changes of the hard state. The copy with the higher number is newer. */
  readonly version: number;
  readonly hardState: HardState;
  /** The number of the last batch that is durable. */
  readonly batch: number;
  /** The last index of the log after it. */
  readonly lastIndex: Index;
}

/** A block of the file system, so that a torn write does not reach the other slot. */
const SLOT_BYTES = 4096;
const KEY = Buffer.from('witness');
export const WITNESS = 'witness';

/** The witness file of a log. */
export class Witness {
  /** What was written last; undefined if neither slot is valid. */
  marks: Marks | undefined;
  readonly #file: DiskFile;
  #turn: number;
  readonly #waiting: { readonly marks: Marks; readonly done: Done }[] = [];

  constructor(file: DiskFile) {
    this.#file = file;
    const slots: { turn: number; marks: Marks }[] = [];
    for (const at of [0, SLOT_BYTES]) {
      const bytes = file.read(at, SLOT_BYTES);
      const length = bytes.length < 2 ? 0 : bytes.readUInt16BE(0);
      if (length === 0 || length + 2 > bytes.length) continue;
      const slot = decodeSealed<{ turn: number; marks: Marks }>(KEY, bytes.subarray(2, 2 + length));
      if (slot !== undefined) slots.push(slot);
    }
    const newest = slots.sort((a, b) => b.turn - a.turn)[0];
    this.#turn = newest?.turn ?? 0;
    this.marks = newest?.marks;
  }

  /** Whether no write is under way. */
  get isIdle(): boolean {
    return this.#waiting.length === 0;
  }

  /** Writes the marks after those of earlier calls. `done` is called when they are durable. */
  write(marks: Marks, done: Done): void {
    this.marks = marks;
    this.#waiting.push({ marks, done });
    if (this.#waiting.length === 1) this.#writeNext();
  }

  close(): void {
    this.#file.close();
  }

  #writeNext(): void {
    const next = this.#waiting[0];
    if (next === undefined) return;
    this.#turn += 1;
    const record = encodeSealed(KEY, { turn: this.#turn, marks: next.marks });
    const slot = Buffer.alloc(SLOT_BYTES);
    slot.writeUInt16BE(record.length, 0);
    slot.set(record, 2);
    writeAll(this.#file, slot, (this.#turn % 2) * SLOT_BYTES, (error) => {
      this.#waiting.shift();
      // Before `done`, which may ask for the next one itself.
      this.#writeNext();
      next.done(error);
    });
  }
}
