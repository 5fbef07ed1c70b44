/** Overwrites what must not stay on the disk: see docs/formats.md, "Erasing". */
import type { Index } from '../raft/types.js';
import { settled, writeAll } from './calls.js';
import type { Segment } from './segment.js';
import { decodeRecord, entryOf, HEAD_BYTES } from './segment-record.js';

/** Bytes written at once. Only those that hold something to erase are written. */
const BLOCK_BYTES = 2 ** 18;
const ZEROS = Buffer.alloc(BLOCK_BYTES);

/**
 * Overwrites with zeros what a segment holds besides records that count: the payloads of entries
 * before `first` and of entries that were replaced, and what an earlier use of the file left behind
 * the last record. Resolves when that is durable.
 */
export async function eraseSegment(segment: Segment, first: Index): Promise<void> {
  const { file, salt, end } = segment;
  const bytes = file.read(0, file.size());
  const dirty = new Set<number>();
  for (let at = 0; at < end; ) {
    const record = decodeRecord(bytes, at, salt);
    if (record === undefined) break;
    const { index } = record.position;
    const isDead = index < first || segment.offsetOf(index) !== at;
    if (isDead && entryOf(record) !== undefined) wipe(bytes, at + HEAD_BYTES, record.end, dirty);
    at = record.end;
  }
  wipe(bytes, end, bytes.length, dirty);
  for (const block of dirty) {
    const at = block * BLOCK_BYTES;
    const part = bytes.subarray(at, at + BLOCK_BYTES);
    await settled((done) => writeAll(file, part, at, done));
  }
}

/** Zeroes the bytes from `from` to `to`, and notes the blocks that this changes. */
function wipe(bytes: Buffer, from: number, to: number, dirty: Set<number>): void {
  for (let at = from; at < to; ) {
    const block = Math.floor(at / BLOCK_BYTES);
    const until = Math.min(to, (block + 1) * BLOCK_BYTES);
    const part = bytes.subarray(at, until);
    if (!part.equals(ZEROS.subarray(0, part.length))) {
      part.fill(0);
      dirty.add(block);
    }
    at = until;
  }
}
