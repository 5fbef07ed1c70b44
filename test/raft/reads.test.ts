import { expect } from 'chai';
import { checkOptions, leaseMsMax } from '../../src/raft/options.js';
import type { Message } from '../../src/raft/types.js';
import { Cluster, logOf, options, type Server } from './cluster.js';
import { ack, append, lead, type Solo, solo } from './script.js';

function settled(words = 'a b c', more: Parameters<typeof solo>[1] = {}): Solo {
  const server = lead(solo(words, more));
  for (const { id } of server.status.progress) ack(server, id);
  server.take();
  return server;
}

function read(server: Solo, mode: 'lease' | 'quorum', ...ids: number[]): number[] {
  server.released.length = 0;
  server.input({ type: 'read', ids, mode });
  return server.released.map(({ id }) => id);
}

/** The round of the newest messages. */
function round(server: Solo): number {
  return server.sent('append').at(-1)!.round;
}

describe('raft: reads by a quorum (thesis §6.4)', () => {
  it('§6.4 a read waits for a round that began after it and that a quorum answered', () => {
    const server = settled('a b c d e');
    server.ticks(2);
    const earlier = round(server);
    expect(read(server, 'quorum', 7)).to.deep.equal([]);
    const own = round(server);
    expect(own).to.be.above(earlier);
    ack(server, 'b', 2, own);
    ack(server, 'c', 2, earlier);
    expect(server.released).to.deep.equal([]);
    ack(server, 'c', 2, own);
    expect(server.released).to.deep.equal([{ id: 7, index: 2 }]);
  });

  it('§6.4 a response that arrives twice counts once', () => {
    const server = settled('a b c d e');
    read(server, 'quorum', 7);
    const own = round(server);
    ack(server, 'b', 2, own);
    ack(server, 'b', 2, own);
    expect(server.released).to.deep.equal([]);
  });

  it('§6.4 learners do not count towards a quorum', () => {
    const server = settled('a b c d? e?');
    read(server, 'quorum', 7);
    const own = round(server);
    for (const from of ['d', 'e']) ack(server, from, 2, own);
    expect(server.released).to.deep.equal([]);
  });

  it('§6.4 a follower whose log does not match yet counts for the round too', () => {
    const server = settled();
    read(server, 'quorum', 7);
    server.hear({
      type: 'appendResponse',
      term: 2,
      success: false,
      index: 1,
      hintTerm: 1,
      round: round(server),
    });
    expect(server.released).to.deep.equal([{ id: 7, index: 2 }]);
  });

  it("§6.4 reads wait until an entry of the leader's own term is committed", () => {
    const server = lead(solo());
    server.ticks(2);
    expect(read(server, 'quorum', 7)).to.deep.equal([]);
    server.hear({
      type: 'appendResponse',
      term: 2,
      success: false,
      index: 0,
      hintTerm: 0,
      round: round(server),
    });
    expect(server.released).to.deep.equal([]);
    ack(server, 'b', 2);
    ack(server, 'b', 2, round(server));
    expect(server.released).to.deep.equal([{ id: 7, index: 2 }]);
  });

  it('§6.4 many reads share one round', () => {
    const server = settled();
    const { sendNow } = server.input(
      { type: 'read', ids: [1, 2], mode: 'quorum' },
      { type: 'read', ids: [3], mode: 'lease' },
    );
    expect(sendNow).to.have.length(2);
    ack(server, 'b', 2, round(server));
    expect(server.released.map(({ id }) => id)).to.deep.equal([1, 2, 3]);
  });

  it('§6.4 the read index is the commit index at the time the round began', () => {
    const server = settled();
    read(server, 'quorum', 1);
    const own = round(server);
    server.propose('x');
    ack(server, 'c', 3);
    expect(server.commit).to.equal(3);
    ack(server, 'b', 2, own);
    expect(server.released).to.deep.equal([{ id: 1, index: 2 }]);
  });

  it('§6.4 reads are dropped without a leader, and when leadership is lost', () => {
    expect(solo().input({ type: 'read', ids: [1], mode: 'quorum' }).readsDropped).to.deep.equal([
      1,
    ]);
    const server = lead(solo());
    read(server, 'quorum', 1);
    ack(server, 'b');
    read(server, 'quorum', 2, 3);
    server.hear(append(9, 1, 1));
    expect(server.readsDropped).to.deep.equal([1, 2, 3]);
  });

  it('§6.4 a single server is its own quorum', () => {
    const server = solo('a');
    server.ticks(1);
    expect(read(server, 'quorum', 5)).to.deep.equal([5]);
  });

  it('§6.4 a leader cut off from the majority serves no reads', () => {
    const cluster = new Cluster(['a', 'b', 'c'], logOf('a b c'));
    cluster.tick(14);
    cluster.isolate('a');
    cluster.step('a', { type: 'read', ids: [1], mode: 'quorum' });
    cluster.tick(20);
    expect(cluster.get('a').released).to.deep.equal([]);
    expect(cluster.get('a').readsDropped).to.deep.equal([1]);
  });
});

describe('raft: reads by lease (thesis §6.4.1)', () => {
  /** A leader whose round of time `at` was echoed by b. */
  function leased(): { server: Solo; at: number } {
    const server = settled();
    server.ticks(2);
    const at = server.now;
    ack(server, 'b', 2, round(server));
    return { server, at };
  }

  it('§6.4.1 a lease lasts leaseMs from when its round was sent, not answered', () => {
    const { server, at } = leased();
    server.now = at + 699;
    expect(read(server, 'lease', 1)).to.deep.equal([1]);
    server.now = at + 700;
    expect(read(server, 'lease', 2)).to.deep.equal([]);
  });

  it('§6.4.1 a late response extends the lease only from the start of its round', () => {
    const server = settled();
    server.ticks(2);
    const at = server.now;
    const old = round(server);
    server.now = at + 650;
    ack(server, 'b', 2, old);
    expect(read(server, 'lease', 1)).to.deep.equal([1]);
    server.now = at + 701;
    expect(read(server, 'lease', 2)).to.deep.equal([]);
  });

  it('§6.4.1 a read without a lease takes a round', () => {
    const server = settled();
    expect(read(server, 'lease', 1)).to.deep.equal([]);
    ack(server, 'b', 2, round(server));
    expect(server.released).to.deep.equal([{ id: 1, index: 2 }]);
  });

  it('§6.4.1 each heartbeat answered by a quorum extends the lease', () => {
    const cluster = new Cluster(['a', 'b', 'c'], logOf('a b c'));
    cluster.tick(14);
    for (let i = 0; i < 20; i++) {
      cluster.tick(1);
      cluster.step('a', { type: 'read', ids: [i], mode: 'lease' });
      expect(cluster.get('a').released).to.have.length(i + 1);
    }
  });

  it('§6.4.1 no lease outlasts the silence of the followers it rests on', () => {
    const server = settled('a b c d e');
    server.ticks(2);
    const at = server.now;
    const own = round(server);
    ack(server, 'b', 2, own, 500);
    ack(server, 'c', 2, own, 200);
    server.now = at + 179;
    expect(read(server, 'lease', 1)).to.deep.equal([1]);
    server.now = at + 180;
    expect(read(server, 'lease', 2)).to.deep.equal([]);
    // Another follower with a longer silence takes the place of c.
    server.now = at + 300;
    ack(server, 'd', 2, own, 800);
    expect(read(server, 'lease', 3)).to.deep.equal([3]);
    server.now = at + 450;
    expect(read(server, 'lease', 4)).to.deep.equal([]);
  });

  it('§6.4.1 no lease rests on a follower that does not report the length of its silence', () => {
    const server = settled();
    server.ticks(2);
    const own = round(server);
    ack(server, 'b', 2, own, 0);
    expect(read(server, 'lease', 1)).to.deep.equal([]);
    ack(server, 'c', 2, own);
    expect(read(server, 'lease', 2)).to.deep.equal([2]);
  });

  it('§6.4.1 a follower reports for how long it refuses votes', () => {
    const server = solo('a b c', { more: { electionTicks: 5, tickMs: 30, leaseMs: 0 } });
    server.hear(append(1, 1, 1));
    expect(server.sent('appendResponse')[0]).to.include({ silenceMs: 90 });
  });

  it('§6.4.1 with different timings, a deposed leader serves no lease read', () => {
    const cluster = new Cluster(['a', 'b', 'c'], logOf('a b c'));
    for (const id of ['b', 'c']) {
      Object.assign(cluster.get(id).options, { electionTicks: 4, leaseMs: 100 });
      cluster.restart(id);
    }
    cluster.elect('a');
    cluster.tick(3);
    cluster.isolate('a');
    for (let i = 0; i < 7 && cluster.leader?.id === 'a'; i++) cluster.tick(1);
    const leader = cluster.leader!;
    expect(leader.id).to.be.oneOf(['b', 'c']);
    expect(cluster.get('a').role).to.equal('leader');
    cluster.propose(leader.id, 'w1');
    cluster.deliver();
    expect(leader.commit).to.be.above(cluster.get('a').commit);
    cluster.step('a', { type: 'read', ids: [1], mode: 'lease' });
    expect(cluster.get('a').released).to.deep.equal([]);
  });

  it('§6.4.1 a learner does not extend the lease', () => {
    const server = settled('a b c d? e?');
    server.ticks(2);
    const own = round(server);
    for (const from of ['d', 'e']) ack(server, from, 2, own);
    expect(read(server, 'lease', 1)).to.deep.equal([]);
  });

  it('§6.4.1 a change of configuration ends the lease', () => {
    const { server } = leased();
    const { configuration } = server.status;
    const [a, b] = configuration.members;
    server.input({ type: 'changeConfiguration', id: 1, configuration: { members: [a!, b!] } });
    expect(read(server, 'lease', 1)).to.deep.equal([]);
  });

  it('§6.4.1 a leader that is not a voter has no lease', () => {
    const { server } = leased();
    const { members } = server.status.configuration;
    const rest = { members: members.filter(({ id }) => id !== 'a') };
    server.input({ type: 'changeConfiguration', id: 1, configuration: rest });
    server.ticks(2);
    const own = round(server);
    for (const from of ['b', 'c']) ack(server, from, 2, own);
    expect(server.role).to.equal('leader');
    expect(read(server, 'lease', 1)).to.deep.equal([]);
  });

  it('§6.4.1 a suspect clock ends the lease; responses to earlier rounds do not renew it', () => {
    const { server } = leased();
    server.ticks(2);
    const earlier = round(server);
    server.released.length = 0;
    server.input({ type: 'clockSuspect' }, { type: 'read', ids: [1], mode: 'lease' });
    expect(server.released).to.deep.equal([]);
    ack(server, 'c', 2, earlier);
    expect(read(server, 'lease', 2)).to.deep.equal([]);
    ack(server, 'c', 2, round(server));
    expect(server.released.map(({ id }) => id)).to.deep.equal([1, 2]);
    expect(read(server, 'lease', 3)).to.deep.equal([3]);
  });

  it('§6.4.1 leases can be switched off', () => {
    const server = settled('a b c', { more: { leaseMs: 0 } });
    server.ticks(2);
    ack(server, 'b', 2, round(server));
    expect(read(server, 'lease', 1)).to.deep.equal([]);
  });

  it('§6.4.1 while a lease may hold, no follower it rests on votes for another server', () => {
    const cluster = new Cluster(['a', 'b', 'c'], logOf('a b c'));
    cluster.tick(14);
    cluster.isolate('a');
    const cutAt = cluster.now;
    const others = [cluster.get('b'), cluster.get('c')];
    for (let i = 0; i < 50 && others.every(({ role }) => role !== 'leader'); i++) cluster.tick(1);
    expect(cluster.now - cutAt).to.be.at.least(cluster.get('a').options.leaseMs);
    expect(cluster.leader?.id).to.be.oneOf(['b', 'c']);
  });
});

describe('raft: a lease during an election (thesis §6.4.1)', () => {
  it('§6.4.1 a follower that hears its leader again does not vote in the term of a refusal', () => {
    const cluster = new Cluster(['a', 'b', 'c'], logOf('a b c'), { random: () => 0 });
    cluster.elect('a');
    cluster.tick(1);
    const [a, b, c] = ['a', 'b', 'c'].map((id) => cluster.get(id)) as [Server, Server, Server];
    const everyone = [a, b, c];
    const tickAll = (): void => {
      cluster.now += a.options.tickMs;
      for (const server of everyone) server.step(cluster.now, { type: 'tick' });
    };
    const pass = (messages: readonly Message[], type: Message['type'], to: Server): void => {
      for (const message of messages)
        if (message.type === type && message.to === to.id) cluster.pass(message);
    };
    // Both followers hear a heartbeat; one response comes late, which keeps `a` leader.
    tickAll();
    for (const message of a.take()) cluster.pass(message);
    b.take();
    const late = c.take();
    const slow: Message[] = [];
    for (let i = 0; i < 10; i++) {
      tickAll();
      slow.push(...a.take());
      if (i === 1) pass(late, 'appendResponse', a);
    }
    expect(everyone.map(({ role }) => role)).to.deep.equal([
      'leader',
      'preCandidate',
      'preCandidate',
    ]);
    // b campaigns; its request waits for its disk, the refusal of c's pre-vote does not.
    const asksOfC = c.take();
    pass(b.take(), 'preVote', c);
    b.holdsDisk = true;
    pass(c.take(), 'preVoteResponse', b);
    pass(asksOfC, 'preVote', b);
    const refusal = b.take();
    expect(b.role).to.equal('candidate');
    // Meanwhile c hears its leader again and answers.
    pass(slow, 'append', c);
    pass(c.take(), 'appendResponse', a);
    pass(refusal, 'preVoteResponse', c);
    b.sync(cluster.now);
    pass(b.take(), 'vote', c);
    pass(c.take(), 'voteResponse', b);
    expect(c.status).to.include({ term: 3, leader: null, votedFor: null });
    expect(b.role).to.equal('candidate');
    cluster.now += 1;
    cluster.step('a', { type: 'read', ids: [1], mode: 'lease' });
    expect(a.released).to.deep.equal([{ id: 1, index: 2 }]);
  });
});

describe('raft: options', () => {
  const wrong: [string, Record<string, unknown>, RegExp][] = [
    ['an empty id', { id: '' }, /id must not be empty/],
    ['no election timeout', { electionTicks: 0 }, /electionTicks .* not 0/],
    ['half a tick', { heartbeatTicks: 1.5 }, /heartbeatTicks .* not 1.5/],
    ['slow heartbeats', { heartbeatTicks: 6 }, /heartbeatTicks \(6\).*electionTicks \(10\)/],
    ['a long lease', { leaseMs: 721 }, /leaseMs \(721\).*720/],
    ['a lease that is no number', { leaseMs: Number.NaN }, /leaseMs \(NaN\)/],
    ['a small window', { maxInflightBytes: 100 }, /maxInflightBytes \(100\).*\(4096\)/],
    ['no time', { tickMs: 0 }, /tickMs .* not 0/],
  ];
  for (const [what, more, text] of wrong) {
    it(`${what} is refused`, () => {
      expect(checkOptions(options('a', 0, more))).to.match(text);
      expect(() => solo('a', { more })).to.throw(text);
    });
  }

  it('the lease is shorter than the shortest silence of a follower', () => {
    expect(leaseMsMax({ electionTicks: 10, tickMs: 100 })).to.equal(720);
    expect(checkOptions(options('a', 0, { leaseMs: 720 }))).to.equal(undefined);
  });
});
