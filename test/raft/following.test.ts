/** The follower's side of replication: what it stores, answers, and knows after a restart. */
import { expect } from 'chai';
import type { Entry } from '../../src/raft/types.js';
import { Cluster, logOf } from './cluster.js';
import { append, follower, noops, terms } from './script.js';

describe('raft: the follower appends (thesis §3.5)', () => {
  it('§3.5 entries after a matching position are stored, and acknowledged once durable', () => {
    const server = follower(4);
    server.holdsDisk = true;
    server.hear(append(5, 2, 4, noops(3, 5, 5)));
    expect(server.take()).to.deep.equal([]);
    server.syncNow();
    expect(server.sent('appendResponse')).to.deep.equal([
      {
        type: 'appendResponse',
        from: 'a',
        to: 'b',
        term: 5,
        success: true,
        index: 4,
        hintTerm: 0,
        round: 1,
        silenceMs: 800,
      },
    ]);
  });

  it('§3.5 a heartbeat is answered at once, but the response covers only durable entries', () => {
    const server = follower(4);
    server.holdsDisk = true;
    server.hear(append(5, 2, 4, noops(3, 5)));
    server.hear(append(5, 3, 5, [], { round: 2 }));
    const [answer] = server.sent('appendResponse');
    expect(answer).to.include({ success: true, index: 2, round: 2 });
    server.syncNow();
    expect(server.sent('appendResponse').at(-1)).to.include({ index: 3 });
  });

  it('§3.5 entries stored for an earlier leader are acknowledged to the new one', () => {
    const server = follower(4);
    server.holdsDisk = true;
    server.hear(append(5, 2, 4, noops(3, 5)));
    server.hear(append(6, 3, 5, [], { from: 'c' }));
    server.take();
    server.syncNow();
    const last = server
      .sent('appendResponse')
      .filter(({ to }) => to === 'c')
      .at(-1);
    expect(last).to.include({ term: 6, index: 3 });
  });

  it('§3.5 several appends in one step get one response', () => {
    const server = follower(4);
    server.hear(append(5, 2, 4, noops(3, 5)), append(5, 3, 5, noops(4, 5), { round: 3 }));
    expect(server.sent('appendResponse')).to.have.length(1);
  });

  it('§3.5 a higher commit index alone gets no response', () => {
    const server = follower(4);
    server.hear(append(5, 2, 4, noops(3, 5)));
    server.take();
    server.hear(append(5, 3, 5, [], { commit: 3 }));
    expect(server.commit).to.equal(3);
    expect(server.take()).to.deep.equal([]);
  });

  it('§3.5 an empty append is answered if its round or its position is news', () => {
    const server = follower(4);
    server.hear(append(5, 1, 1));
    expect(server.sent('appendResponse')).to.have.length(1);
    server.hear(append(5, 2, 4));
    expect(server.sent('appendResponse').at(-1)).to.include({ index: 2, round: 1 });
    server.hear(append(5, 2, 4, [], { round: 2 }));
    expect(server.sent('appendResponse').at(-1)).to.include({ index: 2, round: 2 });
  });

  it('§3.5 entries that arrive again are answered again, since the answer may be lost', () => {
    const server = follower(4);
    for (let i = 0; i < 2; i++) {
      server.hear(append(5, 2, 4, noops(3, 5)));
      expect(server.sent('appendResponse')).to.have.length(1);
    }
  });

  it('§3.5 the follower commits what the leader announces, up to the match it knows of', () => {
    const server = follower(4, 4, 4);
    server.hear(append(5, 2, 4, [], { commit: 4 }));
    expect(server.commit).to.equal(2);
    server.hear(append(5, 2, 4, noops(3, 4), { commit: 4 }));
    expect(server.commit).to.equal(3);
  });

  it('a follower knows what the leader has committed, also while it lacks the entries', () => {
    const server = follower(4);
    server.hear(append(5, 900, 4, noops(901, 5), { commit: 900 }));
    expect(server.sent('appendResponse')[0]).to.include({ success: false });
    expect(server.status).to.include({ commit: 0, announced: 900 });
    server.hear(append(5, 2, 4, noops(3, 5), { commit: 901 }));
    expect(server.status).to.include({ commit: 3, announced: 901 });
    server.hear(append(6, 3, 5, [], { commit: 3, from: 'c' }));
    expect(server.status).to.include({ commit: 3, announced: 901 });
  });

  it('a follower that waits for a snapshot knows its index', () => {
    const server = follower(4);
    const meta = { index: 900, term: 4, configuration: server.status.configuration };
    server.hear({ type: 'snapshot', term: 5, meta, round: 1 });
    expect(server.status).to.include({ commit: 0, announced: 900 });
  });

  // Figure 3.6: logs that a leader of term 8 may find, as the terms of the entries after the
  // configuration.
  const leader = [1, 1, 4, 4, 5, 5, 6, 6, 6];
  const figure: [string, number[]][] = [
    ['a: one entry is missing', [1, 1, 4, 4, 5, 5, 6, 6]],
    ['b: many entries are missing', [1, 1, 4]],
    ['c: one extra entry', [1, 1, 4, 4, 5, 5, 6, 6, 6, 6]],
    ['d: extra entries of a later term', [1, 1, 4, 4, 5, 5, 6, 6, 6, 7, 7]],
    ['e: missing and extra entries', [1, 1, 4, 4, 4, 4]],
    ['f: another history', [1, 1, 2, 2, 2, 3, 3, 3, 3, 3]],
  ];
  for (const [what, items] of figure) {
    it(`§3.5 figure 3.6 ${what}: the follower's log becomes the leader's`, () => {
      const cluster = new Cluster(['a', 'b', 'c'], logOf('a b c'));
      for (const id of ['a', 'c']) cluster.give(id, logOf('a b c', ...leader), 7);
      cluster.give('b', logOf('a b c', ...items), 7);
      cluster.elect('a');
      cluster.tick(5);
      expect(cluster.get('a').status).to.include({ term: 8, lastIndex: 11, commit: 11 });
      expect(cluster.get('b').log.content.entries).to.deep.equal(
        cluster.get('a').log.content.entries,
      );
    });
  }

  it('§3.5 a conflict removes the conflicting entry and all after it, and nothing else', () => {
    const server = follower(2, 2, 3);
    server.hear(append(5, 3, 2, noops(4, 5)));
    expect(terms(server)).to.deep.equal([1, 2, 2, 5]);
  });

  it('§3.5 a late or repeated append removes nothing', () => {
    const server = follower(2, 2, 3);
    server.hear(append(5, 4, 3, noops(5, 5, 5)));
    server.hear(append(5, 1, 1, noops(2, 2)), append(5, 3, 2, noops(4, 3)));
    expect(terms(server)).to.deep.equal([1, 2, 2, 3, 5, 5]);
  });

  it('§3.5 an append that matches only partly keeps the matching part', () => {
    const server = follower(2, 2, 3, 3);
    const { entries } = server.hear(append(5, 1, 1, noops(2, 2, 2, 4, 5)));
    expect(entries.map(({ index, term }) => [index, term])).to.deep.equal([
      [4, 4],
      [5, 5],
    ]);
    expect(terms(server)).to.deep.equal([1, 2, 2, 4, 5]);
  });

  it('a committed entry is never overwritten: the process stops and reports both terms', () => {
    const server = follower(2, 2);
    server.hear(append(5, 3, 2, [], { commit: 3 }));
    const bad = append(5, 1, 1, noops(2, 2, 4));
    expect(() => server.hear(bad)).to.throw(/committed.*index 3.*commit 3.*own 2.*sent 4/);
  });

  it('malformed entries are ignored', () => {
    const server = follower(2);
    const gap: Entry[] = noops(4, 5);
    const falling = noops(3, 5, 4);
    server.hear(append(5, 2, 2, gap), append(5, 2, 2, falling));
    expect(server.status.lastIndex).to.equal(2);
    expect(server.take()).to.deep.equal([]);
  });

  it('an acknowledgement for entries replaced in the same step is withdrawn', () => {
    const server = follower(2);
    const output = server.hear(
      append(5, 2, 2, noops(3, 5, 5)),
      append(6, 2, 2, noops(3, 6), { from: 'c' }),
    );
    const answers = output.sendAfterStore.filter(({ type }) => type === 'appendResponse');
    expect(answers.map(({ to, term }) => [to, term])).to.deep.equal([['c', 6]]);
    expect(output.entries.map(({ term }) => term)).to.deep.equal([6]);
  });

  it('a confirmation of an entry that was overwritten meanwhile is ignored', () => {
    const server = follower(2);
    server.holdsDisk = true;
    server.hear(append(5, 2, 2, noops(3, 5, 5)));
    server.hear(append(6, 2, 2, noops(3, 6), { from: 'c' }));
    server.input({ type: 'stored', index: 4, term: 5 }, { type: 'stored', index: 3, term: 5 });
    expect(server.status.stored).to.equal(2);
    server.input({ type: 'stored', index: 3, term: 6 });
    expect(server.status.stored).to.equal(3);
  });
});

describe('raft: durable state (thesis §3.8)', () => {
  it('§3.8 a restarted server knows its term, vote, log and configuration', () => {
    const server = follower(2);
    server.hear(append(5, 2, 2, [...noops(3, 5), { ...logOf('a b c d')[0]!, index: 4, term: 5 }]));
    server.crash(server.now);
    expect(server.status).to.include({ term: 5, lastIndex: 4, lastTerm: 5, configurationIndex: 4 });
    expect(server.status.configuration.members.map(({ id }) => id)).to.deep.equal([
      'a',
      'b',
      'c',
      'd',
    ]);
  });

  it('entries that were not durable are lost in a crash, and were not acknowledged', () => {
    const server = follower(2);
    server.holdsDisk = true;
    server.hear(append(5, 2, 2, noops(3, 5)));
    expect(server.take()).to.deep.equal([]);
    server.crash(server.now);
    expect(server.status.lastIndex).to.equal(2);
  });

  it('applied entries are known to be committed after a restart', () => {
    const server = follower(2, 2);
    server.input({ type: 'applied', index: 3 });
    expect(server.commit).to.equal(3);
    server.input({ type: 'applied', index: 9 });
    expect(server.commit).to.equal(4 - 1);
  });

  it('a log view that contradicts the core stops the process', () => {
    const server = follower(2);
    server.log.append({ entries: noops(3, 2) }, () => {});
    expect(() => server.ticks(1)).to.throw(/view 3, core 2/);
  });

  it('a clock that runs backwards stops the process', () => {
    const server = follower(2);
    server.ticks(1);
    expect(() => server.step(0, { type: 'tick' })).to.throw(/clock.*from 100, to 0/);
  });
});
