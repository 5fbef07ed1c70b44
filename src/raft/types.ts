/** The inputs and outputs of the Raft core: plain, comparable, printable data. */

/** Id of a server, unique and never reused. */
export type NodeId = string;
/** Position in the log, from 1. A safe integer. */
export type Index = number;
/** Term of a leader (§3.3). A safe integer that never decreases. */
export type Term = number;

/**
 * One server of a configuration. `address` is `host:port` of its Raft listener; learners do not
 * vote (§4.2.1).
 */
export interface Member {
  readonly id: NodeId;
  readonly name: string;
  readonly address: string;
  readonly voter: boolean;
  /**
   * Public key of its data folder, from level 3 on. A server that speaks for this member must prove
   * to have the private one. The core does not interpret it.
   */
  readonly publicKey?: string;
}
/** The servers of a cluster at some point of the log (§4.1). */
export interface Configuration {
  readonly members: readonly Member[];
}

/** A log entry. The core does not interpret `data`. */
export type Entry =
  | {
      readonly kind: 'command';
      readonly index: Index;
      readonly term: Term;
      readonly data: Uint8Array;
    }
  | { readonly kind: 'noop'; readonly index: Index; readonly term: Term }
  | {
      readonly kind: 'configuration';
      readonly index: Index;
      readonly term: Term;
      readonly configuration: Configuration;
    };

/** What must survive a crash besides the entries (§3.8: currentTerm, votedFor). */
export interface HardState {
  readonly term: Term;
  readonly votedFor: NodeId | null;
}

/** Position and configuration of the newest snapshot (§5.1). */
export interface SnapshotMeta {
  readonly index: Index;
  readonly term: Term;
  readonly configuration: Configuration;
}

/**
 * The durable log behind the core, as a synchronous read-only view. It contains everything that was
 * passed to the driver for storing, synced or not. The core tracks what is durable by the `stored`
 * input.
 */
export interface LogView {
  /** First index in the log; `snapshot.index + 1`. */
  firstIndex(): Index;
  /** Last index in the log; `firstIndex() - 1` if it is empty. */
  lastIndex(): Index;
  /**
   * Returns the term at an index, including `firstIndex() - 1` (that of the snapshot); undefined if
   * the index is compacted or beyond the end.
   */
  term(index: Index): Term | undefined;
  /** Returns entries lo..hi (inclusive), up to maxBytes but at least one if there is any. */
  entries(lo: Index, hi: Index, maxBytes: number): Entry[];
  /** The newest snapshot; undefined if the log was never compacted. */
  snapshot(): SnapshotMeta | undefined;
}

interface Envelope {
  readonly from: NodeId;
  readonly to: NodeId;
  readonly term: Term;
}
/** A message between servers. */
export type Message =
  | (Envelope & {
      readonly type: 'preVote' | 'vote';
      readonly lastIndex: Index;
      readonly lastTerm: Term;
      /** Set if a TimeoutNow started the campaign: overrides the sticky leader (§4.2.3). */
      readonly transfer?: boolean;
    })
  | (Envelope & {
      readonly type: 'preVoteResponse' | 'voteResponse';
      readonly granted: boolean;
    })
  | (Envelope & {
      /**
       * AppendEntries, also the heartbeat (§3.5). The answer echoes `round`, which proves contact
       * with a quorum for ReadIndex and lease (§6.4).
       */
      readonly type: 'append';
      readonly prevIndex: Index;
      readonly prevTerm: Term;
      readonly entries: readonly Entry[];
      readonly commit: Index;
      readonly round: number;
    })
  | (Envelope & {
      readonly type: 'appendResponse';
      readonly success: boolean;
      /**
       * On success: the highest index known to match and to be durable on the follower. On failure:
       * a hint where to try next.
       */
      readonly index: Index;
      /** On failure: the term of the follower's entry at `index` (0 before the first entry). */
      readonly hintTerm: Term;
      readonly round: number;
      /**
       * How long the follower refuses votes at least, in milliseconds of its own clock since it
       * heard `round`. 0: it promises nothing, and no lease rests on its answer.
       */
      readonly silenceMs: number;
    })
  | (Envelope & {
      /**
       * Announces to a follower that a snapshot is being sent. The driver transfers its chunks.
       */
      readonly type: 'snapshot';
      readonly meta: SnapshotMeta;
      readonly round: number;
    })
  | (Envelope & { readonly type: 'timeoutNow' });

/** The message with which a leader offers its state. */
export type SnapshotMessage = Extract<Message, { readonly type: 'snapshot' }>;

/**
 * Identifies a read request. The driver chooses it; the output that releases the read returns it.
 */
export type ReadId = number;

/** A follower that asks for a read index, and its term when it asked. */
export interface Asker {
  readonly id: NodeId;
  readonly term: Term;
}

/** An input of a step. */
export type Input =
  /** One tick of the logical clock has passed. */
  | { readonly type: 'tick' }
  | { readonly type: 'message'; readonly message: Message }
  /** Opaque commands to append. The output refers to them by their ids. */
  | {
      readonly type: 'propose';
      readonly commands: readonly { readonly id: number; readonly data: Uint8Array }[];
    }
  /**
   * Adds, removes, promotes, demotes or changes one member. The new configuration may differ from
   * the current one in one member only (§4.1).
   */
  | {
      readonly type: 'changeConfiguration';
      readonly id: number;
      readonly configuration: Configuration;
    }
  /**
   * Requests for read barriers. `lease` is released without a round while the lease holds; `quorum`
   * needs a majority that follows this leader after the read began (§6.4): a round, or `asker` if
   * it and the leader are one.
   */
  | {
      readonly type: 'read';
      readonly ids: readonly ReadId[];
      readonly mode: 'lease' | 'quorum';
      readonly asker?: Asker | undefined;
    }
  /**
   * All entries up to `index`, whose term is `term`, and the hard state of the same and earlier
   * outputs are durable. One input may confirm several outputs. `index` must be below the first
   * entry of every batch that is still pending: an entry that such a batch is about to replace must
   * not count as durable, even if an equal entry returns later.
   */
  | { readonly type: 'stored'; readonly index: Index; readonly term: Term }
  /**
   * A received snapshot was verified and installed durably, and the log view starts after it. The
   * driver must call `accepts` before, in the same turn as the switch of the view, and must not
   * store any other output between that switch and this input.
   */
  | { readonly type: 'snapshotStored'; readonly meta: SnapshotMeta; readonly from: NodeId }
  /** The outcome of sending a snapshot to a follower. */
  | { readonly type: 'snapshotSent'; readonly to: NodeId; readonly ok: boolean }
  /** The peer is unreachable at present (connection refused or reset). */
  | { readonly type: 'unreachable'; readonly peer: NodeId }
  /**
   * The clock of `step` may have stood still since the last step, so no lease may rest on an
   * earlier round. It must be the first input of its step.
   */
  | { readonly type: 'clockSuspect' }
  /** Transfers leadership (§3.10) to `to`, by default the most advanced voter. */
  | { readonly type: 'transfer'; readonly to?: NodeId }
  /**
   * The driver has applied entries up to `index`. After a restart this shows how far the log is
   * known to be committed.
   */
  | { readonly type: 'applied'; readonly index: Index };

/**
 * Why a proposal was dropped. A dropped proposal has certainly not been appended to any log.
 */
export type DropReason =
  | 'not_leader'
  | 'transferring'
  | 'change_in_flight'
  | 'invalid_change'
  | 'overloaded';

/**
 * What the driver must do; the head of raft.ts has the order. If `entries[0].index` is not after
 * the log's last index, the batch that stores them truncates the log from there.
 */
export interface Output {
  readonly hardState?: HardState;
  readonly entries: readonly Entry[];
  readonly sendNow: readonly Message[];
  readonly sendAfterStore: readonly Message[];
  /** Present if the commit index has advanced. Every entry up to it is known to be committed. */
  readonly commit?: Index;
  /** Appended proposals. Each will be committed at (index, term) or be overwritten. */
  readonly appended: readonly { readonly id: number; readonly index: Index; readonly term: Term }[];
  readonly dropped: readonly { readonly id: number; readonly reason: DropReason }[];
  /** Released reads. Each may be served once `index` is applied. */
  readonly reads: readonly { readonly id: ReadId; readonly index: Index }[];
  readonly readsDropped: readonly ReadId[];
  /** Followers that need a snapshot, because their next entry is compacted. */
  readonly sendSnapshots: readonly { readonly to: NodeId; readonly message: Message }[];
  /**
   * Present if an election timer was started: the fraction of a tick in its random length, from 0
   * to 1. The driver lengthens one of the next ticks by it. So servers whose ticks coincide drift
   * apart and do not campaign at the same moment.
   */
  readonly lengthenTick?: number;
  /** Present if the role, the term or the known leader has changed. */
  readonly role?: RoleChange;
  /** Present if the configuration in force has changed (§4.1: when appended). */
  readonly configuration?: Configuration;
}

/** The role of a server. */
export type Role = 'follower' | 'preCandidate' | 'candidate' | 'leader' | 'learner';
/** The role of a server, with its term and the leader that it knows. */
export interface RoleChange {
  readonly role: Role;
  readonly term: Term;
  readonly leader: NodeId | null;
}

/** A copy of the state, for status pages, tests and invariants. */
export interface RaftStatus {
  readonly id: NodeId;
  readonly role: Role;
  readonly term: Term;
  readonly leader: NodeId | null;
  readonly votedFor: NodeId | null;
  readonly commit: Index;
  /**
   * Highest commit index that a leader has announced to this server since its start. It exceeds
   * `commit` while entries are missing here.
   */
  readonly announced: Index;
  readonly stored: Index;
  readonly lastIndex: Index;
  readonly lastTerm: Term;
  readonly configuration: Configuration;
  readonly configurationIndex: Index;
  /**
   * Only on a leader. `lastContact`: the `now` of the last response, or of the beginning of this
   * leader's term while there is none (`hasAnswered` is false).
   */
  readonly progress: readonly {
    readonly id: NodeId;
    readonly match: Index;
    readonly next: Index;
    readonly state: 'probe' | 'replicate' | 'snapshot';
    readonly lastContact: number;
    readonly hasAnswered: boolean;
  }[];
}

/**
 * The core. `step` handles the inputs in order and returns their merged output. `now` is a
 * monotonic clock in milliseconds, used only for the read lease, because a paused node misses
 * ticks. The core has no effects except on its own fields: the same calls return the same outputs.
 */
export interface RaftCore {
  step(inputs: readonly Input[], now: number): Output;
  /**
   * Whether a received snapshot is still needed: its entry is neither committed nor in the log.
   * Installing any other would discard entries that this node has acknowledged.
   */
  accepts(meta: SnapshotMeta): boolean;
  /**
   * Returns the number of ticks, at least one, before which no tick has anything to do if nothing
   * else arrives. A leader looks at its other deadlines when it sends a heartbeat.
   */
  restTicks(): number;
  status(): RaftStatus;
}
