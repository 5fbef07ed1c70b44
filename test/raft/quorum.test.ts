import { expect } from 'chai';
import fc from 'fast-check';
import { quorumSize, quorumValue, tally } from '../../src/raft/quorum.js';

describe('raft quorum', () => {
  it('is more than half of the voters', () => {
    expect([1, 2, 3, 4, 5, 6, 7].map(quorumSize)).to.deep.equal([1, 2, 2, 3, 3, 4, 4]);
  });

  it('compares numbers numerically', () => {
    expect(quorumValue([100, 9, 10])).to.equal(10);
  });

  it('commits nothing without voters', () => {
    expect(quorumValue([])).to.equal(Number.NEGATIVE_INFINITY);
  });

  it('commits the greatest value that a majority has reached', () => {
    const values = fc.array(fc.nat(200), { minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(values, (given) => {
        const reached = quorumValue([...given]);
        const holds = (value: number) =>
          given.filter((each) => each >= value).length * 2 > given.length;
        expect(holds(reached)).to.equal(true);
        expect(holds(reached + 1)).to.equal(false);
      }),
    );
  });

  it('any two majorities share a server', () => {
    for (let voters = 1; voters <= 9; voters++) expect(2 * quorumSize(voters)).to.be.above(voters);
  });

  it('decides an election by the distinct voters that responded', () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'x', 'y'];
    const answers = fc.array(fc.tuple(fc.constantFrom(...ids), fc.boolean()), { maxLength: 12 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), answers, (size, given) => {
        const voters = ids.slice(0, size);
        const granted = new Set(given.filter(([, yes]) => yes).map(([id]) => id));
        const rejected = new Set(given.filter(([, yes]) => !yes).map(([id]) => id));
        const yes = voters.filter((id) => granted.has(id)).length;
        const open = voters.filter((id) => !granted.has(id) && !rejected.has(id)).length;
        const expected = yes * 2 > size ? 'won' : (yes + open) * 2 > size ? 'open' : 'lost';
        expect(tally(voters, granted, rejected)).to.equal(expected);
      }),
    );
  });

  it('elects nobody without voters', () => {
    expect(tally([], new Set(['a']), new Set())).to.equal('lost');
  });
});
