/**
 * The codec of the wire: msgpack of plain arrays, text, bytes, integers and booleans. Input is
 * first scanned byte by byte. The scan rejects maps, extensions, 64-bit integers, deep nesting and
 * lengths beyond the end, so the decoder can neither create other types nor allocate memory for
 * data that did not arrive.
 */
import { Packr, Unpackr } from 'msgpackr/pack';
import { WireError } from './types.js';

const packr = new Packr({ useRecords: false, moreTypes: false });
const unpackr = new Unpackr({ useRecords: false, moreTypes: false });
/** Depth of nested arrays: more than any frame has. */
const DEPTH_MAX = 6;

/** Encodes a value of arrays and scalars. */
export function pack(value: unknown): Buffer {
  return packr.pack(value);
}

/**
 * Decodes what `pack` returned. Byte strings in the result are views of `bytes`. Throws WireError
 * for any other input.
 */
export function unpack(bytes: Buffer): unknown {
  checkPlain(bytes);
  return unpackr.unpack(bytes);
}

/** Throws WireError unless `bytes` is exactly one plain value. */
function checkPlain(bytes: Buffer): void {
  /**
   * Number of values still expected in each open array. The outermost level is the value itself.
   */
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
  if (at !== bytes.length) throw new WireError('protocol', 'a frame has extra bytes at its end');
}

/** Returns the size of the value at `at` without the items of an array, and their number. */
function measure(bytes: Buffer, at: number): { size: number; items: number } {
  const tag = bytes[at]!;
  if (tag <= 0x7f || tag >= 0xe0) return { size: 1, items: 0 };
  if (tag >= 0x90 && tag <= 0x9f) return { size: 1, items: tag & 0x0f };
  if (tag >= 0xa0 && tag <= 0xbf) return { size: 1 + (tag & 0x1f), items: 0 };
  const fixed = FIXED[tag];
  if (fixed !== undefined) return { size: fixed, items: 0 };
  const width = LENGTHS[tag];
  if (width === undefined || at + 1 + width > bytes.length) {
    throw new WireError('protocol', `a frame contains the tag 0x${tag.toString(16)}`);
  }
  const length = bytes.readUIntBE(at + 1, width);
  const isArray = tag === 0xdc || tag === 0xdd;
  return isArray ? { size: 1 + width, items: length } : { size: 1 + width + length, items: 0 };
}

/** Tag → bytes, of nil, booleans and numbers. */
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
/** Tag → bytes of the length, of byte strings, texts and arrays. */
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
