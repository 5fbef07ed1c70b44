/**
 * A second copy, in a file of its own, of what a log must never forget: the hard state, and how far
 * the log was synced. A LevelDB with corrupt bytes may open without an error and just be shorter.
 * A node that forgets a vote that way could vote twice in one term. The witness reveals the loss.
 *
 * The file has two slots that are written alternately, so a torn write leaves the previous one:
 *
 *     byte 0      turn 6   {version 3, term 4, votedFor a, lastIndex 120}
 *     byte 4096   turn 7   {version 3, term 4, votedFor a, lastIndex 180}    the newest
 *
 * The witness never claims more than the log holds: it is written after the log when the log grows,
 * and before it when the log shrinks.
 */
import type { HardState, Index } from '../raft/types.js';
import type { Files, OpenFile } from './disk.js';
import { decodeSealed, encodeSealed } from './record.js';

/** What a witness records. */
export interface Marks {
  /** Number of changes of the hard state. The copy with the higher number is newer. */
  readonly version: number;
  readonly hardState: HardState;
  /** The log is synced up to this index. */
  readonly lastIndex: Index;
}

/** A block of the file system, so that a torn write does not reach the other slot. */
const SLOT_BYTES = 4096;
const KEY = Buffer.from('witness');

/** The witness file of a log. Use `Witness.open`. */
export class Witness {
  readonly #file: OpenFile;
  #turn: number;

  constructor(file: OpenFile, turn: number) {
    this.#file = file;
    this.#turn = turn;
  }

  /** Opens the file or creates it. `marks` is undefined if neither slot is valid. */
  static async open(
    path: string,
    files: Files,
  ): Promise<{ witness: Witness; marks: Marks | undefined }> {
    const file = await files.open(path);
    const slots: { turn: number; marks: Marks }[] = [];
    for (const at of [0, SLOT_BYTES]) {
      const bytes = await file.read(at, SLOT_BYTES);
      const length = bytes.length < 2 ? 0 : bytes.readUInt16BE(0);
      if (length === 0 || length + 2 > bytes.length) continue;
      const slot = decodeSealed<{ turn: number; marks: Marks }>(KEY, bytes.subarray(2, 2 + length));
      if (slot !== undefined) slots.push(slot);
    }
    const newest = slots.sort((a, b) => b.turn - a.turn)[0];
    return { witness: new Witness(file, newest?.turn ?? 0), marks: newest?.marks };
  }

  /** Writes the marks. With `sync`, resolves once they are durable. */
  async write(marks: Marks, sync: boolean): Promise<void> {
    this.#turn += 1;
    const record = encodeSealed(KEY, { turn: this.#turn, marks });
    const slot = Buffer.alloc(record.length + 2);
    slot.writeUInt16BE(record.length, 0);
    slot.set(record, 2);
    await this.#file.write(slot, (this.#turn % 2) * SLOT_BYTES);
    if (sync) await this.#file.sync();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
