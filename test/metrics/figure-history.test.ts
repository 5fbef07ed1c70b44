import { expect } from 'chai';
import fc from 'fast-check';
import { FigureHistory, type Reading, STEP_MS } from '../../src/metrics/figure-history.js';
import { Histogram } from '../../src/metrics/histogram.js';

/** Steps of an hour. */
const STEPS = 360;

/** A history with a clock, and what it reads. */
function historyOf() {
  const at = { nowMs: 5_000_000 * STEP_MS, ms: 0 };
  const times = new Histogram([1, 2, 4]);
  const reading = { value: 1 as number | undefined, total: 0 };
  const read = (): Reading => ({
    values: { Value: reading.value },
    totals: { Total: reading.total },
    times: { Times: times },
  });
  const history = new FigureHistory(read, () => at.nowMs);
  const pass = (ms = STEP_MS): void => {
    at.nowMs += ms;
    at.ms += ms;
  };
  const sample = (): void => history.sample(at.ms);
  const last = (name: string, count: number) => history.figures().figures[name]!.slice(-count);
  sample();
  return { at, times, reading, history, pass, sample, last };
}

describe('The figures of the last hour', () => {
  it('are values, rates of totals, and quantiles of times', () => {
    const { times, reading, pass, sample, last } = historyOf();
    reading.value = 7;
    reading.total = 50;
    for (let nth = 0; nth < 98; nth += 1) times.observe(1.5);
    for (let nth = 0; nth < 2; nth += 1) times.observe(3);
    pass();
    sample();
    expect(last('Value', 2)).to.deep.equal([1, 7]);
    expect(last('Total', 2)).to.deep.equal([null, 5]);
    const [median] = last('Times_p50', 1);
    expect(median).to.be.within(1, 2);
    expect(last('Times_p99', 1)[0]).to.be.within(2, 4);
    pass();
    sample();
    expect(last('Total', 1)).to.deep.equal([0]);
    expect(last('Times_p50', 1), 'nothing was observed').to.deep.equal([null]);
  });

  it('have gaps where the process stood still, and where a value is not known', () => {
    const { reading, pass, sample, last } = historyOf();
    pass(4 * STEP_MS);
    reading.total = 80;
    sample();
    expect(last('Value', 5)).to.deep.equal([1, null, null, null, 1]);
    expect(last('Total', 2), 'the rate of all the time').to.deep.equal([null, 2]);
    reading.value = undefined;
    pass();
    sample();
    expect(last('Value', 2)).to.deep.equal([1, null]);
    pass(3 * STEP_MS);
    expect(last('Value', 4), 'nothing was sampled since').to.deep.equal([null, null, null, null]);
  });

  it('end with the last step that has ended, and hold an hour', () => {
    const { at, reading, history, pass, sample } = historyOf();
    for (let nth = 1; nth <= 400; nth += 1) {
      reading.value = nth;
      pass();
      sample();
    }
    at.nowMs += STEP_MS / 2;
    const { fromMs, figures } = history.figures();
    expect(fromMs).to.equal((Math.floor(at.nowMs / STEP_MS) - STEPS) * STEP_MS);
    expect(figures['Value']).to.deep.equal(Array.from({ length: STEPS }, (_, nth) => nth + 41));
  });

  it('begin anew when the clock was set back, or the process was stopped for an hour', () => {
    for (const jump of [-STEP_MS, STEPS * STEP_MS]) {
      const { at, pass, sample, last } = historyOf();
      pass();
      sample();
      at.nowMs += jump;
      sample();
      expect(last('Value', STEPS).filter((value) => value !== null)).to.deep.equal([1]);
    }
  });

  it('are those of the samples, whenever they are taken and read', () => {
    const step = fc.record({ ms: fc.nat(STEP_MS * 3), isSample: fc.boolean(), value: fc.nat(9) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
        const { at, reading, history, pass, sample } = historyOf();
        const known = new Map([[at.nowMs / STEP_MS, 1]]);
        for (const { ms, isSample, value } of steps) {
          pass(ms);
          if (!isSample) continue;
          reading.value = value;
          sample();
          known.set(Math.floor(at.nowMs / STEP_MS), value);
        }
        const { fromMs, figures } = history.figures();
        const from = fromMs / STEP_MS;
        const expected = Array.from(
          { length: STEPS },
          (_, nth) => known.get(from + 1 + nth) ?? null,
        );
        expect(figures['Value']).to.deep.equal(expected);
      }),
    );
  });
});
