/** Changes of the members while one of them does not answer, or does not apply the log. */
import { expect } from 'chai';
import { administer, type Node, ReplicaCluster, voters } from './cluster.js';

/** Writes a command on a node. Returns the codes of its outcome: at most one. */
const write = (node: Node, type: string): string[] => {
  const outcomes: string[] = [];
  node.replica.write({ tokenKey: null, command: { type, v: 1 }, timeoutMs: 2000 }, (outcome) =>
    outcomes.push('result' in outcome ? 'applied' : outcome.refusal.code),
  );
  return outcomes;
};

describe('replica: members that do not answer', () => {
  it('count as dead for a new leader that has not heard them', () => {
    const cluster = new ReplicaCluster();
    const first = cluster.elect();
    cluster.kill(first.id);
    const { index } = first.machine;
    cluster.until(() => cluster.leader !== undefined && cluster.leader.machine.index > index);
    const leader = cluster.leader!;
    const [alive] = cluster.others(leader.id);
    const answers = administer(leader, { type: 'remove', id: alive!.id });
    cluster.advance(10);
    expect(answers).to.deep.equal(['conflict']);
    const outcomes = write(alive!, 'still');
    cluster.until(() => outcomes.length > 0, 2100);
    expect(outcomes).to.deep.equal(['applied']);
  });
});

describe('replica: a new server that applies nothing', () => {
  it('does not keep the next one from becoming a voter', () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const cluster = new ReplicaCluster({ ids, initial: ['a', 'b', 'c'] });
    const leader = cluster.elect();
    for (let i = 0; i < 20; i++) write(leader, `before-${i}`);
    cluster.advance(50);
    cluster.applies = (id) => id !== 'd';
    for (const id of ['d', 'e']) {
      const server = { id, name: id, address: `${id}:1`, level: 1 };
      const answers = administer(leader, { type: 'admit', server });
      cluster.until(() => answers.length > 0, 1000);
      expect(answers).to.deep.equal(['done']);
    }
    cluster.until(() => voters(leader).includes('e'), 5000);
    expect(voters(leader)).to.deep.equal(['a', 'b', 'c', 'e']);
  });
});
