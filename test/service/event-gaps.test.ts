/** What readers of events are told of changes that the history does not have any more. */
import { expect } from 'chai';
import { HISTORY_DEFAULTS } from '../../src/state/history/settings.js';
import type { Command } from '../../src/state/types.js';
import type { EventReader, Frame } from '../support/event-reader.js';
import { eventStage } from './event-stage.js';

describe('gaps in the event stream', function () {
  this.timeout(60_000);
  const stage = eventStage();
  const { must, ask, open, index } = stage;
  const policy = async (Name: string): Promise<number> => {
    await must('PUT /acl/policy', { Name });
    return index();
  };
  const configure = async (bounds: object): Promise<number> => {
    const all = { ...HISTORY_DEFAULTS, ...bounds };
    await must('PUT /operator/history/configuration', all);
    return index();
  };
  const gap = (From: number, To: number, Reason: string): Frame =>
    ({ id: To, event: 'gap', data: { From, To, Reason } }) as unknown as Frame;
  /** The frames up to that of an index, but for the content of changes. */
  const framesTo = async (reader: EventReader, last: number): Promise<unknown[]> => {
    const frames: unknown[] = [];
    for (;;) {
      const frame = (await reader.next())!;
      frames.push(frame.event === 'change' ? frame.id : frame);
      if (frame.id === last) return frames;
    }
  };

  it('are told up to a restore, and beyond it where more is forgotten', async () => {
    const first = await configure({ MaxAge: '1h' });
    await stage.restore();
    const restored = index();
    await policy('a');
    const forgotten = await policy('b');
    stage.solo.forget();
    const kept = await policy('kept');
    expect(await framesTo(await open(`?index=${first}`), kept)).to.deep.equal([
      gap(first, restored, 'restored'),
      gap(restored, forgotten, 'forgotten'),
      kept,
    ]);
  });

  it('are told of what was written while the history kept nothing', async () => {
    const before = await policy('before');
    const live = await open();
    const off = await configure({ Bytes: 0, LoginBytes: 0 });
    const missed = [await policy('a'), await policy('b'), await policy('c')];
    const end = { id: undefined, event: 'end', data: { Reason: 'stopping' } };
    expect(await live.next()).to.deep.equal(end);
    expect((await open()).status).to.equal(409);
    const on = await configure({});
    const kept = await policy('kept');
    for (const from of [before, off, ...missed]) {
      const seen = await framesTo(await open(`?index=${from}`), kept);
      expect(seen, String(from)).to.deep.equal([gap(from, on, 'forgotten'), kept]);
    }
    expect((await open('?index=0')).start).to.equal(on);
    await configure({ MaxAge: '1h' });
    expect(await framesTo(await open(`?index=${missed[0]}`), kept)).to.deep.equal([
      gap(missed[0]!, on, 'forgotten'),
      kept,
    ]);
    expect(await framesTo(await open(`?index=${on}`), kept)).to.deep.equal([kept]);
  });

  it('are told of it while older lines are still there, as is who reads the feed', async () => {
    const older = await policy('older');
    for (let n = 0; n < 300; n++) await policy(`older-${n}`);
    await configure({ Bytes: 0, LoginBytes: 0 });
    await policy('missed');
    const on = await configure({});
    const read = () => must(`GET /history?after=${older}`);
    expect(await read()).to.deep.include({ Index: on, Changes: [] });
    const kept = await policy('kept');
    const seen = await framesTo(await open(`?index=${older}`), kept);
    expect(seen).to.deep.equal([gap(older, on, 'forgotten'), kept]);
    for (const { Index, Oldest, Changes } of [await read(), await must('GET /history')]) {
      expect([Index, Oldest]).to.deep.equal([kept, kept]);
      expect(Changes.map(({ Name }: { Name: string }) => Name)).to.deep.equal(['kept']);
    }
  });

  it('are told of logins that were not kept for a while, and of nothing else', async () => {
    const before = await policy('before');
    await configure({ LoginBytes: 0 });
    const between = await policy('between');
    const on = await configure({});
    const kept = await policy('kept');
    const logins = await framesTo(await open(`?index=${before}&logins=true`), kept);
    expect(logins).to.deep.equal([gap(before, on, 'forgotten'), kept]);
    const others = await framesTo(await open(`?index=${before}`), kept);
    expect(others).to.deep.equal([between, kept]);
  });

  it('are told of what was written while it kept nothing for a moment', async () => {
    const reader = await open();
    const from = index();
    const configuration = (Bytes: number): Command =>
      ({ type: 'history.configure', v: 1, bounds: { ...HISTORY_DEFAULTS, Bytes } }) as Command;
    const name = { Name: 'missed', Description: '', Rules: '' };
    const id = '00000000-0000-4000-8000-000000000001';
    const set = { type: 'policy.set', v: 1, ns: 'default', id, hash: 'h', create: true };
    stage.solo.applyTogether([
      configuration(0),
      { ...set, policy: name } as Command,
      configuration(HISTORY_DEFAULTS.Bytes),
    ]);
    const on = index();
    const kept = await policy('kept');
    const [told, ...rest] = (await framesTo(reader, kept)) as [Frame];
    expect([told.event, told.data.From, told.data.To]).to.deep.equal(['gap', from, on]);
    expect(rest).to.deep.equal([kept]);
  });

  it('are no answer to who asks for logins that are not kept', async () => {
    await policy('older');
    const [live, other] = [await open('?logins=true'), await open()];
    await configure({ LoginBytes: 0 });
    expect((await live.next())?.event).to.equal('end');
    const { status, body } = await ask('GET /events?logins=true');
    expect([status, body.code]).to.deep.equal([409, 'conflict']);
    expect(body.detail).to.equal('This cluster keeps no history of the tokens of logins');
    const written = await policy('p');
    expect(await framesTo(other, written)).to.deep.equal([written]);
  });
});
