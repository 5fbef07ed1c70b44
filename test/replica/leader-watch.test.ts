import { expect } from 'chai';
import type { RpcResponse } from '../../src/replica/rpc-codec.js';
import { ReplicaCluster } from './cluster.js';

describe('replica: the watch for a leader', () => {
  it('reports that there is no leader after 5 s, then once a minute, and when it is over', () => {
    const cluster = new ReplicaCluster();
    const { id, leaderless } = cluster.elect();
    const others = cluster.others(id).map((node) => node.id);
    cluster.advance(10_000);
    expect(leaderless).to.deep.equal([]);
    cluster.isolate(id);
    cluster.until(() => cluster.node(id).replica.loop.role.leader === null);
    cluster.advance(4900);
    expect(leaderless).to.deep.equal([]);
    cluster.advance(200);
    expect(leaderless).to.have.length(1);
    expect(leaderless[0]).to.deep.include({ unreachable: others, isOver: false });
    expect(leaderless[0]!.ms).to.be.within(5000, 5100);
    cluster.advance(59_000);
    expect(leaderless).to.have.length(1);
    cluster.advance(1500);
    expect(leaderless).to.have.length(2);
    cluster.heal();
    cluster.until(() => leaderless.length === 3);
    expect(leaderless[2]).to.deep.include({ unreachable: [], isOver: true });
    expect(leaderless[2]!.ms).to.be.within(65_000, 75_000);
    expect(cluster.node(others[0]!).leaderless).to.deep.equal([]);
  });

  it('waits for three election timeouts where they are long', () => {
    const cluster = new ReplicaCluster({ limits: { electionMs: 3000 } });
    const { id, leaderless } = cluster.elect();
    cluster.isolate(id);
    cluster.until(() => cluster.node(id).replica.loop.role.leader === null);
    cluster.advance(8900);
    expect(leaderless).to.deep.equal([]);
    cluster.advance(200);
    expect(leaderless.map(({ ms }) => Math.floor(ms / 1000))).to.deep.equal([9]);
  });

  it('reports nothing about a short election', () => {
    const cluster = new ReplicaCluster();
    const first = cluster.elect();
    cluster.kill(first.id);
    cluster.until(() => cluster.leader !== undefined);
    cluster.advance(10_000);
    for (const { leaderless } of cluster.others(first.id)) expect(leaderless).to.deep.equal([]);
  });
});

describe('replica: the health of members', () => {
  const problemsIn = (cluster: ReplicaCluster, id: string): unknown => {
    let response: RpcResponse | undefined;
    cluster.node(id).replica.rpc.callLeader({ type: 'status' }, 2000, (got) => {
      response = got;
    });
    cluster.until(() => response !== undefined);
    return response?.type === 'status' ? JSON.parse(response.text) : response;
  };

  it('the leader tells what its members say is wrong with them', () => {
    const cluster = new ReplicaCluster();
    const { id } = cluster.elect();
    const [one, other] = cluster.others(id).map((node) => node.id) as [string, string];
    expect(problemsIn(cluster, other)).to.deep.equal({});
    cluster.full.add(one);
    for (const asked of [id, other])
      expect(problemsIn(cluster, asked)).to.deep.equal({
        [one]: 'its disk is down to the reserve',
      });
    cluster.full.clear();
    cluster.hang(one);
    cluster
      .node(id)
      .replica.write({ tokenKey: null, command: { type: 'x', v: 1 }, timeoutMs: 1000 }, () => {});
    cluster.until(() => cluster.node(one).hangs.length > 0);
    expect(problemsIn(cluster, id))
      .to.have.property(one)
      .that.matches(/disk of the log/);
  });

  it('the leader does not wait for a member that does not respond', () => {
    const cluster = new ReplicaCluster();
    const { id } = cluster.elect();
    const [one] = cluster.others(id);
    cluster.kill(one!.id);
    cluster.advance(1000);
    const since = cluster.clock.now();
    expect(problemsIn(cluster, id)).to.deep.equal({});
    expect(cluster.clock.now() - since).to.be.below(100);
  });
});
