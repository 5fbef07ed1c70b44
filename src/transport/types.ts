/** What the wire needs from its node, and what both say about it. */
import type { PeerRecord } from '../peer-record.js';
import type { Message, NodeId } from '../raft/types.js';

/** Who this node is. `clusterId` is null until the node has joined or made a cluster. */
export interface WireIdentity {
  readonly nodeId: NodeId;
  /**
   * Random, made once with the data folder: a node whose disk was wiped comes back with another
   * one.
   */
  readonly incarnation: string;
  /** How often the data folder was started; raised and synced before a start sends anything. */
  readonly starts: number;
  /** Random, drawn at each start: two starts with one number come from two copies of the folder. */
  readonly startId: string;
  /** Of the starts before this one, the newest first; only the last of them are kept. */
  readonly earlier: readonly string[];
  readonly clusterId: string | null;
  /** `host:port` where the others reach this node. */
  readonly address: string;
}

/** The records of the nodes that were met, kept across restarts. */
export interface PeerRecords {
  get(id: NodeId): PeerRecord | undefined;
  set(id: NodeId, record: PeerRecord): void;
  /** Whether the node was a member once and was removed. Absent: nobody was. */
  isRemoved?(id: NodeId): boolean;
  /**
   * Whether a node that this node's configuration does not hold may speak: its configuration may be
   * old. Absent: every node may.
   */
  isKnown?(id: NodeId): boolean;
}

/** A node in no cluster yet that asks, as far as it has proved who it is. */
export interface Joiner extends PeerRecord {
  readonly nodeId: NodeId;
}

/** Numbered pieces of a state, for a follower; the same number always gives the same bytes. */
export interface ChunkSource {
  /** Names this stream: a receiver that has part of it already goes on where it stopped. */
  readonly id: string;
  chunk(number: number): Promise<{ readonly data: Uint8Array; readonly last: boolean }>;
  close(): void;
}

/** Takes the pieces in order. */
export interface ChunkSink {
  /** The first piece it wants. */
  readonly next: number;
  /**
   * Resolves when the piece is stored, for the last one when the state is switched in. Rejects when
   * it is not valid.
   */
  write(number: number, data: Uint8Array, last: boolean): Promise<void>;
  /** The connection is gone that brought the pieces. The sender may come back on another one. */
  disconnected?(): void;
}

export interface WireHandlers {
  onMessage(message: Message): void;
  /** A question of a member of this cluster. `reply` may be called once, or never. */
  onRequest(from: NodeId, payload: Uint8Array, reply: (payload: Uint8Array) => void): void;
  /** A question of a node that is in no cluster yet. */
  onJoinRequest(joiner: Joiner, payload: Uint8Array, reply: (payload: Uint8Array) => void): void;
  /** What a node sends is dropped because this node does not know it. */
  onStranger?(id: NodeId): void;
  onReachable(peer: NodeId): void;
  onUnreachable(peer: NodeId): void;
  /** The state to send for a snapshot message; undefined when there is none now. */
  snapshotSource(to: NodeId, message: Message): ChunkSource | undefined;
  /**
   * Where an arriving state goes; undefined to refuse it. The same `id` may come again after a
   * broken connection.
   */
  snapshotSink(message: Message, id: string): Promise<ChunkSink | undefined>;
}

/** A line for the log of the node. */
export type WireLog = (level: 'info' | 'warn', message: string) => void;

/** Why a peer was refused. Codes are stable; the text is for people. */
export type RefusalCode =
  | 'version'
  | 'cluster'
  | 'target'
  | 'incarnation'
  | 'reverted'
  | 'certificate'
  | 'removed'
  | 'stranger'
  | 'same_id'
  | 'protocol';

/** A peer broke the protocol or was refused: the connection is closed. */
export class WireError extends Error {
  readonly code: RefusalCode;
  constructor(code: RefusalCode, message: string) {
    super(message);
    this.name = 'WireError';
    this.code = code;
  }
}
