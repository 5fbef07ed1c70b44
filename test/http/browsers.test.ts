/** What a page of another site cannot make a browser do, and what filtering proxies can rely on. */
import { expect } from 'chai';
import { tokenRoutes } from '../../src/http/routes/tokens.js';
import type { Route } from '../../src/http/routes/types.js';
import { SoloClient } from '../service/client.js';
import { partsOf } from '../service/serve.js';
import { Solo } from '../service/solo.js';
import { type Front, startFront } from './harness.js';

const routes: Route[] = [
  { path: '/v1/status/leader', GET: (request) => request.answerValue('leader') },
  { path: '/v1/health/live', counts: 'probe', GET: (request) => request.answerValue('live') },
  {
    path: '/v1/query',
    GET: (request) =>
      request.answerRead({
        ...{ value: '{}', index: 7, knownLeader: true, lastContactMs: 0, filtered: false },
      }),
  },
  { path: '/v1/whoami', GET: (request) => request.answerValue(request.secret) },
  {
    path: '/v1/thing/:id/clone',
    GET: (request) => request.answerValue(`clone of ${request.param('id')}`),
  },
  { path: '/v1/thing/:id', GET: (request) => request.answerValue(request.param('id')) },
  { path: '/v1/config/:kind/:name', GET: (request) => request.answerValue(request.param('name')) },
];

describe('http: the Host header', () => {
  let front: Front;
  const open = async (allowedHosts?: readonly string[]) => {
    front = await startFront(routes, { allowedHosts });
  };
  const withHost = (host: string) => front.ask('/v1/status/leader', { headers: { host } });
  afterEach(() => front.close());

  it('must be a loopback name or address unless others are allowed', async () => {
    await open();
    const good = [
      'localhost',
      'LOCALHOST:8500',
      'localhost.',
      '127.0.0.1:1',
      '127.8.9.1',
      '[::1]:80',
    ];
    for (const host of good) expect((await withHost(host)).status, host).to.equal(200);
    for (const host of ['rebind.evil.example', '127.0.0.1.evil.example', '10.0.0.1', '[::2]:80']) {
      const { status, text } = await withHost(host);
      expect(status, host).to.equal(403);
      expect(text).to.include(host).and.to.include('http.allowedHosts');
    }
  });

  it('must be one of the allowed hosts if the configuration names them', async () => {
    await open(['conclave.example']);
    expect((await withHost('Conclave.example:8500')).status).to.equal(200);
    for (const host of ['localhost', 'evil.example']) {
      expect((await withHost(host)).status, host).to.equal(403);
    }
  });

  it('may be anything if * is allowed', async () => {
    await open(['*']);
    expect((await withHost('anything.example')).status).to.equal(200);
  });

  it('may be anything for probes, which ask an address that nobody configured', async () => {
    await open(['conclave.example']);
    const probe = (path: string, headers: Record<string, string>) =>
      front.ask(path, { headers: { host: '10.1.2.3:8500', ...headers } });
    expect((await probe('/v1/health/live', {})).status).to.equal(200);
    expect((await probe('/v1/health/live?pretty', {})).status).to.equal(200);
    for (const path of ['/v1/health', '/v1/health/live/x', '/v1/status/leader?/v1/health/live'])
      expect((await probe(path, {})).status, path).to.equal(403);
    const page = { origin: 'http://evil.example' };
    expect((await probe('/v1/health/live', page)).status).to.equal(403);
  });

  it('must occur only once, and a target in absolute form is checked too', async () => {
    await open();
    const head = (target: string, hosts: string) =>
      front.raw(`GET ${target} HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`);
    const two = await head('/v1/status/leader', 'Host: localhost\r\nhost: 127.0.0.1\r\n');
    expect(two).to.match(/^HTTP\/1.1 400 .*more than one Host/s);
    const absolute = 'http://evil.example/v1/status/leader';
    expect(await head(absolute, 'Host: localhost\r\n')).to.match(/^HTTP\/1.1 403 .*evil.example/s);
    const own = 'http://localhost/v1/status/leader';
    expect(await head(own, 'Host: localhost\r\n')).to.match(/^HTTP\/1.1 200 /);
  });
});

describe('http: the origin of a request', () => {
  let front: Front;
  afterEach(() => front.close());
  const statusOf = async (headers: Record<string, string>) =>
    (await front.ask('/v1/status/leader', { headers: { host: 'localhost:8500', ...headers } }))
      .status;

  it('must not be a page of another origin or site', async () => {
    front = await startFront(routes);
    const refused: Record<string, string>[] = [
      { origin: 'http://rebind.evil.example' },
      { origin: 'http://localhost:3000' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'http://localhost:8500', 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of refused) {
      expect(await statusOf(headers), JSON.stringify(headers)).to.equal(403);
    }
    const taken: Record<string, string>[] = [
      {},
      { origin: 'http://localhost:8500' },
      { origin: 'https://localhost:8500', 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
    ];
    for (const headers of taken) {
      expect(await statusOf(headers), JSON.stringify(headers)).to.equal(200);
    }
  });

  it('may be a page that the operator allows by a configured response header', async () => {
    const origin = 'https://ui.example';
    front = await startFront(routes, {
      responseHeaders: { 'access-control-allow-origin': origin },
    });
    expect(await statusOf({ origin, 'sec-fetch-site': 'cross-site' })).to.equal(200);
    expect(await statusOf({ origin: 'https://other.example' })).to.equal(403);
  });
});

describe('http: what proxies rely on', () => {
  let front: Front;
  before(async () => {
    front = await startFront(routes, { tokenInQuery: true });
  });
  after(() => front.close());

  it('a path does not match if spelled in escapes, or with escaped slashes', async () => {
    const strange = [
      '/v1%2Fstatus%2Fleader',
      '/v1/status%2fleader',
      '/v1/st%61tus/leader',
      '/v1/thing/a%2Fclone',
      '/v1/config/service-defaults%2Fweb',
    ];
    for (const path of strange) {
      const { status } = await front.ask(path);
      expect(status === 404 || status === 400, `${path}: ${status}`).to.equal(true);
    }
    expect((await front.ask('/v1/thing/a%2Fb')).text).to.equal('"a/b"\n');
    expect((await front.ask('/v1/thing/%61/clone')).text).to.equal('"clone of a"\n');
    expect((await front.ask('/v1/config/http-route/a%2Fb')).text).to.equal('"a/b"\n');
  });

  it('a request has only one token', async () => {
    const ask = (headers: Record<string, string | string[]>, query = '') =>
      front.ask(`/v1/whoami${query}`, { headers });
    const differing: [Record<string, string | string[]>, string?][] = [
      [{ 'x-service-token': 'a', 'x-consul-token': 'b' }],
      [{ 'x-service-token': 'a', authorization: 'Bearer b' }],
      [{ 'x-consul-token': 'a', authorization: 'Bearer b' }],
      [{ 'x-service-token': ['a', 'b'] }],
      [{ 'x-service-token': 'a' }, '?token=b'],
    ];
    for (const [headers, query] of differing) {
      const { status, text } = await ask(headers, query);
      expect(status, JSON.stringify(headers)).to.equal(400);
      expect(text).to.include('more than one token');
    }
    const all = { 'x-service-token': ['a', 'a'], 'x-consul-token': 'a', authorization: 'Bearer a' };
    expect((await ask(all, '?token=a')).text).to.equal('"a"\n');
    expect((await ask({ 'x-service-token': '', 'x-consul-token': 'b' })).text).to.equal('"b"\n');
  });

  it('no response may be cached or sniffed as another type', async () => {
    for (const path of ['/v1/status/leader', '/v1/nothing']) {
      const { headers } = await front.ask(path);
      expect(headers['cache-control']).to.equal('no-store');
      expect(headers['x-content-type-options']).to.equal('nosniff');
    }
    // Clients of this API expect responses with an index to have no Cache-Control.
    const { headers: query } = await front.ask('/v1/query');
    expect(query).to.include({ expires: '0', 'x-content-type-options': 'nosniff' });
    expect(query['cache-control']).to.equal(undefined);
    const responseHeaders = { 'cache-control': 'no-cache' };
    const other = await startFront(routes, { responseHeaders });
    const { headers } = await other.ask('/v1/status/leader');
    expect(headers['cache-control']).to.equal('no-cache');
    await other.close();
  });
});

describe('http: a bootstrap', () => {
  it('needs the configured secret, if there is one', async () => {
    const solo = new Solo();
    const parts = { ...partsOf(solo), bootstrapSecret: 'a-secret-of-the-operator' };
    const front = await startFront(tokenRoutes(parts), { service: solo.service });
    const ask = (token: string) =>
      front.ask('/v1/acl/bootstrap', {
        method: 'PUT',
        headers: token === '' ? {} : { 'x-consul-token': token },
      });
    for (const token of ['', 'a-secret-of-somebody-else']) {
      const { status, text } = await ask(token);
      expect(status).to.equal(403);
      expect(text).to.include('acl.bootstrapSecret').and.not.to.include('of-the-operator');
    }
    // The secret was accepted: this cluster began with a management token.
    expect((await ask('a-secret-of-the-operator')).text).to.include('bootstrap no longer allowed');
    await front.close();
  });
});

describe('http: anonymous callers under a default of allow', () => {
  it('cannot administer the cluster', async () => {
    const solo = new Solo('allow');
    const client = await SoloClient.open([], solo);
    const put = await client.ask('PUT /namespace', { Name: 'theirs' }, '');
    expect(put.status).to.equal(403);
    const authorizer = solo.authorizers.of(null)!;
    for (const access of ['read', 'write'] as const) {
      expect(authorizer.allowed('operator', access)).to.equal(false);
    }
    expect(authorizer.allowed('service', 'write', 'web')).to.equal(true);
    await client.close();
  });
});
