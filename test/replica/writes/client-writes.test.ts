import { expect } from 'chai';
import {
  ClientWrites,
  type ClientWritesParts,
  type WriteOutcome,
} from '../../../src/replica/writes/client-writes.js';
import { type Node, ReplicaCluster } from '../cluster.js';
import { FakeClock } from '../fakes.js';

interface Answer {
  outcome?: WriteOutcome;
}

/** Writes a command named `name` on a node; the returned holder receives the outcome. */
function write(node: Node, name: string, timeoutMs = 2000): Answer {
  const answer: Answer = {};
  const command = { type: name, v: 1 } as const;
  node.replica.write({ tokenKey: null, command, timeoutMs }, (outcome) => {
    answer.outcome = outcome;
  });
  return answer;
}
/** The name of a write that took effect, or the code of its refusal. */
function said({ outcome }: Answer): string | undefined {
  if (outcome === undefined) return undefined;
  if ('refusal' in outcome) return outcome.refusal.code;
  return outcome.result.ok ? outcome.result.value : outcome.result.refusal.code;
}
const times = (node: Node, name: string): number =>
  node.machine.applied.filter(({ type }) => type === name).length;

describe('client writes through a member that is behind what the members remember', () => {
  /** A follower, and a leader that has just forgotten all requests of its time. */
  const lagging = (stop: (cluster: ReplicaCluster, node: Node) => void) => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    const [node] = cluster.others(leader.id);
    cluster.advance(50);
    for (const { machine } of cluster.nodes.values()) machine.resultsMax = 2;
    stop(cluster, node!);
    const writes = Array.from({ length: 6 }, (_, i) => write(leader, `w${i}`));
    cluster.until(() => writes.every(({ outcome }) => outcome !== undefined), 200);
    cluster.advance(60);
    return { cluster, leader, node: node! };
  };

  it('takes effect at once: that member knows what is committed', () => {
    const { cluster, leader, node } = lagging((all, { id }) => {
      all.applies = (each) => each !== id;
    });
    const before = leader.log.lastIndex();
    const done = write(node, 'late');
    cluster.until(() => times(leader, 'late') === 1, 200);
    expect(leader.log.lastIndex()).to.equal(before + 1);
    cluster.applies = () => true;
    cluster.until(() => done.outcome !== undefined, 200);
    expect(said(done)).to.equal('late');
  });

  it('takes effect once if that member knows nothing of it: the write is sent again', () => {
    const { cluster, leader, node } = lagging((all, { id }) => {
      all.swallow = (_from, to, what) => to === id && typeof what === 'object';
    });
    const done = write(node, 'late');
    cluster.until(() => times(leader, 'late') === 1, 200);
    cluster.swallow = () => false;
    cluster.until(() => done.outcome !== undefined, 500);
    expect(said(done)).to.equal('late');
    cluster.advance(500);
    for (const each of cluster.nodes.values()) expect(times(each, 'late')).to.equal(1);
  });

  it('takes effect once if that member led, and its entry was overwritten', () => {
    const cluster = new ReplicaCluster();
    const deposed = cluster.elect();
    for (const { machine } of cluster.nodes.values()) machine.resultsMax = 2;
    cluster.isolate(deposed.id);
    const before = deposed.log.lastIndex();
    const done = write(deposed, 'late', 10_000);
    cluster.until(() => deposed.log.lastIndex() > before, 200);
    cluster.until(() => cluster.leader !== undefined && cluster.leader !== deposed, 3000);
    const leader = cluster.leader!;
    const writes = Array.from({ length: 6 }, (_, i) => write(leader, `w${i}`));
    cluster.until(() => writes.every(({ outcome }) => outcome !== undefined), 1000);
    cluster.heal();
    cluster.until(() => done.outcome !== undefined, 3000);
    expect(said(done)).to.equal('late');
    cluster.advance(500);
    for (const each of cluster.nodes.values()) expect(times(each, 'late')).to.equal(1);
  });

  it('takes effect once if it was sent to a deposed leader, whose entry was overwritten', () => {
    const cluster = new ReplicaCluster({ ids: ['a', 'b', 'c', 'd', 'e'] });
    const deposed = cluster.elect();
    for (const { machine } of cluster.nodes.values()) machine.resultsMax = 2;
    const [node, ...rest] = cluster.others(deposed.id);
    for (const { id } of rest) {
      cluster.cut(id, deposed.id);
      cluster.cut(id, node!.id);
    }
    const before = deposed.log.lastIndex();
    const done = write(node!, 'late', 20_000);
    cluster.until(() => deposed.log.lastIndex() > before, 200);
    cluster.until(() => cluster.leader !== undefined && cluster.leader !== deposed, 3000);
    const leader = cluster.leader!;
    const writes = Array.from({ length: 6 }, (_, i) => write(leader, `w${i}`));
    cluster.until(() => writes.every(({ outcome }) => outcome !== undefined), 1000);
    cluster.heal();
    cluster.isolate(deposed.id);
    cluster.until(() => times(node!, 'w5') === 1, 3000);
    cluster.advance(1000);
    expect(said(done)).to.equal(undefined);
    cluster.heal();
    cluster.until(() => done.outcome !== undefined, 3000);
    expect(said(done)).to.equal('late');
    cluster.advance(500);
    for (const each of cluster.nodes.values()) expect(times(each, 'late')).to.equal(1);
  });

  it('has an unknown outcome if an earlier attempt may have taken effect', () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    const [node] = cluster.others(leader.id);
    for (const { machine } of cluster.nodes.values()) machine.resultsMax = 2;
    cluster.swallow = (_from, _to, what) => what === 'response';
    const done = write(node!, 'once', 5000);
    cluster.until(() => times(leader, 'once') === 1, 200);
    const writes = Array.from({ length: 6 }, (_, i) => write(leader, `w${i}`));
    cluster.until(() => writes.every(({ outcome }) => outcome !== undefined), 200);
    cluster.until(() => times(node!, 'w5') === 1, 200);
    cluster.kill(leader.id);
    cluster.swallow = () => false;
    cluster.until(() => done.outcome !== undefined, 5000);
    expect(said(done)).to.equal('outcome_unknown');
    cluster.advance(500);
    expect(times(node!, 'once')).to.equal(1);
  });
});

describe('client writes on a server that has stood still', () => {
  it('ask the leader again if it stood still once more before the answer was read', () => {
    const clock = new FakeClock();
    const barriers: ((passed: boolean) => void)[] = [];
    let sent = 0;
    const writes = new ClientWrites({
      id: 'a',
      clock,
      lateMs: 300,
      waitingWrites: 9,
      waitingBytes: 9000,
      deadlines: { at: () => () => {} },
      rpc: {
        callLeader: () => {
          sent += 1;
        },
      },
      role: () => ({ role: 'follower', leader: 'b', term: 1 }),
      newId: () => `request-${sent}`,
      committedIndex: () => 1,
      barrier: (_ms: number, done: (passed: boolean) => void) => void barriers.push(done),
    } as unknown as ClientWritesParts);
    clock.nowMs += 1000;
    const command = { type: 'put', v: 1 } as const;
    writes.write({ tokenKey: null, command, timeoutMs: 9000 }, () => {});
    clock.nowMs += 1000;
    barriers[0]!(true);
    expect([sent, barriers.length]).to.deep.equal([0, 2]);
    barriers[1]!(true);
    expect([sent, barriers.length]).to.deep.equal([1, 2]);
    writes.write({ tokenKey: null, command, timeoutMs: 9000 }, () => {});
    expect([sent, barriers.length]).to.deep.equal([2, 2]);
  });
});

describe('client writes that wait', () => {
  it('are bounded in bytes: beyond that they are refused as too_many', () => {
    const cluster = new ReplicaCluster({ limits: { waitingBytes: 4000 } });
    for (const id of ['b', 'c']) cluster.kill(id);
    const a = cluster.node('a');
    const name = 'x'.repeat(1500);
    const [first, second, third] = [name, name, name].map((each) => write(a, each, 1000));
    expect([first, second, third].map((each) => said(each!))).to.deep.equal([
      undefined,
      undefined,
      'too_many',
    ]);
    expect(said(write(a, 'small', 1000))).to.equal(undefined);
    cluster.advance(1100);
    expect(said(first!)).to.equal('no_leader');
    expect(said(write(a, 'y'.repeat(6000), 1000))).to.equal(undefined);
    expect(said(write(a, 'small', 1000))).to.equal('too_many');
  });
});
