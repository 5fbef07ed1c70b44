/** Each decision that a trace shows, with its reason. */
import { expect } from 'chai';
import type { Decision } from '../../src/raft/decisions.js';
import { configuration, logOf } from './cluster.js';
import type { Setup, Solo } from './script.js';
import { ack, append, lead, noops, settled, solo, vote } from './script.js';

/** What a server decides while it does something. */
class Decisions {
  readonly list: Decision[] = [];
  readonly more = { trace: (decision: Decision): void => void this.list.push(decision) };

  /** Only what follows. */
  clear(): void {
    this.list.length = 0;
  }

  /** All decisions of a type. */
  of<T extends Decision['type']>(type: T): Extract<Decision, { type: T }>[] {
    return this.list.filter((each): each is Extract<Decision, { type: T }> => each.type === type);
  }
}

/** Server `a` and what it decides. */
function traced(words?: string, setup: Setup = {}): { a: Solo; decisions: Decisions } {
  const decisions = new Decisions();
  const a = solo(words, { ...setup, more: { ...decisions.more, ...setup.more } });
  return { a, decisions };
}

/** The same, once its silence is over. Its election timer runs on. */
function patient(setup: Setup = {}): { a: Solo; decisions: Decisions } {
  const built = traced('a b c', { ...setup, more: { random: () => 0.99, ...setup.more } });
  built.a.ticks(10);
  return built;
}

/** A leader of term 2 whose no-op is committed, unless `isNew`. */
function leader(isNew = false, words = 'a b c'): { a: Solo; decisions: Decisions } {
  const decisions = new Decisions();
  const setup = { more: decisions.more };
  const a = isNew ? lead(solo(words, setup)) : settled(words, setup);
  decisions.clear();
  return { a, decisions };
}

const preVote = { ...vote, type: 'preVote' } as const;

describe('raft: a trace of votes shows', () => {
  it('a vote that is granted', () => {
    const { a, decisions } = patient();
    a.hear(preVote, vote);
    expect(decisions.of('voteGranted')).to.deep.equal([
      { type: 'voteGranted', preVote: true, candidate: 'b', term: 2 },
      { type: 'voteGranted', preVote: false, candidate: 'b', term: 2 },
    ]);
  });

  it('a candidate whose log is behind: both ends are shown', () => {
    const { a, decisions } = patient({ entries: logOf('a b c', 1, 1) });
    a.hear({ ...vote, lastIndex: 2 }, { ...preVote, term: 3, lastIndex: 2 });
    const facts = {
      reason: 'log_behind',
      candidateLog: { index: 2, term: 1 },
      ownLog: { index: 3, term: 1 },
    };
    const [refused, preRefused] = decisions.of('voteRefused');
    expect(refused).to.deep.include({ ...facts, preVote: false, term: 2 });
    expect(preRefused).to.deep.include({ ...facts, preVote: true, term: 3 });
  });

  it('a term that is over', () => {
    const { a, decisions } = patient({ term: 4 });
    a.hear(vote, preVote);
    const reasons = decisions.of('voteRefused').map(({ reason, ownTerm }) => [reason, ownTerm]);
    expect(reasons).to.deep.equal([
      ['stale_term', 4],
      ['stale_term', 4],
    ]);
  });

  it('a vote that was given to another candidate', () => {
    const { a, decisions } = patient({ term: 2, votedFor: 'c' });
    a.hear(vote);
    expect(decisions.of('voteRefused')[0]).to.include({ reason: 'already_voted', votedFor: 'c' });
  });

  it('a leader that was heard lately, and for how long it is silent', () => {
    const { a, decisions } = patient();
    a.hear(append(1, 1, 1));
    a.ticks(3);
    a.hear({ ...vote, from: 'c' }, { ...preVote, from: 'c' });
    const shown = decisions
      .of('voteRefused')
      .map(({ reason, silenceTicks }) => `${reason} ${silenceTicks}`);
    expect(shown).to.deep.equal(['silence 7', 'silence 7']);
  });

  it('a silence that a run before the restart promised', () => {
    const { a, decisions } = traced();
    a.hear(vote);
    expect(decisions.of('voteRefused')[0]).to.include({ reason: 'silence', silenceTicks: 10 });
  });

  it('a leader that refuses a candidate of its own term', () => {
    const { a, decisions } = leader();
    a.hear({ ...vote, lastIndex: 9 });
    expect(decisions.of('voteRefused')[0]).to.include({ reason: 'leads', candidate: 'b' });
  });

  it('a term that has a leader already, even for a candidate after a transfer', () => {
    const { a, decisions } = patient();
    a.hear(append(2, 1, 1), { ...vote, from: 'c', transfer: true });
    expect(decisions.of('voteRefused')[0]).to.include({ reason: 'leader_known', candidate: 'c' });
  });
});

describe('raft: a trace of elections shows', () => {
  it('a campaign from the pre-vote to the last vote', () => {
    const { a, decisions } = traced();
    lead(a);
    const log = { index: 1, term: 1 };
    const voters = ['a', 'b', 'c'];
    const counted = { type: 'voteCounted', from: 'b', granted: true, votes: ['a', 'b'], voters };
    expect(decisions.list).to.deep.equal([
      { type: 'campaigned', preVote: true, term: 2, reason: 'timeout', log },
      { ...counted, preVote: true },
      { type: 'campaigned', preVote: false, term: 2, reason: 'pre_vote_won', log },
      { ...counted, preVote: false },
    ]);
  });

  it('a lone voter, and one that a leader lets campaign, without a pre-vote', () => {
    const alone = traced('a');
    alone.a.ticks(10);
    expect(alone.decisions.of('campaigned')[0]).to.include({ reason: 'lone_voter', term: 2 });
    const { a, decisions } = traced();
    a.hear({ type: 'timeoutNow', term: 1 });
    expect(decisions.of('campaigned')[0]).to.include({ reason: 'transfer', preVote: false });
  });

  it('no campaign of a learner, nor within a promised silence', () => {
    const { a, decisions } = traced('a? b c');
    a.hear({ type: 'timeoutNow', term: 1 });
    expect(decisions.list).to.deep.equal([{ type: 'campaignRefused', reason: 'not_voter' }]);
    // The election timer of a lone voter is short after a start, and another one leads now.
    const lone = traced('a');
    const [, added] = logOf('a', 'a b c');
    lone.a.hear(append(2, 1, 1, [added!]));
    lone.a.ticks(2);
    expect(lone.decisions.list).to.deep.equal([{ type: 'campaignRefused', reason: 'silence' }]);
  });

  it('why a candidate steps down', () => {
    const candidate = (): { a: Solo; decisions: Decisions } => {
      const built = traced();
      built.a.ticks(10);
      built.a.hear({ type: 'preVoteResponse', term: 2, granted: true });
      return built;
    };
    const lost = candidate();
    for (const from of ['b', 'c']) {
      lost.a.hear({ type: 'voteResponse', from, term: 2, granted: false });
    }
    const term = candidate();
    term.a.hear({ type: 'voteResponse', term: 7, granted: false });
    const found = candidate();
    found.a.hear(append(2, 1, 1));
    const voted = traced();
    voted.a.ticks(10);
    voted.a.hear({ ...vote, term: 1, transfer: true });
    const reasons = [lost, term, found, voted].map(({ decisions }) =>
      decisions.of('steppedDown').map(({ role, reason, leader: of }) => `${role} ${reason} ${of}`),
    );
    expect(reasons).to.deep.equal([
      ['candidate election_lost null'],
      ['candidate higher_term null'],
      ['candidate leader_found b'],
      ['preCandidate voted_for_another null'],
    ]);
  });

  it('why a leader steps down', () => {
    const alone = leader();
    alone.a.ticks(10);
    const removed = leader();
    const after = configuration('b', 'c');
    removed.a.input({ type: 'changeConfiguration', id: 1, configuration: after });
    for (const from of ['b', 'c']) ack(removed.a, from);
    const reasons = [alone, removed].map(({ decisions }) =>
      decisions.of('steppedDown').map(({ role, reason }) => `${role} ${reason}`),
    );
    expect(reasons).to.deep.equal([['leader no_quorum'], ['leader removed']]);
  });
});

describe('raft: a trace of logs shows', () => {
  const follower = (): { a: Solo; decisions: Decisions } =>
    traced('a b c', { term: 5, entries: logOf('a b c', 1, 1, 2, 2) });

  it('an append that does not match, and where the leader is sent back to', () => {
    const { a, decisions } = follower();
    a.hear(append(5, 9, 5), append(5, 4, 1));
    const shared = { type: 'appendRefused', reason: 'no_match', leader: 'b', term: 5 };
    expect(decisions.of('appendRefused')).to.deep.equal([
      {
        ...shared,
        prevIndex: 9,
        prevTerm: 5,
        ownTerm: undefined,
        hint: { index: 5, term: 2 },
      },
      { ...shared, prevIndex: 4, prevTerm: 1, ownTerm: 2, hint: { index: 3, term: 1 } },
    ]);
  });

  it('an append of a term that is over, and one with gaps', () => {
    const { a, decisions } = follower();
    a.hear(append(4, 5, 2), append(5, 5, 2, noops(7, 5)));
    const reasons = decisions.of('appendRefused').map(({ reason }) => reason);
    expect(reasons).to.deep.equal(['stale_term', 'malformed']);
  });

  it('a follower that is sent older entries, and one that has lost what it had', () => {
    const { a, decisions } = leader(true);
    const response = { type: 'appendResponse', term: 2, success: false, hintTerm: 0 } as const;
    a.hear({ ...response, index: 0, round: 1 });
    const back = { type: 'backtracked', follower: 'b', hint: { index: 0, term: 0 } };
    const [first] = decisions.of('backtracked');
    expect(first).to.deep.equal({ ...back, before: 2, next: 1, lost: false });
    ack(a, 'b', 2, 1);
    decisions.clear();
    a.ticks(2);
    a.hear({ ...response, index: 0, round: 2 });
    expect(decisions.list).to.deep.equal([{ ...back, before: 3, next: 1, lost: true }]);
  });

  it('a commit that waits for an entry of the own term', () => {
    const { a, decisions } = traced('a b c', { entries: logOf('a b c', 1, 1) });
    lead(a);
    decisions.clear();
    ack(a, 'b', 3);
    expect(decisions.list).to.deep.equal([{ type: 'commitWaits', index: 3, termStart: 4 }]);
  });
});

describe('raft: a trace of changes and transfers shows', () => {
  it('a change that is refused', () => {
    const change = (a: Solo, ...words: string[]): void => {
      const after = configuration(...words);
      a.input({ type: 'changeConfiguration', id: 1, configuration: after });
    };
    const follower = traced();
    change(follower.a, 'a', 'b');
    const early = leader(true);
    change(early.a, 'a', 'b');
    const two = leader();
    change(two.a, 'a');
    const moving = leader();
    moving.a.input({ type: 'transfer', to: 'b' });
    change(moving.a, 'a', 'b');
    const shown = [follower, early, two, moving].map(({ decisions }) => decisions.list[0]);
    const facts = { type: 'changeRefused', configurationIndex: 1 };
    expect(shown).to.deep.equal([
      { ...facts, reason: 'not_leader', commit: 0 },
      { ...facts, reason: 'change_in_flight', commit: 0 },
      { ...facts, reason: 'invalid_change', commit: 2 },
      { ...facts, reason: 'transferring', commit: 2 },
    ]);
  });

  it('a transfer that is refused', () => {
    const follower = traced();
    follower.a.input({ type: 'transfer' });
    const alone = leader(false, 'a');
    alone.a.input({ type: 'transfer' });
    const { a, decisions } = leader(false, 'a b c d?');
    a.input({ type: 'transfer', to: 'a' }, { type: 'transfer', to: 'd' });
    const list = [follower, alone, { decisions }].flatMap((each) => each.decisions.list);
    expect(list).to.deep.equal([
      { type: 'transferRefused', to: undefined, reason: 'not_leader' },
      { type: 'transferRefused', to: undefined, reason: 'no_target' },
      { type: 'transferRefused', to: 'a', reason: 'self' },
      { type: 'transferRefused', to: 'd', reason: 'not_voter' },
    ]);
  });

  it('a transfer whose target does not lead in time', () => {
    const { a, decisions } = leader();
    a.propose('x');
    a.input({ type: 'transfer', to: 'b' });
    for (let tick = 0; tick < 10; tick++) {
      ack(a, 'c');
      a.ticks(1);
    }
    const [aborted] = decisions.of('transferAborted');
    expect(aborted).to.deep.equal({ type: 'transferAborted', to: 'b', match: 2, last: 3 });
  });
});

describe('raft: a trace of reads shows', () => {
  const read = (a: Solo, mode: 'lease' | 'quorum' = 'lease'): void =>
    void a.input({ type: 'read', ids: [1, 2], mode });

  it('reads that the follower who asks for them confirms', () => {
    const { a, decisions } = leader();
    a.input({ type: 'read', ids: [1], mode: 'quorum', asker: { id: 'b', term: 2 } });
    const [decision] = decisions.list;
    expect(decision).to.deep.equal({ type: 'readByAsker', reads: 1, index: 2, asker: 'b' });
  });

  it('reads that the lease serves', () => {
    const { a, decisions } = leader();
    a.ticks(2);
    for (const from of ['b', 'c']) ack(a, from, 2, 2);
    read(a);
    expect(decisions.list).to.deep.equal([{ type: 'readByLease', reads: 2, index: 2 }]);
  });

  it('what reads wait for', () => {
    const early = leader(true);
    read(early.a, 'quorum');
    const quorum = leader();
    read(quorum.a, 'quorum');
    const expired = leader();
    expired.a.input({ type: 'clockSuspect' });
    read(expired.a);
    const moving = leader();
    moving.a.input({ type: 'transfer', to: 'b' });
    read(moving.a);
    const demoted = leader(false, 'a b c');
    const after = configuration('a?', 'b', 'c');
    demoted.a.input({ type: 'changeConfiguration', id: 1, configuration: after });
    read(demoted.a);
    const shown = [early, quorum, expired, moving, demoted].map(({ decisions }) =>
      decisions.of('readWaits').map(({ reason, reads, index }) => `${reason} ${reads} ${index}`),
    );
    expect(shown).to.deep.equal([
      ['term_start 2 0'],
      ['quorum 2 2'],
      ['lease_expired 2 2'],
      ['transferring 2 2'],
      ['not_voter 2 2'],
    ]);
  });

  it('reads of a server that does not lead', () => {
    const { a, decisions } = traced();
    a.hear(append(1, 1, 1));
    read(a);
    expect(decisions.list).to.deep.equal([{ type: 'readRefused', reads: 2, leader: 'b' }]);
  });
});

describe('raft: a trace', () => {
  it('changes nothing', () => {
    const outputs = [{}, new Decisions().more].map((more) => {
      const a = settled('a b c', { more });
      a.propose('x');
      a.input({ type: 'read', ids: [1], mode: 'lease' });
      a.hear({ ...vote, from: 'c', term: 9, transfer: true, lastIndex: 9, lastTerm: 2 });
      a.hear(append(9, 7, 7, noops(8, 9), { from: 'c' }));
      return a.outputs;
    });
    expect(outputs[1]).to.deep.equal(outputs[0]);
  });
});
