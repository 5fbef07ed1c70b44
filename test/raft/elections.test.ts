/** Terms, votes and elections. */
import { expect } from 'chai';
import { Cluster, logOf } from './cluster.js';
import { append, campaigning, lead, noops, patient, rejection, solo, vote } from './script.js';
import { randomFrom } from './world.js';

function ackAll(server: ReturnType<typeof solo>): void {
  const { term, lastIndex } = server.status;
  for (const from of ['b', 'c']) {
    server.hear({
      type: 'appendResponse',
      from,
      term,
      success: true,
      index: lastIndex,
      hintTerm: 0,
      round: 1,
    });
  }
}

describe('raft: terms (thesis §3.3)', () => {
  it('§3.3 a server adopts a higher term, forgets its vote, and stores both', () => {
    const server = patient({ votedFor: 'a' });
    const output = server.hear({ type: 'voteResponse', term: 5, granted: false });
    expect(output.hardState).to.deep.equal({ term: 5, votedFor: null });
    expect(output.role).to.deep.equal({ role: 'follower', term: 5, leader: null });
  });

  for (const role of ['preCandidate', 'candidate', 'leader'] as const) {
    it(`§3.3 a ${role} that learns of a higher term becomes a follower`, () => {
      const server = solo();
      if (role === 'leader') lead(server);
      else server.ticks(10);
      if (role === 'candidate') {
        server.hear({ type: 'preVoteResponse', term: 2, granted: true });
      }
      expect(server.role).to.equal(role);
      server.hear(append(9, 1, 1));
      expect(server.status).to.include({ role: 'follower', term: 9, leader: 'b' });
    });
  }

  it('§3.3 a request of an older term is refused with the current term', () => {
    const server = patient({ term: 4 });
    server.hear(append(3, 1, 1, noops(2, 3)), vote);
    const answers = server.take();
    expect(answers).to.have.length(2);
    expect(answers[0]).to.include({ type: 'appendResponse', success: false, term: 4 });
    expect(answers[1]).to.include({ type: 'voteResponse', granted: false, term: 4 });
    expect(server.status).to.include({ lastIndex: 1, leader: null });
  });

  it('§3.3 responses of an older term are ignored', () => {
    const server = lead(solo());
    const { term, lastIndex } = server.status;
    server.hear({
      type: 'appendResponse',
      term: term - 1,
      success: true,
      index: lastIndex,
      hintTerm: 0,
      round: 1,
    });
    expect(server.commit).to.equal(0);
    expect(server.status.progress[0]).to.include({ id: 'b', match: 0 });
  });

  it('the term does not fall across a restart', () => {
    const server = patient();
    server.hear({ type: 'voteResponse', term: 7, granted: false });
    server.crash(server.now);
    expect(server.status.term).to.equal(7);
  });
});

describe('raft: leader election (thesis §3.4)', () => {
  it('§3.4 servers start as followers', () => {
    expect(solo().role).to.equal('follower');
  });

  it('§3.4 a follower stays a follower while it hears a leader', () => {
    const server = solo();
    for (let i = 0; i < 10; i++) {
      server.ticks(9);
      server.hear(append(1, 1, 1));
    }
    expect(server.role).to.equal('follower');
  });

  it('§3.4 an append of an older term does not reset the timer', () => {
    const server = solo('a b c', { term: 3 });
    server.ticks(9);
    server.hear(append(2, 1, 1));
    server.ticks(1);
    expect(server.role).to.equal('preCandidate');
  });

  it('§3.4 a higher term without a leader does not reset the timer', () => {
    const server = solo();
    server.ticks(9);
    server.hear({ type: 'appendResponse', ...rejection, term: 3 });
    server.ticks(1);
    expect(server.role).to.equal('preCandidate');
  });

  it('§3.4 a candidate raises its term, votes for itself and asks all voters in parallel', () => {
    const server = solo('a b c d e f?');
    server.ticks(10);
    server.take();
    server.hear({ type: 'preVoteResponse', from: 'b', term: 2, granted: true });
    const output = server.hear({ type: 'preVoteResponse', from: 'c', term: 2, granted: true });
    expect(output.hardState).to.deep.equal({ term: 2, votedFor: 'a' });
    expect(output.sendAfterStore.map(({ to }) => to)).to.deep.equal(['b', 'c', 'd', 'e']);
    expect(output.sendAfterStore[0]).to.deep.equal({
      type: 'vote',
      from: 'a',
      to: 'b',
      term: 2,
      lastIndex: 1,
      lastTerm: 1,
    });
  });

  const elections: [string, string, Record<string, boolean>, string][] = [
    ['a majority of three', 'a b c', { b: true }, 'leader'],
    ['a majority of five', 'a b c d e', { b: true, c: true }, 'leader'],
    ['too few of five', 'a b c d e', { b: true }, 'candidate'],
    ['half of four', 'a b c d', { b: true }, 'candidate'],
    ['a majority of four', 'a b c d', { b: true, d: true }, 'leader'],
    ['a refusal by a majority', 'a b c', { b: false, c: false }, 'follower'],
    ['a learner', 'a b c d?', { d: true }, 'candidate'],
    ['a non-member', 'a b c', { x: true }, 'candidate'],
  ];
  for (const [what, words, votes, role] of elections) {
    it(`§3.4 ${what} makes a candidate of ${words} a ${role}`, () => {
      const server = campaigning(words);
      for (const [from, granted] of Object.entries(votes)) {
        server.hear({ type: 'voteResponse', from, term: 2, granted });
      }
      expect(server.role).to.equal(role);
    });
  }

  it('§3.4 a vote that arrives twice counts once', () => {
    const server = campaigning('a b c d e');
    const yes = { type: 'voteResponse', from: 'b', term: 2, granted: true } as const;
    server.hear(yes, yes, yes);
    expect(server.role).to.equal('candidate');
  });

  it('§3.4 votes of an earlier campaign do not count', () => {
    const server = campaigning('a b c');
    server.ticks(10);
    server.hear({ type: 'preVoteResponse', term: 3, granted: true });
    expect(server.status).to.include({ role: 'candidate', term: 3 });
    server.hear({ type: 'voteResponse', term: 2, granted: true });
    expect(server.role).to.equal('candidate');
  });

  it('§3.4 a server grants at most one vote per term, to the first candidate that asks', () => {
    const server = patient();
    server.hear({ ...vote, from: 'b' }, { ...vote, from: 'c' });
    expect(server.sent('voteResponse').map(({ to, granted }) => [to, granted])).to.deep.equal([
      ['b', true],
      ['c', false],
    ]);
  });

  it('§3.4 the same candidate gets the same vote again', () => {
    const server = patient({ term: 2, votedFor: 'b' });
    server.hear({ ...vote, from: 'b' }, { ...vote, from: 'c' });
    expect(server.sent('voteResponse').map(({ granted }) => granted)).to.deep.equal([true, false]);
  });

  it('§3.4 a vote survives a crash: the server grants no second one in the same term', () => {
    const server = patient();
    server.hear({ ...vote, from: 'b' });
    server.crash(server.now);
    server.ticks(10);
    server.hear({ ...vote, from: 'c' });
    expect(server.sent('voteResponse')).to.have.length(1);
    expect(server.status).to.include({ term: 2, votedFor: 'b' });
  });

  it('§3.8 a vote is sent only after it is durable, also when it is requested again', () => {
    const server = patient();
    server.holdsDisk = true;
    server.hear({ ...vote, from: 'b' });
    expect(server.hear({ ...vote, from: 'b' }).hardState).to.deep.equal({ term: 2, votedFor: 'b' });
    expect(server.take()).to.deep.equal([]);
    server.syncNow();
    expect(server.sent('voteResponse').map(({ granted }) => granted)).to.deep.equal([true, true]);
  });

  it('§3.4 granting a vote resets the timer, refusing it does not', () => {
    const server = solo('a b c', { more: { random: () => 0.5 } });
    server.ticks(14);
    server.hear(vote);
    server.ticks(14);
    expect(server.role).to.equal('follower');
    server.hear({ ...vote, term: 3, lastIndex: 0 });
    server.ticks(1);
    expect(server.role).to.equal('preCandidate');
  });

  it('§3.4 a candidate that hears the leader of its term follows it', () => {
    const server = campaigning('a b c');
    server.hear(append(2, 1, 1));
    expect(server.status).to.include({ role: 'follower', term: 2, leader: 'b', votedFor: 'a' });
  });

  it('§3.4 a candidate that does not win campaigns again after a timeout', () => {
    const server = campaigning('a b c');
    server.ticks(10);
    expect(server.role).to.equal('preCandidate');
  });

  it('§9.6 a server whose pre-votes get no response sends them again before a full timeout', () => {
    const server = solo();
    server.ticks(10);
    server.take();
    server.ticks(4);
    expect(server.sent('preVote').map(({ to, term }) => [to, term])).to.deep.equal([
      ['b', 2],
      ['c', 2],
    ]);
  });

  it('§9.6 a server that lost its pre-vote tries again before a full timeout', () => {
    const server = solo();
    server.ticks(10);
    for (const from of ['b', 'c'])
      server.hear({ type: 'preVoteResponse', from, term: 1, granted: false });
    expect(server.role).to.equal('follower');
    server.ticks(4);
    expect(server.role).to.equal('preCandidate');
  });

  it('§3.4 a candidate that was refused a vote tries again before a full timeout', () => {
    const server = campaigning('a b c');
    server.hear({ type: 'voteResponse', from: 'b', term: 2, granted: false });
    expect(server.role).to.equal('candidate');
    server.ticks(4);
    expect(server.status).to.include({ role: 'preCandidate', term: 2 });
  });

  it('§3.4 a candidate that a majority refused tries again before a full timeout', () => {
    const server = campaigning('a b c');
    for (const from of ['b', 'c'])
      server.hear({ type: 'voteResponse', from, term: 2, granted: false });
    expect(server.role).to.equal('follower');
    server.ticks(4);
    expect(server.status).to.include({ role: 'preCandidate', term: 2 });
  });

  it('§3.4 a candidate whose votes arrive slowly waits a full timeout for them', () => {
    const server = campaigning('a b c');
    server.ticks(9);
    expect(server.role).to.equal('candidate');
  });

  it('§9.6 a server that refuses a pre-vote because its own log is ahead campaigns soon', () => {
    const server = patient({ entries: logOf('a b c', 1) });
    server.hear({ ...vote, type: 'preVote' });
    expect(server.sent('preVoteResponse')[0]).to.include({ granted: false });
    server.ticks(4);
    expect(server.role).to.equal('preCandidate');
  });

  it('§4.2.3 a server that hears a leader does not campaign soon in that case', () => {
    const server = solo('a b c', {
      entries: logOf('a b c', 1),
      more: { random: () => 0.99 },
    });
    server.hear(append(1, 2, 1));
    server.hear({ ...vote, type: 'preVote' });
    server.ticks(18);
    expect(server.role).to.equal('follower');
  });

  it("§3.4 the random timeout's fraction of a tick is handed to the driver", () => {
    const server = solo('a b c', { more: { random: () => 0.575 } });
    expect(server.input().lengthenTick).to.equal(0.75);
    expect(server.input().lengthenTick).to.equal(undefined);
  });

  it('§3.4 two survivors elect a leader within three timeouts, whatever they draw', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const cluster = new Cluster(['a', 'b', 'c'], logOf('a b c'), { random: randomFrom(seed) });
      cluster.elect('a');
      cluster.tick(3);
      cluster.crash('a');
      cluster.tick(30);
      expect(cluster.leader?.id, `seed ${seed}`).to.be.oneOf(['b', 'c']);
    }
  });

  it('§3.4 timeouts are drawn from [electionTicks, 2 * electionTicks)', () => {
    for (const [spread, ticks] of [
      [0, 10],
      [0.5, 15],
      [0.9999, 19],
    ] as const) {
      const server = solo('a b c', { more: { random: () => spread } });
      server.ticks(ticks - 1);
      expect(server.role).to.equal('follower');
      server.ticks(1);
      expect(server.role).to.equal('preCandidate');
    }
  });

  it('§3.4 a new leader sends an append to all members at once', () => {
    const server = campaigning('a b c d?');
    const output = server.hear({ type: 'voteResponse', term: 2, granted: true });
    expect(output.sendNow.map(({ type, to }) => [type, to])).to.deep.equal([
      ['append', 'b'],
      ['append', 'c'],
      ['append', 'd'],
    ]);
    expect(output.role).to.deep.equal({ role: 'leader', term: 2, leader: 'a' });
  });

  it('§3.4 a leader sends heartbeats while idle', () => {
    const server = lead(solo());
    ackAll(server);
    server.take();
    server.ticks(2);
    expect(server.sent('append').map(({ to, entries }) => [to, entries.length])).to.deep.equal([
      ['b', 0],
      ['c', 0],
    ]);
  });

  it('§3.4 split votes are resolved by random timeouts', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const cluster = new Cluster(['a', 'b', 'c', 'd'], logOf('a b c d'), { random: () => 0 });
      // All campaign at the same moment: nobody can win.
      cluster.tick(11);
      expect(cluster.leader).to.equal(undefined);
      const random = randomFrom(seed);
      for (const server of cluster.up()) Object.assign(server.options, { random });
      cluster.tick(100);
      expect(cluster.up().filter(({ role }) => role === 'leader')).to.have.length(1);
    }
  });

  it('a learner never campaigns', () => {
    const server = solo('a? b c');
    server.ticks(100);
    expect(server.role).to.equal('learner');
    server.hear({ type: 'timeoutNow', term: 1 });
    expect(server.status).to.include({ role: 'learner', term: 1 });
    expect(server.take()).to.deep.equal([]);
  });

  it('a server without a configuration never campaigns', () => {
    const server = solo('', { entries: [] });
    server.ticks(100);
    expect(server.role).to.equal('learner');
  });

  it('a second leader in one term stops the process', () => {
    const server = lead(solo());
    expect(() => server.hear(append(server.status.term, 1, 1))).to.throw(/two leaders.*term 2/);
    const follower = solo();
    follower.hear(append(2, 1, 1));
    expect(() => follower.hear(append(2, 1, 1, [], { from: 'c' }))).to.throw(/two leaders/);
  });
});

describe('raft: the log of a candidate (thesis §3.6.1)', () => {
  const own = logOf('a b c', 1, 3, 3);
  const cases: [string, number, number, boolean][] = [
    ['the same log', 3, 4, true],
    ['a longer log', 3, 5, true],
    ['a shorter log of the same term', 3, 3, false],
    ['a shorter log of a higher term', 4, 2, true],
    ['a longer log of a lower term', 2, 9, false],
    ['an empty log', 0, 0, false],
  ];
  for (const [what, lastTerm, lastIndex, granted] of cases) {
    it(`§3.6.1 ${what} is ${granted ? '' : 'not '}up to date`, () => {
      const server = patient({ entries: own });
      server.hear({ type: 'vote', term: 5, lastTerm, lastIndex });
      expect(server.sent('voteResponse')[0]).to.include({ granted, term: 5 });
      expect(server.status.votedFor).to.equal(granted ? 'b' : null);
      const asked = patient({ entries: own });
      asked.hear({ type: 'preVote', term: 5, lastTerm, lastIndex });
      expect(asked.sent('preVoteResponse')[0]).to.include({ granted });
    });
  }
});
