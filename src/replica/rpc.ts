/**
 * What members ask each other outside Raft, and the answers, as bytes. Arrays whose items are decoded strictly: what does
 * not fit is refused, never guessed at. Items beyond the known ones are ignored, so that a newer release can append some.
 *
 * This list is all that one server can ask of another, and `ACCEPTED_FROM` says from whom each question is taken.
 */
import { Packr } from 'msgpackr';
import { ERROR_STATUS, type Refusal } from '../errors.js';
import type { PeerRecord } from '../peer-record.js';
import type { Index, NodeId } from '../raft/types.js';
import type { Result } from '../state/types.js';

/** Checksums by table. */
export type Sums = Readonly<Record<string, string>>;

export interface ServerFacts {
  readonly id: NodeId;
  readonly name: string;
  readonly address: string;
  /** The level its release supports; a release that knows no levels does not say. */
  readonly level?: number;
}

/** A server asks to become a member, or, being one, tells its new name and address. */
export interface JoinRequest {
  readonly server: ServerFacts;
  /** A join token, as it was given out. */
  readonly token?: string;
  /** Of its certificate, told by the member that passes the question on. */
  readonly subject?: string;
}

export type RpcRequest =
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
  /** For the leader, of a server that asks itself, or of the member that it has asked. */
  | ({ readonly type: 'add' } & JoinRequest)
  /** Orders of an operator, for the leader: who asks has seen that its caller has the right. */
  | { readonly type: 'admit'; readonly server: ServerFacts }
  | { readonly type: 'remove'; readonly id: NodeId }
  | { readonly type: 'transfer'; readonly to: NodeId | null }
  /** The configuration at `index` does not hold the receiver any more; it would not hear of it otherwise. */
  | { readonly type: 'removed'; readonly index: Index }
  /** Whether the receiver could lead and has room on its disk, of a leader that has none: `done`, else `retry`. */
  | { readonly type: 'room' }
  /** What the leader knows of the cluster, for operators. */
  | { readonly type: 'status' }
  /** The servers that wait for an operator, as the leader knows them. */
  | { readonly type: 'joining' }
  /** Whether the receiver's newest configuration holds this server: `done`, else `retry`. */
  | { readonly type: 'member'; readonly id: NodeId }
  /** The level that the receiver's release supports. A release that does not know the question supports level 1. */
  | { readonly type: 'level' }
  /** The checksums of the state at an index (the newest checkpoint at or below it). */
  | { readonly type: 'sums'; readonly index: Index }
  /** The leader's verdict: the state of the receiver differs from the majority's in `table`. */
  | { readonly type: 'differs'; readonly index: Index; readonly table: string };

/**
 * From whom a question is taken. `member`: a server that the receiver's newest configuration holds. `peer`: any server that
 * passed the handshake; a leader asks these of members whose configuration may be too old to hold it.
 */
export const ACCEPTED_FROM: Readonly<Record<RpcRequest['type'], 'member' | 'peer'>> = {
  write: 'member',
  read: 'member',
  state: 'member',
  add: 'member',
  admit: 'member',
  remove: 'member',
  transfer: 'member',
  status: 'member',
  joining: 'member',
  member: 'member',
  removed: 'peer',
  room: 'peer',
  level: 'peer',
  sums: 'peer',
  differs: 'peer',
};

export type RpcResponse =
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
  /** What was asked for (NodeStatus, JoiningServer[]), as JSON. */
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
      /** The servers that were removed. */
      readonly removed: readonly NodeId[];
    };

const packr = new Packr({ useRecords: false });

export function encodeRequest(ask: RpcRequest): Uint8Array {
  return packr.pack(arrayOf(ask));
}

function arrayOf(ask: RpcRequest): unknown[] {
  switch (ask.type) {
    case 'write':
      return ['write', ask.tokenKey, ask.data, ask.timeoutMs];
    case 'read':
      return ['read', ask.mode];
    case 'add':
      return ['add', ...partsOfServer(ask.server), ask.token ?? null, ask.subject ?? null];
    case 'admit':
      return ['admit', ...partsOfServer(ask.server)];
    case 'remove':
    case 'member':
      return [ask.type, ask.id];
    case 'transfer':
      return ['transfer', ask.to];
    case 'state':
    case 'room':
    case 'status':
    case 'joining':
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
export function decodeRequest(bytes: Uint8Array): RpcRequest | undefined {
  const parts = unpack(bytes);
  if (parts === undefined) return undefined;
  const [type, a, b, c, d, e, f] = parts;
  switch (type) {
    case 'write':
      if ((a !== null && !isText(a)) || !(b instanceof Uint8Array) || !isCount(c)) return undefined;
      return { type, tokenKey: a, data: b, timeoutMs: c };
    case 'read':
      return a === 'default' || a === 'consistent' ? { type, mode: a } : undefined;
    case 'add':
    case 'admit': {
      if (!isText(a) || !isText(b) || !isText(c)) return undefined;
      const server = { id: a, name: b, address: c, ...(isCount(d) && { level: d }) };
      if (type === 'admit') return { type, server };
      return { type, server, ...(isText(e) && { token: e }), ...(isText(f) && { subject: f }) };
    }
    case 'remove':
    case 'member':
      return isText(a) ? { type, id: a } : undefined;
    case 'transfer':
      return a === null || isText(a) ? { type, to: a } : undefined;
    case 'state':
    case 'room':
    case 'status':
    case 'joining':
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

export function encodeResponse(answer: RpcResponse): Uint8Array {
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
        answer.removed,
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
export function decodeResponse(bytes: Uint8Array): RpcResponse | undefined {
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
      return {
        ...{ type, clusterId: a, seen: Object.fromEntries(b.map(introducedBy)) },
        removed: Array.isArray(c) ? c.filter(isText) : [],
      };
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

function decodeResult(index: Index, refused: unknown, value: unknown): RpcResponse | undefined {
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

const partsOfServer = ({ id, name, address, level }: ServerFacts): unknown[] => [
  ...[id, name, address],
  level ?? null,
];

type Introduction = [
  id: NodeId,
  incarnation: string,
  starts: number,
  startId: string,
  subject?: unknown,
];
const introductionOf = ([id, record]: [NodeId, PeerRecord]): Introduction => {
  const { incarnation, starts, startId, subject } = record;
  return [id, incarnation, starts, startId, subject ?? null];
};
const introducedBy = ([id, incarnation, starts, startId, subject]: Introduction): [
  NodeId,
  PeerRecord,
] => [id, { incarnation, starts, startId, ...(isText(subject) && { subject }) }];
const isIntroduction = (value: unknown): value is Introduction => {
  if (!Array.isArray(value)) return false;
  const [id, incarnation, starts, startId] = value as unknown[];
  return isText(id) && isText(incarnation) && isCount(starts) && isText(startId);
};
