/** Who may not disturb a leader that does its work, and when a leader gives up. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { RaftOptions } from '../../src/raft/types.js';
import { Cluster, logOf } from './cluster.js';
import { append, campaigning, lead, patient, type Solo, solo, stranger, vote } from './script.js';

describe('raft: the vote before the vote (thesis §9.6)', () => {
  it('§9.6 a follower whose timer runs out asks first, and changes neither term nor vote', () => {
    const server = solo('a b c', { votedFor: 'c' });
    server.ticks(10);
    expect(server.status).to.include({ role: 'preCandidate', term: 1, votedFor: 'c' });
    expect(server.log.hardState).to.deep.equal({ term: 1, votedFor: 'c' });
    expect(server.sent('preVote').map(({ to, term }) => [to, term])).to.deep.equal([
      ['b', 2],
      ['c', 2],
    ]);
  });

  it('§9.6 being asked changes neither term, vote nor timer', () => {
    const server = solo('a b c', { more: { random: () => 0.5 } });
    server.ticks(14);
    const output = server.hear({ ...vote, type: 'preVote', term: 9 });
    expect(output.hardState).to.equal(undefined);
    expect(server.sent('preVoteResponse')[0]).to.include({ granted: true, term: 9 });
    expect(server.status).to.include({ term: 1, votedFor: null });
    server.ticks(1);
    expect(server.role).to.equal('preCandidate');
  });

  it('§9.6 several candidates may be told yes, whatever the real vote was', () => {
    const server = patient({ votedFor: 'c' });
    server.hear({ ...vote, type: 'preVote' }, { ...vote, type: 'preVote', from: 'c' });
    const answers = server.sent('preVoteResponse');
    expect(answers.map(({ granted }) => granted)).to.deep.equal([true, true]);
  });

  it('§9.6 a server that hears a leader says nothing', () => {
    const server = solo();
    server.hear(append(1, 1, 1));
    server.take();
    server.ticks(9);
    server.hear({ ...vote, type: 'preVote' });
    expect(server.take()).to.deep.equal([]);
  });

  it('§9.6 a candidate with an old term is told the newer one', () => {
    const server = patient({ term: 6 });
    server.hear({ ...vote, type: 'preVote' });
    expect(server.sent('preVoteResponse')[0]).to.include({ granted: false, term: 6 });
    const behind = solo();
    behind.ticks(10);
    behind.hear({ type: 'preVoteResponse', term: 6, granted: false });
    expect(behind.status).to.include({ role: 'follower', term: 6 });
  });

  it('§9.6 an answer to the pre-vote is no vote', () => {
    const server = campaigning('a b c');
    server.hear({ type: 'preVoteResponse', from: 'b', term: 2, granted: true });
    server.hear({ type: 'preVoteResponse', from: 'c', term: 3, granted: true });
    expect(server.status).to.include({ role: 'candidate', term: 2 });
  });

  it('§9.6 a vote is no answer to the pre-vote', () => {
    const server = solo();
    server.ticks(10);
    server.hear({ type: 'voteResponse', term: 1, granted: true });
    expect(server.status).to.include({ role: 'preCandidate', term: 1 });
  });

  it('§9.6 a yes to an older question does not count', () => {
    const server = solo('a b c', { term: 5 });
    server.ticks(10);
    server.hear({ type: 'preVoteResponse', term: 5, granted: true });
    server.hear({ type: 'preVoteResponse', term: 7, granted: true });
    expect(server.status).to.include({ role: 'preCandidate', term: 5 });
  });

  it('§9.6 a majority that says no ends it, until the next timeout', () => {
    const server = solo();
    server.ticks(10);
    for (const from of ['b', 'c']) {
      server.hear({ type: 'preVoteResponse', from, term: 1, granted: false });
    }
    expect(server.status).to.include({ role: 'follower', term: 1 });
    server.ticks(10);
    expect(server.role).to.equal('preCandidate');
  });

  it('§9.6 who votes for another gives up its own question', () => {
    const server = solo();
    server.ticks(10);
    server.hear(vote);
    expect(server.status).to.include({ role: 'follower', term: 2, votedFor: 'b' });
  });

  it('§9.6 a server cut off for long comes back without disturbing the leader', () => {
    const cluster = new Cluster(['a', 'b', 'c'], logOf('a b c'));
    cluster.tick(12);
    const { term } = cluster.get('a').status;
    cluster.isolate('c');
    cluster.tick(100);
    expect(cluster.get('c').status.term).to.equal(term);
    cluster.heal();
    cluster.tick(20);
    expect(cluster.get('a').status).to.include({ role: 'leader', term });
  });
});

describe('raft: disruptive servers (thesis §4.2.3) and quorum contact (§6.2)', () => {
  it('§4.2.3 a vote asked for within the minimum timeout of a leader is ignored, term and all', () => {
    const server = solo();
    server.hear(append(1, 1, 1));
    server.take();
    server.ticks(9);
    server.hear({ ...vote, term: 8, from: 'c' });
    expect(server.take()).to.deep.equal([]);
    expect(server.status).to.include({ term: 1, leader: 'b' });
    server.ticks(1);
    server.take();
    server.hear({ ...vote, term: 8, from: 'c' });
    expect(server.sent('voteResponse')[0]).to.include({ granted: true });
  });

  it('§4.2.3 the silence holds when the term has moved on meanwhile', () => {
    const server = solo();
    server.hear(append(1, 1, 1));
    server.hear({ type: 'voteResponse', from: 'c', term: 2, granted: false });
    server.take();
    server.hear({ ...vote, term: 3, from: 'c' });
    expect(server.take()).to.deep.equal([]);
    expect(server.status).to.include({ term: 2, votedFor: null });
  });

  it('§4.2.3 the silence holds in the very term that the term has moved on to', () => {
    const server = solo('a b c', { more: { random: () => 0.99 } });
    server.hear(append(1, 1, 1));
    server.hear({ type: 'preVoteResponse', from: 'c', term: 2, granted: false });
    server.take();
    server.hear({ ...vote, from: 'c' });
    expect(server.sent('voteResponse')[0]).to.include({ granted: false, term: 2 });
    expect(server.status).to.include({ term: 2, votedFor: null });
    server.ticks(10);
    server.hear({ ...vote, from: 'c' });
    expect(server.sent('voteResponse')[0]).to.include({ granted: true, term: 2 });
  });

  it('§4.2.3 unless that vote is asked for by a transfer', () => {
    const server = solo();
    server.hear(append(1, 1, 1));
    server.hear({ type: 'preVoteResponse', from: 'c', term: 2, granted: false });
    server.take();
    server.hear({ ...vote, from: 'c', transfer: true });
    expect(server.sent('voteResponse')[0]).to.include({ granted: true, term: 2 });
  });

  it('§4.2.3 the silence holds over a restart', () => {
    const server = patient();
    server.hear(append(1, 1, 1));
    server.crash(server.now);
    server.hear({ ...vote, from: 'c' });
    expect(server.take()).to.deep.equal([]);
    expect(server.status.term).to.equal(1);
  });

  it('§4.2.3 a server that never heard anything is not silent', () => {
    const server = solo('', { entries: [] });
    server.hear({ ...vote, term: 1 });
    expect(server.sent('voteResponse')[0]).to.include({ granted: true });
  });

  it('§4.2.3 a leader is not deposed by a vote request', () => {
    const server = lead(solo());
    server.take();
    server.hear({ ...vote, term: 9 });
    expect(server.status).to.include({ role: 'leader', term: 2 });
    expect(server.take()).to.deep.equal([]);
  });

  it('§4.2.3 unless the leader has asked for it by a transfer', () => {
    const server = lead(solo());
    server.take();
    server.hear({ ...vote, term: 9, lastIndex: 5, lastTerm: 5, transfer: true });
    expect(server.status).to.include({ role: 'follower', term: 9, votedFor: 'b' });
  });

  it('§6.2 a leader without contact to a quorum for an election timeout steps down', () => {
    const server = lead(solo());
    server.ticks(5);
    server.hear({ type: 'appendResponse', ...stranger, term: 2 });
    server.ticks(9);
    expect(server.role).to.equal('leader');
    server.ticks(1);
    expect(server.status).to.include({ role: 'follower', term: 2, leader: null });
  });

  it('§6.2 a learner is no contact', () => {
    const server = lead(solo('a b c d?'));
    for (let i = 0; i < 10; i++) {
      server.hear({ type: 'appendResponse', ...stranger, from: 'd', term: 2 });
      server.ticks(1);
    }
    expect(server.role).to.equal('follower');
  });

  /** `cut` says which of the ways between different servers are cut; `a` leads. */
  function staysLeader(ids: readonly string[], cut: (way: number) => boolean): void {
    const cluster = new Cluster(ids, logOf(ids.join(' ')));
    cluster.elect('a');
    cluster.tick(5);
    const { term } = cluster.get('a').status;
    const ways = ids.flatMap((from) => ids.filter((to) => to !== from).map((to) => [from, to]));
    const broken = ways.filter((_, way) => cut(way)) as [string, string][];
    for (const [from, to] of broken) cluster.cut(from, to);
    const touches = (id: string): boolean =>
      broken.some((way) => way.includes('a') && way.includes(id));
    const reached = ids.filter((id) => id === 'a' || !touches(id));
    if (reached.length * 2 <= ids.length) return;
    cluster.tick(100);
    cluster.propose('a', 'x');
    cluster.deliver();
    const { role, commit, status } = cluster.get('a');
    expect([role, status.term, commit], `cut: ${broken.map((way) => way.join('>'))}`).to.deep.equal(
      ['leader', term, status.lastIndex],
    );
  }

  it('§6.2 a leader that reaches a majority stays, whichever ways between three servers are cut', () => {
    for (let cuts = 0; cuts < 2 ** 6; cuts++) {
      staysLeader(['a', 'b', 'c'], (way) => ((cuts >> way) & 1) === 1);
    }
  });

  it('§6.2 a leader that reaches a majority stays, whichever ways between five servers are cut', () => {
    const lot = fc.integer({ min: 0, max: 2 ** 20 - 1 });
    fc.assert(
      fc.property(lot, lot, (some, others) => {
        // about a quarter of the ways
        staysLeader(['a', 'b', 'c', 'd', 'e'], (way) => (((some & others) >> way) & 1) === 1);
      }),
    );
  });

  it('§6.2 a leader that reaches a majority stays, whoever else it cannot reach', () => {
    const cluster = new Cluster(['a', 'b', 'c', 'd', 'e'], logOf('a b c d e'));
    cluster.tick(15);
    for (const id of ['d', 'e']) {
      cluster.cut('a', id);
      cluster.cut(id, 'a');
    }
    const { term } = cluster.get('a').status;
    cluster.tick(200);
    expect(cluster.get('a').status).to.include({ role: 'leader', term });
  });
});

describe('raft: nobody campaigns within the silence it promised (thesis §6.4.1)', () => {
  /** Follows `b`; its election timer runs out after ten ticks, and a retry after three. */
  function following(more: Partial<RaftOptions> = {}): Solo {
    const server = solo('a b c', { more });
    server.hear(append(1, 1, 1));
    server.take();
    return server;
  }

  it('§6.4.1 not after a pre-vote that failed, once it hears its leader again', () => {
    const server = following();
    server.ticks(10);
    for (const from of ['b', 'c']) {
      server.hear({ type: 'preVoteResponse', from, term: 1, granted: false });
    }
    server.hear(append(1, 1, 1));
    server.ticks(9);
    expect(server.status).to.include({ role: 'follower', leader: 'b' });
    server.ticks(1);
    expect(server.role).to.equal('preCandidate');
  });

  it('§3.4 the wait that follows a leader heard again has a random length', () => {
    const lots = [0.9, 0, 0.5];
    const server = following({ random: () => lots.shift() ?? 0.5 });
    server.ticks(19);
    for (const from of ['b', 'c']) {
      server.hear({ type: 'preVoteResponse', from, term: 1, granted: false });
    }
    server.hear(append(1, 1, 1));
    server.ticks(14);
    expect(server.role).to.equal('follower');
    server.ticks(1);
    expect(server.role).to.equal('preCandidate');
  });

  it('§6.4.1 a restart with a shorter timeout keeps the longer silence: no vote, no campaign', () => {
    const server = solo('a b c', { more: { promisedTicks: 25 } });
    server.ticks(24);
    expect(server.role).to.equal('follower');
    server.hear({ ...vote, type: 'preVote', from: 'c' }, { ...vote, from: 'c' });
    expect(server.take()).to.deep.equal([]);
    server.ticks(1);
    expect(server.role).to.equal('preCandidate');
    server.hear({ ...vote, from: 'c' });
    expect(server.sent('voteResponse')[0]).to.include({ granted: true, term: 2 });
  });

  it('§6.4.1 a leader that is heard after that restart does not shorten the silence', () => {
    const server = solo('a b c', { more: { promisedTicks: 25 } });
    server.ticks(2);
    server.hear(append(1, 1, 1));
    server.take();
    server.ticks(22);
    server.hear({ ...vote, from: 'c' });
    expect(server.take()).to.deep.equal([]);
    expect(server.role).to.equal('follower');
    server.ticks(1);
    server.hear({ ...vote, from: 'c' });
    expect(server.sent('voteResponse')[0]).to.include({ granted: true, term: 2 });
  });

  it('§4.2.3 a transfer overrides the silence of before a restart too', () => {
    const server = solo('a b c', { more: { promisedTicks: 25 } });
    server.hear({ ...vote, from: 'c', transfer: true });
    expect(server.sent('voteResponse')[0]).to.include({ granted: true, term: 2 });
    const target = solo('a b c', { more: { promisedTicks: 25 } });
    target.hear({ type: 'timeoutNow', term: 1 });
    expect(target.status).to.include({ role: 'candidate', term: 2 });
  });

  it('§6.4.1 a shorter silence than the present one changes nothing', () => {
    const server = solo('a b c', { more: { promisedTicks: 4 } });
    server.ticks(9);
    expect(server.role).to.equal('follower');
    server.ticks(1);
    expect(server.role).to.equal('preCandidate');
  });

  it('§6.4.1 a lone voter, which nobody else can follow, waits for nothing', () => {
    const server = solo('a', { more: { promisedTicks: 25 } });
    server.ticks(1);
    expect(server.role).to.equal('leader');
  });
});

describe('raft: a leader whose connection breaks (thesis §3.4)', () => {
  const broken = { type: 'unreachable', peer: 'b' } as const;
  /** Would wait for 19 ticks; a hastened wait ends when 14 have passed. */
  function following(random: () => number = () => 0.99): Solo {
    const server = solo('a b c', { more: { random } });
    server.hear(append(1, 1, 1));
    server.take();
    return server;
  }

  it('§3.4 is waited for as long as votes are refused, and a short random time', () => {
    const server = following();
    server.ticks(3);
    server.input(broken);
    server.ticks(10);
    expect(server.status).to.include({ role: 'follower', leader: 'b' });
    server.ticks(1);
    expect(server.role).to.equal('preCandidate');
  });

  it('§6.4.1 its followers refuse votes and stay quiet until their silence is over', () => {
    const lots = [0.99];
    const server = following(() => lots.shift() ?? 0);
    server.input(broken);
    server.ticks(9);
    server.hear({ ...vote, type: 'preVote', from: 'c' }, { ...vote, from: 'c' });
    expect(server.take()).to.deep.equal([]);
    server.ticks(1);
    expect(server.role).to.equal('follower');
    server.ticks(1);
    expect(server.role).to.equal('preCandidate');
  });

  it('§3.4 the short wait is drawn once, however often the connection breaks', () => {
    const lots = [0.99, 0.99];
    const server = following(() => lots.shift() ?? 0);
    for (let i = 0; i < 5; i++) server.input(broken);
    server.ticks(13);
    expect(server.role).to.equal('follower');
  });

  it('§3.4 a leader that is heard again is waited for as before', () => {
    const server = following();
    server.input(broken);
    server.ticks(8);
    server.hear(append(1, 1, 1));
    server.ticks(18);
    expect(server.role).to.equal('follower');
    server.ticks(1);
    expect(server.role).to.equal('preCandidate');
  });

  it('§3.4 another peer that cannot be reached changes nothing', () => {
    const server = following();
    server.input({ type: 'unreachable', peer: 'c' });
    server.ticks(18);
    expect(server.role).to.equal('follower');
  });

  it('§4.2.1 a learner does not campaign when its leader is gone', () => {
    const server = solo('a? b c');
    server.hear(append(1, 1, 1));
    server.input(broken);
    server.ticks(50);
    expect(server.status).to.include({ role: 'learner', term: 1 });
  });

  it('§9.6 a leader that others hear is not disturbed', () => {
    const cluster = new Cluster(['a', 'b', 'c'], logOf('a b c'));
    cluster.tick(12);
    const { term } = cluster.get('a').status;
    cluster.cut('a', 'c');
    cluster.cut('c', 'a');
    cluster.step('c', { type: 'unreachable', peer: 'a' });
    cluster.tick(60);
    expect(cluster.get('a').status).to.include({ role: 'leader', term });
    cluster.heal();
    cluster.tick(5);
    expect(cluster.get('a').status).to.include({ role: 'leader', term });
    expect(cluster.get('c').status).to.include({ leader: 'a', term });
  });
});
