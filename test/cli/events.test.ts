/** The stream of events as the client reads it, from nodes that fail in every way. */
import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { framesOf } from '../../src/cli/client/events.js';
import { Api } from '../../src/cli/client/http.js';
import type { Io } from '../../src/cli/io.js';
import { CliError } from '../../src/cli/print/error.js';
import { FakeServers } from './fake-server.js';

describe('the client’s stream of events', function () {
  this.timeout(30_000);
  const fake = new FakeServers();
  const apis: Api[] = [];
  beforeEach(() => fake.forget());
  afterEach(async () => {
    for (const api of apis.splice(0)) await api.close();
  });
  after(() => fake.close());

  /** Sends a change at an index, and nothing more. */
  const changeAt =
    (index: number): RequestListener =>
    (_request, response) => {
      response.writeHead(200, { 'X-Consul-Index': '7' });
      response.write(`id: ${index}\nevent: change\ndata: {"Events":[]}\n\n`);
    };
  const never: RequestListener = () => {};
  const hangUp: RequestListener = (request) => request.socket.destroy();

  /** Reads with less time for retries than a node may be silent. */
  function read(...addresses: string[]) {
    const { signal } = new AbortController();
    const options = {
      addresses: addresses.map((address) => new URL(`http://${address}`)),
      tls: { verify: true },
      token: async () => undefined,
      namespace: undefined,
      reason: undefined,
      mode: undefined,
      timeoutMs: 1000,
      debug: false,
    };
    const api = new Api(options, { signal, version: '0.0.0' } as Io);
    apis.push(api);
    return framesOf(api, { query: {}, signal, timeoutMs: options.timeoutMs, silenceMs: 1500 });
  }
  const next = async (frames: ReturnType<typeof read>): Promise<string | undefined> =>
    (await frames.next()).value.id;
  const lastIds = (): unknown[] => fake.seen.map(({ headers }) => headers['last-event-id']);

  it('goes on at the next node when one falls silent', async () => {
    const frames = read(await fake.serve(changeAt(8)), await fake.serve(changeAt(9)));
    expect([await next(frames), await next(frames)]).to.deep.equal(['8', '9']);
    expect(lastIds()).to.deep.equal([undefined, '8']);
  });

  it('goes on at the next node when one begins no answer', async () => {
    const frames = read(await fake.serve(never), await fake.serve(changeAt(8)));
    expect(await next(frames)).to.equal('8');
  });

  it('tells that no node can be reached any more', async () => {
    const frames = read(await fake.serve(changeAt(8), hangUp));
    expect(await next(frames)).to.equal('8');
    const error = await frames.next().catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(CliError);
    expect((error as CliError).details.code).to.equal('unreachable');
  });
});
