import { expect } from 'chai';
import { LoopShare } from '../../src/service/common/loop-share.js';
import { FakeClock } from '../replica/fakes.js';

describe('a share of the event loop', () => {
  let clock: FakeClock;
  let isBusy: boolean;
  let share: LoopShare;
  let done: string[];
  beforeEach(() => {
    clock = new FakeClock();
    isBusy = true;
    share = new LoopShare(clock, () => isBusy);
    done = [];
  });
  /** Work that takes some milliseconds in its turn. */
  const work = (name: string, ms: number) =>
    share.turn(() => {
      done.push(name);
      clock.nowMs += ms;
    });
  /** Lets time pass until so many works are done. Returns the milliseconds. */
  const passUntil = (count: number): number => {
    const beganMs = clock.nowMs;
    while (done.length < count) {
      if (clock.turn() === 0) clock.nowMs += 1;
      clock.fireTimers();
    }
    return clock.nowMs - beganMs;
  };

  it('gives each work a turn of its own, in their order', () => {
    isBusy = false;
    for (const name of ['a', 'b', 'c']) work(name, 2);
    for (const count of [1, 2, 3]) {
      clock.turn();
      expect(done).to.have.length(count);
    }
    expect(done).to.deep.equal(['a', 'b', 'c']);
    expect(clock.timers).to.equal(0);
  });

  it('is half of the time while there is other work', () => {
    for (let n = 0; n < 50; n += 1) work(`w${n}`, 2);
    expect(passUntil(50)).to.be.within(170, 230);
  });

  it('is a quarter of the time once the work has lasted', () => {
    for (let n = 0; n < 1200; n += 1) work(`w${n}`, 2);
    passUntil(1100);
    expect(passUntil(1200)).to.be.within(750, 850);
  });

  it('is half of the time again after a pause', () => {
    for (let n = 0; n < 1200; n += 1) work(`w${n}`, 2);
    passUntil(1200);
    clock.nowMs += 10_000;
    done = [];
    for (let n = 0; n < 50; n += 1) work(`w${n}`, 2);
    expect(passUntil(50)).to.be.within(170, 230);
  });

  it('is all of the time otherwise', () => {
    isBusy = false;
    for (let n = 0; n < 50; n += 1) work(`w${n}`, 2);
    expect(passUntil(50)).to.equal(100);
  });

  it('owes no rest for work while there was no other', () => {
    isBusy = false;
    for (let n = 0; n < 5000; n += 1) work(`w${n}`, 2);
    passUntil(5000);
    isBusy = true;
    done = [];
    work('a', 2);
    expect(passUntil(1)).to.be.at.most(2);
  });

  it('alternates turns and rests', () => {
    for (const name of ['a', 'b', 'c']) work(name, 10);
    clock.turn();
    expect([done, clock.timers]).to.deep.equal([['a'], 1]);
    clock.turn();
    expect(done, 'resting').to.deep.equal(['a']);
    clock.nowMs += 30;
    clock.fireTimers();
    clock.turn();
    expect([done, clock.timers]).to.deep.equal([['a', 'b'], 1]);
  });

  it('does not delay what is short', () => {
    for (const name of ['a', 'b', 'c']) work(name, 1);
    for (let n = 0; n < 3; n += 1) clock.turn();
    expect(done).to.deep.equal(['a', 'b', 'c']);
  });

  it('counts what is done outside its turns', () => {
    share.spend(10);
    expect(share.restMs).to.be.within(1, 10);
    work('a', 1);
    clock.turn();
    expect(done).to.deep.equal([]);
    clock.nowMs += 30;
    clock.fireTimers();
    clock.turn();
    expect(done).to.deep.equal(['a']);
  });
});
