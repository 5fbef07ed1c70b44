/** How long a driver need not tick. */
import { expect } from 'chai';
import { lead, solo } from './script.js';

describe('raft: a server that rests', () => {
  it('§3.4 a follower rests until its timeout, and campaigns with the tick after that', () => {
    const server = solo('a b c', { more: { random: () => 0.575 } });
    const rest = server.core.restTicks();
    server.ticks(rest - 1);
    expect([server.role, server.core.restTicks()]).to.deep.equal(['follower', 1]);
    server.ticks(1);
    expect(server.role).to.equal('preCandidate');
  });

  it('§3.4 a leader rests until its next heartbeat, and a learner without end', () => {
    const server = solo('a b c', { more: { heartbeatTicks: 3 } });
    lead(server);
    const heartbeats = () => server.sent('append').length;
    server.ticks(server.core.restTicks());
    server.take();
    expect(server.core.restTicks()).to.equal(3);
    server.ticks(2);
    expect([server.core.restTicks(), heartbeats()]).to.deep.equal([1, 0]);
    server.ticks(1);
    expect([server.core.restTicks(), heartbeats()]).to.deep.equal([3, 2]);
    expect(solo('a? b c').core.restTicks()).to.equal(Number.POSITIVE_INFINITY);
  });
});
