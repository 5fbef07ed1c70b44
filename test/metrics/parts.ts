import { DecisionCounts } from '../../src/metrics/decisions.js';
import type { MetricsParts } from '../../src/metrics/metrics.js';
import { Replication } from '../../src/metrics/replication.js';
import type { NodeStatus } from '../../src/node/types.js';

/** The status of a leader of three nodes. */
export const STATUS: NodeStatus = {
  id: 'a',
  name: 'n1',
  address: '127.0.0.1:1',
  role: 'leader',
  term: 7,
  leaderId: 'a',
  leaderAddress: '127.0.0.1:1',
  commitIndex: 5,
  appliedIndex: 5,
  lastLogIndex: 6,
  lastContactMs: 40,
  configurationIndex: 1,
  peers: ['a', 'b', 'c'].map((id, at) => ({
    id,
    name: `n${at + 1}`,
    address: `127.0.0.1:${at}`,
    voter: true,
    leader: at === 0,
    ...(at > 0 && { matchIndex: 6 - at, lastContactMs: at * 10 }),
  })),
};

/** Parts of the metrics of one node, whose disk is the present folder. */
export const parts = (given: Partial<MetricsParts> = {}): MetricsParts => ({
  release: { version: '1.2.3', sha: 'abc', date: '' },
  datacenter: 'dc1',
  dataDir: '.',
  diskReserveBytes: 1000,
  replication: new Replication(),
  log: { warn: () => {} },
  limits: { held: 30, eventStreams: 20, connections: 40 },
  status: () => STATUS,
  held: () => 3,
  rightsFeeds: () => 1,
  eventStreams: () => 2,
  refused: () => ({ loginsPerAddress: 2, connections: 5 }),
  connections: () => 4,
  level: () => 2,
  loop: () => ({ appends: 1, entriesAppended: 2, stalls: 0, stallMsMax: 250 }),
  disks: () => ({ logWaitMs: 1500, stateWaitMs: 20 }),
  comparison: () => ({ rounds: 9, incomparable: 2, differing: 0 }),
  rights: () => ({ tokens: 8, rights: 2, bytes: 5000 }),
  refusedLogins: () => new Map([['token', 3]]),
  decisions: new DecisionCounts(),
  objects: () => ({ byType: new Map([['policy', 4]]), byKind: new Map([['mesh', 1]]) }),
  sets: () => [{ owner: 'gitops/payments', unapplied: 3, seconds: 12 }],
  audit: () => [{ Name: 'main', Dropped: 2 }],
  certificates: () => [{ use: 'api', notAfterMs: 1_800_000_000_000 }],
  ...given,
});
