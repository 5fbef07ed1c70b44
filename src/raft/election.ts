/** Leader election (§3.4), with a vote before the vote (§9.6). */
import { invariant } from './assert.js';
import { followProgress } from './membership.js';
import { appendOwn } from './propose.js';
import { tally, type Verdict } from './quorum.js';
import { beginRound, newReads } from './reads.js';
import {
  BROKEN,
  becomeFollower,
  hastenElection,
  isSticky,
  RETRY,
  resetElectionTimer,
  SOON,
} from './roles.js';
import {
  type CandidateState,
  type LeaderState,
  type MessageOf,
  type Raft,
  storeHardState,
} from './state.js';
import type { NodeId } from './types.js';

/**
 * A tick without leadership. A learner, or a server of no configuration, waits to be told. One that
 * campaigns without being a voter in its latest configuration does not count its own vote (§4.2.2).
 * A follower's own vote breaks the silence that it promised like any other (§6.4.1).
 */
export function tickElection(raft: Raft): void {
  raft.leaderElapsed++;
  raft.electionElapsed++;
  const { role } = raft.state;
  if (role === 'learner' || raft.electionElapsed < raft.electionTimeout) return;
  // A lone voter has nobody to ask.
  if (raft.configurations.isLoneVoter(raft.id)) startElection(raft, false);
  else if (role !== 'follower' || !isSticky(raft)) startPreVote(raft);
}

/**
 * The connection to the leader broke: it may be gone. One that is only cut off is heard by others,
 * and they refuse.
 */
export function onLeaderUnreachable(raft: Raft, peer: NodeId): void {
  if (peer !== raft.leader || raft.state.role !== 'follower' || raft.hastened) return;
  hastenElection(raft, BROKEN);
}

/**
 * Asks whether an election could be won, and soon again if not. Neither term nor vote is touched
 * (§9.6).
 */
function startPreVote(raft: Raft): void {
  resetElectionTimer(raft);
  hastenElection(raft, RETRY);
  raft.leader = null;
  raft.state = { role: 'preCandidate', granted: new Set([raft.id]), rejected: new Set() };
  requestVotes(raft, 'preVote', raft.term + 1, false);
}

/**
 * Votes for itself in a new term and asks the others (§3.4). The requests leave when term and vote
 * are durable.
 */
function startElection(raft: Raft, transfer: boolean): void {
  resetElectionTimer(raft);
  raft.term++;
  raft.votedFor = raft.id;
  raft.leader = null;
  storeHardState(raft);
  raft.state = { role: 'candidate', granted: new Set([raft.id]), rejected: new Set() };
  requestVotes(raft, 'vote', raft.term, transfer);
  if (outcome(raft, raft.state) === 'won') becomeLeader(raft);
}

/** Would this server vote so? It may say that to several candidates: it promises nothing (§9.6). */
export function onPreVote(raft: Raft, message: MessageOf<'preVote'>): void {
  const free = raft.votedFor === null || raft.votedFor === message.from;
  const fits = message.term > raft.term || (message.term === raft.term && free);
  // Silence towards a candidate with an older term would keep it there.
  if (message.term > raft.term && isSticky(raft)) return;
  const isBehind = !raft.log.isUpToDate(message.lastTerm, message.lastIndex);
  const granted = fits && !isSticky(raft) && !isBehind;
  // Two servers miss the leader, and of these this one can win.
  if (isBehind && raft.state.role === 'follower' && !isSticky(raft)) hastenElection(raft, SOON);
  raft.out.sendNow.push({
    type: 'preVoteResponse',
    from: raft.id,
    to: message.from,
    term: granted ? message.term : raft.term,
    granted,
  });
}

/**
 * One vote per term, first come first served, for a log at least as up to date (§3.4, §3.6.1). The
 * sticky period holds here too: this server may have answered the leader of an earlier term after
 * it was asked for a pre-vote, and have learned of this term from somebody else since.
 */
export function onVote(raft: Raft, message: MessageOf<'vote'>): void {
  const free = raft.votedFor === null || raft.votedFor === message.from;
  const willing = raft.leader === null && (message.transfer === true || !isSticky(raft));
  const granted = free && willing && raft.log.isUpToDate(message.lastTerm, message.lastIndex);
  if (granted) {
    // Who votes for another does not go on with a campaign of its own.
    if (raft.state.role === 'preCandidate') becomeFollower(raft, raft.term, null);
    raft.votedFor = message.from;
    raft.electionElapsed = 0;
    // Also when repeated: the answer then waits for this vote to be durable, however often it is
    // asked for.
    storeHardState(raft);
  }
  raft.out.sendAfterStore.push({
    type: 'voteResponse',
    from: raft.id,
    to: message.from,
    term: raft.term,
    granted,
  });
}

/**
 * Answers to a pre-vote: worth nothing but the right to a real election. A grant carries the term
 * that was asked for.
 */
export function onPreVoteResponse(raft: Raft, message: MessageOf<'preVoteResponse'>): void {
  if (message.granted && message.term !== raft.term + 1) return;
  const verdict = count(raft, raft.state as CandidateState, message);
  if (verdict === 'won') startElection(raft, false);
  else if (verdict === 'lost') giveUp(raft);
}

export function onVoteResponse(raft: Raft, message: MessageOf<'voteResponse'>): void {
  const verdict = count(raft, raft.state as CandidateState, message);
  if (verdict === 'won') becomeLeader(raft);
  else if (verdict === 'lost') giveUp(raft);
  // Whoever refuses may have voted for another candidate, and the vote be split.
  else if (!message.granted) hastenElection(raft, RETRY);
}

function giveUp(raft: Raft): void {
  becomeFollower(raft, raft.term, null);
  hastenElection(raft, RETRY);
}

/** The leader hands over: campaign at once, without asking first (§3.10). */
export function onTimeoutNow(raft: Raft): void {
  if (raft.configurations.isVoter(raft.id)) startElection(raft, true);
}

/**
 * Leads the term: begins it with a no-op, whose commit tells what is committed (§6.4), and hails
 * every member (§3.4).
 */
function becomeLeader(raft: Raft): void {
  const { term, configurations } = raft;
  invariant(raft.votedFor === raft.id, 'leads without its own vote', {
    term,
    votedFor: raft.votedFor,
    self: raft.id,
  });
  const index = raft.log.last + 1;
  const leader: LeaderState = {
    role: 'leader',
    progress: new Map(),
    termStart: index,
    // Another's vote was asked for only after term and own vote were durable.
    established: !configurations.isLoneVoter(raft.id),
    ticks: 0,
    heartbeatTick: 0,
    broadcast: true,
    reads: newReads(),
    transfer: undefined,
    uncommitted: [],
    uncommittedBytes: 0,
  };
  raft.state = leader;
  raft.leader = raft.id;
  // What it promised to former leaders is over: it was elected with their followers' silence ended.
  raft.leaderElapsed = raft.options.electionTicks;
  followProgress(raft, leader);
  appendOwn(raft, leader, { kind: 'noop', index, term });
  beginRound(raft, leader);
}

function count(
  raft: Raft,
  state: CandidateState,
  { from, granted }: MessageOf<'voteResponse' | 'preVoteResponse'>,
): Verdict {
  (granted ? state.granted : state.rejected).add(from);
  return outcome(raft, state);
}

function outcome(raft: Raft, state: CandidateState): Verdict {
  return tally(raft.configurations.voters, state.granted, state.rejected);
}

function requestVotes(raft: Raft, type: 'preVote' | 'vote', term: number, transfer: boolean): void {
  const { id: from, log, out } = raft;
  const box = type === 'vote' ? out.sendAfterStore : out.sendNow;
  for (const to of raft.configurations.voters) {
    if (to === from) continue;
    const { last: lastIndex, lastTerm } = log;
    const message = { type, from, to, term, lastIndex, lastTerm };
    box.push(transfer ? { ...message, transfer } : message);
  }
}
