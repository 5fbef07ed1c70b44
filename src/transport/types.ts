/** The interfaces between the network and its node. */

import type { KeyPair, PeerRecord } from '../base/peer-record.js';
import type { LogEvent } from '../log/log-events.js';
import type { Message, NodeId } from '../raft/types.js';

/**
 * The identity of this node. `clusterId` is null until the node has joined or created a cluster.
 */
export interface WireIdentity {
  readonly nodeId: NodeId;
  /**
   * Random, created with the data folder. A node whose disk was wiped has another one.
   */
  readonly incarnation: string;
  /**
   * Number of starts of the data folder. It is incremented and synced before a start sends
   * anything.
   */
  readonly starts: number;
  /** Random at each start. Two starts with the same number come from two copies of the folder. */
  readonly startId: string;
  /** The `startId`s of the latest earlier starts, the newest first. */
  readonly earlier: readonly string[];
  readonly clusterId: string | null;
  /** `host:port` at which the other members reach this node. */
  readonly address: string;
  /** Absent: this node proves nothing. Only tests and simulations of older releases lack it. */
  readonly keyPair?: KeyPair;
}

/** The records of known nodes. They survive restarts. */
export interface PeerRecords {
  get(id: NodeId): PeerRecord | undefined;
  set(id: NodeId, record: PeerRecord): void;
  /** Whether the node was a member and was removed. Absent: no node was. */
  isRemoved?(id: NodeId): boolean;
  /**
   * Whether messages of a node outside this node's configuration are accepted, since the
   * configuration may be outdated. Absent: those of every node are.
   */
  isKnown?(id: NodeId): boolean;
  /**
   * The public key whose private half a node must prove to have; undefined while none is known, or
   * where nothing binds a proof to a connection. Absent: it never is.
   */
  keyOf?(id: NodeId): string | undefined;
}

/** A node that asks to join, with the identity that it has proved. */
export interface Joiner extends PeerRecord {
  readonly nodeId: NodeId;
}

/** The numbered chunks of a state for a follower. A number always returns the same bytes. */
export interface ChunkSource {
  /** Identifies the state: a receiver that already has a part of it resumes where it stopped. */
  readonly id: string;
  chunk(number: number): Promise<{ readonly data: Uint8Array; readonly last: boolean }>;
  close(): void;
}

/** Stores the chunks of a state in order. */
export interface ChunkSink {
  /** The first chunk that it needs. */
  readonly next: number;
  /**
   * Resolves once the chunk is stored; for the last one, once the new state has replaced the old.
   * Rejects if it is not valid. May be called while earlier chunks are being stored: they are
   * stored in order.
   */
  write(number: number, data: Uint8Array, last: boolean): Promise<void>;
  /** The connection of the sender is closed. The sender may resume on another one. */
  disconnected?(): void;
}

/** What the network reports to its node. */
export interface WireHandlers {
  onMessage(message: Message): void;
  /** Handles a request of a member. `reply` may be called once, or never. */
  onRequest(from: NodeId, payload: Uint8Array, reply: (payload: Uint8Array) => void): void;
  /** Handles a request of a node that is in no cluster yet. */
  onJoinRequest(joiner: Joiner, payload: Uint8Array, reply: (payload: Uint8Array) => void): void;
  /** An unknown node was refused. */
  onStranger?(id: NodeId): void;
  onReachable(peer: NodeId): void;
  onUnreachable(peer: NodeId): void;
  /** Returns the state to send for a snapshot message; undefined if there is none at present. */
  snapshotSource(to: NodeId, message: Message): ChunkSource | undefined;
  /**
   * Returns where to store a state that is being received, or undefined to refuse it. The same `id`
   * may come again after a broken connection.
   */
  snapshotSink(message: Message, id: string): Promise<ChunkSink | undefined>;
}

/** Writes a line to the node's log. `peer`: the node that the message calls `node ID`. */
export type WireLog = (
  level: 'info' | 'warn',
  message: string,
  event: LogEvent,
  peer?: NodeId,
) => void;

/** Why a peer was refused. The codes are stable. */
export type RefusalCode =
  | 'version'
  | 'cluster'
  | 'target'
  | 'incarnation'
  | 'reverted'
  | 'certificate'
  | 'key'
  | 'removed'
  | 'stranger'
  | 'same_id'
  | 'protocol';

/** A peer violated the protocol or was refused. The connection is closed. */
export class WireError extends Error {
  readonly code: RefusalCode;
  /** What the peer is told: nothing by which it could pass for a member. */
  readonly told: string;
  constructor(code: RefusalCode, message: string, told = message) {
    super(message);
    this.name = 'WireError';
    this.code = code;
    this.told = told;
  }
}
