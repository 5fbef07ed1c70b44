import { expect } from 'chai';
import type { Message, NodeId, SnapshotMeta } from '../../src/raft/types.js';
import { Compaction, type CompactionParts } from '../../src/replica/log/compaction.js';

const META: SnapshotMeta = { index: 7, term: 2, configuration: { members: [] } };
const offer = (to: NodeId, term: number): Message => ({
  type: 'snapshot',
  from: 'a',
  to,
  term,
  meta: META,
  round: 0,
});

/** A network that, like the real one, sends one state at a time to each peer: the newest. */
function setUp() {
  const reported: [NodeId, boolean][] = [];
  const sending = new Map<NodeId, (ok: boolean) => void>();
  const parts = {
    loop: {
      role: { role: 'leader', term: 3, leader: 'a' },
      snapshotSent: (to: NodeId, ok: boolean) => reported.push([to, ok]),
    },
    wire: {
      sendSnapshot: (to: NodeId, _message: Message, done: (ok: boolean) => void) => {
        sending.get(to)?.(false);
        sending.set(to, done);
      },
    },
    clock: { now: () => 0 },
    appliedLog: { meta: () => META },
    mayCopy: () => true,
  } as unknown as CompactionParts;
  return { compaction: new Compaction(parts), reported, sending };
}

describe('replica: a member that was sent the state', () => {
  /** A leader that has sent the state to `b` in 50 ms, and the index up to which it may cut. */
  const sent = () => {
    const leader = { nowMs: 0, match: 0, needed: 0 };
    let done: (ok: boolean) => void = () => {};
    const parts = {
      clock: { now: () => leader.nowMs },
      loop: {
        role: { role: 'leader', term: 3, leader: 'a' },
        elections: { votingSuspended: false },
        snapshotSent: () => {},
        status: () => ({ commit: 100, progress: [{ id: 'b', match: leader.match }] }),
      },
      wire: {
        sendSnapshot: (_to: NodeId, _message: Message, end: (ok: boolean) => void) => {
          done = end;
        },
      },
      log: { firstIndex: () => 1 },
      limits: { keepEntries: 10 },
      appliedLog: {
        meta: () => META,
        cut: (_limits: unknown, needed: number) => {
          leader.needed = needed;
        },
      },
      records: () => 0,
      mayCopy: () => true,
    } as unknown as CompactionParts;
    const compaction = new Compaction(parts);
    compaction.sendSnapshot('b', offer('b', 3));
    compaction.tick();
    expect(leader.needed).to.equal(META.index);
    leader.nowMs = 50;
    done(true);
    return { compaction, leader };
  };

  it('finds what it lacks in the log until it has caught up', () => {
    const { compaction, leader } = sent();
    for (const [match, needed] of [
      [7, 8],
      [60, 61],
      [91, Infinity],
      [60, Infinity],
    ] as const) {
      leader.match = match;
      compaction.tick();
      expect(leader.needed).to.equal(needed);
    }
  });

  it('finds it no longer than sending took: the log must not grow for ever', () => {
    const { compaction, leader } = sent();
    leader.match = 7;
    leader.nowMs = 100;
    compaction.tick();
    expect(leader.needed).to.equal(8);
    leader.nowMs = 101;
    compaction.tick();
    expect(leader.needed).to.equal(Infinity);
  });
});

describe('replica: a state that is sent again before the first transfer ends', () => {
  it('reports only the newer transfer, as a failure would start another one for ever', () => {
    const { compaction, reported, sending } = setUp();
    compaction.sendSnapshot('b', offer('b', 3));
    compaction.sendSnapshot('b', offer('b', 4));
    expect(reported).to.deep.equal([]);
    sending.get('b')!(false);
    expect(reported).to.deep.equal([['b', false]]);
  });

  it('does not stop one to another member', () => {
    const { compaction, reported, sending } = setUp();
    compaction.sendSnapshot('b', offer('b', 3));
    compaction.sendSnapshot('c', offer('c', 3));
    sending.get('b')!(true);
    sending.get('c')!(false);
    expect(reported).to.deep.equal([
      ['b', true],
      ['c', false],
    ]);
  });

  it('reports the one for a member that asked for it in place of the one that it stops', () => {
    const { compaction, reported, sending } = setUp();
    compaction.sendSnapshot('b', offer('b', 3));
    expect(compaction.sendState('a', 'b')).to.equal(true);
    expect(reported).to.deep.equal([]);
    sending.get('b')!(false);
    expect(reported).to.deep.equal([['b', false]]);
  });
});

/** A log of entries 1..20 in term 1, whose state is applied and durable up to 10. */
function setUpCut() {
  const cuts: SnapshotMeta[] = [];
  let flushed: (() => void) | undefined;
  const log = { first: 1, last: 20, term: 1 };
  const elections = { votingSuspended: false };
  const meta = { ...META, term: 1 };
  const parts = {
    loop: { elections },
    log: {
      firstIndex: () => log.first,
      term: (index: number) => (index >= log.first - 1 && index <= log.last ? log.term : undefined),
      compact: (at: SnapshotMeta, done: () => void) => {
        cuts.push(at);
        done();
      },
    },
    machine: {
      flush: (done: (durable: number) => void) => {
        flushed = () => done(10);
      },
    },
    appliedLog: { cut: () => meta, forget: () => {} },
    limits: {},
    records: () => 0,
  } as unknown as CompactionParts;
  const flush = (): boolean => {
    const run = flushed;
    flushed = undefined;
    run?.();
    return run !== undefined;
  };
  return { compaction: new Compaction(parts), cuts, elections, flush, log, meta };
}

describe('replica: compaction', () => {
  it('cuts the log once the state is durable', () => {
    const { compaction, cuts, flush, meta } = setUpCut();
    compaction.tick();
    expect(cuts).to.deep.equal([]);
    flush();
    expect(cuts).to.deep.equal([meta]);
  });

  it('waits while voting is suspended: a lost entry may hold a configuration', () => {
    const { compaction, cuts, elections, flush, meta } = setUpCut();
    elections.votingSuspended = true;
    compaction.tick();
    expect(flush()).to.equal(false);
    elections.votingSuspended = false;
    compaction.tick();
    flush();
    expect(cuts).to.deep.equal([meta]);
  });

  for (const [what, first, term] of [
    ['begins later', 16, 3],
    ['begins at that index', 8, 3],
    ['holds another term there', 1, 3],
  ] as const)
    it(`gives up a cut of a log that ${what} since it was decided`, () => {
      const { compaction, cuts, flush, log, meta } = setUpCut();
      compaction.tick();
      Object.assign(log, { first, last: 20, term });
      flush();
      expect(cuts).to.deep.equal([]);
      Object.assign(log, { first: 1, term: 1 });
      compaction.tick();
      flush();
      expect(cuts).to.deep.equal([meta]);
    });
});
