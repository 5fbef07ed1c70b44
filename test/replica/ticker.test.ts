import { expect } from 'chai';
import { Ticker } from '../../src/replica/ticker.js';
import { FakeClock } from './fakes.js';

describe('replica: the ticker', () => {
  function build(): { clock: FakeClock; ticker: Ticker; ticks: number[]; fired: number[][] } {
    const clock = new FakeClock();
    const ticks: number[] = [];
    const began = clock.now();
    const fired: number[][] = [];
    const events = {
      tick: () => ticks.push(clock.now() - began),
      fired: (...late: [number, number]) => fired.push(late),
      stall: () => {},
    };
    const ticker = new Ticker(clock, { tickMs: 20, stallMs: 100 }, events);
    ticker.start();
    return { clock, ticker, ticks, fired };
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
});
