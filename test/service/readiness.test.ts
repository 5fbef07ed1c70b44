/** A node that lacks entries which the cluster has committed is not ready. */
import { expect } from 'chai';
import { Stability, statusOf } from '../../src/node/status.js';
import type { RaftStatus } from '../../src/raft/types.js';
import type { ClusterParts } from '../../src/service/cluster/cluster.js';
import { readiness } from '../../src/service/cluster/status.js';
import { INIT_FACT } from '../../src/state/system.js';
import { ScriptedCore } from '../replica/fakes.js';

/** Returns the answer about a node that follows a leader and has applied `appliedIndex` entries. */
function readinessOf(facts: Partial<RaftStatus>, appliedIndex: number): string {
  const core = new ScriptedCore();
  core.facts = { leader: 'b', ...facts };
  const about = {
    name: 'a',
    address: 'h:1',
    leaderSilenceMs: 0,
    fault: undefined,
    problems: new Map<string, string>(),
    reachable: [],
  };
  const status = statusOf(
    { ...about, raft: core.status(), appliedIndex, nowMs: 0, contactMsMax: 1 },
    new Stability(),
  );
  const view = { get: (key: string) => (key === INIT_FACT ? '{}' : undefined) };
  const parts = { node: { status: () => status }, service: { view }, fault: () => undefined };
  try {
    return readiness(parts as unknown as ClusterParts).Status;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('readiness', () => {
  const lacks = (count: number) => `Not ready: ${count} entries are still to be applied`;

  it('waits for the entries that the node has yet to apply', () => {
    expect(readinessOf({ commit: 1040, announced: 1040 }, 40)).to.equal('ready');
    expect(readinessOf({ commit: 1041, announced: 1040 }, 40)).to.equal(lacks(1001));
  });

  it('waits for the entries that the leader has committed and the node has not received', () => {
    expect(readinessOf({ commit: 40, announced: 1040 }, 40)).to.equal('ready');
    expect(readinessOf({ commit: 40, announced: 1041 }, 40)).to.equal(lacks(1001));
    expect(readinessOf({ commit: 0, announced: 200_000 }, 0)).to.equal(lacks(200_000));
  });

  it('takes its own commit index where that is higher', () => {
    expect(readinessOf({ commit: 5000, announced: 40 }, 5000)).to.equal('ready');
  });
});
