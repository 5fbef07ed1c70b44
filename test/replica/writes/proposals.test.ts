import { expect } from 'chai';
import { type Outcome, Proposals } from '../../../src/replica/writes/proposals.js';

function build() {
  const proposals = new Proposals();
  const outcomes: Outcome[] = [];
  const propose = (): number => proposals.add((outcome) => outcomes.push(outcome));
  return { proposals, outcomes, propose };
}
const result = { ok: true, index: 5 } as const;

describe('replica/writes/proposals', () => {
  it('gives the result to who proposed the entry at that index and term', () => {
    const { proposals, outcomes, propose } = build();
    proposals.appended(propose(), 5, 2);
    proposals.applied(4, 2, undefined);
    expect(outcomes).to.deep.equal([]);
    proposals.applied(5, 2, result);
    proposals.applied(5, 2, result);
    expect(outcomes).to.deep.equal([{ kind: 'applied', index: 5, result }]);
    expect(proposals.size).to.equal(0);
  });

  it('never gives the result of an entry of another term at the same index', () => {
    const { proposals, outcomes, propose } = build();
    proposals.appended(propose(), 5, 2);
    proposals.applied(5, 3, result);
    expect(outcomes).to.deep.equal([{ kind: 'unknown' }]);
  });

  it('does not know what became of entries that were overwritten, and of those alone', () => {
    const { proposals, outcomes, propose } = build();
    for (const index of [5, 6, 7]) proposals.appended(propose(), index, 2);
    proposals.truncatedFrom(6);
    expect(outcomes).to.deep.equal([{ kind: 'unknown' }, { kind: 'unknown' }]);
    proposals.applied(5, 2, result);
    expect(outcomes.at(-1)).to.deep.equal({ kind: 'applied', index: 5, result });
  });

  it('takes no second word on a proposal, and none on one that it does not know', () => {
    const { proposals, outcomes, propose } = build();
    const id = propose();
    proposals.settle(id, { kind: 'dropped', reason: 'overloaded' });
    proposals.settle(id, { kind: 'unknown' });
    expect(outcomes).to.deep.equal([{ kind: 'dropped', reason: 'overloaded' }]);
    expect(() => proposals.appended(id, 5, 2)).to.throw(/twice/);
  });
});
