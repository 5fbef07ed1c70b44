import { expect } from 'chai';
import { isSingleChange } from '../../src/raft/configuration.js';
import type { Input } from '../../src/raft/types.js';
import { Cluster, configuration, logOf } from './cluster.js';
import { ack, append, lead, type Solo, solo } from './script.js';

function settled(words = 'a b c', more: Parameters<typeof solo>[1] = {}): Solo {
  const server = lead(solo(words, more));
  for (const { id } of server.status.progress) ack(server, id);
  server.take();
  return server;
}

function change(...words: string[]): Input {
  return { type: 'changeConfiguration', id: 1, configuration: configuration(...words) };
}

function members(server: Solo | ReturnType<Cluster['get']>): string {
  const list = server.status.configuration.members;
  return list.map(({ id, voter }) => (voter ? id : `${id}?`)).join(' ');
}

describe('raft: one server at a time (thesis §4.1)', () => {
  const changes: [string, string, string, boolean][] = [
    ['adding a learner', 'a b c', 'a b c d?', true],
    ['adding a voter', 'a b c', 'a b c d', true],
    ['promoting', 'a b c d?', 'a b c d', true],
    ['demoting', 'a b c', 'a b c?', true],
    ['removing a voter', 'a b c', 'a b', true],
    ['removing a learner', 'a b c d?', 'a b c', true],
    ['nothing', 'a b c', 'a b c', false],
    ['adding two', 'a b c', 'a b c d e', false],
    ['swapping', 'a b c', 'a b d', false],
    ['two promotions', 'a b? c?', 'a b c', false],
    ['removing the last voter', 'a b?', 'b?', false],
    ['a server twice', 'a b c', 'a b c c', false],
  ];
  for (const [what, before, after, fits] of changes) {
    it(`§4.1 ${what} is ${fits ? '' : 'not '}a valid single change`, () => {
      const [one, two] = [configuration(...before.split(' ')), configuration(...after.split(' '))];
      expect(isSingleChange(one, two)).to.equal(fits);
    });
  }

  it('§4.1 a promotion changes the vote and nothing else', () => {
    const before = configuration('a', 'b?');
    const [a, b] = before.members;
    const moved = { members: [a!, { ...b!, address: 'elsewhere:1' }] };
    expect(isSingleChange(before, moved)).to.equal(true);
    const both = { members: [a!, { ...b!, address: 'elsewhere:1', voter: true }] };
    expect(isSingleChange(before, both)).to.equal(false);
  });

  it('§4.1 leader and followers use a configuration as soon as they append it', () => {
    const server = settled();
    const output = server.input(change('a', 'b', 'c', 'd'));
    expect(output.configuration).to.deep.equal(configuration('a', 'b', 'c', 'd'));
    expect(output.appended).to.deep.equal([{ id: 1, index: 3, term: 2 }]);
    for (const from of ['b', 'd']) ack(server, from, from === 'd' ? 1 : 3);
    expect(server.commit).to.equal(2);
    ack(server, 'c', 3);
    expect(server.commit).to.equal(3);
    const follower = solo();
    follower.hear(append(2, 1, 1, [{ ...logOf('a b c d')[0]!, index: 2, term: 2 }]));
    expect(members(follower)).to.equal('a b c d');
    expect(follower.commit).to.equal(0);
  });

  it('§4.1 truncating a configuration restores the one before it', () => {
    const follower = solo();
    follower.hear(append(2, 1, 1, [{ ...logOf('b c')[0]!, index: 2, term: 2 }]));
    expect(members(follower)).to.equal('b c');
    const output = follower.hear(
      append(3, 1, 1, [{ kind: 'noop', index: 2, term: 3 }], { from: 'c' }),
    );
    expect(output.configuration).to.deep.equal(configuration('a', 'b', 'c'));
    expect(follower.status).to.include({ role: 'follower', configurationIndex: 1 });
  });

  it('§4.1 the next change is refused until the last one is committed', () => {
    const server = settled();
    server.input(change('a', 'b', 'c', 'd?'));
    expect(server.input(change('a', 'b', 'c', 'd')).dropped).to.deep.equal([
      { id: 1, reason: 'change_in_flight' },
    ]);
    ack(server, 'b');
    expect(server.input(change('a', 'b', 'c', 'd')).dropped).to.deep.equal([]);
  });

  it("§4.1 (2015) a change is refused until an entry of the leader's own term is committed", () => {
    const follower = solo();
    follower.input({ type: 'applied', index: 1 });
    const server = lead(follower);
    expect(server.commit).to.equal(server.status.configurationIndex);
    expect(server.input(change('a', 'b')).dropped).to.deep.equal([
      { id: 1, reason: 'change_in_flight' },
    ]);
    ack(server, 'b');
    expect(server.input(change('a', 'b')).dropped).to.deep.equal([]);
  });

  it('§4.1 a change of more than one server is refused', () => {
    expect(settled().input(change('a', 'd', 'e')).dropped).to.deep.equal([
      { id: 1, reason: 'invalid_change' },
    ]);
  });

  it('only a leader changes the configuration', () => {
    expect(solo().input(change('a', 'b')).dropped).to.deep.equal([{ id: 1, reason: 'not_leader' }]);
  });

  it('§4.1 a server accepts votes and entries from servers outside its configuration', () => {
    const follower = solo('a b c');
    follower.hear(append(2, 1, 1, [], { from: 'x' }));
    expect(follower.sent('appendResponse')[0]).to.include({ to: 'x', success: true });
    follower.ticks(10);
    follower.take();
    follower.hear({ type: 'vote', from: 'y', term: 3, lastIndex: 9, lastTerm: 2 });
    expect(follower.sent('voteResponse')[0]).to.include({ to: 'y', granted: true });
  });
});

describe('raft: new servers (thesis §4.2.1)', () => {
  it('§4.2.1 a learner catches up and is promoted while the cluster keeps committing', () => {
    const cluster = new Cluster(['a', 'b', 'c'], logOf('a b c'));
    cluster.elect('a');
    cluster.propose('a', 'x', 'y');
    cluster.deliver();
    const d = cluster.add({ ...cluster.get('a').options, id: 'd' });
    cluster.change('a', 'a', 'b', 'c', 'd?');
    cluster.deliver();
    expect(d.log.content.entries).to.deep.equal(cluster.get('a').log.content.entries);
    expect(d.role).to.equal('learner');
    cluster.change('a', 'a', 'b', 'c', 'd');
    cluster.deliver();
    expect(d.role).to.equal('follower');
    expect(d.commit).to.equal(cluster.get('a').status.lastIndex);
  });

  it('§4.2.1 a promoted learner keeps its replication progress', () => {
    const server = settled('a b c d?');
    server.input(change('a', 'b', 'c', 'd'));
    expect(server.status.progress.find(({ id }) => id === 'd')).to.include({ match: 2 });
  });

  it('§4.2.1 a learner votes when asked, as it may not know yet that it is a voter', () => {
    const server = solo('a? b c');
    server.ticks(10);
    server.hear({ type: 'vote', term: 2, lastIndex: 1, lastTerm: 1 });
    expect(server.sent('voteResponse')[0]).to.include({ granted: true });
  });
});

describe('raft: removing servers (thesis §4.2.2, §4.2.3)', () => {
  it('§4.2.2 a leader that removes itself commits without counting itself, then steps down', () => {
    const server = settled();
    server.input(change('b', 'c'));
    expect(server.role).to.equal('leader');
    ack(server, 'b');
    expect(server.commit).to.equal(2);
    const output = ack(server, 'c');
    expect(output.commit).to.equal(3);
    expect(server.status).to.include({ role: 'learner', leader: null });
  });

  it('§4.2.2 it sends the commit index, and tells its successor to campaign at once', () => {
    const cluster = new Cluster(['a', 'b', 'c'], logOf('a b c'));
    cluster.elect('a');
    cluster.change('a', 'b', 'c');
    cluster.deliver();
    expect(cluster.leader?.id).to.be.oneOf(['b', 'c']);
    expect(cluster.get('a').role).to.equal('learner');
    for (const id of ['b', 'c']) expect(members(cluster.get(id))).to.equal('b c');
  });

  it('§4.2.2 a leader that makes itself a learner steps down as well', () => {
    const cluster = new Cluster(['a', 'b', 'c'], logOf('a b c'));
    cluster.elect('a');
    cluster.change('a', 'a?', 'b', 'c');
    cluster.tick(3);
    expect(cluster.get('a').role).to.equal('learner');
    expect(cluster.leader?.id).to.be.oneOf(['b', 'c']);
  });

  it('§4.2.2 a server that appended its own removal campaigns, not counting its vote', () => {
    const entries = [...logOf('a b c'), { ...logOf('b c')[0]!, index: 2 }];
    const server = solo('', { entries });
    expect(server.role).to.equal('follower');
    server.ticks(10);
    server.hear({ type: 'preVoteResponse', from: 'b', term: 2, granted: true });
    expect(server.role).to.equal('preCandidate');
    server.hear({ type: 'preVoteResponse', from: 'c', term: 2, granted: true });
    expect(server.role).to.equal('candidate');
    for (const from of ['b', 'c'])
      server.hear({ type: 'voteResponse', from, term: 2, granted: true });
    expect(server.role).to.equal('leader');
    for (const from of ['b', 'c']) ack(server, from);
    expect(server.status).to.include({ role: 'learner', commit: 3 });
  });

  it('§4.2.2 a server stops campaigning once its removal is committed', () => {
    const entries = [...logOf('a b c'), { ...logOf('b c')[0]!, index: 2 }];
    const server = solo('', { entries });
    server.input({ type: 'applied', index: 2 });
    expect(server.role).to.equal('learner');
    server.ticks(50);
    expect(server.status).to.include({ role: 'learner', term: 1 });
  });

  it('§4.2.3 a removed server that does not know of its removal cannot disturb the cluster', () => {
    const cluster = new Cluster(['a', 'b', 'c', 'd'], logOf('a b c d'));
    cluster.elect('a');
    cluster.tick(3);
    const { term } = cluster.get('a').status;
    cluster.isolate('d');
    cluster.change('a', 'a', 'b', 'c');
    cluster.deliver();
    cluster.heal();
    cluster.tick(100);
    expect(cluster.get('d').role).to.be.oneOf(['follower', 'preCandidate']);
    expect(cluster.get('a').status).to.include({ role: 'leader', term });
  });

  it('§4.2.2 a cluster shrinks to one server and grows again', () => {
    const cluster = new Cluster(['a', 'b'], logOf('a b'));
    cluster.elect('a');
    cluster.change('a', 'a');
    cluster.deliver();
    expect(cluster.get('a').commit).to.equal(cluster.get('a').status.lastIndex);
    cluster.change('a', 'a', 'b');
    cluster.deliver();
    cluster.tick(3);
    expect(cluster.get('b').commit).to.equal(cluster.get('a').status.lastIndex);
  });
});

describe('raft: leadership transfer (thesis §3.10)', () => {
  it('§3.10 proposals, changes and lease reads stop during a transfer', () => {
    const server = settled();
    server.ticks(2);
    for (const from of ['b', 'c']) ack(server, from, 2, 2);
    server.input({ type: 'read', ids: [1], mode: 'lease' });
    expect(server.released.map(({ id }) => id)).to.deep.equal([1]);
    server.input({ type: 'unreachable', peer: 'b' }, { type: 'transfer', to: 'b' });
    expect(server.propose('x').dropped).to.deep.equal([{ id: 1, reason: 'transferring' }]);
    expect(server.input(change('a', 'b')).dropped[0]).to.include({ reason: 'transferring' });
    server.input({ type: 'read', ids: [2], mode: 'lease' });
    expect(server.released.map(({ id }) => id)).to.deep.equal([1]);
  });

  it('§3.10 the leader sends TimeoutNow once the target has every entry', () => {
    const server = settled();
    server.propose('x');
    server.input({ type: 'transfer', to: 'b' });
    expect(server.sent('timeoutNow')).to.deep.equal([]);
    ack(server, 'b');
    expect(server.sent('timeoutNow')).to.deep.equal([
      { type: 'timeoutNow', from: 'a', to: 'b', term: 2 },
    ]);
    ack(server, 'b');
    expect(server.sent('timeoutNow')).to.deep.equal([]);
  });

  it('§3.10 the target campaigns at once, and the others vote although they hear a leader', () => {
    const cluster = new Cluster(['a', 'b', 'c'], logOf('a b c'));
    cluster.elect('a');
    cluster.tick(3);
    cluster.step('a', { type: 'transfer', to: 'c' });
    cluster.deliver();
    expect(cluster.leader?.id).to.equal('c');
    expect(cluster.get('a').status).to.include({ role: 'follower', leader: 'c' });
  });

  it('§3.10 without a target the most advanced voter takes over', () => {
    const server = settled('a b c d?');
    server.propose('x');
    for (const from of ['c', 'd']) ack(server, from);
    server.input({ type: 'transfer' });
    expect(server.sent('timeoutNow').map(({ to }) => to)).to.deep.equal(['c']);
  });

  it('§3.10 a transfer that takes an election timeout is aborted', () => {
    const server = settled();
    server.propose('x');
    server.input({ type: 'transfer', to: 'b' });
    for (let i = 0; i < 10; i++) {
      ack(server, 'c');
      expect(server.propose('y').dropped).to.have.length(1);
      server.ticks(1);
    }
    expect(server.propose('y').dropped).to.deep.equal([]);
  });

  for (const to of ['a', 'd', 'x']) {
    it(`§3.10 ${to} is not a valid transfer target of a b c d?`, () => {
      const server = settled('a b c d?');
      server.input({ type: 'transfer', to });
      expect(server.propose('x').dropped).to.deep.equal([]);
    });
  }

  it('§6.4.1 after TimeoutNow is sent, no read of this term uses the lease', () => {
    const server = settled();
    server.input({ type: 'transfer', to: 'b' });
    for (let i = 0; i < 10; i++) {
      for (const from of ['b', 'c']) ack(server, from, 2, Math.floor(i / 2) + 1);
      server.ticks(1);
    }
    expect(server.propose('x').dropped).to.deep.equal([]);
    server.input({ type: 'read', ids: [7], mode: 'lease' });
    expect(server.released).to.deep.equal([]);
  });

  it('a TimeoutNow of an older term is ignored', () => {
    const server = solo('a b c', { term: 5 });
    server.hear({ type: 'timeoutNow', term: 4 });
    expect(server.status).to.include({ role: 'follower', term: 5 });
  });
});
