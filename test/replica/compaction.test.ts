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
    appliedLog: { meta: () => META },
    mayCopy: () => true,
  } as unknown as CompactionParts;
  return { compaction: new Compaction(parts), reported, sending };
}

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
