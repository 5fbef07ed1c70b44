/** Which servers may not disturb a working leader, and when a leader steps down. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { RaftOptions } from '../../src/raft/options.js';
import { Cluster, logOf } from './cluster.js';
import { append, campaigning, lead, patient, rejection, type Solo, solo, vote } from './script.js';

describe('raft: pre-vote (thesis §9.6)', () => {
  it('§9.6 a follower whose timer expires sends pre-votes, and keeps its term and vote', () => {
    const server = solo('a b c', { votedFor: 'c' });
    server.ticks(10);
    expect(server.status).to.include({ role: 'preCandidate', term: 1, votedFor: 'c' });
    expect(server.log.hardState()).to.deep.equal({ term: 1, votedFor: 'c' });
    expect(server.sent('preVote').map(({ to, term }) => [to, term])).to.deep.equal([
      ['b', 2],
      ['c', 2],
    ]);
  });

  it('§9.6 a pre-vote request changes neither term, vote nor timer of its receiver', () => {
    const server = solo('a b c', { more: { random: () => 0.5 } });
    server.ticks(14);
    const output = server.hear({ ...vote, type: 'preVote', term: 9 });
    expect(output.hardState).to.equal(undefined);
    expect(server.sent('preVoteResponse')[0]).to.include({ granted: true, term: 9 });
    expect(server.status).to.include({ term: 1, votedFor: null });
    server.ticks(1);
    expect(server.role).to.equal('preCandidate');
  });

  it('§9.6 a server may grant pre-votes to several candidates, whatever its real vote was', () => {
    const server = patient({ votedFor: 'c' });
    server.hear({ ...vote, type: 'preVote' }, { ...vote, type: 'preVote', from: 'c' });
    const answers = server.sent('preVoteResponse');
    expect(answers.map(({ granted }) => granted)).to.deep.equal([true, true]);
  });

  it('§9.6 a server that hears a leader ignores pre-votes', () => {
    const server = solo();
    server.hear(append(1, 1, 1));
    server.take();
    server.ticks(9);
    server.hear({ ...vote, type: 'preVote' });
    expect(server.take()).to.deep.equal([]);
  });

  it('§9.6 a candidate with an old term learns the newer one', () => {
    const server = patient({ term: 6 });
    server.hear({ ...vote, type: 'preVote' });
    expect(server.sent('preVoteResponse')[0]).to.include({ granted: false, term: 6 });
    const behind = solo();
    behind.ticks(10);
    behind.hear({ type: 'preVoteResponse', term: 6, granted: false });
    expect(behind.status).to.include({ role: 'follower', term: 6 });
  });

  it('§9.6 a pre-vote response does not count as a vote', () => {
    const server = campaigning('a b c');
    server.hear({ type: 'preVoteResponse', from: 'b', term: 2, granted: true });
    server.hear({ type: 'preVoteResponse', from: 'c', term: 3, granted: true });
    expect(server.status).to.include({ role: 'candidate', term: 2 });
  });

  it('§9.6 a vote response does not count as a pre-vote', () => {
    const server = solo();
    server.ticks(10);
    server.hear({ type: 'voteResponse', term: 1, granted: true });
    expect(server.status).to.include({ role: 'preCandidate', term: 1 });
  });

  it('§9.6 a pre-vote granted for an older campaign does not count', () => {
    const server = solo('a b c', { term: 5 });
    server.ticks(10);
    server.hear({ type: 'preVoteResponse', term: 5, granted: true });
    server.hear({ type: 'preVoteResponse', term: 7, granted: true });
    expect(server.status).to.include({ role: 'preCandidate', term: 5 });
  });

  it('§9.6 refusals from a majority end the pre-vote until the next timeout', () => {
    const server = solo();
    server.ticks(10);
    for (const from of ['b', 'c']) {
      server.hear({ type: 'preVoteResponse', from, term: 1, granted: false });
    }
    expect(server.status).to.include({ role: 'follower', term: 1 });
    server.ticks(10);
    expect(server.role).to.equal('preCandidate');
  });

  it('§9.6 a server that votes for another candidate ends its own pre-vote', () => {
    const server = solo();
    server.ticks(10);
    server.hear(vote);
    expect(server.status).to.include({ role: 'follower', term: 2, votedFor: 'b' });
  });

  it('§9.6 a server that was cut off for long rejoins without disturbing the leader', () => {
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
  it('§4.2.3 a vote request within the minimum timeout is ignored, and so is its term', () => {
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

  it('§4.2.3 the silence holds although the term has risen meanwhile', () => {
    const server = solo();
    server.hear(append(1, 1, 1));
    server.hear({ type: 'voteResponse', from: 'c', term: 2, granted: false });
    server.take();
    server.hear({ ...vote, term: 3, from: 'c' });
    expect(server.take()).to.deep.equal([]);
    expect(server.status).to.include({ term: 2, votedFor: null });
  });

  it('§4.2.3 the silence also holds in the term that the server has risen to', () => {
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

  it('§4.2.3 the silence does not hold against a leadership transfer', () => {
    const server = solo();
    server.hear(append(1, 1, 1));
    server.hear({ type: 'preVoteResponse', from: 'c', term: 2, granted: false });
    server.take();
    server.hear({ ...vote, from: 'c', transfer: true });
    expect(server.sent('voteResponse')[0]).to.include({ granted: true, term: 2 });
  });

  it('§4.2.3 the silence holds across a restart', () => {
    const server = patient();
    server.hear(append(1, 1, 1));
    server.crash(server.now);
    server.hear({ ...vote, from: 'c' });
    expect(server.take()).to.deep.equal([]);
    expect(server.status.term).to.equal(1);
  });

  it('§4.2.3 a server that has never heard a leader grants votes at once', () => {
    const server = solo('', { entries: [] });
    server.hear({ ...vote, term: 1 });
    expect(server.sent('voteResponse')[0]).to.include({ granted: true });
  });

  it('§4.2.3 a vote request does not depose a leader', () => {
    const server = lead(solo());
    server.take();
    server.hear({ ...vote, term: 9 });
    expect(server.status).to.include({ role: 'leader', term: 2 });
    expect(server.take()).to.deep.equal([]);
  });

  it('§4.2.3 a vote request of a leadership transfer deposes the leader that started it', () => {
    const server = lead(solo());
    server.take();
    server.hear({ ...vote, term: 9, lastIndex: 5, lastTerm: 5, transfer: true });
    expect(server.status).to.include({ role: 'follower', term: 9, votedFor: 'b' });
  });

  it('§6.2 a leader without contact to a quorum for an election timeout steps down', () => {
    const server = lead(solo());
    server.ticks(5);
    server.hear({ type: 'appendResponse', ...rejection, term: 2 });
    server.ticks(9);
    expect(server.role).to.equal('leader');
    server.ticks(1);
    expect(server.status).to.include({ role: 'follower', term: 2, leader: null });
  });

  it('§6.2 contact with learners does not count', () => {
    const server = lead(solo('a b c d?'));
    for (let i = 0; i < 10; i++) {
      server.hear({ type: 'appendResponse', ...rejection, from: 'd', term: 2 });
      server.ticks(1);
    }
    expect(server.role).to.equal('follower');
  });

  /** `a` leads; `cut` decides which links between different servers are cut. */
  function staysLeader(ids: readonly string[], cut: (link: number) => boolean): void {
    const cluster = new Cluster(ids, logOf(ids.join(' ')));
    cluster.elect('a');
    cluster.tick(5);
    const { term } = cluster.get('a').status;
    const links = ids.flatMap((from) => ids.filter((to) => to !== from).map((to) => [from, to]));
    const broken = links.filter((_, link) => cut(link)) as [string, string][];
    for (const [from, to] of broken) cluster.cut(from, to);
    const touches = (id: string): boolean =>
      broken.some((link) => link.includes('a') && link.includes(id));
    const reached = ids.filter((id) => id === 'a' || !touches(id));
    if (reached.length * 2 <= ids.length) return;
    cluster.tick(100);
    cluster.propose('a', 'x');
    cluster.deliver();
    const { role, commit, status } = cluster.get('a');
    const message = `cut: ${broken.map((link) => link.join('>'))}`;
    expect([role, status.term, commit], message).to.deep.equal(['leader', term, status.lastIndex]);
  }

  it('§6.2 a leader that reaches a majority stays leader, whichever links of three are cut', () => {
    for (let cuts = 0; cuts < 2 ** 6; cuts++) {
      staysLeader(['a', 'b', 'c'], (link) => ((cuts >> link) & 1) === 1);
    }
  });

  it('§6.2 a leader that reaches a majority stays leader, whichever links of five are cut', () => {
    const bits = fc.integer({ min: 0, max: 2 ** 20 - 1 });
    fc.assert(
      fc.property(bits, bits, (some, others) => {
        // about a quarter of the links
        staysLeader(['a', 'b', 'c', 'd', 'e'], (link) => (((some & others) >> link) & 1) === 1);
      }),
    );
  });

  it('§6.2 a leader that reaches a majority stays leader, whichever others it cannot reach', () => {
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

describe('raft: no server campaigns within the silence it promised (thesis §6.4.1)', () => {
  /** Follows `b`; its election timer runs out after ten ticks, and a retry after three. */
  function following(more: Partial<RaftOptions> = {}): Solo {
    const server = solo('a b c', { more });
    server.hear(append(1, 1, 1));
    server.take();
    return server;
  }

  it('§6.4.1 a follower that hears its leader after a failed pre-vote keeps the promise', () => {
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

  it('§3.4 the timeout is random again after a follower hears its leader again', () => {
    const draws = [0.9, 0, 0.5];
    const server = following({ random: () => draws.shift() ?? 0.5 });
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

  it('§6.4.1 a restart with a shorter timeout keeps the longer silence', () => {
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

  it('§6.4.1 hearing a leader after that restart does not shorten the silence', () => {
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

  it('§4.2.3 a leadership transfer also overrides a silence from before a restart', () => {
    const server = solo('a b c', { more: { promisedTicks: 25 } });
    server.hear({ ...vote, from: 'c', transfer: true });
    expect(server.sent('voteResponse')[0]).to.include({ granted: true, term: 2 });
    const target = solo('a b c', { more: { promisedTicks: 25 } });
    target.hear({ type: 'timeoutNow', term: 1 });
    expect(target.status).to.include({ role: 'candidate', term: 2 });
  });

  it('§6.4.1 a promised silence shorter than the present one changes nothing', () => {
    const server = solo('a b c', { more: { promisedTicks: 4 } });
    server.ticks(9);
    expect(server.role).to.equal('follower');
    server.ticks(1);
    expect(server.role).to.equal('preCandidate');
  });

  it('§6.4.1 the only voter, which no other server can follow, campaigns without waiting', () => {
    const server = solo('a', { more: { promisedTicks: 25 } });
    server.ticks(1);
    expect(server.role).to.equal('leader');
  });
});

describe('raft: a leader whose connection breaks (thesis §3.4)', () => {
  const broken = { type: 'unreachable', peer: 'b' } as const;
  /** A follower that would wait for 19 ticks; a shortened wait ends after 14. */
  function following(random: () => number = () => 0.99): Solo {
    const server = solo('a b c', { more: { random } });
    server.hear(append(1, 1, 1));
    server.take();
    return server;
  }

  it('§3.4 a follower then waits for the end of its silence and a short random time', () => {
    const server = following();
    server.ticks(3);
    server.input(broken);
    server.ticks(10);
    expect(server.status).to.include({ role: 'follower', leader: 'b' });
    server.ticks(1);
    expect(server.role).to.equal('preCandidate');
  });

  it('§6.4.1 its followers refuse votes and do not campaign until their silence is over', () => {
    const draws = [0.99];
    const server = following(() => draws.shift() ?? 0);
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
    const draws = [0.99, 0.99];
    const server = following(() => draws.shift() ?? 0);
    for (let i = 0; i < 5; i++) server.input(broken);
    server.ticks(13);
    expect(server.role).to.equal('follower');
  });

  it('§3.4 a follower that hears the leader again waits the full timeout', () => {
    const server = following();
    server.input(broken);
    server.ticks(8);
    server.hear(append(1, 1, 1));
    server.ticks(18);
    expect(server.role).to.equal('follower');
    server.ticks(1);
    expect(server.role).to.equal('preCandidate');
  });

  it('§3.4 losing the connection to another peer changes nothing', () => {
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

  it('§9.6 a leader that other followers hear is not disturbed', () => {
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
