/** Compiled chains are shared until one of their entries changes. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { type ChainQuery, Chains } from '../../src/service/config/discovery-chain.js';
import { keys } from '../../src/state/keys.js';
import { SoloClient } from '../service/client.js';
import { MANAGER, type Solo } from '../service/solo.js';

const http = (Name: string, more = {}) => ({
  Kind: 'service-defaults',
  Name,
  Protocol: 'http',
  ...more,
});
const resolver = (Name: string, more = {}) => ({ Kind: 'service-resolver', Name, ...more });
const router = (Name: string, services: readonly string[]) => ({
  Kind: 'service-router',
  Name,
  Routes: services.map((Service) => ({
    Match: { HTTP: { PathPrefix: `/${Service}` } },
    Destination: { Service },
  })),
});
const splitter = (Name: string, services: readonly string[]) => ({
  Kind: 'service-splitter',
  Name,
  Splits: services.map((Service) => ({ Weight: 100 / services.length, Service })),
});
const NOW = { mode: 'default', index: 0, waitMs: 0, timeoutMs: 1_000 } as const;
const queryOf = (service: string): ChainQuery => ({ service, ns: 'default', datacenter: 'dc1' });

describe('kinds: shared discovery chains', () => {
  let solo: Solo;
  let client: SoloClient;
  /** Each compilation reads a frozen view of its own. */
  let compiled: number;
  beforeEach(async () => {
    client = await SoloClient.open();
    solo = client.solo;
    const { service } = solo;
    const pin = service.pin.bind(service);
    service.pin = () => {
      compiled += 1;
      return pin();
    };
    compiled = 0;
  });
  afterEach(() => client.close());
  const put = async (...bodies: object[]): Promise<void> => {
    for (const body of bodies) await client.must('PUT /config', body);
  };
  const quiet = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await nextTurn();
  };

  it('are compiled once for all readers, again when an entry of them changes', async () => {
    await put(http('web'), http('api'), router('web', ['api']));
    const read = () => client.answerTo('GET /discovery-chain/web');
    const [first] = await Promise.all([read(), read(), read()]);
    expect(compiled).to.equal(1);
    await put(http('other'), resolver('other'), http('web2'));
    expect((await read()).text).to.equal(first.text);
    expect(compiled).to.equal(1);
    await put(resolver('api', { ConnectTimeout: '9s' }));
    expect((await read()).text).to.include('9s');
    expect(compiled).to.equal(2);
    await client.must('DELETE /config/service-resolver/api');
    expect((await read()).text).to.equal(first.text);
    expect(compiled).to.equal(3);
  });

  it('are compiled once for a write that wakes many readers, and none is answered', async () => {
    const READERS = 50;
    await put(http('web'), router('web', ['web']));
    const { index } = await client.answerTo('GET /discovery-chain/web');
    let answered = 0;
    const call = `GET /discovery-chain/web?index=${index}&wait=60s`;
    const gone = new AbortController();
    const held = Array.from({ length: READERS }, () =>
      client.ask(call, undefined, undefined, { signal: gone.signal }).then(
        () => {
          answered += 1;
        },
        () => {},
      ),
    );
    while (solo.watches.size < READERS) await nextTurn();
    compiled = 0;
    await put(http('web', { Meta: { note: 'nothing that a chain shows' } }));
    while (solo.watches.size < READERS) await nextTurn();
    await quiet();
    expect([compiled, answered]).to.deep.equal([1, 0]);
    await put(router('web', ['web', 'web']));
    while (answered < READERS) await nextTurn();
    expect(compiled).to.equal(2);
    gone.abort();
    await Promise.all(held);
  });

  it('name the fault of entries that cannot be compiled, each time', async () => {
    await put(http('web'), splitter('web', ['web']));
    const key = ['config', 'default', 'service-defaults', 'web'].join('\u0000');
    const damaged = solo.store.get(key)!.replace('"Protocol":"http"', '"Protocol":"tcp"');
    solo.store.commit([[key, damaged]]);
    const read = () => client.ask('GET /discovery-chain/web');
    expect([(await read()).status, (await read()).status, compiled]).to.deep.equal([409, 409, 1]);
  });

  it('are shown only to those who may read the service, whoever had them compiled', async () => {
    await put(http('web'));
    await client.must('GET /discovery-chain/web');
    const other = await client.secretWith('service "api" { policy = "read" }');
    const { status } = await client.ask('GET /discovery-chain/web', undefined, other);
    expect(status).to.equal(403);
  });

  it('of thousands of entries take many turns of the event loop', async () => {
    const services = Array.from({ length: 1_200 }, (_, i) => `s${i}`);
    await put({ Kind: 'proxy-defaults', Name: 'global', Config: { protocol: 'http' } });
    await put(router('web', services));
    let ended = false;
    const reading = new Chains(solo.service).read(MANAGER, NOW, queryOf('web')).then((outcome) => {
      ended = true;
      return outcome;
    });
    let turns = 0;
    for (; !ended; turns++) await nextTurn();
    expect(turns).to.be.greaterThan(2);
    const { Targets } = JSON.parse((await reading).value).Chain;
    expect(Object.keys(Targets)).to.have.length(services.length + 1);
  });

  it('are compiled one after the other, however often the state changes meanwhile', async () => {
    const services = Array.from({ length: 1_200 }, (_, i) => `s${i}`);
    await put({ Kind: 'proxy-defaults', Name: 'global', Config: { protocol: 'http' } });
    await put(router('web', services));
    const chains = new Chains(solo.service);
    const readers = [];
    for (let n = 0; n < 5; n += 1) {
      readers.push(chains.read(MANAGER, NOW, queryOf('web')));
      while (compiled === 0) await nextTurn();
      await nextTurn();
      // as a write of an entry that the chain does not have
      solo.store.commit([[keys.index('config', 'default', 'service-defaults'), `${9_000 + n}`]]);
    }
    readers.push(chains.read(MANAGER, NOW, queryOf('web')));
    const texts = await Promise.all(readers);
    expect(compiled).to.be.within(1, 2);
    const last = JSON.parse(texts.at(-1)!.value).Chain;
    expect(Object.keys(last.Targets)).to.have.length(services.length + 1);
  });

  it('are what they would be if they were compiled each time', async function () {
    this.timeout(60_000);
    const name = fc.constantFrom('a', 'B', 'c', 'd');
    const write = fc.oneof(
      name.map((one) => http(one)),
      fc.tuple(name, name).map(([one, to]) => resolver(one, { Redirect: { Service: to } })),
      name.map((one) => resolver(one, { ConnectTimeout: '7s' })),
      fc.tuple(name, fc.array(name, { maxLength: 3 })).map(([one, to]) => router(one, to)),
      fc
        .tuple(name, fc.array(name, { minLength: 1, maxLength: 3 }))
        .map(([one, to]) => splitter(one, to)),
      fc.constant({ Kind: 'proxy-defaults', Name: 'global', Config: { protocol: 'http' } }),
    );
    const change = fc.record({ body: write, isDeletion: fc.boolean() });
    const outcomeOf = (chains: Chains, service: string) =>
      chains.read(MANAGER, NOW, queryOf(service)).then(
        ({ value, index }) => ({ value, index }),
        (error: Error) => error.message,
      );
    await put({ Kind: 'proxy-defaults', Name: 'global', Config: { protocol: 'http' } });
    const shared = new Chains(solo.service);
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 12 }), async (changes) => {
        for (const { body, isDeletion } of changes) {
          const path = `/config/${body.Kind}/${body.Name}`;
          await (isDeletion ? client.ask(`DELETE ${path}`) : client.ask('PUT /config', body));
          for (const service of ['a', 'b', 'c', 'd'])
            expect(await outcomeOf(shared, service)).to.deep.equal(
              await outcomeOf(new Chains(solo.service), service),
            );
        }
      }),
      { numRuns: 40 },
    );
  });
});
