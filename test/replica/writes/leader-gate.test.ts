import { expect } from 'chai';
import { refusal } from '../../../src/base/errors.js';
import type { WriteOutcome } from '../../../src/replica/writes/client-writes.js';
import { type Node, ReplicaCluster } from '../cluster.js';

const denied = refusal('permission_denied', 'Permission denied');

/** Writes a command through a node. `outcome` is set once there is one. */
function write(node: Node, type: string): { outcome?: WriteOutcome } {
  const holder: { outcome?: WriteOutcome } = {};
  const command = { type, v: 1 } as const;
  node.replica.write({ tokenKey: null, command, timeoutMs: 5000 }, (outcome) => {
    holder.outcome = outcome;
  });
  return holder;
}

describe('replica: the gate of a leader', () => {
  it('permits nothing by a state from before what others have acknowledged', () => {
    const hasApplied = (node: Node, name: string): boolean =>
      node.machine.applied.some(({ type }) => type === name);
    const cluster: ReplicaCluster = new ReplicaCluster({
      gate: () => (hasApplied(cluster.leader!, 'revoke') ? denied : undefined),
    });
    const leader = cluster.elect();
    const [node] = cluster.others(leader.id);
    // The followers make it durable and apply it; what is not durable here is not applied here.
    cluster.hang(leader.id);
    const revoked = write(node!, 'revoke');
    cluster.until(() => hasApplied(node!, 'revoke'), 90);
    expect(hasApplied(leader, 'revoke')).to.equal(false);
    const used = write(node!, 'used');
    cluster.advance(5);
    cluster.unhang(leader.id);
    cluster.until(() => used.outcome !== undefined && revoked.outcome !== undefined, 5000);
    expect(cluster.leader).to.equal(leader);
    expect(revoked.outcome).to.have.nested.property('result.ok', true);
    expect(used.outcome).to.have.nested.property('refusal.code', 'permission_denied');
  });
});
