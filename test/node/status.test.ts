/** What a node tells of its members' health. */
import { expect } from 'chai';
import { Stability, type StatusFacts, statusOf } from '../../src/node/status.js';
import type { RaftStatus } from '../../src/raft/types.js';
import { ScriptedCore } from '../replica/fakes.js';

const members = ['a', 'b', 'c'].map((id) => ({ id, name: id, address: `${id}:1`, voter: true }));
const progress = (id: string, lastContact: number, hasAnswered: boolean) => ({
  id,
  match: 5,
  next: 6,
  state: 'replicate' as const,
  lastContact,
  hasAnswered,
});

function peersOf(raft: Partial<RaftStatus>, more: Partial<StatusFacts> = {}) {
  const core = new ScriptedCore();
  core.facts = { id: 'a', configuration: { members }, ...raft };
  const facts = {
    name: 'a',
    address: 'a:1',
    leaderSilenceMs: 0,
    fault: undefined,
    problems: new Map<string, string>(),
    reachable: [],
    raft: core.status(),
    appliedIndex: 0,
    nowMs: 1000,
    contactMsMax: 500,
  };
  const { peers } = statusOf({ ...facts, ...more }, new Stability());
  return peers.map(({ id, alive, healthy, problem }) => [id, alive, healthy, problem]);
}

describe('node: what a status shows', () => {
  const leads = { role: 'leader', leader: 'a' } as const;

  it('a member that has not answered this leader yet is not healthy', () => {
    const of = (b: ReturnType<typeof progress>) =>
      peersOf({ ...leads, progress: [b, progress('c', 990, true)] });
    expect(of(progress('b', 990, false))[1]).to.deep.equal(['b', false, false, undefined]);
    expect(of(progress('b', 990, true))[1]).to.deep.equal(['b', true, true, undefined]);
    expect(of(progress('b', 400, true))[1]).to.deep.equal(['b', false, false, undefined]);
  });

  it('a member with a problem is alive, and not healthy', () => {
    const both = [progress('b', 990, true), progress('c', 990, true)];
    const seen = peersOf({ ...leads, progress: both }, { problems: new Map([['b', 'full']]) });
    expect(seen).to.deep.equal([
      ['a', true, true, undefined],
      ['b', true, false, 'full'],
      ['c', true, true, undefined],
    ]);
    const own = peersOf({ ...leads, progress: both }, { fault: 'slow' });
    expect(own[0]).to.deep.equal(['a', true, false, 'slow']);
  });

  it('a node that does not lead tells to whom it is connected', () => {
    const seen = peersOf({ role: 'follower', leader: null }, { reachable: ['c'] });
    expect(seen.map(([id, alive]) => [id, alive])).to.deep.equal([
      ['a', true],
      ['b', false],
      ['c', true],
    ]);
  });
});
