/** The leader's side of replication: what it sends, counts and commits. */
import { expect } from 'chai';
import type { Message } from '../../src/raft/types.js';
import { Cluster, command, logOf } from './cluster.js';
import { ack, append, follower, lead, noops, type Solo, settled, solo } from './script.js';

describe('raft: the leader replicates (thesis §3.5)', () => {
  it('§3.5 a new leader begins its term with a no-op (§6.4 step 1)', () => {
    const server = lead(solo());
    expect(server.log.content.entries.at(-1)).to.deep.equal({ kind: 'noop', index: 2, term: 2 });
  });

  it('§3.5 proposals are sent at once, in parallel with the write to disk (§10.2.1)', () => {
    const server = settled();
    server.holdsDisk = true;
    const output = server.propose('x', 'y');
    expect(output.appended).to.deep.equal([
      { id: 1, index: 3, term: 2 },
      { id: 2, index: 4, term: 2 },
    ]);
    expect(output.entries).to.deep.equal([command(3, 2, 'x'), command(4, 2, 'y')]);
    expect(output.sendNow).to.have.length(2);
    expect(output.sendNow[0]).to.deep.include({
      type: 'append',
      to: 'b',
      prevIndex: 2,
      prevTerm: 2,
      entries: output.entries,
      commit: 2,
    });
  });

  it('§3.5 all proposals of a step are sent in one message, the same entries to all', () => {
    const server = settled();
    const propose = (id: number) => ({
      type: 'propose' as const,
      commands: [{ id, data: new Uint8Array(4) }],
    });
    const { sendNow } = server.input(propose(1), propose(2), propose(3));
    expect(sendNow).to.have.length(2);
    const [first, second] = sendNow as (Message & { type: 'append' })[];
    expect(first!.entries).to.have.length(3);
    expect(first!.entries).to.equal(second!.entries);
  });

  it('§3.5 an entry is committed once a majority has stored it', () => {
    const server = settled('a b c d e');
    server.propose('x');
    ack(server, 'b');
    expect(server.commit).to.equal(2);
    ack(server, 'c');
    expect(server.commit).to.equal(3);
  });

  it('§3.5 an acknowledgement that arrives twice counts once', () => {
    const server = settled('a b c d e');
    server.propose('x');
    ack(server, 'b');
    ack(server, 'b');
    expect(server.commit).to.equal(2);
  });

  it('§3.5 learners and non-members do not count', () => {
    const server = settled('a b c d? e?');
    server.propose('x');
    for (const from of ['d', 'e', 'x', 'y']) ack(server, from);
    expect(server.commit).to.equal(2);
  });

  it('§3.5 the leader counts itself only once its own disk has stored the entry', () => {
    const server = settled('a b');
    server.holdsDisk = true;
    server.propose('x');
    ack(server, 'b');
    expect(server.commit).to.equal(2);
    server.syncNow();
    expect(server.commit).to.equal(3);
  });

  it("§10.2.1 a majority of others may commit before the leader's own disk is done", () => {
    const server = settled('a b c');
    server.holdsDisk = true;
    server.propose('x');
    ack(server, 'b');
    ack(server, 'c');
    expect(server.commit).to.equal(3);
    expect(server.status.stored).to.equal(2);
  });

  it('§3.5 followers learn the commit index at once, not with the next heartbeat', () => {
    const server = settled();
    server.propose('x');
    ack(server, 'b');
    const news = server.sent('append').filter(({ entries }) => entries.length === 0);
    expect(news.map(({ to, commit, prevIndex }) => [to, commit, prevIndex])).to.deep.equal([
      ['b', 3, 3],
      ['c', 3, 3],
    ]);
  });

  it('§3.6.2 entries of older terms are not committed by counting replicas', () => {
    const entries = logOf('a b c', 2, 2);
    const server = lead(solo('a b c', { entries, term: 3 }));
    expect(server.status).to.include({ term: 4, lastIndex: 4 });
    ack(server, 'b', 3);
    ack(server, 'c', 3);
    expect(server.commit).to.equal(0);
    ack(server, 'b', 4);
    expect(server.commit).to.equal(4);
  });

  it('§3.6.2 figure 3.7: an old entry on a majority is not committed, and may be overwritten', () => {
    const entries = logOf('a b c d e', 2);
    const server = lead(solo('a b c d e', { entries, term: 3 }));
    for (const from of ['b', 'c']) ack(server, from, 2);
    expect(server.commit).to.equal(0);
    ack(server, 'b', 3);
    expect(server.commit).to.equal(0);
    const theirs = noops(2, 3, 5);
    server.hear(append(5, 1, 1, theirs, { from: 'e' }));
    expect(server.log.content.entries.map(({ term }) => term)).to.deep.equal([1, 3, 5]);
  });

  it('§3.5 an acknowledgement beyond what was sent commits nothing', () => {
    const server = settled();
    server.propose('x');
    ack(server, 'b', 99);
    expect(server.status.progress[0]).to.include({ match: 2 });
    expect(server.commit).to.equal(2);
  });

  it('responses with a round that was never begun are ignored', () => {
    const server = settled();
    server.propose('x');
    ack(server, 'b', 3, 999);
    expect(server.commit).to.equal(2);
  });

  it('an older acknowledgement does not reduce the match index', () => {
    const server = settled();
    server.propose('x');
    ack(server, 'b');
    ack(server, 'b', 1);
    expect(server.status.progress[0]).to.include({ match: 3, next: 4, state: 'replicate' });
  });

  it('a single server commits when its own disk is done, and sends nothing before', () => {
    const server = solo('a d?');
    server.holdsDisk = true;
    server.ticks(1);
    expect(server.status).to.include({ role: 'leader', term: 2 });
    expect(server.take()).to.deep.equal([]);
    expect(server.commit).to.equal(0);
    server.syncNow();
    expect(server.commit).to.equal(2);
    expect(server.sent('append').map(({ to }) => to)).to.deep.equal(['d']);
  });

  it('only a leader accepts proposals', () => {
    const { dropped, entries } = solo().propose('x', 'y');
    expect(dropped).to.deep.equal([
      { id: 1, reason: 'not_leader' },
      { id: 2, reason: 'not_leader' },
    ]);
    expect(entries).to.deep.equal([]);
  });

  it('proposals beyond the limit of uncommitted bytes are dropped until some are committed', () => {
    const server = settled('a b c', { more: { maxUncommittedBytes: 300 } });
    const output = server.propose('x'.repeat(500), 'y', 'z');
    expect(output.appended.map(({ id }) => id)).to.deep.equal([1]);
    expect(output.dropped).to.deep.equal([
      { id: 2, reason: 'overloaded' },
      { id: 3, reason: 'overloaded' },
    ]);
    ack(server, 'b');
    expect(server.propose('y').dropped).to.deep.equal([]);
  });
});

describe('raft: finding where logs agree (thesis §3.5)', () => {
  it('§3.5 a follower whose log is too short reports where it ends', () => {
    const server = follower(2, 2);
    server.hear(append(5, 9, 4));
    expect(server.sent('appendResponse')[0]).to.include({ success: false, index: 3, hintTerm: 2 });
  });

  it('§3.5 a conflict skips the whole term', () => {
    const server = follower(2, 3, 3, 3, 3);
    server.hear(append(5, 5, 2));
    expect(server.sent('appendResponse')[0]).to.include({ success: false, index: 2, hintTerm: 2 });
  });

  it('§3.5 the hint never points below the commit index', () => {
    const server = follower(2, 2, 3, 3);
    server.hear(append(5, 3, 2, [], { commit: 3 }));
    server.take();
    server.hear(append(5, 5, 1));
    expect(server.sent('appendResponse')[0]).to.include({ success: false, index: 3 });
  });

  it('§3.5 the leader needs at most one round per conflicting term', () => {
    const mine = [2, 2, 2, ...Array<number>(50).fill(5)];
    const theirs = [2, 2, 2, ...Array<number>(80).fill(3), ...Array<number>(80).fill(4)];
    const cluster = new Cluster(['a', 'b', 'c'], logOf('a b c'));
    for (const id of ['a', 'c']) cluster.give(id, logOf('a b c', ...mine), 5);
    cluster.give('b', logOf('a b c', ...theirs), 5);
    let rejections = 0;
    cluster.onMessage = (message) => {
      if (message.type === 'appendResponse' && message.from === 'b' && !message.success)
        rejections++;
    };
    cluster.elect('a');
    cluster.tick(5);
    expect(cluster.get('b').status.lastIndex).to.equal(cluster.get('a').status.lastIndex);
    expect(rejections).to.be.within(1, 2);
  });

  it('a repeated rejection does not cause another append', () => {
    const server = lead(solo('a b c', { entries: logOf('a b c', 1, 1, 1, 1) }));
    server.take();
    const no = {
      type: 'appendResponse',
      term: 2,
      success: false,
      index: 3,
      hintTerm: 1,
      round: 0,
    } as const;
    server.hear(no);
    expect(server.sent('append').filter(({ to }) => to === 'b')).to.have.length(1);
    server.hear(no, no);
    expect(server.sent('append').filter(({ to }) => to === 'b')).to.have.length(0);
  });

  it('a late rejection does not reduce the match index', () => {
    const server = settled();
    server.hear({
      type: 'appendResponse',
      term: 2,
      success: false,
      index: 0,
      hintTerm: 0,
      round: 0,
    });
    expect(server.status.progress[0]).to.include({ match: 2, next: 3, state: 'replicate' });
  });
});

describe('raft: pipelining (thesis §10.2.1)', () => {
  const more = { maxAppendBytes: 200, maxInflightBytes: 400 };

  it('appends are sent without waiting for responses, up to the window in bytes', () => {
    const server = settled('a b c', { more });
    for (let i = 0; i < 10; i++) server.propose('x'.repeat(52));
    const sent = server.sent('append').filter(({ to }) => to === 'b');
    expect(sent.map(({ prevIndex, entries }) => [prevIndex, entries.length])).to.deep.equal([
      [2, 1],
      [3, 1],
      [4, 1],
      [5, 1],
    ]);
    ack(server, 'b', 4);
    const then = server
      .sent('append')
      .filter(({ to, entries }) => to === 'b' && entries.length > 0);
    expect(then.map(({ prevIndex, entries }) => [prevIndex, entries.length])).to.deep.equal([
      [6, 2],
    ]);
  });

  it('an append holds at most its limit in bytes, but always at least one entry', () => {
    const server = settled('a b c', { more });
    server.propose('x'.repeat(900), 'y'.repeat(52), 'z'.repeat(52));
    const sent = server.sent('append').filter(({ to }) => to === 'b');
    expect(sent.map(({ entries }) => entries.length)).to.deep.equal([1]);
    ack(server, 'b', 3);
    expect(server.sent('append').find(({ to }) => to === 'b')?.entries).to.have.length(2);
  });

  it('a lost append is detected by the next heartbeat and sent again', () => {
    const cluster = new Cluster(['a', 'b', 'c'], logOf('a b c'));
    cluster.tick(12);
    cluster.cut('a', 'b');
    cluster.propose('a', 'lost');
    cluster.deliver();
    cluster.heal();
    cluster.tick(3);
    expect(cluster.get('b').commit).to.equal(cluster.get('a').status.lastIndex);
  });

  it('an unreachable follower is probed, not streamed to', () => {
    const server = settled();
    server.input({ type: 'unreachable', peer: 'b' });
    server.propose('x');
    server.propose('y');
    expect(server.sent('append').filter(({ to }) => to === 'b')).to.have.length(0);
    server.ticks(2);
    const [probe] = server.sent('append').filter(({ to }) => to === 'b');
    expect(probe).to.deep.include({ prevIndex: 2, entries: [] });
    ack(server, 'b', 2);
    const sent = server.sent('append').filter(({ to }) => to === 'b');
    expect(sent.map(({ entries }) => entries.length)).to.deep.equal([2]);
  });
});

describe('raft: a follower whose disk has lost entries', () => {
  /** The response of `from` in this round, after an append beyond the end of its log. */
  const short = (server: Solo, index: number, round: number, from = 'b'): void => {
    const { term } = server.status;
    const answer = { type: 'appendResponse', term, success: false, index, hintTerm: 1 } as const;
    server.hear({ ...answer, from, round });
  };

  it('does not count for what it acknowledged before until it acknowledges it again', () => {
    const server = settled('a b c d e');
    server.propose('x');
    ack(server, 'b', 3);
    short(server, 1, 1);
    ack(server, 'c', 3);
    expect(server.commit).to.equal(2);
    ack(server, 'b', 3);
    expect(server.commit).to.equal(3);
  });

  it('does not undo what its earlier acknowledgement committed', () => {
    const server = settled();
    server.propose('x');
    ack(server, 'b', 3);
    short(server, 1, 1);
    server.ticks(1);
    expect(server.commit).to.equal(3);
    expect(server.status.progress[0]).to.include({ id: 'b', match: 0, state: 'probe' });
  });

  it('is sent the entries that it lacks', () => {
    const server = settled();
    server.take();
    short(server, 1, 1);
    const [sent] = server.sent('append').filter(({ to }) => to === 'b');
    expect(sent).to.deep.include({ prevIndex: 1, prevTerm: 1 });
    expect(sent!.entries.map(({ index }) => index)).to.deep.equal([2]);
  });

  it('is detected again when an old acknowledgement arrives after its loss was detected', () => {
    const server = settled();
    short(server, 1, 1);
    ack(server, 'b', 2);
    expect(server.status.progress[0]).to.include({ id: 'b', match: 2 });
    server.ticks(2);
    short(server, 1, 2);
    expect(server.status.progress[0]).to.include({ id: 'b', match: 0, next: 2 });
  });

  it('is not concluded from a late response, which echoes an older round', () => {
    const server = settled();
    server.ticks(2);
    ack(server, 'b', 2, 2);
    short(server, 1, 2);
    short(server, 1, 1);
    expect(server.status.progress[0]).to.include({ id: 'b', match: 2 });
  });
});
