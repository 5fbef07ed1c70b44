import { expect } from 'chai';
import type { Decision } from '../../src/raft/decisions.js';
import { decisionText } from '../../src/replica/decision-text.js';

const NAMES: Readonly<Record<string, string>> = { id1: 'n1', id2: 'n2', id3: 'n3' };
const candidate = 'id1';
const refused = {
  type: 'voteRefused',
  preVote: false,
  candidate,
  term: 7,
  candidateLog: { index: 8, term: 5 },
  ownLog: { index: 9, term: 6 },
  ownTerm: 7,
  votedFor: 'id2',
  silenceTicks: 3,
} as const;
const append = {
  type: 'appendRefused',
  leader: 'id3',
  term: 7,
  prevIndex: 9,
  prevTerm: 6,
  ownTerm: undefined,
  hint: { index: 4, term: 2 },
} as const;

/** A decision of each kind, in words. */
const LINES: readonly (readonly [Decision, string])[] = [
  [
    { type: 'voteGranted', preVote: true, candidate, term: 7 },
    'grants its pre-vote for term 7 to n1',
  ],
  [
    { ...refused, reason: 'log_behind' },
    'refuses its vote for term 7 to n1: ' +
      "the candidate's log ends at 8 of term 5, its own at 9 of term 6",
  ],
  [
    { ...refused, reason: 'already_voted' },
    'refuses its vote for term 7 to n1: it voted for n2 in this term',
  ],
  [
    { ...refused, reason: 'silence', preVote: true },
    'refuses its pre-vote for term 7 to n1: it promised a leader not to vote for 3 more ticks',
  ],
  [
    {
      type: 'campaigned',
      preVote: true,
      term: 7,
      reason: 'timeout',
      log: { index: 9, term: 6 },
    },
    'asks for pre-votes for term 7, its log ends at 9 of term 6: ' +
      'it heard no leader, or its last attempt found no majority',
  ],
  [
    {
      type: 'voteCounted',
      preVote: false,
      from: 'id2',
      granted: false,
      votes: ['id1'],
      voters: ['id1', 'id2', 'id3'],
    },
    'is refused the vote of n2, has 1 of 3',
  ],
  [{ type: 'campaignRefused', reason: 'not_voter' }, 'does not campaign: it is not a voter'],
  [
    {
      type: 'messageDropped',
      message: 'vote',
      from: 'id2',
      term: 7,
      reason: 'voting_suspended',
    },
    'ignores vote of n2 in term 7: it lacks entries that it acknowledged',
  ],
  [
    { type: 'steppedDown', role: 'leader', term: 7, leader: null, reason: 'no_quorum' },
    'stops being leader in term 7: no majority has answered for an election timeout',
  ],
  [
    { ...append, reason: 'no_match' },
    'refuses an append of n3 after 9 of term 6: ' +
      'it has no entry there, and sends the leader back to 4 of term 2',
  ],
  [
    {
      type: 'backtracked',
      follower: 'gone',
      hint: { index: 4, term: 2 },
      before: 10,
      next: 5,
      lost: false,
    },
    'goes back from 10 to 5 for gone: it may match at 4 of term 2',
  ],
  [
    { type: 'commitWaits', index: 8, termStart: 9 },
    'does not commit 8 yet: its own term begins at 9',
  ],
  [
    { type: 'changeRefused', reason: 'change_in_flight', commit: 7, configurationIndex: 8 },
    'refuses a change of the configuration: change_in_flight (configuration of 8, commit index 7)',
  ],
  [
    { type: 'transferRefused', to: 'id2', reason: 'not_voter' },
    'refuses to transfer leadership to n2: not_voter',
  ],
  [
    { type: 'transferAborted', to: 'id2', match: 7, last: 9 },
    'aborts the transfer to n2 after an election timeout: it has 7 of 9',
  ],
  [{ type: 'readByLease', reads: 2, index: 9 }, 'serves reads (2) at 9 by its lease'],
  [
    { type: 'readByAsker', reads: 1, index: 9, asker: 'b' },
    'serves reads (1) at 9, since b, which asks, follows it',
  ],
  [
    { type: 'readWaits', reads: 1, index: 9, reason: 'quorum' },
    'lets reads (1) at 9 wait for a quorum, which the reader asked for',
  ],
  [{ type: 'readRefused', reads: 1, leader: 'id3' }, 'drops reads (1): it does not lead, n3 does'],
];

describe('replica: the text of a decision', () => {
  for (const [decision, line] of LINES) {
    it(line, () => {
      expect(decisionText(decision, (id) => NAMES[id] ?? id)).to.equal(line);
    });
  }
});
