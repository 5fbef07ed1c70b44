import { expect } from 'chai';
import type { Entry, Message } from '../../src/raft/types.js';
import { CommitNews } from '../../src/replica/commit-news.js';
import { Rpc } from '../../src/replica/rpc.js';
import { encodeRequest } from '../../src/replica/rpc-codec.js';
import { FakeClock, FakeWire } from './fakes.js';

type Append = Extract<Message, { readonly type: 'append' }>;

const ENTRY: Entry = { kind: 'noop', index: 8, term: 1 };

/** An append to `b` that tells this commit index. */
const append = (commit: number, more: Partial<Append> = {}): Append => ({
  type: 'append',
  from: 'a',
  to: 'b',
  term: 1,
  prevIndex: 7,
  prevTerm: 1,
  entries: [],
  round: 1,
  commit,
  ...more,
});

function build() {
  const clock = new FakeClock();
  const wire = new FakeWire();
  const news = new CommitNews({ clock, wire });
  news.send(append(6), false);
  wire.sent.length = 0;
  return { clock, wire, news };
}

describe('replica: a leader with news of a commit', () => {
  it('tells a follower with the next entries that an entry is committed', () => {
    const { clock, wire, news } = build();
    news.send(append(7), false);
    expect(wire.sent).to.deep.equal([]);
    const next = append(7, { entries: [ENTRY] });
    news.send(next, false);
    clock.advance(100);
    expect(wire.sent).to.deep.equal([next]);
  });

  it('tells a follower soon if no entries follow', () => {
    const { clock, wire, news } = build();
    news.send(append(7), false);
    news.send(append(7, { to: 'c', round: 2 }), false);
    news.send(append(8), false);
    clock.advance(2);
    expect(wire.sent).to.deep.equal([append(7, { to: 'c', round: 2 }), append(8)]);
    news.send(append(9), false);
    clock.advance(2);
    expect(wire.sent.at(-1)).to.deep.equal(append(9));
  });

  it('delays no other message, nor any append while other writes are under way', () => {
    const { wire, news } = build();
    const messages: Message[] = [
      { type: 'timeoutNow', from: 'a', to: 'b', term: 1 },
      append(7, { entries: [ENTRY] }),
      append(7, { round: 2 }),
      append(7, { round: 2, term: 2 }),
      append(7, { to: 'c' }),
    ];
    for (const message of messages) news.send(message, false);
    news.send(append(8, { round: 2, term: 2 }), true);
    expect(wire.sent).to.deep.equal([...messages, append(8, { round: 2, term: 2 })]);
  });

  it('tells a follower before it gets a response', () => {
    const { wire, news } = build();
    const order: string[] = [];
    const rpc = new Rpc({
      id: 'a',
      wire,
      isMember: () => true,
      isSettled: () => true,
      role: () => ({ role: 'leader', term: 1, leader: 'a' }),
      beforeResponse: (to) => {
        news.tell(to);
        order.push(`${wire.sent.length} told`);
      },
    });
    news.send(append(7), false);
    const request = { type: 'state' } as const;
    // Only the handler of this request is called.
    const handlers = {
      state: (_: object, done: (response: { type: 'done' }) => void) => done({ type: 'done' }),
    };
    rpc.serve(handlers as never);
    rpc.receive('b', encodeRequest(request), () => order.push('response'));
    expect(order).to.deep.equal(['1 told', 'response']);
    expect(wire.sent).to.deep.equal([append(7)]);
  });

  it('sends nothing once it is stopped', () => {
    const { clock, wire, news } = build();
    news.send(append(7), false);
    news.stop();
    clock.advance(100);
    news.tell('b');
    expect(wire.sent).to.deep.equal([]);
  });
});
