import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { reject } from '../../src/base/errors.js';
import type { ApiRequest, Route } from '../../src/http/routes/types.js';
import { anyObject } from '../../src/languages/fields.js';
import type { ReadOptions } from '../../src/service/common/types.js';
import { type Front, fakeService, startFront } from './harness.js';

const OUTCOME = { index: 7, knownLeader: true, lastContactMs: 3.4, filtered: false };

describe('http: a request', () => {
  let front: Front;
  let seen: { options?: ReadOptions; request?: ApiRequest } = {};
  const bodyOf = (r: ApiRequest) => r.body('Thing decoding failed', anyObject);
  const echo = async (r: ApiRequest): Promise<void> => r.answerValue(await bodyOf(r));
  const routes: Route[] = [
    {
      path: '/v1/thing',
      PUT: echo,
    },
    {
      path: '/v1/thing/name/:name',
      GET: (request) => request.answerValue({ name: request.param('name') }),
    },
    {
      path: '/v1/thing/:id',
      GET: (request) => {
        seen = { options: request.readOptions(), request };
        const value = request.param('id') === 'none' ? undefined : '{"A":"<&>"}';
        request.answerRead({ ...OUTCOME, value }, 'There is no such thing');
      },
      DELETE: () => reject('conflict', 'Still needed', { pointer: '/A', hint: 'remove B first' }),
    },
    {
      path: '/v1/unknown/:name',
      GET: (request) =>
        reject('not_found', `There is no thing named ${request.param('name')}`, {
          pointer: `/Meta/${request.param('name')}`,
        }),
    },
    {
      path: '/v1/things',
      GET: (request) => {
        request.singleReadOptions();
        const many = Array.from({ length: 100 }, (_, at) => `{"Name":"thing-${at}"}`);
        request.answerList({ ...OUTCOME, filtered: true, value: many });
      },
    },
    { path: '/v1/ns', GET: (request) => request.answerValue(request.namespace()) },
    {
      path: '/v1/ns-of-body',
      PUT: async (r) => r.answerValue(r.namespace((await bodyOf(r))['Namespace'])),
    },
    { path: '/v1/ns-list', GET: (request) => request.answerValue(request.namespaceOrAll()) },
    { path: '/v1/whoami', GET: (request) => request.answerValue(request.caller) },
    {
      path: '/v1/stream',
      GET: (request) => request.answerStream(['[', '1', ']'], { outcome: OUTCOME }),
    },
    {
      path: '/v1/broken',
      GET: () => {
        throw new TypeError('a bug with details');
      },
    },
    {
      path: '/v1/cut',
      GET: (request) =>
        request.answerStream(
          (function* () {
            yield 'x'.repeat(100);
            throw new Error('half way');
          })(),
        ),
    },
  ];

  before(async () => {
    front = await startFront(routes, {
      service: fakeService({ namespaceOf: (key) => (key.startsWith('9') ? 'nine' : 'team') }),
      responseHeaders: { 'X-Frame-Options': 'DENY' },
    });
  });
  after(() => front.close());

  const put = (body: string | Buffer, headers: Record<string, string> = {}) =>
    front.ask('/v1/thing', { method: 'PUT', body, headers });

  describe('responses', () => {
    it('to a read carry index headers under both prefixes', async () => {
      const { status, headers, text } = await front.ask('/v1/thing/x');
      expect(status).to.equal(200);
      expect(text).to.equal('{"A":"\\u003c\\u0026\\u003e"}\n');
      for (const prefix of ['x-service', 'x-consul'])
        expect(headers).to.include({
          [`${prefix}-index`]: '7',
          [`${prefix}-knownleader`]: 'true',
          [`${prefix}-lastcontact`]: '3',
          [`${prefix}-default-acl-policy`]: 'deny',
        });
      expect(headers).to.include({ 'content-type': 'application/json', vary: 'Accept-Encoding' });
      expect(headers).not.to.have.any.keys('x-service-results-filtered-by-acls', 'cache-control');
    });

    it('of 404 carry an index to wait on', async () => {
      const { status, headers, text } = await front.ask('/v1/thing/none');
      expect([status, text]).to.deep.equal([404, 'There is no such thing\n']);
      expect(headers).to.include({ 'x-service-index': '7' });
      expect(headers['content-type']).to.equal('text/plain; charset=utf-8');
    });

    it('with lists are compressed from 1400 bytes on if the client accepts it', async () => {
      const plain = await front.ask('/v1/things');
      expect(JSON.parse(plain.text)).to.have.length(100);
      expect(plain.headers).to.include({ 'x-service-results-filtered-by-acls': 'true' });
      const packed = await front.ask('/v1/things', { headers: { 'accept-encoding': 'br, gzip' } });
      expect(packed.headers['content-encoding']).to.equal('gzip');
      expect(gunzipSync(packed.bytes).toString()).to.equal(plain.text);
      const refused = await front.ask('/v1/things', { headers: { 'accept-encoding': 'gzip;q=0' } });
      expect(refused.headers).not.to.have.property('content-encoding');
      const small = await front.ask('/v1/thing/x', { headers: { 'accept-encoding': 'gzip' } });
      expect(small.headers).not.to.have.property('content-encoding');
    });

    it('escape each of <, > and &', async () => {
      for (const char of ['<', '>', '&']) {
        const { text } = await put(JSON.stringify({ a: char }));
        expect(text).not.to.include(char);
        expect(JSON.parse(text)).to.deep.equal({ a: char });
      }
    });

    it('with ?pretty are indented by four spaces and end with a newline', async () => {
      const { text, headers } = await front.ask('/v1/thing/x?pretty=false');
      expect(text).to.equal('{\n    "A": "\\u003c\\u0026\\u003e"\n}\n');
      expect(headers['content-length']).to.equal(String(text.length));
    });

    it('can be streamed', async () => {
      const { text, headers } = await front.ask('/v1/stream');
      expect(text).to.equal('[1]');
      expect(headers).to.include({ 'x-consul-index': '7' });
    });

    it('to HEAD are those of GET without the body', async () => {
      const { status, headers, text } = await front.ask('/v1/thing/x', { method: 'HEAD' });
      expect([status, text]).to.deep.equal([200, '']);
      expect(headers).to.include({ 'x-service-index': '7', 'content-length': '27' });
    });

    it('carry the configured headers everywhere', async () => {
      for (const path of ['/', '/nope', '/v1/nope', '/v1/thing/x', '/v1/broken', '/v1/%ff'])
        expect((await front.ask(path)).headers['x-frame-options'], path).to.equal('DENY');
    });

    it('are sent to HTTP/1.0 clients', async () => {
      expect(await front.raw('GET /v1/thing/x HTTP/1.0\r\n\r\n')).to.match(/^HTTP\/1\.1 200 OK/);
    });

    it('are sent for an absolute request target', async () => {
      const text = await front.raw(
        'GET http://example.org/v1/thing/x?pretty HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n',
      );
      expect(text).to.include('\n    "A"');
    });
  });

  describe('errors', () => {
    it('are a sentence of text', async () => {
      const { status, text, headers } = await front.ask('/v1/thing/x', { method: 'DELETE' });
      expect([status, text]).to.deep.equal([409, 'Still needed (remove B first)\n']);
      expect(headers).not.to.have.property('x-service-index');
    });

    for (const accept of ['application/json', 'text/html, application/problem+json'])
      it(`are problem details for ${accept}`, async () => {
        const reply = await front.ask('/v1/thing/x', { method: 'DELETE', headers: { accept } });
        expect(reply.headers['content-type']).to.equal('application/problem+json');
        expect(JSON.parse(reply.text)).to.deep.equal({
          type: 'about:blank',
          title: 'Conflict',
          status: 409,
          detail: 'Still needed',
          code: 'conflict',
          pointer: '/A',
          hint: 'remove B first',
        });
      });

    it('quote no more than a sentence of the request', async () => {
      const { text } = await front.ask(`/v1/unknown/${'x'.repeat(9000)}`);
      expect(text)
        .to.match(/^There is no thing named x+…\n$/)
        .and.to.have.lengthOf.below(2000);
    });

    for (const sign of ['x', '%22'])
      it(`quote no more than that in problem details either (${sign})`, async () => {
        const headers = { accept: 'application/json' };
        const { text } = await front.ask(`/v1/unknown/${sign.repeat(3000)}`, { headers });
        expect(JSON.parse(text)).to.include({ code: 'not_found', pointer: '/Meta' });
        expect(text).to.have.lengthOf.below(2000);
      });

    it('of the server are reported and reveal nothing to the client', async () => {
      const { status, text } = await front.ask('/v1/broken');
      expect(status).to.equal(500);
      expect(text)
        .to.match(/^Internal error/)
        .and.not.include('details');
      expect(front.events.at(-1)).to.deep.include({ code: 'internal', path: '/v1/broken' });
    });

    it('in the middle of a stream abort it', async () => {
      const error = await front.ask('/v1/cut').catch((e: Error) => e);
      expect(error).to.be.instanceOf(Error);
    });

    it('are counted by route and status', async () => {
      await front.ask('/v1/thing/x', { method: 'DELETE' });
      expect(front.observed.at(-1)).to.deep.include({ method: 'DELETE', status: 409 });
    });
  });

  describe('paths and methods', () => {
    const notFound = (path: string, text: RegExp) => async () => {
      const reply = await front.ask(path);
      expect([reply.status, reply.text]).to.satisfy(
        ([status, body]: [number, string]) => status === 404 && text.test(body),
        JSON.stringify(reply.text),
      );
    };
    for (const path of [
      '/v1/nope',
      '/v1//things',
      '/v1/thing/../things',
      '/v1/./things',
      '/v1/thing/%2e%2e/x',
      '/v1/thing//x',
    ])
      it(
        `${path} is not an endpoint`,
        notFound(path, /^Invalid URL path: not a recognized HTTP API endpoint\n$/),
      );
    for (const path of ['/v1', '/v2/nope', '/things', '//'])
      it(`${path} is not the API`, notFound(path, /ensure the path starts with '\/v1\/'\n$/));

    it('are decoded once, and a name may contain slashes', async () => {
      const name = async (path: string): Promise<unknown> =>
        JSON.parse((await front.ask(path)).text).name;
      expect(await name('/v1/thing/name/a%2Fb')).to.equal('a/b');
      expect(await name('/v1/thing/name/a/b')).to.equal('a/b');
      expect(await name('/v1/thing/name/%2541')).to.equal('%41');
      expect(await name('/v1/thing/name/%C3%A9')).to.equal('é');
      expect(await name('/v1/thing/name/a+b')).to.equal('a+b');
      expect(await name('/v1/thing/name/')).to.equal('');
    });

    for (const path of [
      '/v1/thing/%',
      '/v1/thing/%zz',
      '/v1/thing/%ff',
      '/v1/thing/a%00b',
      '/v1/thing/a%0Ab',
    ])
      it(`${path} is refused with 400`, async () => {
        expect((await front.ask(path)).status).to.equal(400);
      });

    it('are answered with 403 if the configuration blocks them', async () => {
      const shut = await startFront(routes, { blockedPaths: ['/v1/thing/'] });
      const replies = [await shut.ask('/v1/thing/x'), await shut.ask('/v1/things')];
      await shut.close();
      expect(replies.map((reply) => reply.status)).to.deep.equal([403, 200]);
      expect(replies[0]!.text).to.equal('Endpoint is blocked by agent configuration\n');
    });

    it('are blocked in every spelling of the request target', async () => {
      const shut = await startFront(routes, { blockedPaths: ['/v1/thing/secret'] });
      const urls = ['/v1/thing/secret', '/v1/thing/secrets/1', '/v1/thing/%73ecret', '/v1/thing/x'];
      const replies = await Promise.all(urls.map((path) => shut.ask(path)));
      await shut.close();
      expect(replies.map((reply) => reply.status)).to.deep.equal([403, 403, 403, 200]);
    });

    it('OPTIONS lists the methods without a token', async () => {
      const { status, headers, text } = await front.ask('/v1/thing/x', { method: 'OPTIONS' });
      expect([status, text]).to.deep.equal([200, '']);
      expect(headers.allow).to.equal('OPTIONS,GET,DELETE,HEAD');
    });

    for (const method of ['POST', 'PATCH', 'HEAD', 'PROPFIND'])
      it(`405 for ${method} if the path does not support it`, async () => {
        const { status, headers, text } = await front.ask('/v1/thing', { method });
        expect([status, headers.allow]).to.deep.equal([405, 'OPTIONS,PUT']);
        if (method !== 'HEAD') expect(text).to.match(/^method [A-Z]+ not allowed \(.* PUT\)\n$/);
      });
  });

  describe('parameters', () => {
    const refused: [string, RegExp][] = [
      ['index=-1', /^Invalid index/],
      ['index=1.5', /^Invalid index/],
      ['index=0x10', /^Invalid index/],
      ['index=%201', /^Invalid index/],
      ['index=18446744073709551616', /^Invalid index/],
      [`index=${'9'.repeat(5000)}`, /^Invalid index/],
      ['index=1&wait=forever', /^Invalid wait time/],
      ['wait=5', /^Invalid wait time/],
      ['wait=1d', /^Invalid wait time/],
      ['wait=300MS', /^Invalid wait time/],
      ['index=x&wait=x', /^Invalid wait time/],
      [`wait=${'1'.repeat(5000)}`, /^Invalid wait time/],
      ['stale&consistent', /^Cannot specify \?stale with \?consistent, conflicting semantics\./],
      ['cached&consistent', /^Cannot specify \?cached with \?consistent/],
      ['max_stale=5s&consistent', /^Cannot specify \?max_stale with \?consistent/],
      ['max_stale=x', /^Invalid max_stale value "x"/],
      ['dc=elsewhere', /^No path to datacenter/],
      ['dc=dc1&datacenter=elsewhere', /^No path to datacenter/],
      ['partition=p', /no admin partitions/],
      ['partition=*', /no admin partitions/],
      ['ns=%zz', /^Invalid query string/],
      ['a=1;b=2', /^Invalid query string/],
      ['token=e95b599e-166e-7d80-08ad-aee76e7ddf19', /X-Service-Token/],
    ];
    for (const [query, text] of refused)
      it(`${query.slice(0, 60)} is refused`, async () => {
        for (const path of ['/v1/thing/x', '/v1/things']) {
          const reply = await front.ask(`${path}?${query}`);
          expect(reply.status).to.equal(400);
          expect(reply.text).to.match(text).and.not.include('e95b599e');
        }
      });

    it('the header accepts only the partition default', async () => {
      const status = async (path: string, partition: string): Promise<number> =>
        (await front.ask(path, { headers: { 'X-Service-Partition': partition } })).status;
      expect(await status('/v1/things', 'default')).to.equal(200);
      expect(await status('/v1/things', 'p')).to.equal(400);
      expect(await status('/v1/things?partition=default', 'p')).to.equal(400);
    });

    const accepted: [string, Partial<ReadOptions>][] = [
      ['', { mode: 'default', index: 0, waitMs: 0, timeoutMs: 1000 }],
      ['?index=&wait=', { index: 0 }],
      ['?leader', { mode: 'default' }],
      ['?partition=default', { mode: 'default' }],
      ['?partition=', { mode: 'default' }],
      ['?stale=false', { mode: 'stale' }],
      ['?max_stale=10s', { mode: 'stale' }],
      ['?max_stale=-1s', { mode: 'default' }],
      ['?consistent', { mode: 'consistent' }],
      ['?wait=3s', { index: 0, waitMs: 0 }],
      ['?index=5&index=x', { index: 5 }],
      ['?index=18446744073709551615', { index: Number.MAX_SAFE_INTEGER }],
      ['?dc=dc1&datacenter=&foo=bar', { mode: 'default' }],
    ];
    for (const [query, options] of accepted)
      it(`${query || 'none'} is accepted`, async () => {
        expect((await front.ask(`/v1/thing/x${query}`)).status).to.equal(200);
        expect(seen.options).to.deep.include(options);
      });

    for (const [query, low, high] of [
      ['index=1', 300_000, 318_750],
      ['index=1&wait=0s', 300_000, 318_750],
      ['index=1&wait=-5s', 300_000, 318_750],
      ['index=1&wait=1h0m0.2s', 600_000, 637_500],
      ['index=1&wait=1m0.5s', 60_500, 64_281.25],
    ] as const)
      it(`${query} waits ${low} ms and up to a 16th more`, async () => {
        await front.ask(`/v1/thing/x?${query}`);
        expect(seen.options?.waitMs).to.be.within(low, high);
      });

    it('a wait has a random extension', async () => {
      const waits = new Set<number | undefined>();
      for (let i = 0; i < 5; i++) {
        await front.ask('/v1/thing/x?index=1');
        waits.add(seen.options?.waitMs);
      }
      expect(waits.size).to.be.greaterThan(1);
    });

    it('a blocking query ends, and stops counting, when the client is gone', async () => {
      const held = front.app.held.count;
      await front.ask('/v1/thing/x?index=1');
      expect(seen.options?.end?.isOver).to.equal(true);
      expect(front.app.held.count).to.equal(held);
    });

    it('Cache-Control is validated', async () => {
      const ask = (value: string) =>
        front.ask('/v1/thing/x', { headers: { 'cache-control': value } });
      expect((await ask('no-cache, max-age=5')).status).to.equal(200);
      const reply = await ask('max-age=abc');
      expect([reply.status, reply.text]).to.satisfy(
        ([s, t]: [number, string]) => s === 400 && t.startsWith('Invalid Cache-Control header.'),
      );
    });
  });

  describe('the namespace', () => {
    const ns = async (query: string, headers: Record<string, string> = {}, path = '/v1/ns') => {
      const { status, text } = await front.ask(`${path}${query}`, { headers });
      return status === 200 ? JSON.parse(text) : text;
    };
    it('is taken from the query, the header, or the token, or is default', async () => {
      const token = { 'x-service-token': 'a' };
      expect(await ns('')).to.equal('default');
      expect(await ns('', token)).to.equal('team');
      expect(await ns('', { ...token, 'x-consul-namespace': 'Web' })).to.equal('web');
      expect(await ns('?ns=db', { ...token, 'x-service-namespace': 'web' })).to.equal('db');
    });
    it('is taken from the body before all others', async () => {
      const reply = await front.ask('/v1/ns-of-body?ns=db', {
        method: 'PUT',
        body: '{"Namespace":"own"}',
      });
      expect(JSON.parse(reply.text)).to.equal('own');
      const wrong = await front.ask('/v1/ns-of-body', { method: 'PUT', body: '{"Namespace":1}' });
      expect(wrong.status).to.equal(400);
    });
    it('may be * for lists only', async () => {
      expect(await ns('?ns=*', {}, '/v1/ns-list')).to.equal('*');
      expect(await ns('?ns=*')).to.match(/only lists/);
    });
    it('is validated', async () => {
      for (const bad of ['a b', '-a', 'a'.repeat(64), 'a/b', '..'])
        expect(await ns(`?ns=${encodeURIComponent(bad)}`), bad).to.match(/cannot be a namespace/);
    });
    it('of a token unknown to this node is looked up again after catching up', async () => {
      let known = false;
      const late = await startFront(routes, {
        service: fakeService({
          namespaceOf: () => (known ? 'late' : undefined),
          catchUp: async () => {
            known = true;
          },
        }),
      });
      const { text } = await late.ask('/v1/ns', { headers: { 'x-service-token': 'fresh' } });
      await late.close();
      expect(JSON.parse(text)).to.equal('late');
    });
  });

  describe('the token', () => {
    const key = (secret: string): string => createHash('sha256').update(secret).digest('hex');
    const cases: [string, Record<string, string | string[]>, string | null][] = [
      ['none', {}, null],
      ['X-Service-Token', { 'X-Service-Token': 'a' }, key('a')],
      ['X-Consul-Token', { 'X-Consul-Token': 'a' }, key('a')],
      ['the same under both prefixes', { 'X-Consul-Token': 'a', 'X-Service-Token': 'a' }, key('a')],
      ['Bearer, any case, many blanks', { Authorization: 'bEARER   a b' }, key('a')],
      ['the same as Bearer', { Authorization: 'Bearer a', 'X-Service-Token': 'a' }, key('a')],
      ['empty counts as absent', { 'X-Service-Token': '', Authorization: 'Bearer a' }, key('a')],
      ['other schemes count as absent', { Authorization: 'Basic a' }, null],
      ['a bare value counts as absent', { Authorization: 'a' }, null],
    ];
    for (const [title, headers, tokenKey] of cases)
      it(title, async () => {
        expect(JSON.parse((await front.ask('/v1/whoami', { headers })).text)).to.deep.equal({
          tokenKey,
        });
      });

    it('in the query is accepted only if configured', async () => {
      const open = await startFront(routes, { tokenInQuery: true });
      const { text } = await open.ask('/v1/whoami?token=a');
      await open.close();
      expect(JSON.parse(text)).to.deep.equal({ tokenKey: key('a') });
    });
  });

  describe('a body', () => {
    it('is parsed and answered unchanged', async () => {
      const text = '{"a":[1,-2.5e3,true,null,"\\u00e9\\n"],"b":{"c":{}}," ":""}';
      const { status, text: answer } = await put(` \n${text}\t`, { 'content-type': 'text/plain' });
      expect(status).to.equal(200);
      expect(JSON.parse(answer)).to.deep.equal(JSON.parse(text));
    });
    it('of null counts as {}', async () => {
      expect((await put('null')).text).to.equal('{}\n');
    });

    const refused: [string, string | Buffer, RegExp][] = [
      ['empty', '', /EOF/],
      ['blank', '  \n ', /EOF/],
      ['cut off', '{', /line 1, column 2/],
      ['a list', '[]', /expected a JSON object, got a list/],
      ['a number', '1', /expected a JSON object, got a number/],
      ['a text', '"x"', /expected a JSON object, got a string/],
      ['a trailing comma', '{"a":1,}', /unexpected "}", expected a field name .* column 8/],
      ['single quotes', "{'a':1}", /double quotes/],
      ['a comment', '{"a":1/*c*/}', /no comments.* column 7/],
      ['a byte-order mark', '\ufeff{}', /byte-order mark/],
      ['text after the end', '{"a":1} x', /unexpected "x" after the end .* column 9/],
      ['two values', '{}{}', /after the end/],
      [
        'a duplicate key',
        '{"a":1,\n "b":{"c":1,"c":2}}',
        /the field "c" appears twice .* line 2, column 13/,
      ],
      ['a duplicate key in escapes', '{"a":1,"\\u0061":2}', /appears twice/],
      ['__proto__', '{"a":{"__proto__":{"x":1}}}', /unknown field "__proto__"/],
      ['too deep', `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`, /nested deeper than 64/],
      ['a number out of range', '{"a":1e999}', /out of range/],
      ['a leading zero', '{"a":01}', /a number that is not valid JSON/],
      ['NaN', '{"a":NaN}', /unexpected "N", expected a value for "a"/],
      ['half a surrogate pair', '{"a":"\\ud800"}', /surrogate/],
      ['a bad escape', '{"a":"\\x"}', /escape/],
      ['a raw control character', '{"a":"\n"}', /control character/],
      ['an unclosed text', '{"a":"b', /closing double quote/],
      ['no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), /not UTF-8/],
    ];
    for (const [title, body, text] of refused)
      it(`${title}: 400 with the position`, async () => {
        const reply = await put(body);
        expect(reply.status).to.equal(400);
        expect(reply.text)
          .to.match(/^Thing decoding failed: /)
          .and.to.match(text);
      });

    it('too large by its length: 413 before it is read, and the connection is closed', async () => {
      const reply = await put('x'.repeat(65_537));
      expect(reply.status).to.equal(413);
      expect(reply.text).to.match(/65536 bytes/);
      expect(reply.headers.connection).to.equal('close');
    });
    it('too large: the rest is read after the response, as a reset would discard it', async () => {
      const length = 8_000_000;
      const client = connect(front.listener.port, '127.0.0.1');
      let received = '';
      let sent = false;
      client.write(`PUT /v1/thing HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`);
      client.on('data', (part) => {
        if (received === '') client.write('x'.repeat(length), () => (sent = true));
        received += part;
      });
      await once(client, 'end');
      expect(received).to.match(/^HTTP\/1\.1 413 /);
      expect(sent).to.equal(true);
      client.destroy();
    });
    it('too large in chunks: 413', async () => {
      const reply = await put('x'.repeat(70_000), { 'transfer-encoding': 'chunked' });
      expect(reply.status).to.equal(413);
    });
    it('that the client cuts off does no harm', async () => {
      const head = 'PUT /v1/thing HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{"a"';
      await new Promise<void>((resolve) => {
        const client = connect(front.listener.port, '127.0.0.1', () =>
          client.write(head, () => client.destroy()),
        );
        client.on('close', () => resolve());
      });
      expect((await front.ask('/v1/thing/x')).status).to.equal(200);
    });
  });
});
