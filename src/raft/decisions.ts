/**
 * The decisions of the core that a message or a status does not explain, as data for a trace. The
 * hook is `RaftOptions.trace`. While it is absent nothing of this runs: a call site is
 * `raft.trace?.(...)`, and an optional call does not evaluate its arguments.
 */
import type { DropReason, Index, Message, NodeId, Role, Term } from './types.js';

/** Where a log ends. */
export interface LogEnd {
  readonly index: Index;
  readonly term: Term;
}

/**
 * Why a vote or a pre-vote was refused.
 *
 *   stale_term        the term of the request is over
 *   leads             this server leads
 *   silence           it heard a leader lately, or promised one silence (§6.4.1)
 *   leader_known      the term has a leader, which lets another server campaign
 *   already_voted     it voted for another candidate in this term
 *   log_behind        its log is more up to date than the candidate's (§3.6.1)
 */
export type VoteRefusal =
  | 'stale_term'
  | 'leads'
  | 'silence'
  | 'leader_known'
  | 'already_voted'
  | 'log_behind';

/**
 * Why a leader or candidate became a follower.
 *
 *   higher_term        a message or a snapshot carried a higher term (§3.3)
 *   leader_found       the term has a leader
 *   election_lost      a majority refused
 *   voted_for_another  it granted its vote to a better candidate
 *   no_quorum          no majority has answered the leader for an election timeout (§6.2)
 *   removed            it is not a voter of the configuration any more (§4.2.2)
 */
export type StepDownReason =
  | 'higher_term'
  | 'leader_found'
  | 'election_lost'
  | 'voted_for_another'
  | 'no_quorum'
  | 'removed';

/**
 * What a read waits for.
 *
 *   term_start     the commit of the leader's first entry, which tells it the commit index (§6.4)
 *   quorum         a round, because the reader asked for one
 *   lease_expired  a round, because a majority has not answered lately
 *   transferring   a round, because leadership is being transferred or was to be in this term
 *   not_voter      a round, because the leader is not a voter and has no lease
 */
export type ReadWait = 'term_start' | 'quorum' | 'lease_expired' | 'transferring' | 'not_voter';

/** A decision of the core, or of its driver about a message that the core does not get. */
export type Decision =
  /** The vote of `term`, or a pre-vote for it, was granted. */
  | {
      readonly type: 'voteGranted';
      readonly preVote: boolean;
      readonly candidate: NodeId;
      readonly term: Term;
    }
  /** The vote was refused, whether the candidate gets an answer or not. */
  | {
      readonly type: 'voteRefused';
      readonly preVote: boolean;
      readonly candidate: NodeId;
      readonly term: Term;
      readonly reason: VoteRefusal;
      readonly candidateLog: LogEnd;
      readonly ownLog: LogEnd;
      readonly ownTerm: Term;
      readonly votedFor: NodeId | null;
      /** Ticks for which this server goes on refusing, unless it hears a leader again. */
      readonly silenceTicks: number;
    }
  /**
   * An election begins, with a pre-vote or with the real vote. `timeout`: no leader was heard, or
   * the last attempt found no majority. `pre_vote_won`, `transfer` (§3.10) and `lone_voter`: no
   * pre-vote is needed.
   */
  | {
      readonly type: 'campaigned';
      readonly preVote: boolean;
      readonly term: Term;
      readonly reason: 'timeout' | 'pre_vote_won' | 'transfer' | 'lone_voter';
      readonly log: LogEnd;
    }
  /**
   * No election begins although the timer ran out (`silence`: it promised a leader not to vote, not
   * even for itself) or a leader asked for it (`not_voter`).
   */
  | { readonly type: 'campaignRefused'; readonly reason: 'silence' | 'not_voter' }
  /**
   * The driver keeps a message of an election from the core. `voting_suspended`: this server lacks
   * entries that it acknowledged. `disk_hangs`: it could not store a vote, or not lead.
   */
  | {
      readonly type: 'messageDropped';
      readonly message: Message['type'];
      readonly from: NodeId;
      readonly term: Term;
      readonly reason: 'voting_suspended' | 'disk_hangs';
    }
  /** An answer to this candidate. `votes`: the voters that have granted so far, itself included. */
  | {
      readonly type: 'voteCounted';
      readonly preVote: boolean;
      readonly from: NodeId;
      readonly granted: boolean;
      readonly votes: readonly NodeId[];
      readonly voters: readonly NodeId[];
    }
  /** A leader or candidate became a follower of `leader`, null if it is unknown, in `term`. */
  | {
      readonly type: 'steppedDown';
      readonly role: Role;
      readonly term: Term;
      readonly leader: NodeId | null;
      readonly reason: StepDownReason;
    }
  /**
   * An append was refused. `stale_term`: the term of the sender is over. `malformed`: the entries
   * have gaps; there is no answer. `no_match`: the term here at `prevIndex` is `ownTerm`
   * (undefined: no entry), and the leader is sent back to `hint`.
   */
  | {
      readonly type: 'appendRefused';
      readonly reason: 'stale_term' | 'malformed' | 'no_match';
      readonly leader: NodeId;
      readonly term: Term;
      readonly prevIndex: Index;
      readonly prevTerm: Term;
      readonly ownTerm: Term | undefined;
      readonly hint: LogEnd | undefined;
    }
  /**
   * The leader sends a follower entries again from `next` on, instead of `before`. `lost`: the
   * follower has lost entries that it acknowledged.
   */
  | {
      readonly type: 'backtracked';
      readonly follower: NodeId;
      readonly hint: LogEnd;
      readonly before: Index;
      readonly next: Index;
      readonly lost: boolean;
    }
  /** A majority holds `index`, but no entry of the leader's own term, `termStart` on (§3.6.2). */
  | { readonly type: 'commitWaits'; readonly index: Index; readonly termStart: Index }
  /** A change of the configuration was refused. `configurationIndex`: of the one in force. */
  | {
      readonly type: 'changeRefused';
      readonly reason: DropReason;
      readonly commit: Index;
      readonly configurationIndex: Index;
    }
  /** A transfer was refused. `no_target`: no voter answers. `to` undefined: the leader chooses. */
  | {
      readonly type: 'transferRefused';
      readonly to: NodeId | undefined;
      readonly reason: 'not_leader' | 'no_target' | 'self' | 'not_voter';
    }
  /** A transfer did not succeed within an election timeout. `match`: what the target holds. */
  | {
      readonly type: 'transferAborted';
      readonly to: NodeId;
      readonly match: Index | undefined;
      readonly last: Index;
    }
  /** Reads are served at `index` by the lease (§6.4.1), without a round. */
  | { readonly type: 'readByLease'; readonly reads: number; readonly index: Index }
  | {
      /** The follower that asks for the index makes the quorum. */
      readonly type: 'readByAsker';
      readonly reads: number;
      readonly index: Index;
      readonly asker: NodeId;
    }
  /** Reads wait; `index` is the commit index so far. */
  | {
      readonly type: 'readWaits';
      readonly reads: number;
      readonly index: Index;
      readonly reason: ReadWait;
    }
  /** Reads were dropped, because this server does not lead. */
  | { readonly type: 'readRefused'; readonly reads: number; readonly leader: NodeId | null };

/** Gets each decision while it is made. It must not step the core. */
export type Trace = (decision: Decision) => void;
