import { expect } from 'chai';
import type { Decision } from '../../src/raft/decisions.js';
import type { Message } from '../../src/raft/types.js';
import { DiskWatch } from '../../src/replica/disk-watch.js';
import { ElectionGuard } from '../../src/replica/election-guard.js';
import { heartbeat } from './fakes.js';

const envelope = { from: 'b', to: 'a', term: 2 };
const vote: Message = { type: 'vote', ...envelope, lastIndex: 0, lastTerm: 0 };
const timeoutNow: Message = { type: 'timeoutNow', ...envelope };

function build() {
  const decisions: Decision[] = [];
  const disks = new DiskWatch({ hangTicks: 2, tickMs: 20 });
  const guard = new ElectionGuard(disks, (decision) => decisions.push(decision));
  const admitted = () => [vote, timeoutNow, heartbeat('b', 'a', 2)].map((of) => guard.admits(of));
  const ticks = () => [guard.mayTick('follower'), guard.mayTick('leader')];
  const reasons = () => decisions.map((each) => 'reason' in each && each.reason);
  return { decisions, disks, guard, admitted, ticks, reasons };
}

describe('replica: the election guard', () => {
  it('a server with nothing amiss takes part in elections', () => {
    const { admitted, ticks, decisions } = build();
    expect(admitted()).to.deep.equal([true, true, true]);
    expect(ticks()).to.deep.equal([true, true]);
    expect(decisions).to.deep.equal([]);
  });

  it('a server whose vote is suspended takes no part, and the trace shows why', () => {
    const { guard, admitted, ticks, decisions } = build();
    guard.votingSuspended = true;
    expect(admitted()).to.deep.equal([false, false, true]);
    expect(ticks()).to.deep.equal([false, true]);
    const dropped = { type: 'messageDropped', from: 'b', term: 2, reason: 'voting_suspended' };
    expect(decisions).to.deep.equal([
      { ...dropped, message: 'vote' },
      { ...dropped, message: 'timeoutNow' },
    ]);
  });

  it('a server whose log hangs takes no part', () => {
    const log = build();
    for (let tick = 0; tick < 2; tick++) log.disks.tick(true);
    expect([log.admitted(), log.ticks()]).to.deep.equal([
      [false, false, true],
      [false, true],
    ]);
    expect(log.reasons()).to.deep.equal(['disk_hangs', 'disk_hangs']);
  });

  it('a server whose state hangs votes, but does not take over', () => {
    const state = build();
    state.disks.isStateBehind = true;
    for (let tick = 0; tick < 2; tick++) state.disks.tick(false);
    expect([state.admitted(), state.ticks()]).to.deep.equal([
      [true, false, true],
      [true, true],
    ]);
    expect(state.reasons()).to.deep.equal(['disk_hangs']);
  });
});
