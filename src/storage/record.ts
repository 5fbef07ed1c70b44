/**
 * The bytes of one record on disk. Every record carries a CRC-32 over its key and its content, so
 * that a record which was changed, or which stands under another key, is noticed when it is read.
 *
 *   entry:  crc u32 · version u8 · kind u8 · term u64 · term of the entry before it u64 · payload
 *   sealed: crc u32 · version u8 · JSON (hard state, snapshot position, marks)
 *
 * The term of the entry before makes a chain: LevelDB may lose a whole batch out of the middle of
 * its own log when bytes there go bad, and what is left can look contiguous by index although it is
 * not.
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
 * Reads what `writeSafe` wrote. The result may be beyond the safe integers if the bytes are not
 * ours.
 */
function readSafe(from: Buffer, at: number): number {
  return from.readUInt32BE(at) * 2 ** 32 + from.readUInt32BE(at + 4);
}

/** The key of the entry at `index`: sorts by index, and before every other key of the log. */
export function entryKey(index: Index): Buffer {
  const key = Buffer.allocUnsafe(8);
  writeSafe(key, index, 0);
  return key;
}

/** The index of an entry's key; undefined for any other key. */
export function indexOfKey(key: Buffer): Index | undefined {
  if (key.length !== 8) return undefined;
  const index = readSafe(key, 0);
  return Number.isSafeInteger(index) ? index : undefined;
}

/** The record of an entry. The payload of a command is its `data`, byte for byte. */
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
 * An entry and the term its predecessor had when it was written; undefined when the record is
 * damaged.
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

/** A small record of JSON under a named key. */
export function encodeSealed(key: Buffer, content: unknown): Buffer {
  const json = Buffer.from(JSON.stringify(content));
  const record = Buffer.allocUnsafe(5 + json.length);
  record[4] = VERSION;
  record.set(json, 5);
  record.writeUInt32BE(checksum(key, record), 0);
  return record;
}

/** The content of a sealed record; undefined when it is damaged. The CRC vouches for the shape. */
export function decodeSealed<T>(key: Buffer, record: Buffer): T | undefined {
  if (record.length < 5 || record[4] !== VERSION) return undefined;
  if (record.readUInt32BE(0) !== checksum(key, record)) return undefined;
  return JSON.parse(record.toString('utf8', 5)) as T;
}

function checksum(key: Buffer, record: Buffer): number {
  return crc32(record.subarray(4), crc32(key));
}

/** Bytes an entry counts for in memory and in message budgets. */
export function entryBytes(entry: Entry): number {
  return entry.kind === 'command' ? entry.data.length + 64 : 256;
}
