/**
 * How a server enters a cluster: it asks members in turn until one of them, through the leader, has
 * admitted it. Also how a member forwards such requests, and how it reports that its own name or
 * address changed.
 */

import type { PeerRecord } from '../../base/peer-record.js';
import type { LogEvent } from '../../log/log-events.js';
import type { NodeId } from '../../raft/types.js';
import type { RaftLoop } from '../loop.js';
import type { ClockPort, Reply, WirePort } from '../ports.js';
import type { Rpc } from '../rpc.js';
import {
  decodeRequest,
  decodeResponse,
  encodeRequest,
  encodeResponse,
  type RpcResponse,
  type ServerFacts,
} from '../rpc-codec.js';
import { type IdentityPort, introduced, introductions, withRemoved } from './identity.js';

/** A server outside the cluster that asks to join, as far as its connection proves it. */
export interface Joiner extends PeerRecord {
  readonly nodeId: NodeId;
}

export interface JoinParts {
  readonly name: string;
  /** `host:port` where the other members reach this server. */
  readonly address: string;
  readonly identity: IdentityPort;
  readonly loop: RaftLoop;
  readonly rpc: Rpc;
  readonly wire: Pick<WirePort, 'requestJoin'>;
  readonly clock: ClockPort;
  /** The highest level that this release supports. */
  readonly level: () => number;
  /** The join token of this server, read at each attempt. Undefined: it waits for an operator. */
  readonly token: () => string | undefined;
  /**
   * Whether the data folder and certificate of a joiner are those that were met under its id, if
   * any were.
   */
  readonly isBelieved: (joiner: Joiner) => boolean;
  readonly log: (level: 'info' | 'warn', message: string, event: LogEvent) => void;
}

/** Milliseconds that a change of the membership may take. */
export const CHANGE_MS = 10_000;
/** Milliseconds between two attempts. */
const AGAIN_MS = 1000;

/** Joins a cluster, and lets others join through this server. */
export class Join {
  readonly #parts: JoinParts;
  #stopped = false;

  constructor(parts: JoinParts) {
    this.#parts = parts;
  }

  /**
   * Reports a new address, and joins the cluster of one of these addresses if this server is in
   * none.
   */
  start(addresses: readonly string[]): void {
    this.#announce();
    const others = addresses.filter((address) => address !== this.#parts.address);
    if (others.length > 0) this.#join(others, 0);
  }

  /** Makes no further attempts. */
  stop(): void {
    this.#stopped = true;
  }

  /**
   * Handles the request of a server outside the cluster: the leader decides, and the server is told
   * which cluster this is.
   */
  receive(joiner: Joiner, payload: Uint8Array, reply: Reply): void {
    const { identity, rpc, isBelieved } = this.#parts;
    const respond = (response: RpcResponse): void => reply(encodeResponse(response));
    const request = decodeRequest(payload);
    const { clusterId } = identity.get();
    if (request?.type !== 'add' || request.server.id !== joiner.nodeId || clusterId === null) {
      respond({ type: 'retry' });
      return;
    }
    const { type, token } = request;
    const { subject, publicKey } = joiner;
    // What it says of its key does not count, only what it has proved.
    const { publicKey: _said, ...facts } = request.server;
    const server = { ...facts, ...(publicKey !== undefined && { publicKey }) };
    const forwarded = {
      ...{ type, server },
      ...(token !== undefined && { token }),
      ...(subject !== undefined && { subject }),
    };
    rpc.callLeader(forwarded, CHANGE_MS, (response) => {
      if (response.type !== 'done') respond(response);
      // A server that takes the id of a member must not learn what identifies the others.
      else if (!isBelieved(joiner)) respond({ type: 'retry' });
      else {
        const own = identity.get();
        respond({ type: 'joined', clusterId, seen: introductions(own), removed: own.removed });
      }
    });
  }

  /**
   * Asks all members, one of which leads, until the configuration holds this server's present name
   * and address.
   */
  #announce(): void {
    const { name, address, identity, loop, rpc, clock, log } = this.#parts;
    const { members } = loop.status().configuration;
    const { nodeId } = identity.get();
    const known = members.find(({ id }) => id === nodeId);
    if (this.#stopped || known === undefined) return;
    if (known.address === address && known.name === name) return;
    const text = `moved from ${known.address} to ${address}; telling the other members`;
    log('info', text, 'address_changed');
    const request = { type: 'add' as const, server: this.#facts() };
    for (const { id } of members) if (id !== nodeId) rpc.notify(id, request, AGAIN_MS);
    rpc.callLeader(request, AGAIN_MS, (response) => {
      if (response.type !== 'refused' || response.refusal.code === 'no_leader') return;
      const why = `the leader refuses the new address of this node: ${reasonOf(response)}`;
      log('warn', why, 'address_changed');
    });
    clock.after(AGAIN_MS, () => this.#announce());
  }

  #join(addresses: readonly string[], attempt: number): void {
    const { identity, wire, clock, token: tokenNow, log } = this.#parts;
    if (this.#stopped || identity.get().clusterId !== null) return;
    const address = addresses[attempt % addresses.length]!;
    const token = tokenNow();
    const server = this.#facts();
    const request = { type: 'add' as const, server, ...(token !== undefined && { token }) };
    wire.requestJoin(address, encodeRequest(request), CHANGE_MS, (bytes, fate) => {
      const response = bytes === undefined ? undefined : decodeResponse(bytes);
      if (response?.type === 'joined') {
        this.#joined(response, address);
        return;
      }
      // The wire has logged why a request could not be sent.
      const { publicKey } = identity.get().keyPair ?? {};
      const key = publicKey === undefined ? '' : ` (the key of this node is ${publicKey})`;
      const why = `${reasonOf(response)}${key}`;
      const text = `${address} did not admit this node to its cluster: ${why}`;
      if (fate !== 'unsent') log('warn', text, 'join_refused');
      clock.after(AGAIN_MS, () => this.#join(addresses, attempt + 1));
    });
  }

  #joined(response: Extract<RpcResponse, { type: 'joined' }>, address: string): void {
    const { identity, log } = this.#parts;
    const { clusterId } = response;
    log('info', `joined the cluster ${clusterId} through ${address}`, 'joined');
    const seen = introduced(identity.get(), response.seen);
    identity.save({ clusterId, seen, removed: withRemoved([], response.removed) });
  }

  #facts(): ServerFacts {
    const { name, address, identity, level } = this.#parts;
    return { id: identity.get().nodeId, name, address, level: level() };
  }
}

function reasonOf(response: RpcResponse | undefined): string {
  if (response?.type !== 'refused') return 'no answer';
  const { message, hint } = response.refusal;
  return hint === undefined ? message : `${message}. ${hint}`;
}
