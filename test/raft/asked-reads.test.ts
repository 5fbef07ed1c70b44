/** Reads of followers: the request itself shows that its sender follows the leader. */
import { expect } from 'chai';
import type { Asker, Output } from '../../src/raft/types.js';
import { ack, lead, type Solo, settled, solo } from './script.js';

/** Read 7 of a follower. */
function ask(server: Solo, asker: Asker): Output {
  return server.input({ type: 'read', ids: [7], mode: 'quorum', asker });
}

/** The round of the newest messages. */
function round(server: Solo): number {
  return server.sent('append').at(-1)!.round;
}

describe('raft: reads that a follower asks for (thesis §6.4)', () => {
  it('§6.4 the follower that asks in the term of the leader counts for its own read', () => {
    const server = settled();
    const { reads, sendNow } = ask(server, { id: 'b', term: 2 });
    expect([reads, sendNow]).to.deep.equal([[{ id: 7, index: 2 }], []]);
  });

  it('§6.4 it does not make a quorum of five servers', () => {
    const server = settled('a b c d e');
    expect(ask(server, { id: 'b', term: 2 }).reads).to.deep.equal([]);
    const own = round(server);
    ack(server, 'b', 2, own);
    expect(server.released).to.deep.equal([]);
    ack(server, 'c', 2, own);
    expect(server.released).to.deep.equal([{ id: 7, index: 2 }]);
  });

  it('§6.4 it counts neither in another term, nor as a learner, nor as a stranger', () => {
    for (const asker of [
      { id: 'b', term: 1 },
      { id: 'b', term: 3 },
      { id: 'd', term: 2 },
      { id: 'x', term: 2 },
      { id: 'a', term: 2 },
    ]) {
      const server = settled('a b c d?');
      expect(ask(server, asker).reads, JSON.stringify(asker)).to.deep.equal([]);
      expect(server.sent('append')).to.have.length(3);
    }
  });

  it("§6.4 it does not count before an entry of the leader's own term is committed", () => {
    const server = lead(solo());
    expect(ask(server, { id: 'b', term: 2 }).reads).to.deep.equal([]);
  });

  it('§6.4 it counts for no read but its own', () => {
    const server = settled();
    server.input({ type: 'read', ids: [1], mode: 'quorum' });
    expect(server.released).to.deep.equal([]);
    expect(ask(server, { id: 'b', term: 2 }).reads).to.deep.equal([{ id: 7, index: 2 }]);
  });
});
