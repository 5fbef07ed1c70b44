import { expect } from 'chai';
import {
  AppendTimer,
  type Measuring,
  measuredHandlers,
  measuredWire,
} from '../../src/node/measures.js';
import type { Message, SnapshotMessage } from '../../src/raft/types.js';
import type { ChunkSink } from '../../src/transport/types.js';

const append = (term: number, ...indexes: number[]): Message =>
  ({
    type: 'append',
    from: 'a',
    to: 'b',
    term,
    entries: indexes.map((index) => ({ index, term })),
  }) as unknown as Message;
const snapshot = { type: 'snapshot', from: 'a', to: 'b', term: 1 } as SnapshotMessage;
const response = (term: number, index: number, success = true): Message =>
  ({ type: 'appendResponse', from: 'b', to: 'a', term, index, success }) as Message;

describe('node: measures of replication', () => {
  let now: number;
  let seen: [string, number][];
  let timer: AppendTimer;
  let measuring: Measuring;
  beforeEach(() => {
    now = 100;
    seen = [];
    const note = (what: string) => (ms: number) => void seen.push([what, ms]);
    const measures = {
      logSynced: note('sync'),
      timerFired: note('timer'),
      applied: note('apply'),
      appendAcknowledged: (peer: string, ms: number) => void seen.push([peer, ms]),
      snapshotSent: note('sent'),
      snapshotInstalled: note('installed'),
    };
    timer = new AppendTimer(() => now, measures);
    measuring = { clock: { now: () => now }, measures, appends: timer };
  });
  const at = (ms: number, run: () => void): void => {
    now = ms;
    run();
  };

  it('measure an append until its last entry is acknowledged, one at a time', () => {
    timer.sent(append(1, 5, 6));
    at(110, () => timer.sent(append(1, 7)));
    at(120, () => timer.received(response(1, 5)));
    expect(seen).to.deep.equal([]);
    at(130, () => timer.received(response(1, 7)));
    expect(seen).to.deep.equal([['b', 30]]);
    at(140, () => timer.received(response(1, 7)));
    expect(seen).to.have.length(1);
  });

  it('measure no heartbeats, rejections, or appends of another term', () => {
    timer.sent(append(1));
    timer.received(response(1, 9));
    timer.sent(append(1, 5));
    timer.received(response(1, 4, false));
    timer.received(response(1, 5));
    expect(seen).to.deep.equal([]);
    timer.sent(append(1, 6));
    at(200, () => timer.sent(append(2, 7)));
    at(203, () => timer.received(response(2, 7)));
    expect(seen).to.deep.equal([['b', 3]]);
  });

  it('measure a state that was sent, and pass on everything', () => {
    const calls: string[] = [];
    let sent: (ok: boolean) => void = () => {};
    const wire = measuredWire(
      {
        send: () => void calls.push('send'),
        request: () => void calls.push('request'),
        requestJoin: () => void calls.push('requestJoin'),
        setMembers: () => void calls.push('setMembers'),
        sendSnapshot: (_to, _message, done) => {
          sent = done;
        },
      },
      measuring,
    );
    wire.send(append(1, 1));
    wire.request('b', new Uint8Array(), 1, () => {});
    wire.requestJoin('b:1', new Uint8Array(), 1, () => {});
    wire.setMembers([]);
    expect(calls).to.deep.equal(['send', 'request', 'requestJoin', 'setMembers']);
    for (const ok of [false, true]) {
      wire.sendSnapshot('b', snapshot, (passed) => void calls.push(`sent ${passed}`));
      at(now + 500, () => sent(ok));
    }
    expect(calls.slice(4)).to.deep.equal(['sent false', 'sent true']);
    expect(seen).to.deep.equal([['sent', 500]]);
  });

  it('measure a state that is received until it is installed', async () => {
    const sink: ChunkSink = { next: 3, write: async () => {} };
    const handlers = measuredHandlers({ snapshotSink: async () => sink } as never, measuring);
    const measured = (await handlers.snapshotSink(append(1), 'id'))!;
    expect(measured.next).to.equal(3);
    now += 40;
    await measured.write(3, new Uint8Array(), false);
    expect(seen).to.deep.equal([]);
    await measured.write(4, new Uint8Array(), true);
    expect(seen).to.deep.equal([['installed', 40]]);
  });
});
