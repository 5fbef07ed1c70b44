/** What operators are told about members that have a problem, or do not answer. */
import { expect } from 'chai';
import type { LevelStatus, NodeStatus, PeerStatus } from '../../src/node/types.js';
import { autopilotHealth, autopilotState } from '../../src/service/cluster/autopilot.js';
import type { ClusterParts, ClusterRead } from '../../src/service/cluster/cluster.js';
import { clusterLevel } from '../../src/service/cluster/operator.js';

const read = { mode: 'default', timeoutMs: 1000 } as unknown as ClusterRead;
const partsOf = (node: object): ClusterParts =>
  ({
    service: { catchUp: async () => {}, permit: async () => {} },
    node,
    release: { version: '1.0.0' },
  }) as unknown as ClusterParts;

const peer = (id: string, more: Partial<PeerStatus> = {}): PeerStatus => ({
  id,
  name: id,
  address: `${id}:1`,
  voter: true,
  leader: false,
  alive: true,
  healthy: true,
  ...more,
});
const ledBy = (peers: readonly PeerStatus[]) => ({
  leaderStatus: async () => ({ id: 'n1', leaderId: 'n1', term: 2, peers }) as unknown as NodeStatus,
});

describe('the health of members', () => {
  const problem = 'its disk is down to the reserve';
  const ill = peer('n3', { healthy: false, problem });
  const parts = partsOf(ledBy([peer('n1', { leader: true }), peer('n2'), ill]));

  it('a member with a problem answers, but is not healthy', async () => {
    const { Healthy, FailureTolerance, Servers } = await autopilotHealth(parts, read);
    expect([Healthy, FailureTolerance]).to.deep.equal([false, 0]);
    const found = Servers.map((server) => [server.SerfStatus, server.Healthy]);
    expect(found).to.deep.equal([
      ['alive', true],
      ['alive', true],
      ['alive', false],
    ]);
  });

  it('the labels of a member say what its problem is', async () => {
    const { Servers } = await autopilotState(parts, read);
    expect(Object.values(Servers).map(({ Meta }) => Meta)).to.deep.equal([{}, {}, { problem }]);
  });
});

describe('the levels of members', () => {
  const levelAt = (level: number) => {
    const members = [
      { id: 'n1', name: 'n1', supported: 2 },
      { id: 'n2', name: 'n2', supported: undefined },
    ];
    const levels = async (): Promise<LevelStatus> => ({ level, supported: 2, members });
    return clusterLevel(partsOf({ levels }), read);
  };

  it('a member that does not answer has no known level, and is waited for', async () => {
    const { Members, Waiting } = await levelAt(1);
    expect(Members[1]).to.deep.equal({ ID: 'n2', Name: 'n2', Supported: null });
    expect(Waiting).to.deep.equal(['n2']);
  });

  it('nobody keeps a level from rising that is in force', async () => {
    expect((await levelAt(2)).Waiting).to.deep.equal([]);
  });
});
