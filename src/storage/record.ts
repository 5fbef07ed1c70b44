/**
 * The bytes of one record on disk. Every record carries a CRC-32 over its key and its content, so
 * that a read detects a record that was changed or that is stored under another key.
 *
 *   entry:  crc u32 · version u8 · kind u8 · term u64 · term of the previous entry u64 · payload
 *   sealed: crc u32 · version u8 · JSON (hard state, snapshot position, marks)
 *
 * The previous term chains the entries. When bytes of LevelDB's own log go bad, LevelDB may lose a
 * whole batch from the middle of it, and the rest can look contiguous although it is not:
 *
 *     written    put 5 (term 1) · put 5 (term 2), put 6 (term 2, previous term 2)
 *     lost                        put 5 (term 2)
 *     read       5 (term 1), 6 (previous term 2): 6 was not written after this 5
 */
import { crc32 } from 'node:zlib';
import type { Configuration, Entry, Index, Term } from '../raft/types.js';

const VERSION = 1;
const HEADER = 22;
const KINDS = ['command', 'noop', 'configuration'] as const;

/** Writes a safe integer as eight bytes, big-endian. */
function writeSafe(into: Buffer, value: number, at: number): void {
  into.writeUInt32BE(Math.floor(value / 2 ** 32), at);
  into.writeUInt32BE(value % 2 ** 32, at + 4);
}

/**
 * Reads what `writeSafe` wrote. Other bytes may yield a number that is not a safe integer.
 */
function readSafe(from: Buffer, at: number): number {
  return from.readUInt32BE(at) * 2 ** 32 + from.readUInt32BE(at + 4);
}

/**
 * Returns the key of the entry at `index`. Keys sort by index, before every other key of the log.
 */
export function entryKey(index: Index): Buffer {
  const key = Buffer.allocUnsafe(8);
  writeSafe(key, index, 0);
  return key;
}

/** Returns the index of an entry's key; undefined for any other key. */
export function indexOfKey(key: Buffer): Index | undefined {
  if (key.length !== 8) return undefined;
  const index = readSafe(key, 0);
  return Number.isSafeInteger(index) ? index : undefined;
}

/** Encodes an entry. The payload of a command is its `data`, unchanged. */
export function encodeEntry(entry: Entry, previousTerm: Term): Buffer {
  const payload = payloadOf(entry);
  const record = Buffer.allocUnsafe(HEADER + payload.length);
  record[4] = VERSION;
  record[5] = KINDS.indexOf(entry.kind);
  writeSafe(record, entry.term, 6);
  writeSafe(record, previousTerm, 14);
  record.set(payload, HEADER);
  record.writeUInt32BE(checksum(entryKey(entry.index), record), 0);
  return record;
}

function payloadOf(entry: Entry): Uint8Array {
  switch (entry.kind) {
    case 'command':
      return entry.data;
    case 'noop':
      return new Uint8Array(0);
    case 'configuration':
      return Buffer.from(JSON.stringify(entry.configuration));
  }
}

/**
 * Decodes an entry, and the term of the entry before it at the time of writing. Returns undefined
 * if the record is damaged.
 */
export function decodeEntry(
  index: Index,
  record: Buffer,
): { entry: Entry; previousTerm: Term } | undefined {
  if (record.length < HEADER || record[4] !== VERSION) return undefined;
  if (record.readUInt32BE(0) !== checksum(entryKey(index), record)) return undefined;
  const kind = KINDS[record[5]!];
  const term = readSafe(record, 6);
  const previousTerm = readSafe(record, 14);
  const payload = record.subarray(HEADER);
  if (kind === 'command') return { entry: { kind, index, term, data: payload }, previousTerm };
  if (kind === 'noop') return { entry: { kind, index, term }, previousTerm };
  if (kind !== 'configuration') return undefined;
  const configuration = JSON.parse(payload.toString()) as Configuration;
  return { entry: { kind, index, term, configuration }, previousTerm };
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

/** Bytes that an entry counts for in the memory window. */
export function entryBytes(entry: Entry): number {
  return entry.kind === 'command' ? entry.data.length + 64 : 256;
}
