/** What readers of events are told of changes that the history does not have any more. */
import { expect } from 'chai';
import { eventRoutes } from '../../src/http/routes/events.js';
import { historyRoutes } from '../../src/http/routes/history.js';
import { HISTORY_DEFAULTS } from '../../src/state/history/settings.js';
import type { Command } from '../../src/state/types.js';
import { EventReader, type Frame } from '../support/event-reader.js';
import { SoloClient } from './client.js';
import { partsOf } from './serve.js';
import { MANAGEMENT_SECRET, Solo } from './solo.js';

describe('gaps in the event stream', function () {
  this.timeout(60_000);
  let client: SoloClient;
  let solo: Solo;
  const readers: EventReader[] = [];
  beforeEach(async () => {
    solo = new Solo();
    const parts = partsOf(solo);
    client = await SoloClient.open([...historyRoutes(parts), ...eventRoutes(parts)], solo);
    solo.must({ type: 'system.level', v: 1, level: 3 } as Command);
  });
  afterEach(async () => {
    for (const reader of readers.splice(0)) reader.close();
    solo.events.stop();
    await client.close();
  });

  const open = async (query = ''): Promise<EventReader> => {
    const reader = await EventReader.open(client.url, query, { token: MANAGEMENT_SECRET });
    readers.push(reader);
    return reader;
  };
  const index = (): number => solo.machine.appliedIndex();
  const policy = async (Name: string): Promise<number> => {
    await client.must('PUT /acl/policy', { Name });
    return index();
  };
  const configure = async (bounds: object): Promise<number> => {
    const all = { ...HISTORY_DEFAULTS, ...bounds };
    await client.must('PUT /operator/history/configuration', all);
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

  async function restore(): Promise<number> {
    const id = 'r';
    const records = [...solo.store.keys('')]
      .filter((at) => !/^(machine|request|level|restore|change|login-change|version)/.test(at))
      .map((at) => [at, solo.store.get(at)!]);
    solo.must({ type: 'restore.add', v: 1, id, part: 0, records } as unknown as Command);
    await solo.finish({ type: 'restore.commit', v: 1, id, parts: 1 } as Command);
    return index();
  }
  /** Lets the history forget everything. */
  async function forget(): Promise<void> {
    await configure({ MaxAge: '1h' });
    const nowMs = solo.nowMs + 7_200_000;
    while (solo.must({ type: 'history.trim', v: 1, nowMs } as Command) === true);
  }

  it('are told up to a restore, and beyond it where more is forgotten', async () => {
    const first = index();
    const restored = await restore();
    await policy('a');
    const forgotten = await policy('b');
    await forget();
    const kept = await policy('kept');
    expect(await framesTo(await open(`?index=${first}`), kept)).to.deep.equal([
      gap(first, restored, 'restored'),
      gap(restored, forgotten, 'forgotten'),
      kept,
    ]);
  });
});
