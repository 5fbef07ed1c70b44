/** Leader election (§3.4) with pre-vote (§9.6). */
import { invariant } from './assert.js';
import type { Decision, LogEnd, VoteRefusal } from './decisions.js';
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
} from './role-changes.js';
import {
  type CandidateState,
  type LeaderState,
  type MessageOf,
  type Raft,
  storeHardState,
} from './state.js';
import type { NodeId } from './types.js';

/**
 * Handles a tick of a server that is not the leader. A learner, or a server outside every
 * configuration, waits for a leader. A server that campaigns without being a voter in its latest
 * configuration does not count its own vote (§4.2.2). A follower must not campaign within the
 * silence that it promised, because its vote for itself breaks the promise like any other (§6.4.1).
 */
export function tickElection(raft: Raft): void {
  raft.leaderElapsed++;
  raft.electionElapsed++;
  const { role } = raft.state;
  if (role === 'learner' || raft.electionElapsed < raft.electionTimeout) return;
  // A lone voter needs no pre-vote.
  if (raft.configurations.isLoneVoter(raft.id)) startElection(raft, 'lone_voter');
  else if (role !== 'follower' || !isSticky(raft)) startPreVote(raft);
  else if (raft.electionElapsed === raft.electionTimeout) {
    raft.trace?.({ type: 'campaignRefused', reason: 'silence' });
  }
}

/**
 * Handles a broken connection to the leader, which may have failed. If only this server has lost
 * it, the others still hear the leader and refuse the pre-vote.
 */
export function onLeaderUnreachable(raft: Raft, peer: NodeId): void {
  if (peer !== raft.leader || raft.state.role !== 'follower' || raft.hastened) return;
  hastenElection(raft, BROKEN);
}

/**
 * Asks the voters whether this server could win an election, and retries soon if not. Changes
 * neither term nor vote (§9.6).
 */
function startPreVote(raft: Raft): void {
  const term = raft.term + 1;
  raft.trace?.({ type: 'campaigned', preVote: true, term, reason: 'timeout', log: ownLog(raft) });
  resetElectionTimer(raft);
  hastenElection(raft, RETRY);
  raft.leader = null;
  raft.state = { role: 'preCandidate', granted: new Set([raft.id]), rejected: new Set() };
  requestVotes(raft, 'preVote', term, false);
}

/**
 * Votes for itself in a new term and requests the votes of the others (§3.4). The requests are sent
 * once term and vote are durable.
 */
function startElection(raft: Raft, reason: 'pre_vote_won' | 'transfer' | 'lone_voter'): void {
  resetElectionTimer(raft);
  raft.term++;
  const { term } = raft;
  raft.trace?.({ type: 'campaigned', preVote: false, term, reason, log: ownLog(raft) });
  raft.votedFor = raft.id;
  raft.leader = null;
  storeHardState(raft);
  raft.state = { role: 'candidate', granted: new Set([raft.id]), rejected: new Set() };
  requestVotes(raft, 'vote', term, reason === 'transfer');
  if (outcome(raft, raft.state) === 'won') becomeLeader(raft);
}

/**
 * Answers whether this server would vote for the candidate. It may grant a pre-vote to several
 * candidates, because a pre-vote promises nothing (§9.6).
 */
export function onPreVote(raft: Raft, message: MessageOf<'preVote'>): void {
  const free = raft.votedFor === null || raft.votedFor === message.from;
  const fits = message.term > raft.term || (message.term === raft.term && free);
  // A candidate of an older term gets an answer: otherwise it would never learn this term.
  if (message.term > raft.term && isSticky(raft)) {
    raft.trace?.(voteDecision(raft, message, false));
    return;
  }
  const isBehind = !raft.log.isUpToDate(message.lastTerm, message.lastIndex);
  const granted = fits && !isSticky(raft) && !isBehind;
  raft.trace?.(voteDecision(raft, message, granted));
  // Both servers miss the leader, and only this one of the two can win.
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
 * Grants one vote per term, first come first served, to a candidate whose log is at least as up to
 * date (§3.4, §3.6.1). The sticky period applies here too: since the pre-vote, this server may have
 * answered the leader of an earlier term, and have learned of this term from another server.
 */
export function onVote(raft: Raft, message: MessageOf<'vote'>): void {
  const free = raft.votedFor === null || raft.votedFor === message.from;
  const willing = raft.leader === null && (message.transfer === true || !isSticky(raft));
  const granted = free && willing && raft.log.isUpToDate(message.lastTerm, message.lastIndex);
  raft.trace?.(voteDecision(raft, message, granted));
  if (granted) {
    // A server that votes for another abandons its own campaign.
    if (raft.state.role === 'preCandidate') {
      becomeFollower(raft, raft.term, null, 'voted_for_another');
    }
    raft.votedFor = message.from;
    raft.electionElapsed = 0;
    // Also for a repeated request, so that every answer waits until this vote is durable, however
    // often it is asked for.
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
 * Counts answers to a pre-vote; a majority permits a real election. A granted answer carries the
 * term of the request, which is one above the current term.
 */
export function onPreVoteResponse(raft: Raft, message: MessageOf<'preVoteResponse'>): void {
  if (message.granted && message.term !== raft.term + 1) return;
  const verdict = count(raft, raft.state as CandidateState, message);
  if (verdict === 'won') startElection(raft, 'pre_vote_won');
  else if (verdict === 'lost') giveUp(raft);
}

/** Counts votes. A majority makes this server the leader (§3.4). */
export function onVoteResponse(raft: Raft, message: MessageOf<'voteResponse'>): void {
  const verdict = count(raft, raft.state as CandidateState, message);
  if (verdict === 'won') becomeLeader(raft);
  else if (verdict === 'lost') giveUp(raft);
  // The voter may have voted for another candidate, so the vote may be split.
  else if (!message.granted) hastenElection(raft, RETRY);
}

function giveUp(raft: Raft): void {
  becomeFollower(raft, raft.term, null, 'election_lost');
  hastenElection(raft, RETRY);
}

/** Handles a leadership transfer to this server: campaigns at once, without a pre-vote (§3.10). */
export function onTimeoutNow(raft: Raft): void {
  if (raft.configurations.isVoter(raft.id)) startElection(raft, 'transfer');
  else raft.trace?.({ type: 'campaignRefused', reason: 'not_voter' });
}

/**
 * Becomes leader. Appends a no-op, whose commit determines the commit index (§6.4), and sends
 * heartbeats to every member (§3.4).
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
    // With other voters, term and own vote are durable: their votes were requested only after that.
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
  // Its promise to former leaders no longer binds it: it won only because their followers' silence
  // ended.
  raft.leaderElapsed = raft.options.electionTicks;
  followProgress(raft, leader);
  appendOwn(raft, leader, { kind: 'noop', index, term });
  beginRound(raft, leader);
}

function count(
  raft: Raft,
  state: CandidateState,
  { type, from, granted }: MessageOf<'voteResponse' | 'preVoteResponse'>,
): Verdict {
  (granted ? state.granted : state.rejected).add(from);
  raft.trace?.({
    type: 'voteCounted',
    preVote: type === 'preVoteResponse',
    from,
    granted,
    votes: [...state.granted],
    voters: raft.configurations.voters,
  });
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

/** Returns the decision about a vote or pre-vote, as the fields of this server stand before it. */
export function voteDecision(
  raft: Raft,
  message: MessageOf<'vote' | 'preVote'>,
  granted: boolean,
): Decision {
  const { type, from: candidate, term, lastIndex, lastTerm } = message;
  const preVote = type === 'preVote';
  if (granted) return { type: 'voteGranted', preVote, candidate, term };
  return {
    type: 'voteRefused',
    preVote,
    candidate,
    term,
    reason: refusal(raft, message),
    candidateLog: { index: lastIndex, term: lastTerm },
    ownLog: ownLog(raft),
    ownTerm: raft.term,
    votedFor: raft.votedFor,
    silenceTicks: Math.max(0, raft.options.electionTicks - raft.leaderElapsed),
  };
}

/** Returns the end of this server's log. */
function ownLog({ log }: Raft): LogEnd {
  return { index: log.last, term: log.lastTerm };
}

function refusal(raft: Raft, message: MessageOf<'vote' | 'preVote'>): VoteRefusal {
  if (message.term < raft.term) return 'stale_term';
  if (raft.state.role === 'leader') return 'leads';
  if (message.transfer !== true && isSticky(raft)) return 'silence';
  const isSameTerm = message.term === raft.term;
  if (isSameTerm && raft.votedFor !== null && raft.votedFor !== message.from)
    return 'already_voted';
  if (!raft.log.isUpToDate(message.lastTerm, message.lastIndex)) return 'log_behind';
  return 'leader_known';
}
