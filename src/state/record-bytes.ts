/**
 * Records as bytes, in archives and in the parts of a restore. A record is
 * u32 length of the key · u32 length of the value · key · value, both in UTF-8.
 */
import type { StateRecord } from './types.js';

/** Bytes of the two lengths. */
const HEAD_BYTES = 8;

/** Returns a record as bytes. */
export function recordBytes([key, value]: StateRecord): Buffer {
  const keyBytes = Buffer.byteLength(key);
  const valueBytes = Buffer.byteLength(value);
  const record = Buffer.allocUnsafe(HEAD_BYTES + keyBytes + valueBytes);
  record.writeUInt32BE(keyBytes, 0);
  record.writeUInt32BE(valueBytes, 4);
  record.write(key, HEAD_BYTES);
  record.write(value, HEAD_BYTES + keyBytes);
  return record;
}

/**
 * Reads the record at `at`. Returns it with where it ends, so far as its lengths are there; without
 * it if bytes are missing.
 */
export function readRecord(all: Buffer, at: number): { record?: StateRecord; end: number } {
  const start = at + HEAD_BYTES;
  if (all.length < start) return { end: start };
  const keyEnd = start + all.readUInt32BE(at);
  const end = keyEnd + all.readUInt32BE(at + 4);
  if (all.length < end) return { end };
  return { record: [all.toString('utf8', start, keyEnd), all.toString('utf8', keyEnd, end)], end };
}
