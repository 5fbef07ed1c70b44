/** What those who read the stream of events cost the writes that they are told of. */
import { type ClientRequest, get } from 'node:http';
import { load } from './load.js';
import { figure, LOAD_COLUMNS, loadRow, title } from './report.js';
import { putEntry, type Setting, withCluster } from './setting.js';

const READERS = 100;
const CONNECTIONS = 64;
/** Entries that the writes change. */
const ENTRIES = 1_000;
/** Seconds of load with readers before anything is measured: code is not compiled yet. */
const WARM_SECONDS = 15;

/** Measures writes without readers and with them, in turn. */
export async function measureEvents(nodes: number, seconds: number, rounds: number): Promise<void> {
  title(`Writes to ${nodes} nodes, and ${READERS} readers of all events`, LOAD_COLUMNS);
  await withCluster(nodes, async (setting) => {
    const { targets } = setting;
    const next = (connection: number, n: number) =>
      putEntry(`entry-${(connection * 7919 + n) % ENTRIES}`, n);
    const plan = { targets, connections: CONNECTIONS, seconds, next };
    const first = new Readers(setting);
    await first.open();
    await load({ ...plan, seconds: WARM_SECONDS });
    await first.close();
    for (let round = 0; round < rounds; round += 1) {
      loadRow('no reader', await setting.cpuPerOp(() => load(plan)));
      const readers = new Readers(setting);
      await readers.open();
      const result = await setting.cpuPerOp(() => load(plan));
      loadRow(`${READERS} readers of ${figure(await readers.close())} MB`, result);
    }
  });
}

class Readers {
  readonly #setting: Setting;
  readonly #requests: ClientRequest[] = [];
  #bytes = 0;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  /** Resolves once all are connected. */
  async open(): Promise<void> {
    const { targets } = this.#setting;
    const one = (reader: number): Promise<void> =>
      new Promise((opened, fail) => {
        const { url, token } = targets[reader % targets.length]!;
        const headers = { 'X-Service-Token': token };
        const request = get(`${url}/v1/events`, { headers, agent: false }, (response) => {
          opened();
          response.on('data', (piece: Buffer) => {
            this.#bytes += piece.length;
          });
          response.on('error', () => {});
        });
        request.on('error', fail);
        this.#requests.push(request);
      });
    await Promise.all(Array.from({ length: READERS }, (_, reader) => one(reader)));
  }

  /** Returns the megabytes that they have read. */
  async close(): Promise<number> {
    for (const request of this.#requests) request.destroy();
    return this.#bytes / 2 ** 20;
  }
}
