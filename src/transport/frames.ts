/**
 * Frames: u32 length of the rest · u32 length of the head · head · blob. The head is a msgpack
 * array whose first item is the type of the frame. The blob is raw bytes, so that payloads are
 * neither copied nor encoded again. An answer of three bytes to request 7:
 *
 *     00 00 00 0a  00 00 00 03  93 07 07 ... the blob
 *     length       head length  [7, 7]
 *
 * Decoding is strict: each frame must have the items listed here, each of its type; otherwise it
 * throws WireError. It ignores additional items, which a newer release may append. The most
 * frequent frames have other heads; see `fixed-frames.ts`.
 */
import type { Message } from '../raft/types.js';
import { pack, unpack } from './codec.js';
import {
  type Call,
  decodeFixed,
  type Ends,
  encodeAppend,
  encodeCall,
  encodeResponse,
  isFixed,
} from './fixed-frames.js';
import { decodeMessage, encodeMessage, type PackedMessage } from './messages.js';
import { bool, fields, id, int, list, optional, text } from './shapes.js';
import { WireError } from './types.js';

/**
 * The newest version of the members' protocol that this release speaks. A new item at the end of a
 * frame needs no new version. A new type of frame or message needs one, or a level, because an
 * older release closes the connection when it receives one.
 */
export const PROTOCOL_VERSION = 2;
/** The oldest version of the members' protocol that this release speaks: that of release 0.3.0. */
export const OLDEST_PROTOCOL_VERSION = 2;

/** The purposes of connections. `join`: requests of a node that is in no cluster. */
export const PURPOSES = ['messages', 'snapshot', 'join'] as const;
export type Purpose = (typeof PURPOSES)[number];

/** The first frame of each side: who it is, and what it wants. */
export interface Hello {
  /** The newest version of the protocol that the sender speaks, and the oldest. */
  readonly version: number;
  readonly oldestVersion: number;
  /** '' if the sender is in no cluster. */
  readonly clusterId: string;
  readonly nodeId: string;
  readonly incarnation: string;
  /** See WireIdentity. */
  readonly starts: number;
  readonly startId: string;
  readonly earlier: readonly string[];
  readonly address: string;
  readonly purpose: Purpose;
  /** The node that the sender wants to reach; '' if it knows only an address. */
  readonly target: string;
  /** Public key of the sender's data folder, and the proof that it has the private one. */
  readonly publicKey?: string;
  readonly proof?: string;
}

/** A decoded frame. */
export type Frame =
  | { readonly type: 'hello'; readonly hello: Hello }
  | { readonly type: 'refused'; readonly code: string; readonly message: string }
  | { readonly type: 'ping' | 'pong' }
  | { readonly type: 'message'; readonly message: Message }
  | Call
  | { readonly type: 'snapshotBegin'; readonly id: string; readonly message: PackedMessage }
  | {
      readonly type: 'snapshotChunk';
      readonly number: number;
      readonly last: boolean;
      readonly data: Uint8Array;
    }
  /** The receiver has stored all chunks below `number`, and asks for that one. */
  | { readonly type: 'snapshotNext'; readonly number: number }
  | { readonly type: 'snapshotEnd'; readonly ok: boolean };

/**
 * Numbers of the frame types on the wire. They are never reused: version 1 of the protocol had 6
 * and 7, and 12 to 15 have fixed heads.
 */
const NUMBERS = {
  hello: 1,
  refused: 2,
  ping: 3,
  pong: 4,
  message: 5,
  snapshotBegin: 8,
  snapshotChunk: 9,
  snapshotNext: 10,
  snapshotEnd: 11,
} as const satisfies Record<PackedType, number>;
type PackedType = Exclude<Frame['type'], 'request' | 'reply'>;
const TYPES = new Map<number, PackedType>(
  Object.entries(NUMBERS).map(([type, number]) => [number, type as PackedType]),
);

const NOTHING = Buffer.alloc(0);

/** Encodes a frame into buffers that are written one after the other. */
export function encodeFrame(frame: Frame): Buffer[] {
  if (frame.type === 'request' || frame.type === 'reply') return encodeCall(frame);
  const number = NUMBERS[frame.type];
  switch (frame.type) {
    case 'hello': {
      const { version, clusterId, nodeId, incarnation, address, target } = frame.hello;
      const { purpose, starts, startId, earlier, oldestVersion } = frame.hello;
      const { publicKey, proof } = frame.hello;
      const proven = publicKey === undefined || proof === undefined ? [] : [publicKey, proof];
      return assemble([
        number,
        version,
        clusterId,
        nodeId,
        incarnation,
        address,
        PURPOSES.indexOf(purpose),
        target,
        starts,
        startId,
        oldestVersion,
        earlier,
        ...proven,
      ]);
    }
    case 'refused':
      return assemble([number, frame.code, frame.message]);
    case 'ping':
    case 'pong':
      return assemble([number]);
    case 'message': {
      const { message } = frame;
      if (message.type === 'append') return encodeAppend(message);
      if (message.type === 'appendResponse') return [encodeResponse(message)];
      return assemble([number, ...encodeMessage(message)]);
    }
    case 'snapshotBegin':
      return assemble([number, frame.id, ...encodeMessage(frame.message)]);
    case 'snapshotChunk':
      return assemble([number, frame.number, frame.last], frame.data);
    case 'snapshotNext':
      return assemble([number, frame.number]);
    case 'snapshotEnd':
      return assemble([number, frame.ok]);
  }
}

function assemble(items: readonly unknown[], blob: Uint8Array = NOTHING): Buffer[] {
  const head = pack(items);
  const lengths = Buffer.allocUnsafe(8);
  lengths.writeUInt32BE(4 + head.length + blob.length, 0);
  lengths.writeUInt32BE(head.length, 4);
  if (blob.length === 0) return [lengths, head];
  return [lengths, head, Buffer.from(blob.buffer, blob.byteOffset, blob.length)];
}

/**
 * Decodes a frame without its length prefix. `ends` are the servers of the
 * connection; without them no message with a fixed head is taken. Throws WireError.
 */
export function decodeFrame(bytes: Buffer, ends?: Ends): Frame {
  if (bytes.length < 4) throw new WireError('protocol', 'a frame is too short');
  if (isFixed(bytes)) return decodeFixed(bytes, ends);
  const headLength = bytes.readUInt32BE(0);
  if (headLength > bytes.length - 4)
    throw new WireError('protocol', 'the head of a frame is longer than the frame');
  const head = list(unpack(bytes.subarray(4, 4 + headLength)));
  const blob = bytes.subarray(4 + headLength);
  const type = TYPES.get(int(head[0]));
  if (type === undefined) throw new WireError('protocol', `unknown frame ${String(head[0])}`);
  if (type !== 'snapshotChunk' && blob.length > 0)
    throw new WireError('protocol', `${type} with extra bytes`);
  return decodeBody(type, head.slice(1), blob);
}

function decodeBody(type: PackedType, items: readonly unknown[], blob: Buffer): Frame {
  switch (type) {
    case 'hello':
      return { type, hello: decodeHello(fields(items, 11)) };
    case 'refused':
      fields(items, 2);
      return { type, code: text(items[0]), message: text(items[1]) };
    case 'ping':
    case 'pong':
      return { type };
    case 'message':
      return { type, message: decodeMessage(items) };
    case 'snapshotBegin':
      return { type, id: id(items[0]), message: decodeMessage(items.slice(1)) };
    case 'snapshotChunk':
      fields(items, 2);
      return { type, number: int(items[0]), last: bool(items[1]), data: blob };
    case 'snapshotNext':
      fields(items, 1);
      return { type, number: int(items[0]) };
    case 'snapshotEnd':
      fields(items, 1);
      return { type, ok: bool(items[0]) };
  }
}

function decodeHello(items: readonly unknown[]): Hello {
  const purpose = PURPOSES[int(items[5])];
  if (purpose === undefined) throw new WireError('protocol', 'a hello without a purpose');
  const publicKey = optional(items[11], text);
  const proof = optional(items[12], text);
  return {
    version: int(items[0]),
    clusterId: text(items[1]),
    nodeId: id(items[2]),
    incarnation: id(items[3]),
    address: text(items[4]),
    purpose,
    target: text(items[6]),
    starts: int(items[7]),
    startId: id(items[8]),
    oldestVersion: int(items[9]),
    earlier: list(items[10]).map(id),
    ...(publicKey !== undefined && proof !== undefined && { publicKey, proof }),
  };
}
