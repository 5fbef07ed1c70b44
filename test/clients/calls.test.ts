/** How the library calls a server, and asks others for decisions. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  AuthZen,
  type ClientOptions,
  Conclave,
  ConclaveError,
  createPolicy,
  explainAuthorization,
  listTokens,
  readConfigEntry,
  readHealth,
  readLeader,
  readPolicy,
  restoreSnapshot,
  saveSnapshot,
  streamEvents,
} from '../../clients/typescript/src/client.js';
import { generated } from '../../scripts/clients/generated.js';
import { FakeServer } from './fake.js';

/** What a call is refused with. */
const refusalOf = (call: Promise<unknown>): Promise<ConclaveError> =>
  call.then(
    () => expect.fail('it was answered'),
    (error: unknown) => error as ConclaveError,
  );

describe('the generated files of the libraries', () => {
  for (const [path, text] of Object.entries(generated()))
    it(`${path} is what npm run clients writes`, () => {
      expect(readFileSync(path, 'utf8') === text).to.equal(true);
    });
});

describe('conclave-client', () => {
  let server: FakeServer;
  beforeEach(() => {
    server = new FakeServer();
  });
  const open = (more: Partial<ClientOptions> = {}): Conclave =>
    new Conclave({ ...server.options(), ...more });
  const two = { addresses: ['http://one:8500/', 'http://two:8500'] };

  it('fills paths and queries, and brings body and index', async () => {
    const call = readConfigEntry(
      open(),
      { kind: 'service-defaults', name: 'a/b ü', ns: 'team', stale: true, consistent: false },
      { headers: { 'X-Request-ID': '7' } },
    );
    const ask = await server.next();
    expect(ask.url.href).to.equal(
      'http://one:8500/v1/config/service-defaults/a%2Fb%20%C3%BC?ns=team&stale=true',
    );
    expect([ask.secret, ask.headers.get('x-request-id')]).to.deep.equal(['secret', '7']);
    await ask.with(200, { Kind: 'service-defaults' }, { 'x-consul-index': '12' });
    const { body, index } = await call;
    expect([body.Kind, index]).to.deep.equal(['service-defaults', 12]);
  });

  it('sends bodies as JSON', async () => {
    const call = createPolicy(open(), { body: { Name: 'p' } });
    const ask = await server.next();
    expect(ask.body).to.deep.equal({ Name: 'p' });
    expect(ask.headers.get('content-type')).to.equal('application/json');
    await ask.with(200, { ID: 'i' });
    expect((await call).body.ID).to.equal('i');
  });

  it('brings texts and streams', async () => {
    const leader = readLeader(open());
    await (await server.next()).with(200, '"10.0.0.1:8300"');
    expect((await leader).body).to.equal('10.0.0.1:8300');
    const archive = saveSnapshot(open());
    await (await server.next()).with(200, 'bytes');
    expect(await new Response((await archive).body).text()).to.equal('bytes');
    const restored = restoreSnapshot(open(), { body: new Uint8Array([1, 2]) });
    const ask = await server.next();
    expect(ask.headers.get('content-type')).to.equal('application/x-gzip');
    await ask.with(200, '');
    expect((await restored).body).to.equal('');
  });

  it('refuses names that would lead to another path', async () => {
    for (const id of ['', '.', '..'])
      expect((await refusalOf(readPolicy(open(), { id }))).message).to.match(/^id must not be/);
    expect(server.asked).to.have.length(0);
  });

  it('repeats what a node did not do, on another node, as it asks for', async () => {
    const call = createPolicy(open(two), { body: { Name: 'p' } });
    const first = await server.next();
    await first.refuse(503, 'no_leader');
    const second = await server.next();
    expect(second.url.host).to.not.equal(first.url.host);
    expect(second.body).to.deep.equal({ Name: 'p' });
    await second.refuse(429, 'too_many', { 'retry-after': '3' });
    await server.clock.move(2_999);
    expect(server.unread).to.equal(0);
    await server.clock.move(1_501);
    await (await server.next()).with(200, { ID: 'i' });
    expect((await call).body.ID).to.equal('i');
  });

  it('repeats until the time is over', async () => {
    let asked = 0;
    const fetch = async (): Promise<Response> => {
      asked += 1;
      const problem = { status: 503, code: 'unavailable', detail: 'it stops' };
      return new Response(JSON.stringify(problem), { status: 503 });
    };
    const to = open({ ...two, fetch });
    const refused = refusalOf(readPolicy(to, { id: 'p' }, { timeoutMs: 2_000 }));
    await server.clock.move(2_000);
    const { status, code, message, problem } = await refused;
    expect([status, code, message]).to.deep.equal([503, 'unavailable', 'it stops']);
    expect(problem['status']).to.equal(503);
    expect(asked).to.be.within(5, 6);
  });

  it('gives a silent node up when the time is over, wait apart; then asks another', async () => {
    const to = open(two);
    const refused = refusalOf(readPolicy(to, { id: 'p', index: '7', wait: '5m' }));
    const ask = await server.next();
    await server.clock.move(348_749);
    expect(ask.isAborted()).to.equal(false);
    await server.clock.move(1);
    expect((await refused).code).to.equal('unreachable');
    for (const _ of ['next', 'and the one after that']) {
      const answer = refusalOf(readPolicy(to, { id: 'p' }));
      const other = await server.next();
      expect(other.url.host).to.not.equal(ask.url.host);
      await other.refuse(404, 'not_found');
      expect((await answer).code).to.equal('not_found');
    }
  });

  for (const [wait, heldMs] of [
    [undefined, 300_000],
    ['0s', 300_000],
    ['1m30.5s', 90_500],
    ['10m', 600_000],
    ['1h', 600_000],
  ] as const)
    it(`waits as long as a node may hold a query whose wait is ${wait}`, async () => {
      const given = { id: 'p', index: '7', ...(wait && { wait }) };
      const call = readPolicy(open(two), given);
      const ask = await server.next();
      await server.clock.move((heldMs * 17) / 16);
      expect(ask.isAborted()).to.equal(false);
      await ask.with(200, { ID: 'i' }, { 'x-consul-index': '7' });
      expect((await call).index).to.equal(7);
      const silent = refusalOf(readPolicy(open(two), given));
      const other = await server.next();
      await server.clock.move((heldMs * 17) / 16 + 30_000);
      expect(other.isAborted()).to.equal(true);
      await silent;
    });

  it('asks no node to hold a query for as long as fetch waits for an answer', async () => {
    for (const [given, sent] of [
      [undefined, '270000ms'],
      ['10m', '270000ms'],
      ['90s', '90s'],
    ] as const) {
      const call = readPolicy(open(), { id: 'p', index: '7', ...(given && { wait: given }) });
      const ask = await server.next();
      expect(ask.query['wait']).to.equal(sent);
      await ask.with(200, {});
      await call;
    }
  });

  it('waits no longer for a stream to begin if it goes on after an index', async () => {
    const silent = refusalOf(streamEvents(open(), { index: '7' }));
    const ask = await server.next();
    expect(ask.query).to.deep.equal({ index: '7' });
    await server.clock.move(30_000);
    expect(ask.isAborted()).to.equal(true);
    expect((await silent).code).to.equal('unreachable');
  });

  it('ends a stream with its signal', async () => {
    const aborter = new AbortController();
    const call = streamEvents(open(), {}, { signal: aborter.signal });
    const ask = await server.next();
    await ask.with(200, 'bytes');
    await call;
    expect(ask.isAborted()).to.equal(false);
    aborter.abort();
    expect(ask.isAborted()).to.equal(true);
  });

  it('does not take the health of a cluster for a node that asks to wait', async () => {
    const refused = refusalOf(readHealth(open(two)));
    await (await server.next()).with(429, { Healthy: false, FailureTolerance: 0 });
    const { status, problem } = await refused;
    expect([status, problem['Healthy'], server.unread]).to.deep.equal([429, false, 0]);
  });

  it('repeats reads that were cut off; writes only if no node was reached', async () => {
    const read = listTokens(open(two));
    await (await server.next()).cut();
    await (await server.next()).with(200, []);
    expect((await read).body).to.deep.equal([]);
    const explained = explainAuthorization(open(two), { body: {} });
    await (await server.next()).cut();
    await (await server.next()).with(200, { Results: [] });
    await explained;
    const write = createPolicy(open(two), { body: { Name: 'p' } });
    await (await server.next()).cut('ECONNREFUSED');
    await (await server.next()).cut('ENOTFOUND');
    await server.clock.move(150);
    await (await server.next()).with(200, { ID: 'i' });
    await write;
    const unknown = refusalOf(createPolicy(open(two), { body: { Name: 'p' } }));
    await (await server.next()).cut('ECONNRESET');
    expect((await unknown).code).to.equal('outcome_unknown');
    expect(server.unread).to.equal(0);
  });

  it('throws what a node refuses, with the members of its problem', async () => {
    const refused = refusalOf(readPolicy(open(), { id: 'p' }));
    const problem = { code: 'invalid', detail: 'id is no UUID', pointer: '/ID' };
    await (await server.next()).with(400, problem);
    const error = await refused;
    expect(error).to.be.instanceOf(ConclaveError);
    expect([error.status, error.code, error.message]).to.deep.equal([
      400,
      'invalid',
      'id is no UUID',
    ]);
    expect(error.problem['pointer']).to.equal('/ID');
    const plain = refusalOf(readPolicy(open(), { id: 'p' }));
    await (await server.next()).with(502, '<html>bad gateway</html>');
    expect((await plain).code).to.equal('');
  });

  it('asks the provider once more when a token has ended', async () => {
    const secrets = ['s1', 's2', 's3'];
    const to = open({ tokenProvider: async () => secrets.shift()! });
    const call = listTokens(to);
    const first = await server.next();
    await first.refuse(403, 'acl_not_found');
    const second = await server.next();
    expect([first.secret, second.secret]).to.deep.equal(['s1', 's2']);
    await second.with(200, []);
    await call;
    const refused = refusalOf(listTokens(to));
    await (await server.next()).refuse(403, 'acl_not_found');
    await (await server.next()).refuse(403, 'acl_not_found');
    expect((await refused).code).to.equal('acl_not_found');
  });

  it('sends nothing when the provider brings a blank token, and asks it again', async () => {
    const answers: unknown[] = ['', '\n', undefined, 7, 's1', ' ', 's2'];
    const to = open({ tokenProvider: () => answers.shift() as string });
    for (let n = 0; n < 4; n += 1) {
      const { status, code, message } = await refusalOf(listTokens(to));
      expect([status, code, message]).to.deep.equal([
        0,
        'unreachable',
        'the provider of the token failed',
      ]);
    }
    const ended = refusalOf(listTokens(to));
    const ask = await server.next();
    expect(ask.secret).to.equal('s1');
    await ask.refuse(403, 'acl_not_found');
    expect((await ended).message).to.equal('the provider of the token failed');
    const call = listTokens(to);
    const last = await server.next();
    expect(last.secret).to.equal('s2');
    await last.with(200, []);
    await call;
    expect(server.asked).to.have.length(2);
  });

  it('waits for a silent provider no longer than for a node', async () => {
    const tokenProvider = () => new Promise<string>(() => {});
    const late = refusalOf(listTokens(open({ tokenProvider, timeoutMs: 3_000 })));
    await server.clock.move(3_000);
    const { code, message } = await late;
    expect([code, message]).to.deep.equal([
      'unreachable',
      'the token provider did not answer in time',
    ]);
    const aborter = new AbortController();
    const ended = refusalOf(listTokens(open({ tokenProvider }), {}, { signal: aborter.signal }));
    aborter.abort();
    expect((await ended).code).to.equal('unreachable');
    const before = refusalOf(listTokens(open({ tokenProvider }), {}, { signal: aborter.signal }));
    expect((await before).code).to.equal('unreachable');
    expect(server.unread).to.equal(0);
  });

  it('ends with its signal, while a node is asked and between', async () => {
    const aborters = [new AbortController(), new AbortController()] as const;
    const call = ({ signal }: AbortController) => refusalOf(listTokens(open(two), {}, { signal }));
    const refused = call(aborters[0]);
    const ask = await server.next();
    aborters[0].abort();
    await refused;
    expect([ask.isAborted(), server.unread]).to.deep.equal([true, 0]);
    const waits = call(aborters[1]);
    await (await server.next()).refuse(429, 'too_many', { 'retry-after': '5' });
    aborters[1].abort();
    await waits;
    expect([server.unread, server.clock.timers]).to.deep.equal([0, 0]);
  });

  it('sends a stream once', async () => {
    const refused = refusalOf(restoreSnapshot(open(two), { body: new Blob(['x']).stream() }));
    await (await server.next()).refuse(503, 'no_leader');
    expect((await refused).code).to.equal('no_leader');
    expect(server.unread).to.equal(0);
    const secrets = ['s1', 's2'];
    const to = open({ tokenProvider: async () => secrets.shift()! });
    const ended = refusalOf(restoreSnapshot(to, { body: new Blob(['x']).stream() }));
    await (await server.next()).refuse(403, 'acl_not_found');
    expect((await ended).code).to.equal('acl_not_found');
    expect(server.unread).to.equal(0);
    const next = listTokens(to);
    const ask = await server.next();
    expect(ask.secret).to.equal('s2');
    await ask.with(200, []);
    await next;
  });

  it('knows that a write was not sent whose signal had ended', async () => {
    const write = createPolicy(open(), { body: { Name: 'p' } }, { signal: AbortSignal.abort() });
    expect((await refusalOf(write)).code).to.equal('unreachable');
    expect(server.unread).to.equal(0);
  });
});

describe('conclave-client: AuthZen', () => {
  const question = {
    subject: { type: 'user', id: 'alice' },
    action: { name: 'read' },
    resource: { type: 'record', id: '1' },
  };
  const url = 'https://pdp.example/tenant';

  it('uses what the configuration of a server names, which does not get the token', async () => {
    const server = new FakeServer();
    const { clock, fetch } = server.options();
    const found = AuthZen.discover({ url, token: 't', clock: clock!, fetch: fetch! });
    const ask = await server.next();
    expect(ask.url.href).to.equal('https://pdp.example/.well-known/authzen-configuration/tenant');
    expect(ask.secret).to.equal(undefined);
    await ask.with(200, {
      policy_decision_point: url,
      access_evaluation_endpoint: 'https://pdp.example/decide',
    });
    const decided = (await found).evaluate(question);
    const evaluation = await server.next();
    expect([evaluation.url.href, evaluation.secret]).to.deep.equal([
      'https://pdp.example/decide',
      't',
    ]);
    expect(evaluation.body).to.deep.equal(question);
    await evaluation.with(200, { decision: true, context: { id: '0' } });
    expect(await decided).to.deep.equal({ decision: true, context: { id: '0' } });
    const missing = await refusalOf((await found).searchSubjects(question));
    expect(missing.message).to.equal('the server has no search_subject_endpoint');
  });

  it('refuses the configuration of another server', async () => {
    const server = new FakeServer();
    const { clock, fetch } = server.options();
    const refused = refusalOf(AuthZen.discover({ url, clock: clock!, fetch: fetch! }));
    await (await server.next()).with(200, { policy_decision_point: 'https://other.example' });
    expect((await refused).message).to.match(/is of another server$/);
  });

  it('uses the paths of the specification, and takes no odd answer for a decision', async () => {
    const server = new FakeServer();
    const pdp = new AuthZen(server.options());
    const calls = [
      ['/evaluation', () => pdp.evaluate(question), { decision: 'true' }],
      ['/evaluations', () => pdp.evaluations({ evaluations: [question] }), { evaluations: [{}] }],
      ['/search/subject', () => pdp.searchSubjects(question), undefined],
      ['/search/resource', () => pdp.searchResources(question), undefined],
      ['/search/action', () => pdp.searchActions(question), undefined],
    ] as const;
    for (const [path, call, odd] of calls) {
      const refused = refusalOf(call());
      const ask = await server.next();
      expect(ask.url.pathname).to.equal(`/access/v1${path}`);
      if (odd === undefined) await ask.with(403, 'Permission denied');
      else await ask.with(200, odd);
      expect(await refused).to.be.instanceOf(ConclaveError);
    }
    const one = pdp.evaluations(question);
    await (await server.next()).with(200, { decision: false });
    expect(await one).to.deep.equal([{ decision: false }]);
  });
});
