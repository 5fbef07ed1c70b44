/**
 * The fields of a Raft server, and the output of a step. The rules that change them are in the
 * files named after them.
 */
import type { Configurations } from './configuration.js';
import type { Trace } from './decisions.js';
import type { Log } from './log.js';
import type { RaftOptions } from './options.js';
import type { Progress } from './progress.js';
import type {
  Configuration,
  Index,
  Message,
  NodeId,
  Output,
  RaftStatus,
  ReadId,
  RoleChange,
  Term,
} from './types.js';

/** A server that follows a leader or waits for one. A learner has no vote (§4.2.1). */
export interface FollowerState {
  role: 'follower' | 'learner';
  /** Highest index known to equal the leader's log of this term. */
  matched: Index;
  /**
   * Highest index acknowledged to the leader of this term, including answers that await the disk.
   */
  acked: Index;
  /** Highest round heard from the leader of this term. */
  round: number;
}

/** A server that asks for votes, or for pre-votes (§9.6). */
export interface CandidateState {
  readonly role: 'preCandidate' | 'candidate';
  readonly granted: Set<NodeId>;
  readonly rejected: Set<NodeId>;
}

/** The pending reads of a leader (§6.4). */
export interface Reads {
  /** Number of the last round. Each append carries it. */
  round: number;
  /** Reads that are not bound to a round yet. */
  waiting: ReadId[];
  /** Reads that are bound to a round, oldest first. */
  bound: { readonly round: number; readonly index: Index; readonly ids: readonly ReadId[] }[];
  /**
   * When recent rounds began, oldest first and without gaps. Leases count from these times.
   */
  begun: { readonly round: number; readonly at: number }[];
  /**
   * A TimeoutNow was sent in this term. Whenever it arrives, its receiver overrides the sticky
   * period.
   */
  leaseRefused: boolean;
}

/** A leadership transfer in progress (§3.10). */
export interface Transfer {
  readonly to: NodeId;
  readonly begunTick: number;
  sent: boolean;
}

/** A leader. */
export interface LeaderState {
  readonly role: 'leader';
  /** The progress of all other members. */
  readonly progress: Map<NodeId, Progress>;
  /**
   * Index of the no-op that began the term. Entries from here on are committed by counting
   * (§3.6.2).
   */
  readonly termStart: Index;
  /**
   * Whether term and vote are known to be durable. A lone voter becomes leader before that and must
   * send nothing, since after a crash it could lead the same term again with other entries.
   */
  established: boolean;
  /** Ticks since the term began. */
  ticks: number;
  heartbeatTick: number;
  /** Whether every peer gets a message at the end of this step. */
  broadcast: boolean;
  readonly reads: Reads;
  transfer: Transfer | undefined;
  /** Uncommitted entries of this term: runs of entries, oldest first, and their bytes. */
  readonly uncommitted: { readonly step: number; last: Index; bytes: number }[];
  uncommittedBytes: number;
}

/** The fields of a server that depend on its role. */
export type RoleState = FollowerState | CandidateState | LeaderState;

/** An `Output` that is being collected. */
export type Outbox = {
  -readonly [Field in keyof Output]: Output[Field] extends readonly (infer Item)[]
    ? Item[]
    : Output[Field];
};

/** A Raft server. */
export interface Raft {
  readonly options: RaftOptions;
  readonly trace: Trace | undefined;
  readonly id: NodeId;
  readonly log: Log;
  readonly configurations: Configurations;
  /** Number of steps. It groups the entries proposed in one step. */
  steps: number;
  /** The clock of this step, in milliseconds. */
  now: number;
  term: Term;
  votedFor: NodeId | null;
  leader: NodeId | null;
  commit: Index;
  /**
   * Highest commit index that a leader has announced. The log may not reach it yet. For the status
   * alone: no rule reads it.
   */
  announced: Index;
  state: RoleState;
  /** Ticks since the election timer was reset, and its length. */
  electionElapsed: number;
  electionTimeout: number;
  /** Whether the timer was shortened. It restarts when a leader is heard. */
  hastened: boolean;
  /**
   * Ticks since a leader of any term was heard. This is the sticky period (§4.2.3), on which leases
   * rest. It is negative while an earlier run may have promised more than electionTicks.
   */
  leaderElapsed: number;
  out: Outbox;
  /** Role and configuration of the last output. */
  lastReported: { role: RoleChange; configuration: Configuration };
}

/** The messages of a type. */
export type MessageOf<T extends Message['type']> = Message & { readonly type: T };

/** Returns an empty outbox. */
export function newOutbox(): Outbox {
  return {
    entries: [],
    sendNow: [],
    sendAfterStore: [],
    appended: [],
    dropped: [],
    reads: [],
    readsDropped: [],
    sendSnapshots: [],
  };
}

/** Ends the step. Returns the collected output, with what changed since the last one. */
export function takeOutput(raft: Raft): Output {
  const { out, lastReported, term, leader, state } = raft;
  const { role } = state;
  raft.out = newOutbox();
  out.entries = raft.log.tail;
  if (
    lastReported.role.role !== role ||
    lastReported.role.term !== term ||
    lastReported.role.leader !== leader
  ) {
    lastReported.role = { role, term, leader };
    out.role = lastReported.role;
  }
  const configuration = raft.configurations.current;
  if (lastReported.configuration !== configuration) {
    lastReported.configuration = configuration;
    out.configuration = configuration;
  }
  return out;
}

/**
 * Adds term and vote to the output. They are stored before any promise of this step is sent (§3.8).
 */
export function storeHardState(raft: Raft): void {
  raft.out.hardState = { term: raft.term, votedFor: raft.votedFor };
}

/** Returns a copy of the state, for status pages, tests and invariants. */
export function statusOf(raft: Raft): RaftStatus {
  const { id, term, leader, votedFor, commit, announced, log, configurations, state } = raft;
  const peers = state.role === 'leader' ? [...state.progress.values()] : [];
  return {
    id,
    role: state.role,
    term,
    leader,
    votedFor,
    commit,
    announced,
    stored: log.stored,
    lastIndex: log.last,
    lastTerm: log.lastTerm,
    configuration: configurations.current,
    configurationIndex: configurations.index,
    progress: peers.map((peer) => ({
      id: peer.id,
      match: peer.match,
      next: peer.next,
      state: peer.state,
      lastContact: peer.lastContact,
      hasAnswered: peer.hasAnswered,
    })),
  };
}
