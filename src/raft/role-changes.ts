/** Falling back to follower, and the timers that all roles share. */
import { invariant } from './assert.js';
import { dropReads } from './reads.js';
import { type Raft, storeHardState } from './state.js';
import type { NodeId, Term } from './types.js';

/**
 * Follows `leader` (or nobody yet) in `term`. A higher term forgets the vote (§3.3). A follower's
 * timer runs on: only the leader's appends and a granted vote reset it (§3.4), so that a server
 * which cannot win does not hold up those who can.
 */
export function becomeFollower(raft: Raft, term: Term, leader: NodeId | null): void {
  invariant(term >= raft.term, 'the term would fall', { from: raft.term, to: term });
  const { role } = raft.state;
  if (raft.state.role === 'leader') dropReads(raft, raft.state);
  if (role !== 'follower' && role !== 'learner') resetElectionTimer(raft);
  else if (term === raft.term) {
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
 * Starts the election timer anew, with a new random length in [electionTicks, 2 * electionTicks)
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
 * Parts of electionTicks from which the wait for the next election is drawn when there is reason
 * not to wait longer.
 */
type Wait = readonly [from: number, to: number];
/** After an election that came to nothing: long enough that rivals come one after the other. */
export const RETRY: Wait = [1 / 3, 1];
/** For the better candidate, when another one has given up hope of the leader too. */
export const SOON: Wait = [0, 1 / 3];
/**
 * When the connection to the leader broke: not so soon that another follower, a tick behind, still
 * refuses.
 */
export const BROKEN: Wait = [1 / 8, 1 / 2];

/**
 * Lets the election timer run out after `wait`, if it would run longer; of a follower, once its
 * silence is over. A leader that others hear is not disturbed, as an election begins with a
 * pre-vote, which moves no term (§9.6).
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
 * Whether votes are refused because a leader lives (§4.2.3, §6.4.1). It must not depend on the
 * term: a server that acknowledged a leader has promised it this silence, whatever term it has seen
 * since.
 */
export function isSticky(raft: Raft): boolean {
  return raft.state.role === 'leader' || raft.leaderElapsed < raft.options.electionTicks;
}
