/** The data that goes in and out of the Raft core. Plain, comparable, printable; no behaviour. */

export type NodeId = string;
/** Log position, from 1. A safe integer. */
export type Index = number;
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
}
export interface Configuration {
  readonly members: readonly Member[];
}

/** A log entry. The core never looks into `data`. */
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
 * The durable log behind the core, as a synchronous read-only view. It shows what was handed over
 * for storing, synced or not; the core itself keeps track of what is durable through the `stored`
 * input.
 */
export interface LogView {
  /** First index still held; `snapshot.index + 1`. */
  firstIndex(): Index;
  /** Last index held, `firstIndex() - 1` when empty. */
  lastIndex(): Index;
  /**
   * Term at index; also answers for `firstIndex() - 1` (the snapshot's). undefined: compacted or
   * beyond the end.
   */
  term(index: Index): Term | undefined;
  /** Entries lo..hi (inclusive), at least one if any is there, then as many as fit in maxBytes. */
  entries(lo: Index, hi: Index, maxBytes: number): Entry[];
  /** The newest snapshot, or undefined when the log was never cut. */
  snapshot(): SnapshotMeta | undefined;
}

interface Envelope {
  readonly from: NodeId;
  readonly to: NodeId;
  readonly term: Term;
}
export type Message =
  | (Envelope & {
      readonly type: 'preVote' | 'vote';
      readonly lastIndex: Index;
      readonly lastTerm: Term;
      /** Set on the campaign that a TimeoutNow started: overrides the sticky leader (§4.2.3). */
      readonly transfer?: boolean;
    })
  | (Envelope & {
      readonly type: 'preVoteResponse' | 'voteResponse';
      readonly granted: boolean;
    })
  | (Envelope & {
      /**
       * AppendEntries and heartbeat in one (§3.5). `round` is echoed: quorum contact for ReadIndex
       * and lease (§6.4).
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
       * success: highest index known to match and to be durable here; else: a hint where to try
       * next.
       */
      readonly index: Index;
      /** On failure: the term of the follower's entry at `index` (0 before the first entry). */
      readonly hintTerm: Term;
      readonly round: number;
      /**
       * The follower refuses votes for at least this long, in milliseconds of its own clock, from
       * when it heard `round`. 0: it promises nothing, or an older version does not say; no lease
       * rests on such an answer.
       */
      readonly silenceMs: number;
    })
  | (Envelope & {
      /**
       * Leader → follower: a snapshot is on its way outside the core (chunks are the driver's
       * business).
       */
      readonly type: 'snapshot';
      readonly meta: SnapshotMeta;
      readonly round: number;
    })
  | (Envelope & { readonly type: 'timeoutNow' });

/** Identifies a read request; chosen by the driver, given back when the read is released. */
export type ReadId = number;

export type Input =
  /** One tick of the logical clock has passed. */
  | { readonly type: 'tick' }
  | { readonly type: 'message'; readonly message: Message }
  /** Opaque commands to append; `ids[i]` names `commands[i]` in the output. */
  | {
      readonly type: 'propose';
      readonly commands: readonly { readonly id: number; readonly data: Uint8Array }[];
    }
  /**
   * Add, remove, promote or demote: the new configuration may differ from the last in one voter
   * (§4.1).
   */
  | {
      readonly type: 'changeConfiguration';
      readonly id: number;
      readonly configuration: Configuration;
    }
  /**
   * Read barriers. `lease` may be released without a round while the lease holds; `quorum` needs
   * one (§6.4).
   */
  | { readonly type: 'read'; readonly ids: readonly ReadId[]; readonly mode: 'lease' | 'quorum' }
  /**
   * All entries up to `index` (whose term is `term`) and the hard state handed over before them are
   * durable. One may confirm several outputs. `index` is below the first entry of every batch still
   * under way: what such a batch is about to replace must not count as durable, even when an equal
   * entry comes back later.
   */
  | { readonly type: 'stored'; readonly index: Index; readonly term: Term }
  /**
   * A received snapshot was verified and switched in, durably: the log view starts behind it. Ask
   * `accepts` first, in the same turn as the switch; between the switch of the view and this input
   * no other output may be stored.
   */
  | { readonly type: 'snapshotStored'; readonly meta: SnapshotMeta; readonly from: NodeId }
  /** Outcome of sending a snapshot to a follower. */
  | { readonly type: 'snapshotSent'; readonly to: NodeId; readonly ok: boolean }
  /** The peer cannot be reached at present (connection refused or reset): probe, do not stream. */
  | { readonly type: 'unreachable'; readonly peer: NodeId }
  /**
   * The clock given to `step` may have stood still since the last step: no lease rests on a round
   * begun before. To be put before all inputs of its step.
   */
  | { readonly type: 'clockSuspect' }
  /** Hand leadership over (§3.10); without `to`, to the most advanced voter. */
  | { readonly type: 'transfer'; readonly to?: NodeId }
  /**
   * The driver has applied up to `index`: after a restart this tells how far the log is known to be
   * committed.
   */
  | { readonly type: 'applied'; readonly index: Index };

/**
 * Why a proposal or read was not taken. `dropped` means: certainly not in any log because of this
 * request.
 */
export type DropReason =
  | 'not_leader'
  | 'transferring'
  | 'change_in_flight'
  | 'invalid_change'
  | 'overloaded';

/**
 * What must be done, in this order: 1. `sendNow`, and begin to store `hardState` + `entries` in one
 * synced batch;
 * 2. when that is durable, feed `stored` and send `sendAfterStore`; 3. apply up to `commit`. `entries[0].index` may be at
 * or below the log's last index: then the log is truncated from there first (same batch).
 */
export interface Output {
  readonly hardState?: HardState;
  readonly entries: readonly Entry[];
  readonly sendNow: readonly Message[];
  readonly sendAfterStore: readonly Message[];
  /** Present when the commit index moved. Never beyond what this node has been told or counted. */
  readonly commit?: Index;
  /** Proposals that were appended: they will be committed at (index, term) or be overwritten. */
  readonly appended: readonly { readonly id: number; readonly index: Index; readonly term: Term }[];
  readonly dropped: readonly { readonly id: number; readonly reason: DropReason }[];
  /** Reads whose barrier is passed: serve them once `index` is applied. */
  readonly reads: readonly { readonly id: ReadId; readonly index: Index }[];
  readonly readsDropped: readonly ReadId[];
  /** Followers that need a snapshot now (their next entry is compacted away). */
  readonly sendSnapshots: readonly { readonly to: NodeId; readonly message: Message }[];
  /**
   * Present when an election timer was started, from 0 to 1: the fraction of a tick in its random
   * length. The driver makes one of the next ticks longer by it. Servers whose ticks coincide drift
   * apart by that, and do not campaign at the same moment.
   */
  readonly lengthenTick?: number;
  /** Present when role, term or known leader changed. */
  readonly role?: RoleChange;
  /** Present when the configuration in force changed (effective when appended, §4.1). */
  readonly configuration?: Configuration;
}

export type Role = 'follower' | 'preCandidate' | 'candidate' | 'leader' | 'learner';
export interface RoleChange {
  readonly role: Role;
  readonly term: Term;
  readonly leader: NodeId | null;
}

/**
 * Timing in ticks, limits in counts and bytes. Checked once at construction; see `checkOptions`.
 */
export interface RaftOptions {
  readonly id: NodeId;
  /** Minimum election timeout; the actual one is drawn from [electionTicks, 2 * electionTicks). */
  readonly electionTicks: number;
  /** Ticks between heartbeats; well below electionTicks. */
  readonly heartbeatTicks: number;
  /**
   * Milliseconds between two ticks, as the driver gives them: never less. Only for the silence that
   * leases rest on.
   */
  readonly tickMs: number;
  /**
   * The longest that a lease holds, in milliseconds (of the `now` given to `step`) after its quorum
   * round was *sent*; 0: no leases. It is shorter where followers keep a shorter silence; see
   * `silenceMsOf` and `leaseMsOver`.
   */
  readonly leaseMs: number;
  /**
   * Ticks of silence that an earlier run may have promised to a leader (§6.4.1): kept from the
   * start on if they are more than electionTicks. Without it, the earlier run had the same timing.
   */
  readonly promisedTicks?: number;
  /** Bytes of entries in one append message, and in flight to one follower. */
  readonly maxAppendBytes: number;
  readonly maxInflightBytes: number;
  /** Entries appended but not committed, beyond which proposals are dropped as overloaded. */
  readonly maxUncommittedBytes: number;
  /** Injected chance: a number in [0, 1). */
  readonly random: () => number;
}

/** Read-only facts for status pages, tests and invariants. */
export interface RaftStatus {
  readonly id: NodeId;
  readonly role: Role;
  readonly term: Term;
  readonly leader: NodeId | null;
  readonly votedFor: NodeId | null;
  readonly commit: Index;
  readonly stored: Index;
  readonly lastIndex: Index;
  readonly lastTerm: Term;
  readonly configuration: Configuration;
  readonly configurationIndex: Index;
  /** Leader only. `lastContact`: the `now` of the last response. */
  readonly progress: readonly {
    readonly id: NodeId;
    readonly match: Index;
    readonly next: Index;
    readonly state: 'probe' | 'replicate' | 'snapshot';
    readonly lastContact: number;
  }[];
}

/**
 * The core. `step` handles inputs in order and returns all their outputs merged. `now` is a
 * monotonic clock in milliseconds, used for the read lease only (a node that was paused must not
 * trust ticks it never got). Pure but for its own fields: the same calls give the same outputs.
 */
export interface RaftCore {
  step(inputs: readonly Input[], now: number): Output;
  /**
   * Whether a received snapshot is still wanted: its entry is neither committed nor in the log.
   * Switching in any other would throw away entries that this node has acknowledged.
   */
  accepts(meta: SnapshotMeta): boolean;
  status(): RaftStatus;
}
