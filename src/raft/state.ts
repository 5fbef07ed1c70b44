/**
 * The fields of a Raft server, and what a step puts out. The rules that change them are in the
 * files named after them.
 */
import type { Configurations } from './configuration.js';
import type { Log } from './log.js';
import type { Progress } from './progress.js';
import type {
  Configuration,
  Index,
  Message,
  NodeId,
  Output,
  RaftOptions,
  RaftStatus,
  ReadId,
  RoleChange,
  Term,
} from './types.js';

/** Follows a leader or waits for one; a learner is a follower without a vote (§4.2.1). */
export interface FollowerState {
  role: 'follower' | 'learner';
  /** Highest index known to equal the leader's log of this term. */
  matched: Index;
  /** Highest index acknowledged, or promised to be once stored, to the leader of this term. */
  acked: Index;
  /** Highest round heard from the leader of this term. */
  round: number;
}

export interface CandidateState {
  readonly role: 'preCandidate' | 'candidate';
  readonly granted: Set<NodeId>;
  readonly rejected: Set<NodeId>;
}

/** Reads on their way (§6.4). */
export interface Reads {
  /** Number of the last round begun; each append carries it. */
  round: number;
  /** Asked for, but not bound to a round yet. */
  waiting: ReadId[];
  /** Bound to a round, oldest first. */
  bound: { readonly round: number; readonly index: Index; readonly ids: readonly ReadId[] }[];
  /**
   * When recent rounds were begun, oldest first and without a gap: leases are counted from there.
   */
  begun: { readonly round: number; readonly at: number }[];
  /**
   * A TimeoutNow was sent in this term: whenever it arrives, its receiver overrides the sticky
   * period.
   */
  leaseRefused: boolean;
}

export interface Transfer {
  readonly to: NodeId;
  readonly begunTick: number;
  sent: boolean;
}

export interface LeaderState {
  readonly role: 'leader';
  /** All other members. */
  readonly progress: Map<NodeId, Progress>;
  /**
   * Index of the no-op that began the term: what is committed from here on was counted in this term
   * (§3.6.2).
   */
  readonly termStart: Index;
  /**
   * Term and vote are known to be durable. A lone voter leads before that and must stay silent:
   * after a crash it could lead the same term again with other entries.
   */
  established: boolean;
  /** Ticks since the term began. */
  ticks: number;
  heartbeatTick: number;
  /** Every peer gets a message at the end of this step. */
  broadcast: boolean;
  readonly reads: Reads;
  transfer: Transfer | undefined;
  /** What was proposed and is not committed: runs of entries, oldest first, and their bytes. */
  readonly uncommitted: { readonly step: number; last: Index; bytes: number }[];
  uncommittedBytes: number;
}

export type RoleState = FollowerState | CandidateState | LeaderState;

/** An `Output` while it is collected. */
export type Outbox = {
  -readonly [Field in keyof Output]: Output[Field] extends readonly (infer Item)[]
    ? Item[]
    : Output[Field];
};

export interface Raft {
  readonly options: RaftOptions;
  readonly id: NodeId;
  readonly log: Log;
  readonly configurations: Configurations;
  /** Steps taken; groups what was proposed in one. */
  steps: number;
  /** The clock of this step, in milliseconds. */
  now: number;
  term: Term;
  votedFor: NodeId | null;
  leader: NodeId | null;
  commit: Index;
  state: RoleState;
  /** Ticks since the timer was reset, and when it runs out. */
  electionElapsed: number;
  electionTimeout: number;
  /** The timer was made to run out sooner: once a leader is heard it starts anew. */
  hastened: boolean;
  /**
   * Ticks since a leader was heard, in whatever term: the sticky period (§4.2.3), on which leases
   * rest. Below 0 while an earlier run may have promised more than electionTicks.
   */
  leaderElapsed: number;
  out: Outbox;
  /** What the last output told. */
  told: { role: RoleChange; configuration: Configuration };
}

export type MessageOf<T extends Message['type']> = Message & { readonly type: T };

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

/** Closes the step: what was collected, and what changed since the last output. */
export function takeOutput(raft: Raft): Output {
  const { out, told, term, leader, state } = raft;
  const { role } = state;
  raft.out = newOutbox();
  out.entries = raft.log.tail;
  if (told.role.role !== role || told.role.term !== term || told.role.leader !== leader) {
    told.role = { role, term, leader };
    out.role = told.role;
  }
  const configuration = raft.configurations.current;
  if (told.configuration !== configuration) {
    told.configuration = configuration;
    out.configuration = configuration;
  }
  return out;
}

/** Term or vote changed: they are stored before any promise made in this step leaves (§3.8). */
export function storeHardState(raft: Raft): void {
  raft.out.hardState = { term: raft.term, votedFor: raft.votedFor };
}

/** Facts for status pages, tests and checks of invariants: a copy. */
export function statusOf(raft: Raft): RaftStatus {
  const { id, term, leader, votedFor, commit, log, configurations, state } = raft;
  const peers = state.role === 'leader' ? [...state.progress.values()] : [];
  return {
    id,
    role: state.role,
    term,
    leader,
    votedFor,
    commit,
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
    })),
  };
}
