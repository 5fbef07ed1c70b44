/** A leader authorises a write once the rights of its caller are compiled. */
import { expect } from 'chai';
import type { WriteOutcome } from '../../../src/replica/writes/client-writes.js';
import { type Node, ReplicaCluster } from '../cluster.js';

/** Writes a command named `name` on a node; the returned holder receives the outcome. */
function write(node: Node, name: string): { outcome?: WriteOutcome } {
  const holder: { outcome?: WriteOutcome } = {};
  const command = { type: name, v: 1 } as const;
  node.replica.write({ tokenKey: null, command, timeoutMs: 5000 }, (outcome) => {
    holder.outcome = outcome;
  });
  return holder;
}

describe('replica: authorization of a caller with many rights', () => {
  it('waits until it is prepared, and asks a leader that has lost its office no more', () => {
    const asked: (string | null)[] = [];
    const waiting: (() => void)[] = [];
    const cluster = new ReplicaCluster({
      gate: (_view, tokenKey) => {
        asked.push(tokenKey);
        return undefined;
      },
      prepareGate: (_tokenKey, run) => void waiting.push(run),
    });
    const leader = cluster.elect();
    const [node] = cluster.others(leader.id);
    const done = write(node!, 'prepared');
    cluster.until(() => waiting.length > 0, 500);
    cluster.advance(50);
    expect([asked, done.outcome]).to.deep.equal([[], undefined]);
    waiting.shift()!();
    cluster.until(() => done.outcome !== undefined, 500);
    expect(done.outcome).to.have.nested.property('result.value', 'prepared');
    expect(asked).to.deep.equal([null]);
    const late = write(leader, 'late');
    cluster.until(() => waiting.length > 0, 500);
    cluster.isolate(leader.id);
    cluster.until(() => cluster.leader !== undefined && cluster.leader.id !== leader.id);
    cluster.until(() => leader.replica.loop.role.role !== 'leader', 1000);
    for (const run of waiting.splice(0)) run();
    expect(asked).to.deep.equal([null]);
    cluster.until(() => late.outcome !== undefined, 6000);
    expect(late.outcome).to.have.nested.property('refusal.code', 'no_leader');
  });
});
