import { expect } from 'chai';
import { Ticker } from '../../src/replica/ticker.js';
import { FakeClock } from './fakes.js';

describe('replica: the ticker', () => {
  function build(rest = 1) {
    const clock = new FakeClock();
    const ticks: number[] = [];
    const began = clock.now();
    const fired: number[][] = [];
    const due = { rest };
    const passed: number[] = [];
    const events = {
      tick: () => {
        passed.push(ticker.passed());
        ticks.push(clock.now() - began);
      },
      rest: () => due.rest,
      fired: (...late: [number, number]) => fired.push(late),
      stall: () => {},
    };
    const ticker: Ticker = new Ticker(clock, { tickMs: 20, stallMs: 100 }, events);
    ticker.start();
    return { clock, ticker, ticks, fired, due, passed };
  }

  it('ticks at equal intervals', () => {
    const { clock, ticks } = build();
    clock.advance(60);
    expect(ticks).to.deep.equal([20, 40, 60]);
  });

  it('delays one tick on request, and keeps its interval from there', () => {
    const { clock, ticker, ticks } = build();
    clock.advance(30);
    ticker.lengthen(7);
    clock.advance(70);
    expect(ticks).to.deep.equal([20, 40, 67, 87]);
  });

  it('tells how late each timer fired, and to what it was set', () => {
    const { clock, ticker, fired } = build();
    clock.advance(30);
    ticker.lengthen(7);
    clock.advance(70);
    expect(fired).to.deep.equal([
      [0, 20],
      [0, 20],
      [0, 27],
      [0, 20],
    ]);
  });

  it('sets its timer to the tick at which something is due, and counts those before', () => {
    const { clock, ticks, passed } = build(3);
    clock.advance(120);
    expect([ticks, passed]).to.deep.equal([
      [60, 120],
      [2, 2],
    ]);
  });

  it('counts a tick once, and that of the timer only when the timer fires', () => {
    const { clock, ticker, ticks, passed } = build(3);
    clock.advance(39);
    expect([ticker.passed(), ticker.passed()]).to.deep.equal([1, 0]);
    clock.nowMs += 50;
    expect([ticker.passed(), ticker.passed()]).to.deep.equal([1, 0]);
    clock.advance(1);
    expect([ticks, passed]).to.deep.equal([[90], [0]]);
  });

  it('counts no more ticks after a moment than the time since allows, and one', () => {
    const { clock, ticker } = build(4);
    clock.advance(19);
    expect(ticker.passed()).to.equal(0);
    clock.advance(1);
    expect(ticker.passed()).to.equal(1);
    clock.advance(19);
    expect(ticker.passed()).to.equal(0);
  });

  it('counts a rest that ends late by a stall as one tick', () => {
    const { clock, ticks, passed } = build(4);
    clock.nowMs += 10_000;
    clock.fireTimers();
    clock.settle();
    expect([ticks, passed]).to.deep.equal([[10_000], [0]]);
  });

  it('is set to an earlier tick when something is due sooner', () => {
    const { clock, ticker, ticks, due, passed } = build(4);
    clock.advance(25);
    expect(ticker.passed()).to.equal(1);
    due.rest = 1;
    ticker.look();
    clock.advance(15);
    expect([ticks, passed]).to.deep.equal([[40], [0]]);
  });

  it('reports that its timer was set to a tick at least, however soon that is to fire', () => {
    const { clock, ticker, fired, due } = build(4);
    clock.advance(10);
    ticker.passed();
    // The turn takes longer than what is due now can wait.
    clock.nowMs += 60;
    due.rest = 1;
    ticker.look();
    clock.fireTimers();
    expect(fired).to.deep.equal([[50, 20]]);
  });

  it('is set to a later tick while nothing is due for twice as long', () => {
    const { clock, ticker, ticks, passed } = build(4);
    const counted: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      clock.advance(45);
      counted.push(ticker.passed());
      ticker.look();
    }
    expect(counted).to.deep.equal([2, 2, 2, 3]);
    expect(ticks).to.deep.equal([]);
    clock.advance(80);
    expect([ticks, passed]).to.deep.equal([[260], [3]]);
  });

  it('reports every four ticks what a timer did, also one that is set to a later tick', () => {
    const { clock, ticker, fired } = build(4);
    const reported: number[] = [];
    for (let turn = 0; turn < 100; turn += 1) {
      clock.advance(20);
      ticker.passed();
      ticker.look();
      reported.push(fired.length);
    }
    expect(fired.every(([lateMs]) => lateMs === 0)).to.equal(true);
    for (const [at, count] of reported.entries())
      if (at >= 4) expect(count).to.be.greaterThan(reported[at - 4]!);
  });

  it('stays as it is while that is less than twice as long, or a tick is to be delayed', () => {
    const less = build(2);
    less.due.rest = 3;
    less.ticker.look();
    less.clock.advance(40);
    expect(less.ticks).to.deep.equal([40]);
    const delayed = build(4);
    delayed.clock.advance(45);
    delayed.ticker.passed();
    delayed.ticker.lengthen(7);
    delayed.ticker.look();
    delayed.clock.advance(35);
    expect(delayed.ticks).to.deep.equal([80]);
  });

  it('fires at least every 20 ticks, since its delays are the samples of the event loop', () => {
    const { clock, ticker, ticks } = build(4);
    for (let turn = 0; turn < 100; turn += 1) {
      clock.advance(20);
      ticker.passed();
      ticker.look();
    }
    expect(ticks.length).to.be.within(5, 6);
  });

  it('gives no tick to the turns between a pause and the timer that is overdue', () => {
    const { clock, ticker } = build(4);
    const pause = (): number[] => {
      clock.nowMs += 10_000;
      return [1, 2, 3].map(() => {
        const count = ticker.passed();
        ticker.look();
        return count;
      });
    };
    expect(pause()).to.deep.equal([3, 0, 0]);
  });
});
