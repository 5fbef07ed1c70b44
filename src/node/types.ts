/** A member of the cluster, for the layers above, which never import Raft. */
import type { Refusal } from '../base/errors.js';
import type { JoiningServer, LevelStatus, WriteRequest } from '../replica/types.js';
import type { PinnedView, Result, View } from '../state/types.js';

export {
  type Gate,
  INTERNAL_KEY,
  type JoiningServer,
  type LevelStatus,
  type PrepareGate,
  type ReadMode,
  type WriteRequest,
} from '../replica/types.js';

/** The status of a member in the configuration of a node. */
export interface PeerStatus {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly voter: boolean;
  readonly leader: boolean;
  /** Whether it has answered this leader lately; on another node, whether it is connected to it. */
  readonly alive?: boolean;
  /** What it says is wrong with it, such as a disk at its reserve; absent if nothing is. */
  readonly problem?: string;
  /** Last index at which its log is known to match. This and the rest: only on the leader. */
  readonly matchIndex?: number;
  /**
   * Milliseconds since its last answer to this leader, or since the leader was elected. Absent if
   * the leader does not replicate to it.
   */
  readonly lastContactMs?: number;
  /** Term of the leader's last entry. */
  readonly lastTerm?: number;
  /** Whether it is alive and has no problem. */
  readonly healthy?: boolean;
  /** Since when its health has not changed, in Unix milliseconds. */
  readonly stableSinceMs?: number;
}

/** The status of a node. */
export interface NodeStatus {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly role: 'follower' | 'preCandidate' | 'candidate' | 'leader' | 'learner';
  readonly term: number;
  readonly leaderId: string | null;
  /** `host:port` of the leader's Raft listener; empty if no leader is known. */
  readonly leaderAddress: string;
  readonly commitIndex: number;
  /** The commit index that a leader has announced. Absent unless it is above `commitIndex`. */
  readonly announcedIndex?: number;
  readonly appliedIndex: number;
  readonly lastLogIndex: number;
  /** Milliseconds since this node heard from the leader; 0 on the leader. */
  readonly lastContactMs: number;
  readonly configurationIndex: number;
  readonly peers: readonly PeerStatus[];
  /** Why this node does not serve or accepts only deletes; absent if it serves. */
  readonly fault?: string;
}

/** A node, for the services. */
export interface ClusterNode {
  readonly id: string;
  readonly name: string;
  /** The state that this node has applied. Every apply changes it. */
  readonly view: View;
  /**
   * Returns a view that no apply changes, for answers that take several turns of the event loop.
   * The caller must close it.
   */
  pin(): PinnedView;
  status(): NodeStatus;
  /** Returns whether a leader is known and when it was last heard. Cheap: every answer has both. */
  contact(): { readonly knownLeader: boolean; readonly lastContactMs: number };
  /**
   * Returns why this node does not answer from its state, such as that it is damaged or that the
   * node was removed; undefined if it answers.
   */
  closed(): Refusal | undefined;
  /**
   * Returns the status of the leader, which includes that of its peers. Throws ApiError no_leader.
   */
  leaderStatus(timeoutMs: number): Promise<NodeStatus>;
  /**
   * Resolves once this node has applied every write acknowledged before the call. Throws ApiError
   * no_leader.
   */
  barrier(mode: 'default' | 'consistent', timeoutMs: number): Promise<void>;
  /**
   * Replicates a command. Waits for a leader, and retries with the next one under the same request
   * id, so that the command takes effect once. Resolves with the result once this node has applied
   * the command too. Throws ApiError: no_leader (it did not happen), outcome_unknown (it may still
   * happen), no_space, or the gate's refusal.
   */
  write(request: WriteRequest): Promise<Result>;
  /**
   * Calls `wake` once, after the next applied change of any of the keys, or when the clock has
   * reached `untilMs`. Returns a function that cancels it.
   */
  watch(keys: readonly string[], wake: () => void, untilMs?: number): () => void;
  /**
   * Transfers leadership to the voter `to`, or to the one with the most complete log. Throws
   * ApiError.
   */
  transfer(to?: string): Promise<void>;
  /** Removes a server. Throws ApiError: not_found, conflict (for the last voter), no_leader. */
  removeServer(id: string): Promise<void>;
  /** Returns the servers that the leader knows to await an operator. Throws ApiError no_leader. */
  joining(timeoutMs: number): Promise<readonly JoiningServer[]>;
  /** Makes such a server a member. Throws ApiError: not_found, conflict, no_leader. */
  admit(id: string): Promise<void>;
  /**
   * Asks another member for a decision that it made. Resolves with its JSON text, or with undefined
   * if that member does not know it or does not answer within `timeoutMs`.
   */
  decision(member: string, id: string, timeoutMs: number): Promise<string | undefined>;
  /**
   * Asks another member for the uses of tokens that it has noted from a place on. Resolves as
   * `decision` does.
   */
  usage(member: string, from: string, timeoutMs: number): Promise<string | undefined>;
  /** Asks every member for its level. That of one that does not answer in time is undefined. */
  levels(): Promise<LevelStatus>;
}
