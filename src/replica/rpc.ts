/**
 * Remote procedure calls between members (rpc-codec.ts lists what one can ask of another). A
 * call is made once; whoever needs the result repeats it.
 */
import { type Refusal, refusal } from '../base/errors.js';
import type { NodeId, RoleChange } from '../raft/types.js';
import type { Reply, WirePort } from './ports.js';
import {
  decodeRequest,
  decodeResponse,
  encodeRequest,
  encodeResponse,
  type RpcRequest,
  type RpcResponse,
} from './rpc-codec.js';
import { INTERNAL_KEY } from './types.js';

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
  usage: 'member',
  member: 'member',
  removed: 'peer',
  room: 'peer',
  level: 'peer',
  sums: 'peer',
  differs: 'peer',
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

export interface RpcParts {
  readonly id: NodeId;
  readonly wire: Pick<WirePort, 'request'>;
  /** Role, term and leader as this server knows them. */
  readonly role: () => RoleChange;
  /** Whether the configuration in force holds a server. */
  readonly isMember: (id: NodeId) => boolean;
  /** Whether that configuration is applied. Until then another one may take its place. */
  readonly isSettled: () => boolean;
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
    const { id, isMember, isSettled } = this.#parts;
    if (ACCEPTED_FROM[request.type] === 'member' && !isMember(from)) {
      // A server whose log was damaged may not know the configuration, not even that it is a member.
      // And a removal that is not committed may be taken back.
      if (!isMember(id) || !isSettled()) return { type: 'retry' };
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
