/** `http.fieldNames`: names of fields in any letter case, for clients that write them so. */
import { expect } from 'chai';
import { CASE_HINT } from '../../src/languages/respell.js';
import type { SoloClient } from './client.js';
import { askSpelled, openWith } from './spelled-client.js';

describe('Names of fields in another letter case', function () {
  this.timeout(60_000);
  const written = async (call: string, body: unknown) => {
    const { status, text } = await askSpelled(client, call, body);
    expect(status, text).to.equal(200);
    return JSON.parse(text);
  };
  let client: SoloClient;
  beforeEach(async () => {
    client = await openWith('anyCase');
  });
  afterEach(() => client.close());

  const refusedFor = async (call: string, body: unknown, status = 400): Promise<string> => {
    const answer = await askSpelled(client, call, body);
    expect(answer.status, answer.text).to.equal(status);
    return answer.text.replaceAll('\\"', '"');
  };

  it('are refused by default, and the hint names the setting', async () => {
    const exact = await openWith('exact');
    const asked = [
      ['PUT /acl/policy', { name: 'ops' }, 'unknown field "name"; did you mean "Name"?'],
      ['PUT /config', { Kind: 'service-defaults', Name: 'a', PROTOCOL: 'tcp' }, '"PROTOCOL"'],
      ['PUT /config', { Kind: 'service-defaults', Name: 'a', External_Sni: 'a' }, 'External_Sni'],
      ['PUT /config', { KIND: 'service-defaults', Name: 'a' }, 'does not contain a kind/Kind key'],
    ] as const;
    for (const [call, body, message] of asked) {
      const { status, text } = await askSpelled(exact, call, body);
      expect(status).to.equal(400);
      expect(text).to.contain(message).and.contain(CASE_HINT);
    }
    const { text } = await askSpelled(exact, 'PUT /acl/policy', { Nmae: 'ops' });
    expect(text).to.contain('did you mean "Name"?').and.not.contain('fieldNames');
    await exact.close();
  });

  it('may stand once for each field of an object: two spellings are refused by both', async () => {
    const both = (one: string, other: string): string =>
      `the fields "${one}" and "${other}" are two spellings of one field`;
    const asked = [
      ['PUT /acl/policy', { Name: 'a', name: 'b' }, both('Name', 'name'), ''],
      ['PUT /acl/policy', { nAME: 'a', name: 'a' }, both('nAME', 'name'), ''],
      ['PUT /acl/policy', { Name: 'a', rules: null, Rules: '' }, both('rules', 'Rules'), ''],
      [
        'PUT /acl/role',
        { Name: 'a', policies: [{}, { ID: 'x', id: 'y' }] },
        both('ID', 'id'),
        '/Policies/1',
      ],
      ['PUT /config', { Kind: 'mesh', kind: 'mesh' }, both('Kind', 'kind'), ''],
      [
        'PUT /config',
        { Kind: 'service-defaults', Name: 'a', PROTOCOL: '', protocol: '' },
        both('PROTOCOL', 'protocol'),
        '',
      ],
      [
        'PUT /config',
        { Kind: 'service-defaults', Name: 'a', EXTERNAL_SNI: '', ExternalSNI: '' },
        both('EXTERNAL_SNI', 'ExternalSNI'),
        '',
      ],
      [
        'POST /apply',
        { objects: [{ type: 'policy', object: { Name: 'a', name: 'a' } }] },
        both('Name', 'name'),
        '/Objects/0/Object',
      ],
      ['PATCH /config/mesh/mesh', { TLS: {}, tls: {} }, both('TLS', 'tls'), ''],
      [
        'POST /internal/acl/authorize',
        [{ Resource: 'acl', RESOURCE: 'acl', Access: 'read' }],
        both('Resource', 'RESOURCE'),
        '/0',
      ],
    ] as const;
    for (const [call, body, message, at] of asked) {
      const text = await refusedFor(call, body);
      expect(text).to.contain(`${message}${at === '' ? '' : ` at ${at}`}`);
    }
  });

  it('leave the keys of maps and of free objects as they are', async () => {
    const Meta = { a: '1', A: '2', name: 'x', Name: 'y', META: 'z' };
    const Config = { Foo: 1, foo: 2, PROTOCOL: 'x' };
    await written('PUT /config', {
      kind: 'proxy-defaults',
      name: 'global',
      config: Config,
      meta: Meta,
    });
    const entry = await client.must('GET /config/proxy-defaults/global');
    expect(entry.Meta).to.deep.equal(Meta);
    expect(entry.Config).to.deep.equal(Config);
    await written('PUT /namespace', { NAME: 'team', META: Meta });
    expect((await client.must('GET /namespace/team')).Meta).to.deep.equal(Meta);
    const headers = { Add: { 'x-a': '1', 'X-A': '2' } };
    const routes = [
      { MATCH: { http: { pathprefix: '/' } }, destination: { REQUESTHEADERS: headers } },
    ];
    await written('PUT /config', {
      Kind: 'proxy-defaults',
      Name: 'global',
      Config: { protocol: 'http' },
    });
    await written('PUT /config', { Kind: 'service-router', Name: 'web', routes });
    const router = await client.must('GET /config/service-router/web');
    expect(router.Routes[0].Destination.RequestHeaders.Add).to.deep.equal(headers.Add);
  });

  it('reach the objects in maps whose keys are names', async () => {
    const failover = { v1: { SERVICE: 'b' }, v2: { service: 'c' } };
    const subsets = { v1: { FILTER: 'a == b' }, v2: { filter: '' } };
    await written('PUT /config', {
      Kind: 'service-resolver',
      Name: 'a',
      SUBSETS: subsets,
      failover,
    });
    const { Subsets, Failover } = await client.must('GET /config/service-resolver/a');
    expect(Object.keys(Subsets)).to.deep.equal(['v1', 'v2']);
    expect(Subsets.v1.Filter).to.equal('a == b');
    expect(Failover.v1.Service).to.equal('b');
  });

  it('are still refused if they are no field: inherited names, slips, and very many', async () => {
    for (const name of ['constructor', 'CONSTRUCTOR', 'toString', 'hasOwnProperty', 'Nmae']) {
      expect(await refusedFor('PUT /acl/policy', { name: 'a', [name]: {} })).to.contain(
        `unknown field "${name}"`,
      );
      const entry = { kind: 'service-defaults', name: 'a', [name]: {} };
      expect(await refusedFor('PUT /config', entry)).to.contain(`invalid config key "${name}"`);
    }
    await refusedFor('PUT /acl/policy', '{"name":"a","__proto__":{"x":1}}');
    await refusedFor('PUT /acl/policy', '{"name":"a","__PROTO__":{"x":1}}');
    expect(({} as Record<string, unknown>)['x']).to.equal(undefined);
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`name${n}`, n]));
    expect(await refusedFor('PUT /acl/policy', many)).to.contain('unknown field "name0"');
    const long = await refusedFor('PUT /acl/policy', { Name: 'a', ['n'.repeat(100_000)]: 1 });
    expect(long.length).to.be.lessThan(1000);
    const deep = JSON.parse(`${'{"policies":['.repeat(30)}${']}'.repeat(30)}`);
    await refusedFor('PUT /acl/role', deep);
  });

  it('do not make other names of values: kinds, types and links match as always', async () => {
    expect(await refusedFor('PUT /config', { kind: 'SERVICE-DEFAULTS', name: 'a' })).to.contain(
      'invalid config entry kind',
    );
    await written('PUT /acl/policy', { name: 'p', rules: 'acl = "read"' });
    const role = await written('PUT /acl/role', { name: 'r', policies: [{ name: 'p' }] });
    expect(role.Policies[0].Name).to.equal('p');
  });
});
