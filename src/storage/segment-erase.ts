/** What must not stay in the files of a log: see docs/formats.md, "Erasing". */
import type { Index } from '../raft/types.js';
import type { Segment } from './segment.js';
import { decodeHead, HEAD_BYTES, holdsEntry, type RecordHead } from './segment-record.js';

/** Blocks of a segment. What is appended waits for the write of one. */
const BLOCKS = 16;

/** A part of a file as it is to be written. */
export interface Block {
  readonly at: number;
  readonly bytes: Buffer;
}

/**
 * Reads a segment that is no longer written to, a block at each step. Yields each block in which
 * something must be overwritten, with zeros there, and undefined for the others. Overwritten are
 * the payloads of entries before `first` and of entries that were replaced, and what an earlier use
 * of the file left behind the last record.
 */
export function* cleanedBlocks(
  segment: Segment,
  first: Index,
  segmentBytes: number,
): Generator<Block | undefined> {
  const { file, end } = segment;
  const size = file.size();
  const blockBytes = Math.ceil(segmentBytes / BLOCKS);
  const isDead = (head: RecordHead): boolean => {
    const { index } = head.position;
    return holdsEntry(head) && (index < first || segment.offsetOf(index) !== head.at);
  };
  let next = 0;
  /** The last payload that is overwritten: it may go on in the next block. */
  let dead = { from: 0, to: 0 };
  for (let at = 0; at < size; at += blockBytes) {
    const bytes = file.read(at, blockBytes);
    const until = at + bytes.length;
    const wipe = (from: number, to: number): boolean => cleared(bytes, from - at, to - at);
    let isDirty = wipe(dead.from, dead.to);
    while (next < Math.min(until, end)) {
      const head = headAt(segment, next, { at, bytes });
      next = head?.end ?? end;
      if (head === undefined || !isDead(head)) continue;
      dead = { from: head.at + HEAD_BYTES, to: next };
      isDirty = wipe(dead.from, dead.to) || isDirty;
    }
    isDirty = wipe(end, until) || isDirty;
    yield isDirty ? { at, bytes } : undefined;
  }
}

/** The head at a position of a segment. It begins in the block, and may end after it. */
function headAt({ file, salt }: Segment, at: number, block: Block): RecordHead | undefined {
  const from = at - block.at;
  const inBlock = block.bytes.subarray(from, from + HEAD_BYTES);
  const head = decodeHead(
    inBlock.length < HEAD_BYTES ? file.read(at, HEAD_BYTES) : inBlock,
    0,
    salt,
  );
  return head && { ...head, at, end: at + head.end };
}

/** Zeroes the part of a range that is within the bytes. Returns whether that changes them. */
function cleared(bytes: Buffer, from: number, to: number): boolean {
  const part = bytes.subarray(Math.max(0, from), Math.max(0, to));
  const isClear = part.equals(Buffer.alloc(part.length));
  if (!isClear) part.fill(0);
  return !isClear;
}
