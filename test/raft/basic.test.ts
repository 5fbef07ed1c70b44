import { expect } from 'chai';
import { Cluster, logOf } from './cluster.js';

describe('raft cluster', () => {
  for (const ids of [['a'], ['a', 'b'], ['a', 'b', 'c'], ['a', 'b', 'c', 'd', 'e']]) {
    it(`of ${ids.length} elects a leader, commits commands and serves reads`, () => {
      const cluster = new Cluster(ids, logOf(ids.join(' ')));
      cluster.tick(25);
      expect(cluster.leader?.id).to.equal('a');
      cluster.propose('a', 'x', 'y');
      cluster.deliver();
      const last = cluster.get('a').status.lastIndex;
      for (const server of cluster.up()) expect(server.commit).to.equal(last);
      cluster.step('a', { type: 'read', ids: [7, 8], mode: 'quorum' });
      cluster.deliver();
      expect(cluster.get('a').released).to.deep.equal([
        { id: 7, index: last },
        { id: 8, index: last },
      ]);
    });
  }

  it('continues after the leader crashes, and the old leader rejoins as a follower', () => {
    const cluster = new Cluster(['a', 'b', 'c'], logOf('a b c'));
    cluster.tick(15);
    cluster.crash('a');
    cluster.tick(40);
    const leader = cluster.leader!;
    expect(leader.id).to.equal('b');
    cluster.propose('b', 'x');
    cluster.deliver();
    cluster.restart('a');
    cluster.tick(5);
    expect(cluster.get('a').commit).to.equal(leader.commit);
    expect(cluster.leader!.id).to.equal('b');
  });
});
