/** Decisions of the core in words, for a log line or a trace. */
import type { Decision, LogEnd } from '../raft/decisions.js';
import type { NodeId } from '../raft/types.js';

/** Returns what a member is called. */
export type NameOf = (id: NodeId) => string;

type Of<T extends Decision['type']> = Extract<Decision, { type: T }>;

const at = ({ index, term }: LogEnd): string => `${index} of term ${term}`;
const vote = ({ preVote }: { readonly preVote: boolean }): string =>
  preVote ? 'pre-vote' : 'vote';

const STEPPED_DOWN: Readonly<Record<Of<'steppedDown'>['reason'], string>> = {
  higher_term: 'it heard of a higher term',
  leader_found: 'the term has a leader',
  election_lost: 'a majority refused',
  voted_for_another: 'it voted for another candidate',
  no_quorum: 'no majority has answered for an election timeout',
  removed: 'it is no longer a voter',
};

const CAMPAIGNED: Readonly<Record<Of<'campaigned'>['reason'], string>> = {
  timeout: 'it heard no leader, or its last attempt found no majority',
  pre_vote_won: 'it won the pre-vote',
  transfer: 'the leader transfers leadership to it',
  lone_voter: 'it is the only voter',
};

const READ_WAITS: Readonly<Record<Of<'readWaits'>['reason'], string>> = {
  term_start: 'the commit of the first entry of its term',
  quorum: 'a quorum, which the reader asked for',
  lease_expired: 'a quorum, because no majority has answered recently enough for a lease',
  transferring: 'a quorum, because leadership was to be handed over in this term',
  not_voter: 'a quorum, because the leader is not a voter',
};

type Texts = {
  readonly [T in Decision['type']]: (decision: Of<T>, nameOf: NameOf) => string;
};

/** A sentence for each type of decision. Its subject is the member that decided. */
const TEXTS: Texts = {
  voteGranted: (decision, nameOf) => {
    const { term, candidate } = decision;
    return `grants its ${vote(decision)} for term ${term} to ${nameOf(candidate)}`;
  },
  voteRefused: (decision, nameOf) => {
    const { candidate, term, reason, candidateLog, ownLog, silenceTicks } = decision;
    const why = {
      stale_term: () => `its term is ${decision.ownTerm} already`,
      leads: () => 'it leads',
      silence: () => `it promised a leader not to vote for ${silenceTicks} more ticks`,
      leader_known: () => 'the term has a leader',
      already_voted: () => `it voted for ${nameOf(decision.votedFor!)} in this term`,
      log_behind: () => `the candidate's log ends at ${at(candidateLog)}, its own at ${at(ownLog)}`,
    }[reason]();
    return `refuses its ${vote(decision)} for term ${term} to ${nameOf(candidate)}: ${why}`;
  },
  campaigned: (decision) => {
    const { term, log, reason } = decision;
    const asks = `asks for ${vote(decision)}s for term ${term}, its log ends at ${at(log)}`;
    return `${asks}: ${CAMPAIGNED[reason]}`;
  },
  campaignRefused: ({ reason }) =>
    reason === 'silence'
      ? 'does not campaign yet: it promised a leader not to vote'
      : 'does not campaign: it is not a voter',
  messageDropped: ({ message, from, term, reason }, nameOf) => {
    const isSuspended = reason === 'voting_suspended';
    const why = isSuspended ? 'it lacks entries that it acknowledged' : 'a disk hangs';
    return `ignores ${message} of ${nameOf(from)} in term ${term}: ${why}`;
  },
  voteCounted: (decision, nameOf) => {
    const { granted, from, votes, voters } = decision;
    const what = `is ${granted ? 'granted' : 'refused'} the ${vote(decision)} of ${nameOf(from)}`;
    return `${what}, has ${votes.length} of ${voters.length}`;
  },
  steppedDown: ({ role, term, reason }) =>
    `stops being ${role} in term ${term}: ${STEPPED_DOWN[reason]}`,
  appendRefused: (decision, nameOf) => {
    const { reason, leader, term, prevIndex: index, prevTerm, ownTerm, hint } = decision;
    const own = ownTerm === undefined ? 'no entry there' : `term ${ownTerm} there`;
    const why = {
      stale_term: () => `term ${term} is over`,
      malformed: () => 'its entries have gaps',
      no_match: () => `it has ${own}, and sends the leader back to ${at(hint!)}`,
    }[reason]();
    const after = at({ index, term: prevTerm });
    return `refuses an append of ${nameOf(leader)} after ${after}: ${why}`;
  },
  backtracked: ({ follower, before, next, hint, lost }, nameOf) => {
    const why = lost ? 'it lost what it had acknowledged' : `it may match at ${at(hint)}`;
    return `goes back from ${before} to ${next} for ${nameOf(follower)}: ${why}`;
  },
  commitWaits: ({ index, termStart }) =>
    `does not commit ${index} yet: its own term begins at ${termStart}`,
  changeRefused: ({ reason, commit, configurationIndex }) => {
    const where = `configuration of ${configurationIndex}, commit index ${commit}`;
    return `refuses a change of the configuration: ${reason} (${where})`;
  },
  transferRefused: ({ to, reason }, nameOf) => {
    const target = to === undefined ? '' : ` to ${nameOf(to)}`;
    return `refuses to transfer leadership${target}: ${reason}`;
  },
  transferAborted: ({ to, match, last }, nameOf) => {
    const how = `it has ${match ?? 'nothing'} of ${last}`;
    return `aborts the transfer to ${nameOf(to)} after an election timeout: ${how}`;
  },
  readByLease: ({ reads, index }) => `serves reads (${reads}) at ${index} by its lease`,
  readByAsker: ({ reads, index, asker }, nameOf) =>
    `serves reads (${reads}) at ${index}, since ${nameOf(asker)}, which asks, follows it`,
  readWaits: ({ reads, index, reason }) =>
    `lets reads (${reads}) at ${index} wait for ${READ_WAITS[reason]}`,
  readRefused: ({ reads, leader }, nameOf) => {
    const known = leader === null ? 'no leader is known' : `${nameOf(leader)} does`;
    return `drops reads (${reads}): it does not lead, ${known}`;
  },
};

/** Returns a decision in words. */
export function decisionText(decision: Decision, nameOf: NameOf): string {
  // The compiler does not see that the key and the argument are of the same type.
  const text = TEXTS[decision.type] as (decision: Decision, nameOf: NameOf) => string;
  return text(decision, nameOf);
}
