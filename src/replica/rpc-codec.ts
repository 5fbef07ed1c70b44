/**
 * The requests between servers and their responses, as types and as bytes: MessagePack arrays whose
 * items are decoded strictly. What does not fit is refused, never guessed at. Items beyond the
 * known ones are ignored, so that a newer release can append some.
 */
import { Packr } from 'msgpackr/pack';
import { type About, ERROR_STATUS, PLAIN_KINDS, type Refusal } from '../base/errors.js';
import type { PeerRecord } from '../base/peer-record.js';
import type { Index, NodeId, Term } from '../raft/types.js';
import type { Result } from '../state/types.js';

/** Checksums of the state, by table. */
export type Sums = Readonly<Record<string, string>>;

/** A server that joins, as it describes itself. */
export interface ServerFacts {
  readonly id: NodeId;
  readonly name: string;
  /** `host:port` where the other members reach the server. */
  readonly address: string;
  /** The highest level its release supports. */
  readonly level: number;
  /** Public key that it has proved to the member it asked, which adds the key to the request. */
  readonly publicKey?: string;
}

/** A server asks to become a member, or a member reports its new name and address. */
export interface JoinRequest {
  readonly server: ServerFacts;
  /** A join token, as it was issued. */
  readonly token?: string;
  /** Subject of the server's certificate, added by the member that forwards the request. */
  readonly subject?: string;
}

/** All requests between servers. */
export type RpcRequest =
  /**
   * To the leader: replicate a write. `data` is the encoded Proposal; for `tokenKey` see
   * WriteRequest.
   */
  | {
      readonly type: 'write';
      readonly tokenKey: string | null;
      readonly data: Uint8Array;
      readonly timeoutMs: number;
    }
  /** To the leader: give a read index (§6.4). `term`: that of the sender. */
  | { readonly type: 'read'; readonly mode: 'default' | 'consistent'; readonly term: Term }
  /** To the leader: send me the whole state as a snapshot, since mine is lost. */
  | { readonly type: 'state' }
  /** To the leader: a server asks to join, directly or through the member it contacted. */
  | ({ readonly type: 'add' } & JoinRequest)
  /** To the leader: an operator's command. The server that sends it has authorised the operator. */
  | { readonly type: 'admit'; readonly server: ServerFacts }
  | { readonly type: 'remove'; readonly id: NodeId }
  | { readonly type: 'transfer'; readonly to: NodeId | null }
  /**
   * From the leader: the configuration at `index` no longer holds you. Nothing else would tell the
   * receiver.
   */
  | { readonly type: 'removed'; readonly index: Index }
  /**
   * From a leader that should not lead: could you? `done` if the receiver serves, has room on its
   * disk, and has applied almost all that it knows to be committed; otherwise `retry`.
   */
  | { readonly type: 'room' }
  /** To the leader: its view of the cluster, for operators. */
  | { readonly type: 'status' }
  /** To the leader: the servers that wait for an operator to admit them. */
  | { readonly type: 'joining' }
  /** Which decision refused a request on your node? It answers with the decision as JSON. */
  | { readonly type: 'decision'; readonly id: string }
  /** Which uses of tokens have you noted from a place on? It answers with them as JSON. */
  | { readonly type: 'usage'; readonly id: string }
  /** Does your newest configuration hold this server? `done`, otherwise `retry`. */
  | { readonly type: 'member'; readonly id: NodeId }
  /**
   * The highest level your release supports, how far you have applied the log, and why you are not
   * healthy.
   */
  | { readonly type: 'level' }
  /** From the leader: your checksums at an index, or at the newest checkpoint at or below it. */
  | { readonly type: 'sums'; readonly index: Index }
  /** From the leader: your state differs from the majority's in `table`. */
  | { readonly type: 'differs'; readonly index: Index; readonly table: string };

/** All responses. */
export type RpcResponse =
  /** The write was applied, with this result. */
  | { readonly type: 'applied'; readonly result: Result }
  /** The request was certainly not proposed, and why. */
  | { readonly type: 'refused'; readonly refusal: Refusal }
  /** The request was certainly not proposed; another member may lead, or this one may soon. */
  | { readonly type: 'retry' }
  /** The request was proposed and its outcome is open, or no response came. */
  | { readonly type: 'unknown' }
  | { readonly type: 'index'; readonly index: Index }
  | { readonly type: 'sums'; readonly index: Index; readonly sums: Sums }
  /** `problem`: why the member is not healthy; releases before 0.4.0 do not say. */
  | {
      readonly type: 'level';
      readonly level: number;
      readonly applied: Index;
      readonly problem?: string;
    }
  /** NodeStatus, JoiningServer[], a decision or uses of tokens, as JSON. */
  | { readonly type: 'status'; readonly text: string }
  /** `publicKey`: of the server that a request `member` is about, as far as it is known. */
  | { readonly type: 'done'; readonly publicKey?: string }
  /**
   * To a server that asked to join: it is now a member of this cluster. `seen` is what the
   * responding server knows of the members' data folders; otherwise the new member would believe
   * one whose disk was wiped or put back before they met.
   */
  | {
      readonly type: 'joined';
      readonly clusterId: string;
      readonly seen: Readonly<Record<NodeId, PeerRecord>>;
      /** Servers that were removed from the cluster. */
      readonly removed: readonly NodeId[];
    };

const packr = new Packr({ useRecords: false });

/** Encodes a request. */
export function encodeRequest(request: RpcRequest): Uint8Array {
  return packr.pack(arrayOf(request));
}

function arrayOf(request: RpcRequest): unknown[] {
  switch (request.type) {
    case 'write':
      return ['write', request.tokenKey, request.data, request.timeoutMs];
    case 'read':
      return ['read', request.mode, request.term];
    case 'add':
      return [
        'add',
        ...partsOfServer(request.server),
        request.token ?? null,
        request.subject ?? null,
        request.server.publicKey ?? null,
      ];
    case 'admit':
      return ['admit', ...partsOfServer(request.server), request.server.publicKey ?? null];
    case 'remove':
    case 'decision':
    case 'usage':
    case 'member':
      return [request.type, request.id];
    case 'transfer':
      return ['transfer', request.to];
    case 'state':
    case 'room':
    case 'status':
    case 'joining':
    case 'level':
      return [request.type];
    case 'removed':
    case 'sums':
      return [request.type, request.index];
    case 'differs':
      return ['differs', request.index, request.table];
  }
}

/** Decodes a request. Undefined when this release does not know such a request. */
export function decodeRequest(bytes: Uint8Array): RpcRequest | undefined {
  const parts = unpack(bytes);
  if (parts === undefined) return undefined;
  const [type, a, b, c, d, e, f, g] = parts;
  switch (type) {
    case 'write':
      if ((a !== null && !isText(a)) || !(b instanceof Uint8Array) || !isCount(c)) return undefined;
      return { type, tokenKey: a, data: b, timeoutMs: c };
    case 'read':
      if ((a !== 'default' && a !== 'consistent') || !isCount(b)) return undefined;
      return { type, mode: a, term: b };
    case 'add':
    case 'admit': {
      if (!isText(a) || !isText(b) || !isText(c) || !isCount(d)) return undefined;
      const publicKey = type === 'admit' ? e : g;
      const server = {
        id: a,
        name: b,
        address: c,
        level: d,
        ...(isText(publicKey) && { publicKey }),
      };
      if (type === 'admit') return { type, server };
      return { type, server, ...(isText(e) && { token: e }), ...(isText(f) && { subject: f }) };
    }
    case 'remove':
    case 'decision':
    case 'usage':
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

/** Encodes a response. */
export function encodeResponse(response: RpcResponse): Uint8Array {
  switch (response.type) {
    case 'applied': {
      const { result } = response;
      return result.ok
        ? packr.pack(['applied', result.index, null, result.value ?? null])
        : packr.pack(['applied', result.index, partsOf(result.refusal), null]);
    }
    case 'refused':
      return packr.pack(['refused', partsOf(response.refusal)]);
    case 'index':
      return packr.pack(['index', response.index]);
    case 'level':
      return packr.pack(['level', response.level, response.applied, response.problem ?? null]);
    case 'sums':
      return packr.pack(['sums', response.index, Object.entries(response.sums)]);
    case 'joined':
      return packr.pack([
        'joined',
        response.clusterId,
        Object.entries(response.seen).map(introductionOf),
        response.removed,
      ]);
    case 'status':
      return packr.pack(['status', response.text]);
    case 'done':
      return packr.pack(['done', response.publicKey ?? null]);
    case 'retry':
    case 'unknown':
      return packr.pack([response.type]);
  }
}

/** Decodes a response. Undefined when this release does not know such a response. */
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
      if (!isCount(a) || !isCount(b)) return undefined;
      return { type, level: a, applied: b, ...(isText(c) && { problem: c }) };
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
    case 'done':
      return { type, ...(isText(a) && { publicKey: a }) };
    case 'retry':
    case 'unknown':
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

const partsOf = ({ code, message, pointer, hint, about }: Refusal): unknown[] => [
  ...[code, message, pointer ?? null, hint ?? null],
  about === undefined ? null : aboutParts(about),
];

function aboutParts(about: About): unknown[] {
  switch (about.kind) {
    case 'denied': {
      const { kind, resource, access, segment, namespace } = about;
      return [kind, resource, access, segment ?? null, namespace];
    }
    case 'conflict': {
      const { kind, entry, unnamed } = about;
      return [kind, entry.kind, entry.name, unnamed];
    }
    case 'version':
      return [about.kind, about.current];
    default:
      return [about.kind];
  }
}

/** Undefined for what this release does not know: readers then tell less. */
function aboutOf(parts: unknown): About | undefined {
  if (!Array.isArray(parts)) return undefined;
  const [kind, a, b, c, d] = parts as unknown[];
  if (kind === 'denied' && isText(a) && isText(b) && isText(d)) {
    const segment = isText(c) ? { segment: c } : {};
    return { kind, resource: a, access: b, ...segment, namespace: d };
  }
  if (kind === 'conflict' && isText(a) && isText(b) && isText(c)) {
    return { kind, entry: { kind: a, name: b }, unnamed: c };
  }
  if (kind === 'version' && (a === null || Number.isSafeInteger(a))) {
    return { kind, current: a as number | null };
  }
  const plain = PLAIN_KINDS.find((each) => each === kind);
  return plain && { kind: plain };
}

function refusalOf(parts: unknown): Refusal | undefined {
  if (!Array.isArray(parts) || parts.length < 4) return undefined;
  const [code, message, pointer, hint, fifth] = parts as unknown[];
  const about = aboutOf(fifth);
  if (!isText(code) || !Object.hasOwn(ERROR_STATUS, code) || !isText(message)) return undefined;
  return {
    code: code as Refusal['code'],
    message,
    ...(isText(pointer) && { pointer }),
    ...(isText(hint) && { hint }),
    ...(about !== undefined && { about }),
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
  ...[id, name, address, level],
];

type Introduction = [
  id: NodeId,
  incarnation: string,
  starts: number,
  startId: string,
  subject?: unknown,
  publicKey?: unknown,
];
const introductionOf = ([id, record]: [NodeId, PeerRecord]): Introduction => {
  const { incarnation, starts, startId, subject, publicKey } = record;
  return [id, incarnation, starts, startId, subject ?? null, publicKey ?? null];
};
const introducedBy = (introduction: Introduction): [NodeId, PeerRecord] => {
  const [id, incarnation, starts, startId, subject, publicKey] = introduction;
  const record: PeerRecord = {
    incarnation,
    starts,
    startId,
    ...(isText(subject) && { subject }),
    ...(isText(publicKey) && { publicKey }),
  };
  return [id, record];
};
const isIntroduction = (value: unknown): value is Introduction => {
  if (!Array.isArray(value)) return false;
  const [id, incarnation, starts, startId] = value as unknown[];
  return isText(id) && isText(incarnation) && isCount(starts) && isText(startId);
};
