/**
 * Sealed records: small JSON texts with a checksum over their key and content.
 *
 *   crc u32 · version u8 · JSON
 */
import { crc32 } from 'node:zlib';

const VERSION = 1;

/** Writes a safe integer as eight bytes, big-endian. */
export function writeSafe(into: Buffer, value: number, at: number): void {
  into.writeUInt32BE(Math.floor(value / 2 ** 32), at);
  into.writeUInt32BE(value % 2 ** 32, at + 4);
}

/**
 * Reads what `writeSafe` wrote. Other bytes may yield a number that is not a safe integer.
 */
export function readSafe(from: Buffer, at: number): number {
  return from.readUInt32BE(at) * 2 ** 32 + from.readUInt32BE(at + 4);
}

/** Encodes a small JSON record for the given key. */
export function encodeSealed(key: Buffer, content: unknown): Buffer {
  const json = Buffer.from(JSON.stringify(content));
  const record = Buffer.allocUnsafe(5 + json.length);
  record[4] = VERSION;
  record.set(json, 5);
  record.writeUInt32BE(checksum(key, record), 0);
  return record;
}

/** Decodes a sealed record; undefined if it is damaged. A valid CRC guarantees the shape. */
export function decodeSealed<T>(key: Buffer, record: Buffer): T | undefined {
  if (record.length < 5 || record[4] !== VERSION) return undefined;
  if (record.readUInt32BE(0) !== checksum(key, record)) return undefined;
  return JSON.parse(record.toString('utf8', 5)) as T;
}

function checksum(key: Buffer, record: Buffer): number {
  return crc32(record.subarray(4), crc32(key));
}
