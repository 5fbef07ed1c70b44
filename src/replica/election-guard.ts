/**
 * Keeps a server out of elections while it could not keep the promise of a vote: while it lacks
 * entries that it has acknowledged, and while the disk of its log hangs.
 */
import type { Trace } from '../raft/decisions.js';
import type { Message, Role } from '../raft/types.js';
import type { DiskWatch } from './disk-watch.js';

/** The messages of elections. */
const VOTING = new Set<Message['type']>([
  'preVote',
  'preVoteResponse',
  'vote',
  'voteResponse',
  'timeoutNow',
]);

/** Decides which messages and ticks the core gets. */
export class ElectionGuard {
  /**
   * Set while this server lacks entries it has acknowledged: it must neither vote nor campaign.
   * Without ticks it does not campaign, and requests for its vote are dropped.
   */
  votingSuspended = false;
  readonly #disks: DiskWatch;
  readonly #trace: Trace | undefined;

  constructor(disks: DiskWatch, trace?: Trace) {
    this.#disks = disks;
    this.#trace = trace;
  }

  /**
   * Whether the core gets a message of a peer. While the disk of the log hangs, messages of
   * elections are dropped: this server could not store a vote, and a candidate would take its
   * pre-vote for the promise of one. While either disk hangs, it does not take over leadership.
   */
  admits({ type, from, term }: Message): boolean {
    if (!VOTING.has(type)) return true;
    const isTakeover = type === 'timeoutNow' && this.#disks.hang !== undefined;
    if (!isTakeover && !this.#mayNotVote) return true;
    const reason = this.votingSuspended ? 'voting_suspended' : 'disk_hangs';
    this.#trace?.({ type: 'messageDropped', message: type, from, term, reason });
    return false;
  }

  /**
   * Whether the core gets ticks. A server that must not campaign gets none. A leader needs them to
   * notice that it has lost its majority.
   */
  mayTick(role: Role): boolean {
    return role === 'leader' || !this.#mayNotVote;
  }

  get #mayNotVote(): boolean {
    return this.votingSuspended || this.#disks.logHangs;
  }
}
