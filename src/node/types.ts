/** A member of the cluster as the layers above see it: they never see Raft. */
import type { Refusal } from '../errors.js';
import type { JoiningServer, LevelStatus, WriteRequest } from '../replica/types.js';
import type { PinnedView, Result, View } from '../state/types.js';

export {
  type Gate,
  INTERNAL_KEY,
  type JoiningServer,
  type LevelStatus,
  type ReadMode,
  type WriteRequest,
} from '../replica/types.js';

export interface PeerStatus {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly voter: boolean;
  readonly leader: boolean;
  /** Leader only: last index known to match, milliseconds since the last answer. */
  readonly matchIndex?: number;
  readonly lastContactMs?: number;
  readonly lastTerm?: number;
  readonly healthy?: boolean;
  /** Milliseconds since the epoch from which the health did not change. */
  readonly stableSinceMs?: number;
}

export interface NodeStatus {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly role: 'follower' | 'preCandidate' | 'candidate' | 'leader' | 'learner';
  readonly term: number;
  readonly leaderId: string | null;
  /** `host:port` of the leader's Raft listener, "" when none is known. */
  readonly leaderAddress: string;
  readonly commitIndex: number;
  readonly appliedIndex: number;
  readonly lastLogIndex: number;
  /** Milliseconds since this node heard from a leader; 0 on the leader. */
  readonly lastContactMs: number;
  readonly configurationIndex: number;
  readonly peers: readonly PeerStatus[];
  /** Set when this node refuses to serve: which table differs, disk at its reserve, stopping. */
  readonly fault?: string;
}

export interface ClusterNode {
  readonly id: string;
  readonly name: string;
  /** This node's applied state, now. */
  readonly view: View;
  /** A frozen view of it, for answers that are produced in several turns of the loop; must be closed. */
  pin(): PinnedView;
  status(): NodeStatus;
  /** Whether a leader is known and when it was last heard: two facts of the status, cheap enough for every answer. */
  contact(): { readonly knownLeader: boolean; readonly lastContactMs: number };
  /** Why this node answers nothing from its state (it is wrong, lost, or no member's any more); undefined: it serves. */
  closed(): Refusal | undefined;
  /** The status as the leader has it, which alone knows how far its peers are. Throws ApiError no_leader. */
  leaderStatus(timeoutMs: number): Promise<NodeStatus>;
  /** Resolves when this node has applied everything acknowledged before the call. Throws ApiError no_leader. */
  barrier(mode: 'default' | 'consistent', timeoutMs: number): Promise<void>;
  /**
   * Replicates a command: waits for a leader, sends again to the next one under the same request id, takes effect once.
   * Resolves with the result when it is applied on this node too. Throws ApiError no_leader (did not happen),
   * outcome_unknown (may still happen), no_space, or the gate's refusal.
   */
  write(request: WriteRequest): Promise<Result>;
  /** Calls `wake` once, after the next applied change of any of the keys. Returns a cancel function. */
  watch(keys: readonly string[], wake: () => void): () => void;
  /** Resolves when this node hands leadership to `to` (or the most advanced voter). Throws ApiError. */
  transfer(to?: string): Promise<void>;
  /** Removes a server by id. Throws ApiError (not_found, conflict for the last voter, no_leader). */
  removeServer(id: string): Promise<void>;
  /** The servers that wait for an operator, as the leader knows them. Throws ApiError no_leader. */
  joining(timeoutMs: number): Promise<readonly JoiningServer[]>;
  /** Makes a server that waits a member. Throws ApiError (not_found, conflict, no_leader). */
  admit(id: string): Promise<void>;
  /** Asks every member what it supports; one that does not answer in time counts as level 1. */
  levels(): Promise<LevelStatus>;
}
