import { expect } from 'chai';
import { type Refusal, refusal } from '../../src/base/errors.js';
import { SharedBarriers } from '../../src/node/shared-barriers.js';
import type { BarrierMode } from '../../src/replica/reads/read-index.js';

type BarrierDone = (refused?: Refusal) => void;

/** Barriers of a replica whose requests and clock the test controls. */
function build() {
  const state = { round: 1, nowMs: 0, refuses: false };
  const asked: { readonly mode: BarrierMode; readonly timeoutMs: number; done: BarrierDone }[] = [];
  const replica = {
    readRound: () => state.round,
    barrier: (mode: BarrierMode, timeoutMs: number, done: BarrierDone) => {
      asked.push({ mode, timeoutMs, done });
      if (state.refuses) done(refusal('unavailable', 'no'));
    },
  };
  return { state, asked, barriers: new SharedBarriers(replica, { now: () => state.nowMs }) };
}

describe('node/shared-barriers', () => {
  it('readers share a barrier until its request is sent', async () => {
    const { state, asked, barriers } = build();
    const [one, two] = [barriers.pass('default', 100), barriers.pass('default', 100)];
    expect(asked).to.have.length(1);
    state.round += 1;
    const three = barriers.pass('default', 100);
    expect(asked).to.have.length(2);
    asked[0]!.done();
    await Promise.all([one, two]);
    let isPassed = false;
    void three.then(() => {
      isPassed = true;
    });
    await new Promise(setImmediate);
    expect(isPassed).to.equal(false);
    asked[1]!.done();
    await three;
  });

  it('not with another mode, another timeout, or much later', () => {
    const { state, asked, barriers } = build();
    void barriers.pass('default', 100);
    void barriers.pass('consistent', 100);
    void barriers.pass('default', 200);
    state.nowMs = 49;
    void barriers.pass('default', 200);
    expect(asked.map(({ mode }) => mode)).to.deep.equal(['default', 'consistent', 'default']);
    state.nowMs = 50;
    void barriers.pass('default', 200);
    expect(asked).to.have.length(4);
  });

  it('no reader waits for less than it asked for', () => {
    const { asked, barriers } = build();
    void barriers.pass('default', 100);
    expect(asked[0]!.timeoutMs).to.be.at.least(150);
  });

  it('an immediate refusal is not shared', async () => {
    const { state, asked, barriers } = build();
    state.refuses = true;
    const error = await barriers.pass('default', 100).catch((why) => why);
    expect(error.refusal.code).to.equal('unavailable');
    state.refuses = false;
    const passed = barriers.pass('default', 100);
    asked[1]!.done();
    await passed;
  });
});
