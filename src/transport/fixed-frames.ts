/**
 * Frames with fixed heads: those that every read and write sends. After its length, such a frame
 * begins with its number, where other frames have the length of their head, which begins with 0.
 * Numbers are u64 unless said otherwise:
 *
 *     append          12 · term · prevIndex · prevTerm · commit · round · entries
 *     appendResponse  13 · success u8 · term · index · hintTerm · round · silenceMs
 *     request, reply  14, 15 · id · payload
 *     entry           kind u8 · term · length u32 · content
 *
 * Messages do not name their servers: the handshake of the connection has.
 */
import type { Entry, Message, NodeId } from '../raft/types.js';
import { pack, unpack } from './codec.js';
import { packConfiguration, unpackConfiguration } from './messages.js';
import { WireError } from './types.js';

/** The servers of a connection: who dialled, and who accepted. */
export interface Ends {
  readonly from: NodeId;
  readonly to: NodeId;
}

/** A request to a member, or the answer to one. */
export interface Call {
  readonly type: 'request' | 'reply';
  readonly id: number;
  readonly payload: Uint8Array;
}

const APPEND = 12;
const RESPONSE = 13;
const CALLS = { request: 14, reply: 15 } as const;
/** The position is the number on the wire. */
const KINDS = ['command', 'noop', 'configuration'] as const satisfies readonly Entry['kind'][];
/** Bytes of a frame before its entries or payload, and of an entry before its content. */
const APPEND_BYTES = 41;
const RESPONSE_BYTES = 42;
const CALL_BYTES = 9;
const ENTRY_BYTES = 13;
const NOTHING = Buffer.alloc(0);

type Append = Extract<Message, { readonly type: 'append' }>;

/** Returns the buffers of a request or reply. */
export function encodeCall({ type, id, payload }: Call): Buffer[] {
  const head = begin(CALLS[type], CALL_BYTES, payload.length);
  put(head, 5, id);
  return [head, Buffer.from(payload.buffer, payload.byteOffset, payload.length)];
}

/** Returns the buffers of an append message. */
export function encodeAppend(message: Append): Buffer[] {
  const blob = blobOf(message);
  const head = begin(APPEND, APPEND_BYTES, blob.length);
  put(head, 5, message.term);
  put(head, 13, message.prevIndex);
  put(head, 21, message.prevTerm);
  put(head, 29, message.commit);
  put(head, 37, message.round);
  return blob.length === 0 ? [head] : [head, blob];
}

/** Returns the buffer of the response to an append message. */
export function encodeResponse(message: Extract<Message, { type: 'appendResponse' }>): Buffer {
  const frame = begin(RESPONSE, RESPONSE_BYTES, 0);
  frame[5] = message.success ? 1 : 0;
  put(frame, 6, message.term);
  put(frame, 14, message.index);
  put(frame, 22, message.hintTerm);
  put(frame, 30, message.round);
  put(frame, 38, message.silenceMs);
  return frame;
}

/** Encodings that are kept: followers are at few different positions. */
const RECENT_MAX = 4;
/** The last encoded entries: followers at the same position get the same bytes. */
const recent: { first: Entry; last: Entry; count: number; blob: Buffer }[] = [];

/** Returns the entries of a message, encoded once for all peers. */
function blobOf({ entries, prevIndex }: Append): Buffer {
  const count = entries.length;
  if (count === 0) return NOTHING;
  const first = entries[0]!;
  const last = entries.at(-1)!;
  // Entries of one log with the same first, last and count are the same entries.
  const known = recent.find((one) => one.first === first && one.last === last);
  if (known?.count === count) return known.blob;
  for (let i = 0; i < count; i += 1) {
    const { index } = entries[i]!;
    if (index === prevIndex + 1 + i) continue;
    throw new RangeError(`entry ${index} instead of ${prevIndex + 1 + i}`);
  }
  const blob = encodeEntries(entries);
  recent.unshift({ first, last, count, blob });
  recent.length = Math.min(recent.length, RECENT_MAX);
  return blob;
}

function encodeEntries(entries: readonly Entry[]): Buffer {
  const contents = entries.map(contentOf);
  const bytes = contents.reduce((sum, { length }) => sum + ENTRY_BYTES + length, 0);
  const blob = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const [i, { kind, term }] of entries.entries()) {
    const content = contents[i]!;
    blob[at] = KINDS.indexOf(kind);
    put(blob, at + 1, term);
    blob.writeUInt32BE(content.length, at + 9);
    blob.set(content, at + ENTRY_BYTES);
    at += ENTRY_BYTES + content.length;
  }
  return blob;
}

function contentOf(entry: Entry): Uint8Array {
  if (entry.kind === 'command') return entry.data;
  return entry.kind === 'noop' ? NOTHING : pack(packConfiguration(entry.configuration));
}

/** Whether a frame, without its length prefix, has a fixed head. */
export const isFixed = (bytes: Buffer): boolean => bytes[0] !== 0;

/** Decodes a frame with a fixed head, without its length prefix. Throws WireError. */
export function decodeFixed(
  bytes: Buffer,
  ends: Ends | undefined,
): Call | { readonly type: 'message'; readonly message: Message } {
  const number = bytes[0];
  if (number === CALLS.request || number === CALLS.reply) {
    mustHave(bytes, CALL_BYTES);
    const type = number === CALLS.request ? 'request' : 'reply';
    return { type, id: take(bytes, 1), payload: bytes.subarray(CALL_BYTES) };
  }
  if (number !== APPEND && number !== RESPONSE)
    throw new WireError('protocol', `unknown frame ${number}`);
  if (ends === undefined) throw new WireError('protocol', 'an unexpected message');
  const message = number === APPEND ? decodeAppend(bytes, ends) : decodeResponse(bytes, ends);
  return { type: 'message', message };
}

function decodeAppend(bytes: Buffer, { from, to }: Ends): Message {
  mustHave(bytes, APPEND_BYTES);
  const term = take(bytes, 1);
  const prevIndex = take(bytes, 9);
  const prevTerm = take(bytes, 17);
  const entries = decodeEntries(bytes, { prevIndex, prevTerm, term });
  const commit = take(bytes, 25);
  const round = take(bytes, 33);
  return { type: 'append', from, to, term, prevIndex, prevTerm, entries, commit, round };
}

function decodeResponse(bytes: Buffer, { from, to }: Ends): Message {
  mustHave(bytes, RESPONSE_BYTES);
  if (bytes[1]! > 1 || bytes.length > RESPONSE_BYTES)
    throw new WireError('protocol', 'an invalid response to an append');
  return {
    type: 'appendResponse',
    from,
    to,
    term: take(bytes, 2),
    success: bytes[1] === 1,
    index: take(bytes, 10),
    hintTerm: take(bytes, 18),
    round: take(bytes, 26),
    silenceMs: take(bytes, 34),
  };
}

interface Position {
  readonly prevIndex: number;
  readonly prevTerm: number;
  readonly term: number;
}

function decodeEntries(bytes: Buffer, { prevIndex, prevTerm, term }: Position): Entry[] {
  const entries: Entry[] = [];
  let before = prevTerm;
  for (let at = APPEND_BYTES; at < bytes.length; ) {
    mustHave(bytes, at + ENTRY_BYTES);
    const head = { index: prevIndex + 1 + entries.length, term: take(bytes, at + 1) };
    checkTerm(head, before, term);
    before = head.term;
    const begins = at + ENTRY_BYTES;
    const ends = begins + bytes.readUInt32BE(at + 9);
    mustHave(bytes, ends);
    entries.push(entryOf(head, KINDS[bytes[at]!], bytes.subarray(begins, ends)));
    at = ends;
  }
  return entries;
}

/** Throws WireError unless a term is between that of the entry before it and of its message. */
function checkTerm({ index, term }: Head, before: number, last: number): void {
  if (term >= before && term <= last) return;
  throw new WireError('protocol', `entry ${index} of term ${term} after ${before}`);
}

type Head = Pick<Entry, 'index' | 'term'>;

function entryOf(head: Head, kind: Entry['kind'] | undefined, content: Buffer): Entry {
  if (kind === 'command') return { kind, ...head, data: content };
  if (kind === 'configuration')
    return { kind, ...head, configuration: unpackConfiguration(unpack(content)) };
  if (kind === 'noop' && content.length === 0) return { kind, ...head };
  throw new WireError('protocol', `entry ${head.index} of an unknown kind`);
}

/** Returns the length prefix and the fixed part of a frame, of which `bytes` follow the prefix. */
function begin(number: number, bytes: number, more: number): Buffer {
  const head = Buffer.allocUnsafe(4 + bytes);
  head.writeUInt32BE(bytes + more, 0);
  head[4] = number;
  return head;
}

const HIGH = 2 ** 32;

function put(bytes: Buffer, at: number, value: number): void {
  bytes.writeUInt32BE(Math.floor(value / HIGH), at);
  bytes.writeUInt32BE(value >>> 0, at + 4);
}

function take(bytes: Buffer, at: number): number {
  const value = bytes.readUInt32BE(at) * HIGH + bytes.readUInt32BE(at + 4);
  if (value > Number.MAX_SAFE_INTEGER)
    throw new WireError('protocol', 'a frame contains a number that is too large');
  return value;
}

function mustHave(bytes: Buffer, length: number): void {
  if (bytes.length < length) throw new WireError('protocol', 'a frame is too short');
}
