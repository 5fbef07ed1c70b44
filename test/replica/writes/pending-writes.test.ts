import { expect } from 'chai';
import { type Outcome, PendingWrites } from '../../../src/replica/writes/pending-writes.js';

function build() {
  const proposals = new PendingWrites();
  const outcomes: Outcome[] = [];
  const propose = (): number => proposals.add((outcome) => outcomes.push(outcome));
  return { proposals, outcomes, propose };
}
/** The core appended a proposal, and put out its entry. */
const append = (proposals: PendingWrites, id: number, index: number, term: number): void =>
  proposals.appended({ id, index, term }, [{ kind: 'noop', index, term }]);
const NEVER: Outcome = { kind: 'dropped', reason: 'not_leader' };
const result = { ok: true, index: 5 } as const;

describe('replica: the list of pending writes', () => {
  it('reports the result to the caller whose entry is at that index and term', () => {
    const { proposals, outcomes, propose } = build();
    append(proposals, propose(), 5, 2);
    proposals.applied(4, 2, undefined);
    expect(outcomes).to.deep.equal([]);
    proposals.applied(5, 2, result);
    proposals.applied(5, 2, result);
    expect(outcomes).to.deep.equal([{ kind: 'applied', index: 5, result }]);
    expect(proposals.size).to.equal(0);
  });

  it('never reports the result of an entry of another term at the same index', () => {
    const { proposals, outcomes, propose } = build();
    append(proposals, propose(), 5, 2);
    proposals.applied(5, 3, result);
    expect(outcomes).to.deep.equal([NEVER]);
  });

  it('has dropped overwritten entries once an entry of a later term is applied, not before', () => {
    const { proposals, outcomes, propose } = build();
    for (const index of [5, 6, 7]) append(proposals, propose(), index, 2);
    proposals.truncatedFrom(6);
    expect([outcomes, proposals.size]).to.deep.equal([[], 3]);
    proposals.applied(5, 2, result);
    expect(outcomes.splice(0)).to.deep.equal([{ kind: 'applied', index: 5, result }]);
    proposals.applied(6, 3, undefined);
    expect([outcomes, proposals.size]).to.deep.equal([[NEVER, NEVER], 0]);
  });

  it('reports the result of an overwritten entry that another log has kept', () => {
    const { proposals, outcomes, propose } = build();
    append(proposals, propose(), 5, 2);
    proposals.truncatedFrom(5);
    // it leads again, and is overwritten again
    append(proposals, propose(), 5, 4);
    proposals.truncatedFrom(5);
    proposals.applied(5, 2, result);
    expect(outcomes).to.deep.equal([{ kind: 'applied', index: 5, result }, NEVER]);
  });

  it('holds no place for an entry that was replaced in the step in which it was appended', () => {
    const { proposals, outcomes, propose } = build();
    proposals.appended({ id: propose(), index: 5, term: 2 }, [{ kind: 'noop', index: 4, term: 3 }]);
    proposals.appended({ id: propose(), index: 6, term: 2 }, []);
    // it leads again
    for (const index of [5, 6]) append(proposals, propose(), index, 4);
    expect([outcomes, proposals.size]).to.deep.equal([[], 4]);
    proposals.applied(5, 4, result);
    expect(outcomes).to.have.deep.members([NEVER, NEVER, { kind: 'applied', index: 5, result }]);
  });

  it('knows nothing of entries up to a snapshot, and has dropped older ones after it', () => {
    const { proposals, outcomes, propose } = build();
    for (const index of [5, 6, 7]) append(proposals, propose(), index, 2);
    proposals.truncatedFrom(6);
    proposals.skippedTo({ index: 6, term: 2 });
    expect(outcomes.splice(0)).to.deep.equal([{ kind: 'unknown' }, { kind: 'unknown' }]);
    proposals.skippedTo({ index: 6, term: 3 });
    expect([outcomes, proposals.size]).to.deep.equal([[NEVER], 0]);
  });

  it('ignores a second outcome, and rejects a proposal that it does not know', () => {
    const { proposals, outcomes, propose } = build();
    const id = propose();
    proposals.dropped(id, 'overloaded');
    proposals.dropped(id, 'not_leader');
    expect(outcomes).to.deep.equal([{ kind: 'dropped', reason: 'overloaded' }]);
    expect(() => append(proposals, id, 5, 2)).to.throw(/twice/);
  });

  it('a request that is repeated while pending shares the outcome and is proposed once', () => {
    const { proposals, outcomes } = build();
    const settle = (outcome: Outcome): unknown => outcomes.push(outcome);
    proposals.offer(new Uint8Array([1]), settle, 'one');
    expect(proposals.join('other', settle)).to.equal(false);
    expect(proposals.join('one', settle)).to.equal(true);
    const [offered, ...others] = proposals.take();
    expect([others.length, proposals.take().length]).to.deep.equal([0, 0]);
    append(proposals, offered!.id, 5, 2);
    expect(proposals.join('one', settle)).to.equal(true);
    proposals.applied(5, 2, result);
    const applied = { kind: 'applied', index: 5, result };
    expect(outcomes).to.deep.equal([applied, applied, applied]);
    expect(proposals.join('one', settle)).to.equal(false);
  });
});
