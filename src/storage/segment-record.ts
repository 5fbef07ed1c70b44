/**
 * The bytes of the records of a segment. docs/formats.md has the table. A record proves by itself
 * that it is whole (`crc`), that it belongs to this segment and not to an earlier use of the file
 * (`salt`), and that it was written after the record before it (`previous`):
 *
 *     batch 7                          batch 8
 *     [entry 5, previous a1] crc b2    [entry 6, previous b2] crc c3
 *
 * The head has a CRC of its own, so the payload of an entry that no longer counts can be zeroed.
 */
import { crc32 } from 'node:zlib';
import type { Configuration, Entry, HardState, Index, SnapshotMeta, Term } from '../raft/types.js';
import { crcWithin } from './crc.js';
import { readSafe, writeSafe } from './record.js';

/** Bytes before the payload. */
export const HEAD_BYTES = 56;
const VERSION = 1;
const LAST_OF_BATCH = 1;
const ENTRY_KINDS = ['command', 'noop', 'configuration'] as const;
const STATE_KIND = 3;

/** An index and its term. */
export interface Position {
  readonly index: Index;
  readonly term: Term;
}

/** The entries index..last are lost or cannot be trusted, and may have been acknowledged. */
export interface LogDamage {
  readonly index: Index;
  readonly last: Index;
  readonly reason: string;
}

/** All that a log holds besides entries. Each record of it replaces the one before. */
export interface LogState {
  /** Number of changes of the hard state. */
  readonly version: number;
  readonly hardState: HardState;
  /** Position of the last snapshot. */
  readonly meta?: SnapshotMeta | undefined;
  /** This node must not vote until it has caught up with this position. See `log.ts`. */
  readonly bar?: Position | undefined;
  /** In the first record of a segment: the batch that it follows. */
  readonly after?: number | undefined;
}

/** A record that is to be written. */
export interface Draft {
  /** Index and term of the entry; of the last entry before it for a record of the state. */
  readonly position: Position;
  readonly previousTerm: Term;
  readonly kind: number;
  readonly payload: Uint8Array;
}

/** The head of a record of a segment, which says where the record begins and ends. */
export interface RecordHead {
  readonly at: number;
  readonly end: number;
  readonly crc: number;
  readonly previous: number;
  readonly batch: number;
  readonly isLastOfBatch: boolean;
  readonly kind: number;
  readonly position: Position;
  readonly previousTerm: Term;
}

/** A record of a segment. `isSpoiled`: the payload is not as it was written. */
export interface StoredRecord extends RecordHead {
  readonly payload: Buffer;
  readonly isSpoiled: boolean;
}

/** The salt of a segment: no two numbers below 2^32 have the same one. */
export function saltOf(segment: number): number {
  const bytes = Buffer.alloc(8);
  writeSafe(bytes, segment, 0);
  return crc32(bytes);
}

/** The record of an entry; `previousTerm` is the term of the entry before it. */
export function entryDraft(entry: Entry, previousTerm: Term): Draft {
  const kind = ENTRY_KINDS.indexOf(entry.kind);
  return { position: entry, previousTerm, kind, payload: payloadOf(entry) };
}

const NOTHING = new Uint8Array(0);

function payloadOf(entry: Entry): Uint8Array {
  if (entry.kind === 'command') return entry.data;
  if (entry.kind === 'noop') return NOTHING;
  return Buffer.from(JSON.stringify(entry.configuration));
}

/** The record of the state of a log whose last entry is at `last`. */
export function stateDraft(state: LogState, last: Position): Draft {
  const payload = Buffer.from(JSON.stringify(state));
  return { position: last, previousTerm: 0, kind: STATE_KIND, payload };
}

/** Whether a record holds an entry. */
export const holdsEntry = ({ kind }: Pick<Draft, 'kind'>): boolean => kind !== STATE_KIND;

/** Bytes of a batch. */
export function batchBytes(drafts: readonly Draft[]): number {
  return drafts.reduce((sum, { payload }) => sum + HEAD_BYTES + payload.length, 0);
}

/** What a batch follows: where it is written, and the record before it. */
export interface Place {
  readonly salt: number;
  readonly batch: number;
  /** CRC of the record before the batch; 0 at the very beginning of a log. */
  readonly previous: number;
}

/** Encodes a batch. Returns its bytes and the CRC of its last record. */
export function encodeBatch(
  drafts: readonly Draft[],
  place: Place,
): { bytes: Buffer; crc: number } {
  const bytes = Buffer.allocUnsafe(batchBytes(drafts));
  let at = 0;
  let crc = place.previous;
  for (const [i, { position, previousTerm, kind, payload }] of drafts.entries()) {
    bytes.writeUInt32BE(place.salt, at + 4);
    bytes.writeUInt32BE(crc, at + 8);
    bytes.writeUInt32BE(payload.length, at + 12);
    bytes.writeUInt32BE(crc32(payload), at + 16);
    writeSafe(bytes, place.batch, at + 20);
    bytes[at + 28] = VERSION;
    bytes[at + 29] = kind;
    bytes[at + 30] = i === drafts.length - 1 ? LAST_OF_BATCH : 0;
    bytes[at + 31] = 0;
    writeSafe(bytes, position.index, at + 32);
    writeSafe(bytes, position.term, at + 40);
    writeSafe(bytes, previousTerm, at + 48);
    crc = crcWithin(bytes, at + 4, at + HEAD_BYTES);
    bytes.writeUInt32BE(crc, at);
    bytes.set(payload, at + HEAD_BYTES);
    at += HEAD_BYTES + payload.length;
  }
  return { bytes, crc };
}

/** Decodes the head of the record at a position; undefined if there is none. */
export function decodeHead(bytes: Buffer, at: number, salt: number): RecordHead | undefined {
  if (at + HEAD_BYTES > bytes.length || bytes.readUInt32BE(at + 4) !== salt) return undefined;
  const crc = bytes.readUInt32BE(at);
  if (crc !== crcWithin(bytes, at + 4, at + HEAD_BYTES)) return undefined;
  if (bytes[at + 28] !== VERSION) return undefined;
  return {
    at,
    end: at + HEAD_BYTES + bytes.readUInt32BE(at + 12),
    crc,
    previous: bytes.readUInt32BE(at + 8),
    batch: readSafe(bytes, at + 20),
    isLastOfBatch: bytes[at + 30] === LAST_OF_BATCH,
    kind: bytes[at + 29]!,
    position: { index: readSafe(bytes, at + 32), term: readSafe(bytes, at + 40) },
    previousTerm: readSafe(bytes, at + 48),
  };
}

/** Decodes the record at a position of a segment; undefined if there is none. */
export function decodeRecord(bytes: Buffer, at: number, salt: number): StoredRecord | undefined {
  const head = decodeHead(bytes, at, salt);
  if (head === undefined) return undefined;
  const length = head.end - at - HEAD_BYTES;
  const payload = bytes.subarray(at + HEAD_BYTES, head.end);
  return {
    ...head,
    payload,
    isSpoiled: payload.length < length || bytes.readUInt32BE(at + 16) !== crc32(payload),
  };
}

/** Finds the records from `at` on, at any offset: those that follow a damaged one. */
export function* recordsAfter(bytes: Buffer, at: number, salt: number): Iterable<StoredRecord> {
  const mark = Buffer.alloc(4);
  mark.writeUInt32BE(salt);
  for (let found = at + 4; ; found += 1) {
    found = bytes.indexOf(mark, found);
    if (found < 0) return;
    const record = decodeRecord(bytes, found - 4, salt);
    if (record !== undefined) yield record;
  }
}

/** Returns the state that a record holds; undefined if it holds something else. */
export function stateOf(record: StoredRecord): LogState | undefined {
  if (record.kind !== STATE_KIND || record.isSpoiled) return undefined;
  return JSON.parse(record.payload.toString()) as LogState;
}

/** Whether a record holds a state or an entry. */
export const isReadable = ({ kind, isSpoiled }: StoredRecord): boolean =>
  kind in ENTRY_KINDS || (kind === STATE_KIND && !isSpoiled);

/** Returns the entry that a record holds; a noop in its place if the payload is spoiled. */
export function entryOf(record: StoredRecord): Entry | undefined {
  const kind = ENTRY_KINDS[record.kind];
  const { index, term } = record.position;
  if (kind === undefined) return undefined;
  if (kind === 'noop' || record.isSpoiled) return { kind: 'noop', index, term };
  if (kind === 'command') return { kind, index, term, data: record.payload };
  const configuration = JSON.parse(record.payload.toString()) as Configuration;
  return { kind, index, term, configuration };
}
