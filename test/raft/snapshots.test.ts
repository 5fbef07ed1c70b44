import { expect } from 'chai';
import { Cluster, configuration, diskWith, logOf } from './cluster.js';
import { ack, append, lead, noops, type Solo, solo } from './script.js';

/** Three servers; c is cut off, and the leader a has compacted its log beyond what c has. */
function behind(): Cluster {
  const cluster = new Cluster(['a', 'b', 'c'], logOf('a b c'));
  cluster.elect('a');
  cluster.isolate('c');
  cluster.propose('a', 'x', 'y', 'z');
  cluster.deliver();
  cluster.compact('a');
  return cluster;
}

/** A leader of a, b and c with a snapshot at 5 and an empty log, to which it appends no-op 6. */
function cutLeader(): Solo {
  const server = lead(solo('a b c', { entries: logOf('a b c', 1, 1, 1) }));
  ack(server, 'c', 5);
  server.compact({ index: 4, term: 1, configuration: configuration('a', 'b', 'c') });
  server.take();
  return server;
}

const no = { type: 'appendResponse', term: 2, success: false, hintTerm: 0, round: 0 } as const;

describe('raft: snapshots (thesis §5)', () => {
  it('§5.3 a follower whose next entry is compacted gets a snapshot, then entries', () => {
    const cluster = behind();
    cluster.heal();
    cluster.tick(4);
    const [a, c] = [cluster.get('a'), cluster.get('c')];
    expect(c.log.snapshot()).to.deep.equal(a.log.snapshot());
    expect(c.status).to.include({ commit: a.commit, stored: a.commit });
    cluster.propose('a', 'after');
    cluster.deliver();
    expect(c.log.content.entries).to.have.length(1);
    expect(c.commit).to.equal(a.status.lastIndex);
  });

  it('§5.1 a restart takes commit index and configuration from the snapshot', () => {
    const cluster = behind();
    const { index } = cluster.get('a').log.snapshot()!;
    cluster.crash('a');
    expect(cluster.get('a').status).to.include({ commit: index, configurationIndex: index });
    expect(cluster.get('a').status.configuration).to.deep.equal(configuration('a', 'b', 'c'));
  });

  it('§5.1 the position before the first entry still matches by the term of the snapshot', () => {
    const meta = { index: 4, term: 3, configuration: configuration('a', 'b', 'c') };
    const server = solo();
    server.crash(0, diskWith([], { term: 3, votedFor: null }, meta));
    server.hear(append(5, 4, 3, noops(5, 5)));
    expect(server.sent('appendResponse')[0]).to.include({ success: true, index: 5 });
  });

  it('§5.3 a snapshot is sent only to a follower that responds', () => {
    const server = cutLeader();
    server.ticks(2);
    expect(server.outputs.flatMap(({ sendSnapshots }) => sendSnapshots)).to.deep.equal([]);
    const { sendSnapshots } = server.hear({ ...no, index: 1, hintTerm: 1 });
    expect(sendSnapshots.map(({ to }) => to)).to.deep.equal(['b']);
    expect(sendSnapshots[0]!.message).to.deep.include({ type: 'snapshot', term: 2 });
    expect(server.status.progress[0]).to.include({ state: 'snapshot' });
  });

  it('§5.3 a follower that is receiving one gets only heartbeats until it is done', () => {
    const server = cutLeader();
    server.hear({ ...no, index: 1, hintTerm: 1 });
    server.take();
    server.propose('x');
    server.ticks(2);
    const sent = server.sent('append').filter(({ to }) => to === 'b');
    expect(sent.map(({ prevIndex, entries }) => [prevIndex, entries.length])).to.deep.equal([
      [4, 0],
    ]);
    expect(server.hear({ ...no, index: 1, hintTerm: 1 }).sendSnapshots).to.deep.equal([]);
  });

  it('§5.3 the follower resumes after the snapshot', () => {
    const server = cutLeader();
    server.hear({ ...no, index: 1, hintTerm: 1 });
    server.input({ type: 'snapshotSent', to: 'b', ok: true });
    server.take();
    ack(server, 'b', 4);
    expect(server.status.progress[0]).to.include({ state: 'replicate', match: 4 });
    const sent = server.sent('append').find(({ to }) => to === 'b');
    expect(sent).to.deep.include({ prevIndex: 4, prevTerm: 1, entries: noops(5, 2) });
  });

  it('§5.3 a failed transfer is retried when the follower responds', () => {
    const server = cutLeader();
    server.hear({ ...no, index: 1, hintTerm: 1 });
    expect(server.input({ type: 'snapshotSent', to: 'b', ok: false }).sendSnapshots).to.deep.equal(
      [],
    );
    expect(server.hear({ ...no, index: 1, hintTerm: 1 }).sendSnapshots).to.have.length(1);
  });

  it('§5.3 a snapshot that was sent but never confirmed is sent again after a timeout', () => {
    const server = cutLeader();
    server.hear({ ...no, index: 1, hintTerm: 1 });
    server.input({ type: 'snapshotSent', to: 'b', ok: true });
    server.outputs.length = 0;
    for (let i = 0; i < 10; i++) {
      ack(server, 'c', 5);
      server.hear({ ...no, index: 1, hintTerm: 1 });
      server.ticks(1);
    }
    expect(server.outputs.flatMap(({ sendSnapshots }) => sendSnapshots)).to.have.length(1);
  });

  it('a follower with a full window whose entries are compacted gets a snapshot too', () => {
    const more = { maxAppendBytes: 100, maxInflightBytes: 100 };
    const server = lead(solo('a b c', { more }));
    for (const from of ['b', 'c']) ack(server, from);
    server.propose('x'.repeat(90));
    server.propose('y'.repeat(90));
    ack(server, 'c');
    ack(server, 'c');
    server.compact({ index: 4, term: 2, configuration: configuration('a', 'b', 'c') });
    const { sendSnapshots } = server.hear({ ...no, index: 2, hintTerm: 2 });
    expect(sendSnapshots.map(({ to }) => to)).to.deep.equal(['b']);
  });
});

describe('raft: receiving a snapshot (thesis §5.3)', () => {
  const meta = (index: number, term: number) => ({
    index,
    term,
    configuration: configuration('a', 'b', 'c', 'd'),
  });
  const follower = () => solo('a b c', { entries: logOf('a b c', 2, 2), term: 5 });

  it('§5.3 it replaces a log that ends before it, and sets the configuration', () => {
    const server = follower();
    server.hear(append(5, 3, 2));
    server.take();
    expect(server.install(meta(9, 4), 'b', 0)).to.equal(true);
    expect(server.status).to.include({ lastIndex: 9, lastTerm: 4, commit: 9, stored: 9 });
    expect(server.status.configuration).to.deep.equal(configuration('a', 'b', 'c', 'd'));
    expect(server.outputs.at(-1)!.commit).to.equal(9);
    expect(server.sent('appendResponse')).to.deep.include({
      type: 'appendResponse',
      from: 'a',
      to: 'b',
      term: 5,
      success: true,
      index: 9,
      hintTerm: 0,
      round: 1,
      silenceMs: 800,
    });
  });

  it('§5.3 it replaces a log that conflicts with it', () => {
    const server = follower();
    expect(server.install(meta(3, 4), 'b', 0)).to.equal(true);
    expect(server.log.content.entries).to.deep.equal([]);
  });

  it('§5.3 a snapshot of a prefix of the log is not wanted, and the entries after it stay', () => {
    const server = follower();
    expect(server.core.accepts(meta(2, 2))).to.equal(false);
    server.hear({ type: 'snapshot', term: 5, meta: meta(2, 2), round: 3 });
    expect(server.status).to.include({ lastIndex: 3, commit: 2 });
    expect(server.sent('appendResponse')[0]).to.include({ success: true, index: 2, round: 3 });
  });

  it('§5.3 an old snapshot is not wanted; the response carries the commit index', () => {
    const server = follower();
    server.hear(append(5, 3, 2, [], { commit: 3 }));
    server.take();
    expect(server.core.accepts(meta(2, 4))).to.equal(false);
    server.hear({ type: 'snapshot', term: 5, meta: meta(2, 2), round: 3 });
    expect(server.sent('appendResponse')[0]).to.include({ success: true, index: 3 });
  });

  it('§5.3 announcing a snapshot counts as contact with the leader', () => {
    const server = follower();
    server.ticks(9);
    server.hear({ type: 'snapshot', term: 5, meta: meta(9, 4), round: 1 });
    server.ticks(9);
    expect(server.status).to.include({ role: 'follower', leader: 'b' });
  });

  it('§5.3 a snapshot of an older term is refused', () => {
    const server = follower();
    server.hear({ type: 'snapshot', term: 4, meta: meta(9, 4), round: 1 });
    expect(server.sent('appendResponse')[0]).to.include({ success: false, term: 5, round: 0 });
    expect(server.status.leader).to.equal(null);
  });

  it('a confirmation from before the switch is not taken for one of the new log', () => {
    const server = follower();
    server.install(meta(9, 4), 'b', 0);
    server.holdsDisk = true;
    server.hear(append(5, 9, 4, noops(10, 5)));
    server.input({ type: 'stored', index: 10, term: 2 });
    expect(server.status.stored).to.equal(9);
  });

  it('a leader whose log is replaced by a snapshot stops the process', () => {
    const server = lead(solo());
    server.reset(meta(9, 1));
    expect(() => server.ticks(1)).to.throw(/leader was given a snapshot/);
  });
});
