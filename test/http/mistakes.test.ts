/** What a client is told whose request is nearly right. */
import { connect } from 'node:net';
import { expect } from 'chai';
import { allOperations } from '../../src/api/endpoints/endpoints.js';
import { operatorRoutes } from '../../src/http/routes/operator.js';
import { statusRoutes } from '../../src/http/routes/status.js';
import type { ClusterParts } from '../../src/service/cluster/cluster.js';
import { SoloClient } from '../service/client.js';
import { MANAGEMENT_SECRET, Solo } from '../service/solo.js';
import { type Reply, send } from '../support/client.js';

const UNKNOWN = 'ffffffff-aaaa-4aaa-8aaa-000000000001';
const NO_ID = '/v1/acl/role/ffffffff-aaaa-4aaa-8aaa-000000000002';

describe('http: mistakes of clients', () => {
  let client: SoloClient;
  before(async () => {
    const solo = new Solo();
    const parts = { service: solo.service, node: solo.node } as unknown as ClusterParts;
    client = await SoloClient.open([...statusRoutes(parts), ...operatorRoutes(parts)], solo);
    for (const Name of ['hello', 'Helper', 'other']) await client.must('PUT /acl/role', { Name });
  });
  after(() => client.close());

  const ask = (
    call: string,
    headers: Record<string, string> = { 'X-Service-Token': MANAGEMENT_SECRET },
    body?: object,
  ): Promise<Reply> => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return send(client.url, call, { headers, ...sent });
  };
  const told = async (...given: Parameters<typeof ask>): Promise<string> => {
    const { status, text } = await ask(...given);
    return `${status} ${text}`;
  };

  describe('a token', () => {
    const list = 'GET /v1/acl/roles';
    const SEND = 'send it as "X-Service-Token: TOKEN" or "Authorization: Bearer TOKEN"';

    it('that does not exist is said to be unknown, after the words clients look for', async () => {
      const hint = 'the token sent is not known to this cluster';
      const headers = { 'X-Consul-Token': UNKNOWN };
      expect(await told(list, headers)).to.equal(`403 ACL not found (${hint})\n`);
      expect(await told('PUT /v1/acl/role', headers, {})).to.equal(`403 ACL not found (${hint})\n`);
      const { text } = await ask(list, { ...headers, Accept: 'application/json' });
      expect(JSON.parse(text)).to.include({ code: 'acl_not_found', detail: 'ACL not found', hint });
    });

    it('that is missing is said to be missing', async () => {
      expect(await told(list, {})).to.match(/^403 Permission denied: anonymous token lacks/);
      expect(await told(list, {})).to.include(`(the request has no token; ${SEND})\n`);
    });

    const places: Record<string, [header: string, value: string, why: string]> = {
      'without Bearer': ['Authorization', UNKNOWN, 'the header Authorization is not "Bearer'],
      'of another scheme': ['Authorization', 'Basic eDp5', 'the header Authorization is not'],
      'in a header of another server': [
        'x-api-token',
        UNKNOWN,
        'the header X-Api-Token is not supported',
      ],
    };
    for (const [where, [header, value, why]] of Object.entries(places))
      it(`${where} is not read, and the answer says where it belongs`, async () => {
        const text = await told('GET /v1/acl/token/self', { [header]: value });
        expect(text).to.match(/^403 token does not exist: ACL not found \(/);
        expect(text).to.include(why).and.to.include(SEND).and.not.to.include(value);
      });

    it('is not the matter where another object does not exist', async () => {
      expect(await told(`GET /v1/acl/token/${UNKNOWN}`)).to.equal(
        '403 token does not exist: ACL not found\n',
      );
      const login = { AuthMethod: 'none', BearerToken: 'x' };
      expect(await told('POST /v1/acl/login', {}, login)).to.equal(
        '403 ACL not found: auth method "none" not found\n',
      );
    });
  });

  describe('a path', () => {
    const meant: [sent: string, path: string][] = [
      ['/v1/acl/rolls', '/v1/acl/roles'],
      ['/v1/acl/roles/', '/v1/acl/roles'],
      ['/v1/ACL/roles', '/v1/acl/roles'],
      ['/v2/acl/roles', '/v1/acl/roles'],
      ['/v1/acl/tokn/self', '/v1/acl/token/self'],
      ['/v1/configs/service-defaults/a/b', '/v1/config/:kind/:name'],
      ['/v1/health/life', '/v1/health/live'],
    ];
    for (const [sent, path] of meant)
      it(`${sent} may mean ${path}`, async () => {
        expect(await told(`GET ${sent}`)).to.match(/^404 Invalid URL path: /);
        expect(await told(`GET ${sent}`)).to.include(` (did you mean ${path}?)\n`);
      });

    const absent: Record<string, string> = {
      '/v1/kv/foo': 'the key-value store of Consul does not exist here',
      '/v1/kv': 'the key-value store of Consul does not exist here',
      '/v1/catalog/nodes': 'the catalog of Consul does not exist here',
      '/v1/health/service/web': 'the health checks of Consul do not exist here',
      '/v1/session/create': 'the sessions of Consul do not exist here',
    };
    for (const [path, hint] of Object.entries(absent))
      it(`${path} belongs to what this server does not have`, async () => {
        const sentence = 'Invalid URL path: not a recognized HTTP API endpoint';
        expect(await told(`PUT ${path}`)).to.equal(`404 ${sentence} (${hint})\n`);
      });

    for (const path of ['/v1/unknown', '/v1/acl', `/v1/acl/${'rolls'.repeat(100)}`, '/v1/acl/x'])
      it(`${path.slice(0, 20)} is like none`, async () => {
        expect(await told(`GET ${path}`)).to.match(/^404 Invalid URL path: [^()]*endpoint\n$/);
      });

    it('is not quoted, whatever it holds', async () => {
      for (const odd of ['/v1/acl/r%C2%85les', '/v1/acl/rol%E2%80%AEs', '/v1/kv/%3Cb%3E']) {
        expect(await told(`GET ${odd}`), odd).to.match(/^404 [ -~]*\n$/);
      }
    });
  });

  it('a method that a path does not have is answered with those that it has', async () => {
    expect(await told('POST /v1/acl/role')).to.equal(
      '405 method POST not allowed (this path takes PUT)\n',
    );
    expect(await told('POST /v1/acl/role/x')).to.equal(
      '405 method POST not allowed (this path takes GET, PUT, PATCH, DELETE, HEAD)\n',
    );
  });

  describe('a name', () => {
    const asId: [call: string, hint: string][] = [
      [
        'GET /v1/acl/role/hello',
        'by name it is /v1/acl/role/name/hello; the list is /v1/acl/roles',
      ],
      [
        'DELETE /v1/acl/policy/p',
        'by name it is /v1/acl/policy/name/p; the list is /v1/acl/policies',
      ],
      ['GET /v1/acl/binding-rule/x', 'the list is /v1/acl/binding-rules'],
      ['GET /v1/acl/token/x', 'the list is /v1/acl/tokens'],
    ];
    for (const [call, hint] of asId)
      it(`in the place of an ID: ${call}`, async () => {
        expect(await told(call))
          .to.match(/^400 .*UUID/)
          .and.to.include(` (${hint})\n`);
      });

    it('in the place of the ID of a write', async () => {
      const text = await told('PUT /v1/acl/role/hello', undefined, { Name: 'hello' });
      expect(text).to.match(
        /^400 Role ID invalid UUID.* \(by name it is \/v1\/acl\/role\/name\/hello;/,
      );
    });

    it('that is long or odd is not repeated as a path', async () => {
      for (const odd of ['x'.repeat(5000), 'a%20b', '%E2%80%AE', '%C2%9B1m']) {
        const { status, text } = await ask(`GET /v1/acl/role/${odd}`);
        expect(status, odd).to.equal(400);
        expect(text)
          .to.include('/v1/acl/role/name/:name;')
          .and.to.match(/^[ -~]{1,300}\n$/);
      }
    });

    it('that does not exist is answered with one that does', async () => {
      const missing = 'Requested role does not exist: ACL not found';
      const named = (name: string): Promise<string> => told(`GET /v1/acl/role/name/${name}`);
      expect(await named('helo')).to.equal(`404 ${missing} (did you mean "hello"?)\n`);
      expect(await named('helpr')).to.equal(`404 ${missing} (did you mean "Helper"?)\n`);
      expect(await named('something')).to.equal(`404 ${missing}\n`);
      expect(await told(`GET ${NO_ID}`)).to.equal(`404 ${missing}\n`);
      expect(await named('helo?index=1&wait=1ms')).to.equal(`404 ${missing}\n`);
    });

    it('is looked for only in its namespace, and only for callers who may read it', async () => {
      await client.must('PUT /namespace', { Name: 'team' });
      expect(await told('GET /v1/acl/role/name/helo?ns=team')).not.to.include('hello');
      expect(await told('GET /v1/acl/role/name/helo', {})).not.to.include('hello');
    });

    it('of an entry is answered with one that the caller may read', async () => {
      for (const Name of ['payment', 'payments-db']) {
        await client.must('PUT /config', { Kind: 'service-defaults', Name, Protocol: 'http' });
      }
      const entry = 'GET /v1/config/service-defaults/paymetn';
      expect(await told(entry)).to.include('"paymetn" (did you mean "payment"?)\n');
      expect(await told(`${entry}?index=1&wait=1ms`)).to.match(/"paymetn"\n$/);
      const secret = await client.secretWith(
        'service "paymetn" { policy = "read" }\nservice "payments-db" { policy = "read" }',
      );
      expect(await told(entry, { 'X-Service-Token': secret })).to.match(/^404 .*"paymetn"\n$/);
    });

    it('is compared with a bounded number of names', async () => {
      for (let n = 1000; n < 1500; n += 1) {
        client.solo.must({
          type: 'policy.set',
          v: 1,
          ns: 'default',
          create: true,
          hash: '',
          id: `eeeeeeee-aaaa-4aaa-8aaa-00000000${n}`,
          policy: { Name: `team-service-${n}`, Description: '', Rules: '' },
        } as never);
      }
      let compared = 0;
      const { view } = client.solo.service;
      const keys = view.keys.bind(view);
      view.keys = function* (prefix: string, after?: string) {
        for (const key of keys(prefix, after)) {
          compared += 1;
          yield key;
        }
      };
      const text = await told('GET /v1/acl/policy/name/team-service-1042x');
      view.keys = keys;
      expect(text).to.include('did you mean "team-service-10');
      expect(compared).to.be.within(1, 250);
    });
  });

  describe('a cas that does not match', () => {
    let index = 0;
    const entry = { Kind: 'service-defaults', Name: 'versioned', Protocol: 'http' };
    const problem = { Accept: 'application/problem+json', 'X-Service-Token': MANAGEMENT_SECRET };
    before(async () => {
      await client.must('PUT /config', entry);
      index = (await client.must('GET /config/service-defaults/versioned')).ModifyIndex;
    });

    for (const Accept of ['*/*', 'application/json', 'application/json, application/problem+json'])
      it(`is false for ${Accept}`, async () => {
        const headers = { ...problem, Accept };
        expect(await told('PUT /v1/config?cas=1', headers, entry)).to.equal('200 false\n');
      });

    it('is answered with the present index to who asks for problem details alone', async () => {
      const has = `Precondition failed: service-defaults "versioned" has ModifyIndex ${index}`;
      const calls: [call: string, detail: string][] = [
        ['PUT /v1/config?cas=1', has],
        ['PUT /v1/config?cas=0', has],
        ['DELETE /v1/config/service-defaults/versioned?cas=1', has],
        [
          'DELETE /v1/config/service-defaults/gone?cas=1',
          'Precondition failed: service-defaults "gone" does not exist',
        ],
      ];
      for (const [call, detail] of calls) {
        const { status, text } = await ask(
          call,
          problem,
          call.startsWith('PUT') ? entry : undefined,
        );
        expect(status, call).to.equal(412);
        expect(JSON.parse(text)).to.include({ code: 'precondition_failed', detail });
      }
      const autopilot = 'PUT /v1/operator/autopilot/configuration?cas=7';
      const { status, text } = await ask(autopilot, problem, {});
      expect(status).to.equal(412);
      expect(text).to.include('the autopilot configuration has ModifyIndex 0');
      expect(await told(`PUT /v1/config?cas=${index}`, problem, entry)).to.equal('200 true\n');
    });
  });

  describe('a query parameter', () => {
    const one = '/v1/config/service-defaults/versioned';
    const slips: [query: string, meant: string][] = [
      ['stal', 'stale'],
      ['Stale', 'stale'],
      ['consistant', 'consistent'],
      ['indx=3', 'index'],
      ['wat=1s', 'wait'],
      ['wiat=1s', 'wait'],
      ['consisten', 'consistent'],
      ['namespace=team', 'ns'],
      ['max-stale=1s', 'max_stale'],
      ['datacentre=dc2', 'datacenter'],
      ['tokn=secret', 'token'],
    ];
    for (const [query, meant] of slips)
      it(`?${query} is refused: it may mean ?${meant}`, async () => {
        const name = query.split('=')[0];
        const sentence = `Unknown query parameter "${name}"; did you mean "${meant}"?`;
        expect(await told(`GET ${one}?${query}`)).to.equal(`400 ${sentence}\n`);
      });

    for (const [path, query, meant] of [
      ['/v1/config/service-defaults', 'filtr=Name', 'filter'],
      ['/v1/acl/tokens', 'service-name=web', 'servicename'],
      ['/v1/acl/tokens', 'rol=x', 'role'],
    ] as const)
      it(`${path}?${query} is refused: it may mean ?${meant}`, async () => {
        expect(await told(`GET ${path}?${query}`)).to.include(`did you mean "${meant}"?`);
      });

    for (const query of [
      'n5=x',
      'n=x',
      'bs=x',
      'db=x',
      'd=x',
      'cass=1',
      'cs=4',
      'consstnt',
      'prety',
    ])
      it(`?${query} is no slip of a parameter, so that a header names it`, async () => {
        const { status, headers } = await ask(`GET ${one}?${query}`);
        expect(status).to.equal(200);
        const [name] = query.split('=');
        expect(headers['x-consul-warning']).to.equal(`ignored query parameters: ${name}`);
      });

    it('that has no effect is named in a header', async () => {
      const { status, headers, text } = await ask(`GET ${one}?foo=bar&cas=1&near=_agent&pretty`);
      expect(status).to.equal(200);
      expect(text).to.match(/^\{\n/);
      expect(headers['x-consul-warning']).to.equal('ignored query parameters: foo, near');
      expect(headers['x-service-warning']).to.equal(headers['x-consul-warning']);
      const plain = await ask(`GET ${one}?stale&leader&index=0&wait=&dc=dc1&ns=default`);
      expect(plain.headers['x-consul-warning']).to.equal(undefined);
    });

    it('is named in the answer to its own request alone, and in that of an error', async () => {
      const warned = async (path: string) => (await ask(`GET ${path}`)).headers['x-consul-warning'];
      for (let round = 0; round < 2; round += 1) {
        expect(await warned(`${one}?foo`)).to.match(/: foo$/);
        expect(await warned(one)).to.equal(undefined);
      }
      expect(await warned('/v1/config/service-defaults/none?foo')).to.match(/: foo$/);
    });

    it('is encoded and counted in the header, however odd and many there are', async () => {
      const odd = ['%0d%0aX-Evil:1', '%00', '%C2%85', `${'y'.repeat(5000)}`, '%E2%80%AE', 'f', 'g'];
      const { status, headers } = await ask(`GET ${one}?${odd.join('&')}`);
      expect(status).to.equal(200);
      expect(headers['x-evil']).to.equal(undefined);
      expect(headers['x-consul-warning'])
        .to.match(/^ignored query parameters: %0D%0AX-Evil%3A1, %00, %C2%85, y{40}, /)
        .and.to.match(/ and 2 more$/)
        .and.to.have.lengthOf.below(300);
    });

    it('is known where its operation is declared with it', async () => {
      for (const [path, { GET }] of Object.entries(allOperations())) {
        if (GET?.query === undefined || path.includes(':')) continue;
        const call = `GET ${path}?${GET.query.map((name) => `${name}=`).join('&')}`;
        const { headers, text } = await ask(call);
        expect(headers['x-consul-warning'], call).to.equal(undefined);
        expect(text, call).not.to.include('Unknown query parameter');
      }
    });
  });

  it('control characters that a sentence quotes are escaped', async () => {
    const { text } = await ask('GET /v1/config/service-defaults/%C2%9B31mred%E2%80%AEx');
    expect(text)
      .to.include('\\u009b31mred\\u202ex')
      .and.to.match(/^[ -~]*\n$/);
  });

  it('a request that is no HTTP is answered with a line', async () => {
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(client.url).port), '127.0.0.1', () =>
        socket.write('nonsense\r\n\r\n'),
      );
      let received = '';
      socket.on('data', (data) => {
        received += data;
      });
      socket.on('close', () => resolve(received));
      socket.on('error', reject);
    });
    const [head, body] = text.split('\r\n\r\n');
    expect(body).to.equal('The request is not well-formed HTTP\n');
    expect(head).to.include(`Content-Length: ${body!.length}`);
  });
});
