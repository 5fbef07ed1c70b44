/**
 * The one codec of the wire: msgpack of plain arrays, text, bytes, whole numbers and booleans. What
 * arrives is first walked byte by byte: maps, extensions, 64-bit integers, deep nesting and lengths
 * beyond the end are refused before the decoder sees them, so it can neither be led to build
 * something else nor to reserve memory for what is not there.
 */
import { Packr, Unpackr } from 'msgpackr';
import { WireError } from './types.js';

const packr = new Packr({ useRecords: false, moreTypes: false });
const unpackr = new Unpackr({ useRecords: false, moreTypes: false });
/** Arrays within arrays: frames nest less. */
const DEPTH_MAX = 6;

/** Encodes a value of arrays and scalars. */
export function pack(value: unknown): Buffer {
  return packr.pack(value);
}

/**
 * Decodes what `pack` made; throws WireError for anything else. Bytes are given as views of
 * `bytes`.
 */
export function unpack(bytes: Buffer): unknown {
  checkPlain(bytes);
  return unpackr.unpack(bytes);
}

/** Throws unless `bytes` is exactly one plain value. */
function checkPlain(bytes: Buffer): void {
  /** Values still to come in each open array; the outermost is the one value. */
  const open = [1];
  let at = 0;
  while (open.length > 0) {
    if (open[open.length - 1] === 0) {
      open.pop();
      continue;
    }
    open[open.length - 1]! -= 1;
    if (at >= bytes.length) throw new WireError('protocol', 'a frame ends within a value');
    const { size, items } = measure(bytes, at);
    at += size;
    if (items === 0) continue;
    if (open.length > DEPTH_MAX) throw new WireError('protocol', 'a frame is nested too deeply');
    open.push(items);
  }
  if (at !== bytes.length) throw new WireError('protocol', 'a frame holds more than it should');
}

/** Bytes of the value at `at` without the items it announces, and how many items. */
function measure(bytes: Buffer, at: number): { size: number; items: number } {
  const tag = bytes[at]!;
  if (tag <= 0x7f || tag >= 0xe0) return { size: 1, items: 0 };
  if (tag >= 0x90 && tag <= 0x9f) return { size: 1, items: tag & 0x0f };
  if (tag >= 0xa0 && tag <= 0xbf) return { size: 1 + (tag & 0x1f), items: 0 };
  const fixed = FIXED[tag];
  if (fixed !== undefined) return { size: fixed, items: 0 };
  const width = LENGTHS[tag];
  if (width === undefined || at + 1 + width > bytes.length) {
    throw new WireError('protocol', `a frame holds the tag 0x${tag.toString(16)}`);
  }
  const length = bytes.readUIntBE(at + 1, width);
  const isArray = tag === 0xdc || tag === 0xdd;
  return isArray ? { size: 1 + width, items: length } : { size: 1 + width + length, items: 0 };
}

/** Bytes of nil, booleans, numbers. */
const FIXED: Record<number, number> = {
  192: 1,
  194: 1,
  195: 1,
  203: 9,
  204: 2,
  205: 3,
  206: 5,
  208: 2,
  209: 3,
  210: 5,
};
/** Bytes of the length of byte strings, texts, arrays. */
const LENGTHS: Record<number, number> = {
  196: 1,
  197: 2,
  198: 4,
  217: 1,
  218: 2,
  219: 4,
  220: 2,
  221: 4,
};
