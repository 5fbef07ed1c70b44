/**
 * What members ask each other outside Raft, and the answers, as bytes. Arrays whose items are decoded strictly: what does
 * not fit is refused, never guessed at. Items beyond the known ones are ignored, so that a newer release can append some.
 */
import { Packr } from 'msgpackr';
import { ERROR_STATUS, type Refusal } from '../errors.js';
import type { Index, NodeId } from '../raft/types.js';
import type { Result } from '../state/types.js';
import type { PeerRecord } from '../transport/types.js';

/** Checksums by table. */
export type Sums = Readonly<Record<string, string>>;

export interface ServerFacts {
  readonly id: NodeId;
  readonly name: string;
  readonly address: string;
  /** The level its release supports; a release that knows no levels does not say. */
  readonly level?: number;
}

export type Ask =
  /** A write for the leader. `data`: the encoded Proposal; `tokenKey`: see WriteRequest. */
  | {
      readonly type: 'write';
      readonly tokenKey: string | null;
      readonly data: Uint8Array;
      readonly timeoutMs: number;
    }
  /** A read index. */
  | { readonly type: 'read'; readonly mode: 'default' | 'consistent' }
  /** The whole state, for a member that has lost its own; the leader sends it as a snapshot. */
  | { readonly type: 'state' }
  /** Changes of the membership, for the leader. A server that joins asks any member to add it. */
  | { readonly type: 'add'; readonly server: ServerFacts }
  | { readonly type: 'remove'; readonly id: NodeId }
  | { readonly type: 'transfer'; readonly to: NodeId | null }
  /** The configuration at `index` does not hold the receiver any more; it would not hear of it otherwise. */
  | { readonly type: 'removed'; readonly index: Index }
  /** Whether the receiver could lead and has room on its disk, of a leader that has none: `done`, else `retry`. */
  | { readonly type: 'room' }
  /** What the leader knows of the cluster, for operators. */
  | { readonly type: 'status' }
  /** The level that the receiver's release supports. A release that does not know the question supports level 1. */
  | { readonly type: 'level' }
  /** The checksums of the state at an index (the newest checkpoint at or below it). */
  | { readonly type: 'sums'; readonly index: Index }
  /** The leader's verdict: the state of the receiver differs from the majority's in `table`. */
  | { readonly type: 'differs'; readonly index: Index; readonly table: string };

export type Answer =
  | { readonly type: 'applied'; readonly result: Result }
  /** This attempt was certainly not proposed, and why. */
  | { readonly type: 'refused'; readonly refusal: Refusal }
  /** This attempt was certainly not proposed; another member may be the leader, or this one soon. */
  | { readonly type: 'retry' }
  /** It was proposed, and its fate is open. */
  | { readonly type: 'unknown' }
  | { readonly type: 'index'; readonly index: Index }
  | { readonly type: 'sums'; readonly index: Index; readonly sums: Sums }
  | { readonly type: 'level'; readonly level: number }
  /** NodeStatus as JSON. */
  | { readonly type: 'status'; readonly text: string }
  | { readonly type: 'done' }
  /**
   * To a server that asked to join: it is a member of this cluster now. `seen`: by what the answering server knows the
   * members; who joins would otherwise believe one whose disk was wiped, or went back in time, before they met.
   */
  | {
      readonly type: 'joined';
      readonly clusterId: string;
      readonly seen: Readonly<Record<NodeId, PeerRecord>>;
    };

const packr = new Packr({ useRecords: false });

export function encodeAsk(ask: Ask): Uint8Array {
  return packr.pack(arrayOf(ask));
}

function arrayOf(ask: Ask): unknown[] {
  switch (ask.type) {
    case 'write':
      return ['write', ask.tokenKey, ask.data, ask.timeoutMs];
    case 'read':
      return ['read', ask.mode];
    case 'add': {
      const { id, name, address, level } = ask.server;
      return ['add', id, name, address, ...(level === undefined ? [] : [level])];
    }
    case 'remove':
      return ['remove', ask.id];
    case 'transfer':
      return ['transfer', ask.to];
    case 'state':
    case 'room':
    case 'status':
    case 'level':
      return [ask.type];
    case 'removed':
    case 'sums':
      return [ask.type, ask.index];
    case 'differs':
      return ['differs', ask.index, ask.table];
  }
}

/** Undefined when the bytes are not a question that this version knows. */
export function decodeAsk(bytes: Uint8Array): Ask | undefined {
  const parts = unpack(bytes);
  if (parts === undefined) return undefined;
  const [type, a, b, c, d] = parts;
  switch (type) {
    case 'write':
      if ((a !== null && !isText(a)) || !(b instanceof Uint8Array) || !isCount(c)) return undefined;
      return { type, tokenKey: a, data: b, timeoutMs: c };
    case 'read':
      return a === 'default' || a === 'consistent' ? { type, mode: a } : undefined;
    case 'add':
      if (!isText(a) || !isText(b) || !isText(c)) return undefined;
      return { type, server: { id: a, name: b, address: c, ...(isCount(d) && { level: d }) } };
    case 'remove':
      return isText(a) ? { type, id: a } : undefined;
    case 'transfer':
      return a === null || isText(a) ? { type, to: a } : undefined;
    case 'state':
    case 'room':
    case 'status':
    case 'level':
      return { type };
    case 'removed':
    case 'sums':
      return isCount(a) ? { type, index: a } : undefined;
    case 'differs':
      return isCount(a) && isText(b) ? { type, index: a, table: b } : undefined;
    default:
      return undefined;
  }
}

export function encodeAnswer(answer: Answer): Uint8Array {
  switch (answer.type) {
    case 'applied': {
      const { result } = answer;
      return result.ok
        ? packr.pack(['applied', result.index, null, result.value ?? null])
        : packr.pack(['applied', result.index, partsOf(result.refusal), null]);
    }
    case 'refused':
      return packr.pack(['refused', partsOf(answer.refusal)]);
    case 'index':
      return packr.pack(['index', answer.index]);
    case 'level':
      return packr.pack(['level', answer.level]);
    case 'sums':
      return packr.pack(['sums', answer.index, Object.entries(answer.sums)]);
    case 'joined':
      return packr.pack([
        'joined',
        answer.clusterId,
        Object.entries(answer.seen).map(introductionOf),
      ]);
    case 'status':
      return packr.pack(['status', answer.text]);
    case 'retry':
    case 'unknown':
    case 'done':
      return packr.pack([answer.type]);
  }
}

/** Undefined when the bytes are not an answer that this version knows. */
export function decodeAnswer(bytes: Uint8Array): Answer | undefined {
  const parts = unpack(bytes);
  if (parts === undefined) return undefined;
  const [type, a, b, c] = parts;
  switch (type) {
    case 'applied':
      return isCount(a) ? decodeResult(a, b, c) : undefined;
    case 'refused': {
      const refusal = refusalOf(a);
      return refusal && { type, refusal };
    }
    case 'index':
      return isCount(a) ? { type, index: a } : undefined;
    case 'level':
      return isCount(a) ? { type, level: a } : undefined;
    case 'sums':
      if (!isCount(a) || !Array.isArray(b) || !b.every(isPair)) return undefined;
      return { type, index: a, sums: Object.fromEntries(b) };
    case 'joined':
      if (!isText(a) || !Array.isArray(b) || !b.every(isIntroduction)) return undefined;
      return { type, clusterId: a, seen: Object.fromEntries(b.map(introducedBy)) };
    case 'status':
      return isText(a) ? { type, text: a } : undefined;
    case 'retry':
    case 'unknown':
    case 'done':
      return { type };
    default:
      return undefined;
  }
}

function decodeResult(index: Index, refused: unknown, value: unknown): Answer | undefined {
  if (refused !== null) {
    const refusal = refusalOf(refused);
    return refusal && { type: 'applied', result: { ok: false, index, refusal } };
  }
  if (value !== null && !isText(value)) return undefined;
  const result: Result = value === null ? { ok: true, index } : { ok: true, index, value };
  return { type: 'applied', result };
}

const partsOf = ({ code, message, pointer, hint }: Refusal): unknown[] => [
  code,
  message,
  pointer ?? null,
  hint ?? null,
];

function refusalOf(parts: unknown): Refusal | undefined {
  if (!Array.isArray(parts) || parts.length < 4) return undefined;
  const [code, message, pointer, hint] = parts as unknown[];
  if (!isText(code) || !Object.hasOwn(ERROR_STATUS, code) || !isText(message)) return undefined;
  return {
    code: code as Refusal['code'],
    message,
    ...(isText(pointer) && { pointer }),
    ...(isText(hint) && { hint }),
  };
}

function unpack(bytes: Uint8Array): unknown[] | undefined {
  try {
    const parts: unknown = packr.unpack(bytes);
    return Array.isArray(parts) ? parts : undefined;
  } catch {
    return undefined;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;
const isPair = (value: unknown): value is [string, string] =>
  Array.isArray(value) && value.length >= 2 && isText(value[0]) && isText(value[1]);

type Introduction = [id: NodeId, incarnation: string, starts: number, startId: string];
const introductionOf = ([id, record]: [NodeId, PeerRecord]): Introduction => [
  ...([id, record.incarnation] as const),
  ...([record.starts, record.startId] as const),
];
const introducedBy = ([id, incarnation, starts, startId]: Introduction): [NodeId, PeerRecord] => [
  id,
  { incarnation, starts, startId },
];
const isIntroduction = (value: unknown): value is Introduction => {
  if (!Array.isArray(value)) return false;
  const [id, incarnation, starts, startId] = value as unknown[];
  return isText(id) && isText(incarnation) && isCount(starts) && isText(startId);
};
