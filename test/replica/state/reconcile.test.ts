import { expect } from 'chai';
import { reconcile } from '../../../src/replica/state/reconcile.js';
import { FakeLog, FakeMachine } from '../fakes.js';

/** What the start finds lacking in a state at (index, term), beside a log that ends so. */
function lacking(applied: { index: number; term: number }, log: FakeLog): string | undefined {
  const machine = new FakeMachine();
  Object.assign(machine, applied);
  let found: string | undefined = 'not called';
  reconcile(log, { get: () => undefined }, machine, (what) => {
    found = what;
  });
  return found;
}

/** A log of three entries, the last one of term 2. */
function logOf(bar?: { index: number; term: number }): FakeLog {
  const log = new FakeLog();
  log.list = [1, 1, 2].map((term, at) => ({ kind: 'noop', index: at + 1, term }));
  if (bar !== undefined) Object.assign(log, { bar: () => bar });
  return log;
}

describe('replica: a start that reconciles log and state', () => {
  it('finds nothing lacking where the log holds what is applied', () => {
    expect(lacking({ index: 3, term: 2 }, logOf())).to.equal(undefined);
    expect(lacking({ index: 0, term: 0 }, logOf())).to.equal(undefined);
  });

  it('takes log and state for those of two nodes where they contradict each other', () => {
    const folders = /the folders log and state do not belong to the same node/;
    expect(() => lacking({ index: 3, term: 4 }, logOf())).to.throw(folders);
    expect(() => lacking({ index: 5, term: 2 }, logOf())).to.throw(folders);
  });

  it('lets a log that has lost entries end early, or hold older ones in their place', () => {
    const bar = { index: 5, term: 4 };
    expect(lacking({ index: 5, term: 4 }, logOf(bar))).to.equal(undefined);
    expect(lacking({ index: 3, term: 4 }, logOf(bar))).to.equal(undefined);
  });
});
