/** The step back to follower, and the timers that all roles share. */
import { invariant } from './assert.js';
import type { StepDownReason } from './decisions.js';
import { dropReads } from './reads.js';
import { type Raft, storeHardState } from './state.js';
import type { NodeId, Term } from './types.js';

/**
 * Becomes a follower of `leader`, null if it is unknown, in `term`. A higher term clears the vote
 * (§3.3). A follower's timer keeps running. Only appends of the leader and a granted vote reset it
 * (§3.4), so that a server that cannot win does not delay those that can. `reason` is for the trace
 * of a leader or candidate.
 */
export function becomeFollower(
  raft: Raft,
  term: Term,
  leader: NodeId | null,
  reason: StepDownReason,
): void {
  invariant(term >= raft.term, 'the term would fall', { from: raft.term, to: term });
  const { role } = raft.state;
  if (raft.state.role === 'leader') dropReads(raft, raft.state);
  if (role !== 'follower' && role !== 'learner') {
    raft.trace?.({ type: 'steppedDown', role, term, leader, reason });
    resetElectionTimer(raft);
  } else if (term === raft.term) {
    raft.leader = leader;
    return;
  }
  if (term > raft.term) {
    raft.term = term;
    raft.votedFor = null;
    storeHardState(raft);
  }
  raft.leader = leader;
  raft.state = {
    role: raft.configurations.mayCampaign(raft.id) ? 'follower' : 'learner',
    matched: 0,
    acked: 0,
    round: 0,
  };
}

/**
 * Restarts the election timer with a new random length in [electionTicks, 2 * electionTicks)
 * (§3.4).
 */
export function resetElectionTimer(raft: Raft): void {
  const { electionTicks, random } = raft.options;
  const length = electionTicks * (1 + random());
  raft.electionElapsed = 0;
  raft.electionTimeout = Math.floor(length);
  raft.hastened = false;
  raft.out.lengthenTick = length - raft.electionTimeout;
}

/**
 * The range, in fractions of electionTicks, of the random wait before an election that should come
 * sooner.
 */
type Wait = readonly [from: number, to: number];
/** After an election without a winner: long enough that candidates take turns. */
export const RETRY: Wait = [1 / 3, 1];
/** For the candidate with the better log, when another server misses the leader too. */
export const SOON: Wait = [0, 1 / 3];
/**
 * After the connection to the leader broke: not so soon that another follower, one tick behind,
 * still refuses.
 */
export const BROKEN: Wait = [1 / 8, 1 / 2];

/**
 * Shortens the election timer to a random time in `wait`, if it would run longer. A follower's wait
 * begins when its silence ends. This does not disturb a leader that others hear, because an
 * election begins with a pre-vote, which changes no term (§9.6).
 */
export function hastenElection(raft: Raft, [from, to]: Wait): void {
  const { electionTicks, random } = raft.options;
  const length = Math.max(1, electionTicks * (from + (to - from) * random()));
  const ticks = Math.floor(length);
  const silence = raft.state.role === 'follower' ? electionTicks - raft.leaderElapsed : 0;
  const runsOut = raft.electionElapsed + Math.max(0, silence) + ticks;
  raft.electionTimeout = Math.min(raft.electionTimeout, runsOut);
  raft.hastened = true;
  raft.out.lengthenTick = length - ticks;
}

/**
 * Whether this server refuses votes because it has heard a leader recently (§4.2.3, §6.4.1). This
 * must not depend on the term: a server that acknowledged a leader has promised it this silence,
 * even if it has seen a higher term since.
 */
export function isSticky(raft: Raft): boolean {
  return raft.state.role === 'leader' || raft.leaderElapsed < raft.options.electionTicks;
}
