/** A node without a cluster whose events are read over HTTP. */
import { eventRoutes } from '../../src/http/routes/events.js';
import { historyRoutes } from '../../src/http/routes/history.js';
import type { Command, StateRecord } from '../../src/state/types.js';
import { EventReader } from '../support/event-reader.js';
import { SoloClient } from './client.js';
import { partsOf } from './serve.js';
import { MANAGEMENT_SECRET, Solo } from './solo.js';

/** Opens a node before each test of a suite, and closes it with its readers. */
export function eventStage() {
  let solo: Solo;
  let client: SoloClient;
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
  return {
    get solo(): Solo {
      return solo;
    },
    must: (...sent: Parameters<SoloClient['must']>) => client.must(...sent),
    ask: (...sent: Parameters<SoloClient['ask']>) => client.ask(...sent),
    index: (): number => solo.machine.appliedIndex(),
    /** Opens a stream, with the token that manages all unless it has another. */
    async open(
      query = '',
      how: { readonly token?: string; readonly lastId?: number | string } = {},
    ): Promise<EventReader> {
      const reader = await EventReader.open(client.url, query, {
        token: MANAGEMENT_SECRET,
        ...how,
      });
      readers.push(reader);
      return reader;
    },
    /** Restores an archive of the present state, which has no history. */
    restore(): Promise<void> {
      const records = [...solo.store.keys('')]
        .filter((at) => !/^(machine|request|level|restore|change|login-change|version)/.test(at))
        .map((at): StateRecord => [at, solo.store.get(at)!]);
      return solo.restore(records);
    },
  };
}
