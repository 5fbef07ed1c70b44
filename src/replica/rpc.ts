/**
 * Remote procedure calls between members: everything one server can ask of another outside Raft. A
 * call is made once; whoever needs the result repeats it.
 */
import { type Refusal, refusal } from '../base/errors.js';
import type { PeerRecord } from '../base/peer-record.js';
import type { Index, NodeId, RoleChange, Term } from '../raft/types.js';
import type { Result } from '../state/types.js';
import type { Reply, WirePort } from './ports.js';
import { decodeRequest, decodeResponse, encodeRequest, encodeResponse } from './rpc-codec.js';
import { INTERNAL_KEY } from './types.js';

/** Checksums of the state, by table. */
export type Sums = Readonly<Record<string, string>>;

/** A server that joins, as it describes itself. */
export interface ServerFacts {
  readonly id: NodeId;
  readonly name: string;
  /** `host:port` where the other members reach the server. */
  readonly address: string;
  /**
   * The highest level its release supports. Absent in requests of a release that knows no levels.
   */
  readonly level?: number;
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
  /**
   * To the leader: give a read index (§6.4). `term`: that of the sender, absent in requests of
   * releases before 0.3.0.
   */
  | { readonly type: 'read'; readonly mode: 'default' | 'consistent'; readonly term?: Term }
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
  /** Does your newest configuration hold this server? `done`, otherwise `retry`. */
  | { readonly type: 'member'; readonly id: NodeId }
  /**
   * The highest level your release supports, how far you have applied the log, and why you are not
   * healthy. A release that does not know the request supports level 1.
   */
  | { readonly type: 'level' }
  /** From the leader: your checksums at an index, or at the newest checkpoint at or below it. */
  | { readonly type: 'sums'; readonly index: Index }
  /** From the leader: your state differs from the majority's in `table`. */
  | { readonly type: 'differs'; readonly index: Index; readonly table: string };

/**
 * Which servers may send a request. `member`: servers that the receiver's newest configuration
 * holds. `peer`: any server that passed the handshake; a leader sends these to members whose
 * configuration may be too old to hold it.
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
  decision: 'member',
  member: 'member',
  removed: 'peer',
  room: 'peer',
  level: 'peer',
  sums: 'peer',
  differs: 'peer',
};

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
  /**
   * `applied`: the index. Releases before 0.3.0 do not send it. `problem`: why the member is not
   * healthy; releases before 0.4.0 do not say.
   */
  | {
      readonly type: 'level';
      readonly level: number;
      readonly applied?: Index;
      readonly problem?: string;
    }
  /** NodeStatus, JoiningServer[] or a decision, as JSON. */
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

/** Gets the response. Called once. */
export type RpcDone = (response: RpcResponse) => void;

/**
 * One function per request: responds once through `done`, now or later. `from` is the server that
 * sent the request.
 */
export type RpcHandlers = {
  readonly [T in RpcRequest['type']]: (
    request: Extract<RpcRequest, { readonly type: T }>,
    done: RpcDone,
    from: NodeId,
  ) => void;
};

/** What Rpc needs. */
export interface RpcParts {
  readonly id: NodeId;
  readonly wire: Pick<WirePort, 'request'>;
  /** Role, term and leader as this server knows them. */
  readonly role: () => RoleChange;
  /** Whether the configuration in force holds a server. */
  readonly isMember: (id: NodeId) => boolean;
  /** A response to a server follows, which may have to apply what is committed to act on it. */
  readonly beforeResponse: (to: NodeId) => void;
}

/** Sends and receives requests. */
export class Rpc {
  readonly #parts: RpcParts;
  #handlers: RpcHandlers | undefined;

  constructor(parts: RpcParts) {
    this.#parts = parts;
  }

  /** Sets the functions that handle requests. Called once, before any request arrives. */
  serve(handlers: RpcHandlers): void {
    this.#handlers = handlers;
  }

  /**
   * Sends a request to a peer. `done` is called once: with the response; with `retry` when the
   * request never left this server; with `unknown` when no response came within `timeoutMs`, or one
   * that this release cannot decode.
   */
  call(to: NodeId, request: RpcRequest, timeoutMs: number, done: RpcDone): void {
    this.#parts.wire.request(to, encodeRequest(request), timeoutMs, (bytes, fate) => {
      const response = bytes === undefined ? undefined : decodeResponse(bytes);
      done(response ?? { type: fate === 'unsent' ? 'retry' : 'unknown' });
    });
  }

  /** Sends a request whose response does not matter. */
  notify(to: NodeId, request: RpcRequest, timeoutMs: number): void {
    this.call(to, request, timeoutMs, () => {});
  }

  /**
   * Sends a request to the leader, which may be this server. Refused with `no_leader` when none is
   * known.
   */
  callLeader(request: RpcRequest, timeoutMs: number, done: RpcDone): void {
    const { id, role } = this.#parts;
    const { leader } = role();
    if (leader === null) done({ type: 'refused', refusal: noLeader() });
    else if (leader === id) this.#handle(request, done, id);
    else this.call(leader, request, timeoutMs, done);
  }

  /** Handles a request that arrived from a peer. */
  receive(from: NodeId, payload: Uint8Array, reply: Reply): void {
    const request = decodeRequest(payload);
    const done: RpcDone = (response) => {
      this.#parts.beforeResponse(from);
      reply(encodeResponse(response));
    };
    if (request === undefined) done(refused('invalid', 'The request could not be decoded'));
    else {
      const rejection = this.#rejection(request, from);
      if (rejection !== undefined) done(rejection);
      else this.#handle(request, done, from);
    }
  }

  #rejection(request: RpcRequest, from: NodeId): RpcResponse | undefined {
    const { id, isMember } = this.#parts;
    if (ACCEPTED_FROM[request.type] === 'member' && !isMember(from)) {
      // A server whose log was damaged may not know the configuration, not even that it is a member.
      if (!isMember(id)) return { type: 'retry' };
      return refused('unavailable', `The server ${from} is not a member of the cluster`);
    }
    if (request.type === 'write' && request.tokenKey === INTERNAL_KEY)
      return refused('permission_denied', 'Only the leader itself makes internal writes');
    return undefined;
  }

  #handle<R extends RpcRequest>(request: R, done: RpcDone, from: NodeId): void {
    const handlers = this.#handlers as Record<string, RpcHandler<R>> | undefined;
    handlers?.[request.type]?.(request, done, from);
  }
}

const refused = (code: Refusal['code'], what: string): RpcResponse => ({
  type: 'refused',
  refusal: refusal(code, what),
});

type RpcHandler<R> = (request: R, done: RpcDone, from: NodeId) => void;

/** No leader was known until the deadline, so the request did not happen. */
export const noLeader = (): Refusal =>
  refusal('no_leader', 'No cluster leader', {
    hint: 'A majority of the servers must be up and reach each other; nothing was changed',
  });
