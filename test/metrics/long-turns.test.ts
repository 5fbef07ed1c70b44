import { expect } from 'chai';
import { named, takeSpent, type Work } from '../../src/base/works.js';
import { LongTurns } from '../../src/metrics/long-turns.js';

describe('metrics: reports of long turns', () => {
  const spentOn = (some: Partial<Record<Work, number>>) => ({ ...takeNothing(), ...some });
  const takeNothing = () => {
    takeSpent();
    return takeSpent();
  };
  let lines: object[];
  let turns: LongTurns;
  beforeEach(() => {
    lines = [];
    turns = new LongTurns({ warn: (fields) => lines.push(fields) });
  });
  const samples = (name: string) =>
    turns.families().find((family) => family.name === `conclave_event_loop_${name}`)!.samples;

  it('log the work that took most of a long turn', () => {
    const spent = spentOn({ chain: 90.4, read: 20 });
    turns.sampled(130.2, { spent, cpuMs: 128 }, 0);
    expect(lines).to.deep.equal([
      { event: 'long_turn', work: 'chain', workMs: 90, delayMs: 130, cpuMs: 128 },
    ]);
    expect(samples('long_turns_total')).to.deep.equal([{ labels: { work: 'chain' }, value: 1 }]);
  });

  it('say that it was nothing with a name', () => {
    turns.sampled(300, { spent: spentOn({ read: 20 }), cpuMs: 12 }, 0);
    expect(lines).to.deep.equal([
      { event: 'long_turn', work: 'other', workMs: 280, delayMs: 300, cpuMs: 12 },
    ]);
  });

  it('count turns that are not logged, and say how many', () => {
    const ran = { spent: spentOn({ list: 200 }), cpuMs: 200 };
    for (const nowMs of [0, 1_000, 9_999, 10_000]) turns.sampled(200, ran, nowMs);
    expect(lines).to.have.length(2);
    expect(lines[1]).to.include({ unlogged: 2 });
    expect(samples('long_turns_total')).to.deep.equal([{ labels: { work: 'list' }, value: 4 }]);
  });

  it('keep the most that each work took, also in short turns', () => {
    turns.sampled(1, { spent: spentOn({ chain: 30, apply: 2 }), cpuMs: 1 }, 0);
    turns.sampled(1, { spent: spentOn({ chain: 10, apply: 3 }), cpuMs: 1 }, 0);
    expect(lines).to.deep.equal([]);
    expect(samples('work_max_seconds')).to.deep.equal([
      { labels: { work: 'apply' }, value: 0.003 },
      { labels: { work: 'chain' }, value: 0.03 },
    ]);
  });
});

describe('named work', () => {
  const untilPassed = (ms: number): void => {
    for (const until = performance.now() + ms; performance.now() < until; );
  };

  it('counts the time of inner work for the inner name alone', () => {
    takeSpent();
    const startedMs = performance.now();
    named('read', () => {
      untilPassed(2);
      named('chain', () => untilPassed(20));
      untilPassed(2);
    });
    const tookMs = performance.now() - startedMs;
    const { read, chain } = takeSpent();
    expect(chain).to.be.at.least(20);
    expect(read).to.be.at.least(4);
    expect(read + chain).to.be.at.most(tookMs);
    expect(takeSpent().chain).to.equal(0);
  });

  it('passes results and errors on, and ends with either', () => {
    expect(named('list', () => 7)).to.equal(7);
    const fail = () => {
      throw new Error('as expected');
    };
    expect(() => named('list', fail)).to.throw('as expected');
    takeSpent();
    untilPassed(2);
    named('read', () => {});
    expect(takeSpent().list).to.equal(0);
  });
});
