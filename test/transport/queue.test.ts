/** The queue for a member, and what Raft has in flight to it. */
import { expect } from 'chai';
import { TestNode } from './bench.js';

describe('wire: the queue for a member', () => {
  it('is refused at start if it cannot hold what Raft has in flight', async () => {
    const limits = { queueBytes: 1000 };
    expect(() => new TestNode('a', { limits, inflightBytes: 1001 })).to.throw(
      'queueBytes (1000) must be at least the 1001 bytes that Raft may have in flight',
    );
    await new TestNode('a', { limits, inflightBytes: 1000 }).wire.close();
  });
});
