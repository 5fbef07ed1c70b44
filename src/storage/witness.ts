/**
 * A second copy, in a file of its own, of what a log must not forget: the hard state, and how far
 * the log was synced. A LevelDB whose bytes went bad can open without complaint and simply be
 * shorter; a vote that is forgotten that way may be given twice in one term. The witness is what
 * makes the loss visible.
 *
 * Two slots are written in turn, so a write that is torn leaves the other slot, which holds what
 * was promised before. It never says more than the log holds: it is written after the log when the
 * log grows, before it when the log shrinks.
 */
import { type FileHandle, open } from 'node:fs/promises';
import type { HardState, Index } from '../raft/types.js';
import { decodeSealed, encodeSealed } from './record.js';

export interface Marks {
  /** Counts the changes of the hard state; the higher of two copies is the newer. */
  readonly version: number;
  readonly hardState: HardState;
  /** The log was synced up to here. */
  readonly lastIndex: Index;
}

/** One block of the file system: a torn write does not reach the other slot. */
const SLOT_BYTES = 4096;
const KEY = Buffer.from('witness');

export class Witness {
  private readonly file: FileHandle;
  private turn: number;
  private constructor(file: FileHandle, turn: number) {
    this.file = file;
    this.turn = turn;
  }

  /** Opens or makes the file. `marks` is undefined when it holds none that can be trusted. */
  static async open(path: string): Promise<{ witness: Witness; marks: Marks | undefined }> {
    const file = await open(path, 'r+').catch(() => open(path, 'w+', 0o600));
    const slots: { turn: number; marks: Marks }[] = [];
    for (const at of [0, SLOT_BYTES]) {
      const bytes = Buffer.alloc(SLOT_BYTES);
      const { bytesRead } = await file.read(bytes, 0, SLOT_BYTES, at);
      const length = bytesRead < 2 ? 0 : bytes.readUInt16BE(0);
      if (length === 0 || length + 2 > bytesRead) continue;
      const slot = decodeSealed<{ turn: number; marks: Marks }>(KEY, bytes.subarray(2, 2 + length));
      if (slot !== undefined) slots.push(slot);
    }
    const newest = slots.sort((a, b) => b.turn - a.turn)[0];
    return { witness: new Witness(file, newest?.turn ?? 0), marks: newest?.marks };
  }

  /** Writes the marks. With `sync` they are on disk when it resolves. */
  async write(marks: Marks, sync: boolean): Promise<void> {
    this.turn += 1;
    const record = encodeSealed(KEY, { turn: this.turn, marks });
    const slot = Buffer.alloc(record.length + 2);
    slot.writeUInt16BE(record.length, 0);
    slot.set(record, 2);
    await this.file.write(slot, 0, slot.length, (this.turn % 2) * SLOT_BYTES);
    if (sync) await this.file.sync();
  }

  async close(): Promise<void> {
    await this.file.close();
  }
}
