import { expect } from 'chai';
import fc from 'fast-check';
import { hiddenText } from '../../../src/state/history/contents.js';
import { linesAt } from '../../../src/state/history/lines.js';
import { RecentLines } from '../../../src/state/history/recent.js';
import { objectKeyOf, placeOfLine } from '../../../src/state/history/records.js';
import { Recorded } from './random-history.js';

const line = (index: number, text = '{}') => ({ index, position: 0, after: text }) as never;

describe('the newest lines of the history', () => {
  it('are those of the rings, with the objects that they left', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), (seed) => {
        const recorded = new Recorded();
        recorded.run(seed, 60);
        const { machine, store, objects, index: last } = recorded;
        let count = 0;
        for (let index = 1; index <= last; index++) {
          const lines = machine.recent.at(index)!;
          count += lines.length;
          const stored = lines.map(({ ring, after, ...one }) => one);
          expect(stored.map(whole)).to.deep.equal(linesAt(store, index).map(whole));
          for (const { after, ...one } of lines) {
            if (one.type === '' || one.type === 'login-tokens') continue;
            const place = placeOfLine(one);
            const then = after === null ? undefined : hiddenText(place, after);
            expect(then).to.equal(objects[index]!.get(objectKeyOf(place)));
          }
        }
        expect(count).to.be.greaterThan(0);
        const after = [...machine.recent.after(last - 10)!];
        expect(after.map(({ index }) => index)).to.deep.equal(
          after.map(({ index }) => index).filter((index) => index > last - 10),
        );
        expect(machine.recent.after(0)).to.have.length(count);
      }),
      { numRuns: 20 },
    );
  });

  it('are not there from before a start', () => {
    const recorded = new Recorded();
    recorded.run(7, 20);
    recorded.machine.reload();
    const { recent } = recorded.machine;
    expect(recent.at(recorded.index)).to.equal(undefined);
    expect(recent.after(recorded.index - 1)).to.equal(undefined);
    expect(recent.after(recorded.index)).to.deep.equal([]);
  });

  it('are bounded, and those of an entry go together', () => {
    const recent = new RecentLines();
    recent.begin(0);
    for (let index = 1; index <= 5000; index++) {
      recent.add(line(index));
      recent.add(line(index));
    }
    const oldest = 5000 - 256 + 1;
    expect(recent.at(oldest)).to.have.length(2);
    expect(recent.at(oldest - 1)).to.equal(undefined);
    recent.add(line(5001));
    expect(recent.at(oldest)).to.equal(undefined);
    expect(recent.after(oldest)).to.have.length(255 * 2 + 1);
    recent.add(line(5002, 'x'.repeat(4 * 2 ** 20)));
    expect(recent.after(5000)).to.equal(undefined);
    expect(recent.after(5001)).to.have.length(1);
    expect(recent.at(5003)).to.deep.equal([]);
  });
});

/** A line with members in one form: absent ones are as good as undefined ones. */
const whole = (one: object): unknown => JSON.parse(JSON.stringify(one));
