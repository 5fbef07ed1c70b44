import { expect } from 'chai';
import { Ticker } from '../../src/replica/ticker.js';
import { FakeClock } from './fakes.js';

describe('replica: the ticker', () => {
  function build(): { clock: FakeClock; ticker: Ticker; ticks: number[] } {
    const clock = new FakeClock();
    const ticks: number[] = [];
    const began = clock.now();
    const events = { tick: () => ticks.push(clock.now() - began), stall: () => {} };
    const ticker = new Ticker(clock, { tickMs: 20, stallMs: 100 }, events);
    ticker.start();
    return { clock, ticker, ticks };
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
});
