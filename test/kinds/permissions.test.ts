/** The API's permission table, checked against the code's table and against a server. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { definitionOf } from '../../src/kinds/definitions.js';
import type { Operation } from '../../src/kinds/permissions.js';
import { KINDS, type Kind } from '../../src/kinds/types.js';
import { SoloClient } from '../service/client.js';
import { MANAGEMENT_SECRET } from '../service/solo.js';

/** As documented for the API: kind, apply and delete, get and list. */
const DOCUMENTED = `
api-gateway | mesh:write | service:read
bound-api-gateway | never | service:read
exported-services | mesh:write | mesh:read
file-system-certificate | mesh:write | mesh:read
http-route | mesh:write | mesh:read
ingress-gateway | mesh:write | service:read
inline-certificate | mesh:write | mesh:read
jwt-provider | mesh:write | mesh:read or service:write
mesh | mesh:write | none
proxy-defaults | mesh:write | none
service-defaults | service:write | service:read
service-intentions | intention:write | intention:read
service-resolver | service:write | service:read
service-router | service:write | service:read
service-splitter | service:write | service:read
tcp-route | mesh:write | mesh:read
terminating-gateway | mesh:write | service:read`
  .trim()
  .split('\n')
  .map((line) => line.split(' | ') as [Kind, string, string]);

/** Policies that grant a permission, and policies that grant everything else. */
const SERVICES = 'service_prefix "" { policy = "write" intentions = "write" }';
const RIGHTS: Record<string, { right: string[]; wrong: string[] }> = {
  'service:write': {
    right: ['service "x" { policy = "write" }', 'service_prefix "" { policy = "write" }'],
    wrong: [
      'service "x" { policy = "read" } mesh = "write" operator = "write"',
      'service "X" { policy = "write" }',
    ],
  },
  'service:read': {
    right: ['service "x" { policy = "read" }'],
    wrong: ['service "other" { policy = "write" } mesh = "write" operator = "write"'],
  },
  'intention:write': {
    right: ['service "x" { policy = "read" intentions = "write" }'],
    wrong: ['service "x" { policy = "write" } mesh = "write"'],
  },
  'intention:read': {
    right: [
      'service "x" { policy = "read" }',
      'service "x" { policy = "deny" intentions = "read" }',
    ],
    wrong: ['service "x" { policy = "read" intentions = "deny" } mesh = "write"'],
  },
  'mesh:write': {
    right: ['mesh = "write"', 'operator = "write"'],
    wrong: [
      `mesh = "read" operator = "read" ${SERVICES}`,
      'mesh = "deny" operator = "write"',
      'mesh = "read" operator = "write"',
    ],
  },
  'mesh:read or service:write': {
    right: [
      'mesh = "read"',
      'operator = "read"',
      'service "any" { policy = "write" } mesh = "deny"',
      'service_prefix "q" { policy = "write" }',
    ],
    wrong: [
      'service_prefix "" { policy = "read" intentions = "write" } acl = "write"',
      'node_prefix "" { policy = "write" } operator = "write" mesh = "deny"',
    ],
  },
  'mesh:read': { right: ['mesh = "read"', 'operator = "read"'], wrong: [SERVICES] },
};

const rows = JSON.parse(readFileSync('test/tables/config-decode.json', 'utf8')) as {
  name: string;
  input: object;
}[];
const certificate = rows.find(({ name }) => name === 'inline-certificate: minimal entry #1')?.input;
const route = { Kind: 'tcp-route', Name: 'x' };
const listeners = [{ Name: 'l', Port: 1, Protocol: 'tcp' }];
/** The smallest entry of each kind, with a name that the policies above contain. */
const BODIES: Partial<Record<Kind, object>> = {
  'api-gateway': { Listeners: listeners },
  'exported-services': { Name: 'default' },
  'inline-certificate': { ...certificate, Name: 'x' },
  'jwt-provider': { JSONWebKeySet: { Local: { Filename: '/k' } } },
  mesh: { Name: 'mesh' },
  'proxy-defaults': { Name: 'global' },
  'service-intentions': { Sources: [{ Name: 'a', Action: 'allow' }] },
  'service-splitter': { Splits: [{ Weight: 100 }] },
  'tcp-route': route,
};
const http = { Kind: 'service-defaults', Name: 'x', Protocol: 'http' };
/** What must exist before an entry of the kind can. */
const NEEDS: Partial<Record<Kind, object>> = {
  'service-router': http,
  'service-splitter': http,
  'bound-api-gateway': { Kind: 'api-gateway', Name: 'x', Listeners: listeners },
};
const bodyOf = (kind: Kind) =>
  ({ Name: 'x', ...BODIES[kind], Kind: kind }) as { Kind: Kind; Name: string };
const pathOf = (kind: Kind) => `/config/${kind}/${bodyOf(kind).Name}`;

describe('kinds: the permission table', () => {
  it('contains every kind once', () => {
    expect(DOCUMENTED.map(([kind]) => kind)).to.deep.equal([...KINDS]);
  });

  for (const [kind, write, read] of DOCUMENTED) {
    for (const [operation, wanted] of [
      ['apply', write],
      ['delete', write],
      ['get', read],
      ['list', read],
    ] as const) {
      it(`${operation} of ${kind} needs ${wanted}`, () => {
        const { resource, access, named, orAnyService } = definitionOf(kind).permissions[operation];
        const actual =
          resource === 'none' || resource === 'never' ? resource : `${resource}:${access}`;
        const more = orAnyService === undefined ? '' : ` or service:${orAnyService}`;
        expect(actual + more).to.equal(wanted);
        expect(named).to.equal(wanted.startsWith('service') || wanted.startsWith('intention'));
      });
    }
  }
});

/** A separate server with a client, and a cached token for every requested policy. */
function serverFor(needed?: object) {
  const own = {} as { client: SoloClient; tokenWith: (rules: string) => Promise<string> };
  before(async () => {
    own.client = await SoloClient.open();
    if (needed !== undefined) await own.client.must('PUT /config', needed);
    const tokens = new Map<string, string>();
    own.tokenWith = async (rules) => {
      const secret = tokens.get(rules) ?? (await own.client.secretWith(rules));
      tokens.set(rules, secret);
      return secret;
    };
  });
  after(() => own.client.close());
  return own;
}

const attempt = (client: SoloClient, operation: Operation, kind: Kind, secret: string) => {
  if (operation === 'apply') return client.ask('PUT /config', bodyOf(kind), secret);
  if (operation === 'list') return client.ask(`GET /config/${kind}`, undefined, secret);
  const method = operation === 'get' ? 'GET' : 'DELETE';
  return client.ask(`${method} ${pathOf(kind)}`, undefined, secret);
};

for (const [kind, write, read] of DOCUMENTED) {
  describe(`kinds: permissions of ${kind} over HTTP`, () => {
    const own = serverFor(NEEDS[kind]);
    /** Before each test the entry exists. */
    beforeEach(async () => {
      if (kind !== 'bound-api-gateway') await own.client.must('PUT /config', bodyOf(kind));
    });

    async function passes(operation: Operation, secret: string): Promise<void> {
      const { status, body, filtered } = await attempt(own.client, operation, kind, secret);
      expect(status).to.equal(200);
      const name = bodyOf(kind).Name;
      if (operation === 'apply') expect(body).to.equal(true);
      if (operation === 'delete') expect(body).to.deep.equal({});
      if (operation === 'get') expect(body).to.include({ Kind: kind, Name: name });
      if (operation !== 'list') return;
      expect(body.map((one: { Name: string }) => one.Name)).to.deep.equal([name]);
      expect(filtered).to.equal(null);
    }
    async function isStopped(operation: Operation, secret: string, phrase: string): Promise<void> {
      const reply = await attempt(own.client, operation, kind, secret);
      const { status, text, body, filtered } = reply;
      if (operation === 'list') {
        const hidden = { status: 200, body: [], filtered: 'true' };
        expect({ status, body, filtered }).to.deep.equal(hidden);
        return;
      }
      expect(status).to.equal(403);
      expect(text).to.contain(phrase);
    }

    for (const operation of ['apply', 'get', 'list', 'delete'] as const) {
      const needed = operation === 'apply' || operation === 'delete' ? write : read;
      if (needed === 'none') {
        it(`${operation} needs no permission and no token`, () => passes(operation, ''));
        continue;
      }
      if (needed === 'never') {
        it(`${operation} is permitted to nobody`, () =>
          isStopped(operation, MANAGEMENT_SECRET, 'only writeable by controller'));
        continue;
      }
      for (const rules of RIGHTS[needed]!.right) {
        it(`${operation} is permitted with ${rules}`, async () => {
          await passes(operation, await own.tokenWith(rules));
        });
      }
      for (const rules of RIGHTS[needed]!.wrong) {
        it(`${operation} is refused with ${rules}`, async () => {
          const secret = await own.tokenWith(rules);
          const [first] = needed.split(' or ');
          await isStopped(operation, secret, `lacks permission '${first}'`);
        });
      }
      it(`${operation} is refused without a token`, () =>
        isStopped(operation, '', 'anonymous token lacks permission'));
    }
  });
}

describe('kinds: permissions outside the table', () => {
  const own = serverFor(http);
  let client: SoloClient;
  const tokenWith = (rules: string): Promise<string> => own.tokenWith(rules);
  before(() => {
    client = own.client;
  });

  it('a wildcard destination of intentions needs the wildcard permission', async () => {
    const body = { ...bodyOf('service-intentions'), Name: '*' };
    const narrow = await tokenWith('service "x" { policy = "read" intentions = "write" }');
    const wide = await tokenWith('service_prefix "" { policy = "read" intentions = "write" }');
    expect((await client.ask('PUT /config', body, narrow)).status).to.equal(403);
    expect((await client.ask('PUT /config', body, wide)).status).to.equal(200);
  });

  it('an entry that routes to another service needs permission to read that service', async () => {
    const secret = await tokenWith('service "x" { policy = "write" }');
    const both = await tokenWith(
      'service "x" { policy = "write" } service "y" { policy = "read" }',
    );
    const resolver = (more: object) => ({ Kind: 'service-resolver', Name: 'x', ...more });
    const bodies = [
      resolver({ Redirect: { Service: 'y' } }),
      resolver({ Failover: { '*': { Service: 'y' } } }),
      resolver({ Failover: { '*': { Targets: [{ Service: 'y' }] } } }),
      { Kind: 'service-splitter', Name: 'x', Splits: [{ Weight: 100, Service: 'y' }] },
      { Kind: 'service-router', Name: 'x', Routes: [{ Destination: { Service: 'y' } }] },
    ];
    for (const body of bodies) {
      const { status, text } = await client.ask('PUT /config', body, secret);
      expect(status, JSON.stringify(body)).to.equal(403);
      expect(text).to.contain(`lacks permission 'service:read' on "y"`);
      expect((await client.ask('PUT /config', body, both)).text).not.to.contain('denied');
    }
    const peer = resolver({ Redirect: { Service: 'y', Peer: 'east' } });
    expect((await client.ask('PUT /config', peer, secret)).status).to.equal(200);
    await client.must('DELETE /config/service-resolver/x');
  });

  it('permission for one spelling of a name does not cover another spelling', async () => {
    await client.must('PUT /config', { Kind: 'service-resolver', Name: 'spelled' });
    const secret = await tokenWith('service "SPELLED" { policy = "write" }');
    const body = { Kind: 'service-resolver', Name: 'SPELLED' };
    const path = '/config/service-resolver/SPELLED';
    for (const refused of [
      await client.ask('PUT /config', body, secret),
      await client.ask(`DELETE ${path}`, undefined, secret),
    ]) {
      expect(refused.status).to.equal(403);
      // It names what was sent, not what is stored.
      expect(refused.text)
        .to.contain(`'service:write' on "SPELLED" in the spelling of the stored entry`)
        .and.not.contain('spelled');
    }
    expect((await client.ask(`GET ${path}`, undefined, secret)).status).to.equal(404);
    expect((await client.ask(`GET ${path}`)).body).to.include({ Name: 'spelled' });
  });

  it('a caller without permission does not learn whether an entry exists', async () => {
    const secret = await tokenWith('service "other" { policy = "write" }');
    await client.must('PUT /config', { Kind: 'service-resolver', Name: 'there' });
    const answers = async (name: string) => {
      const path = `/config/service-resolver/${name}`;
      const body = { Kind: 'service-resolver', Name: name };
      const calls = [
        client.ask(`GET ${path}`, undefined, secret),
        client.ask(`DELETE ${path}?cas=0`, undefined, secret),
        client.ask('PUT /config?cas=0', body, secret),
      ];
      return (await Promise.all(calls)).map(({ status, text }) => [
        status,
        text.replaceAll(name, 'NAME'),
      ]);
    };
    expect(await answers('there')).to.deep.equal(await answers('missing'));
  });

  it('a refused change names only entries that the caller may read', async () => {
    for (const body of [
      { Kind: 'service-defaults', Name: 'shared', Protocol: 'http' },
      { Kind: 'service-defaults', Name: 'secret "edge', Protocol: 'http' },
      { Kind: 'service-resolver', Name: 'shared', Subsets: { v1: {} } },
      {
        Kind: 'service-router',
        Name: 'secret "edge',
        Routes: [{ Destination: { Service: 'shared', ServiceSubset: 'v1' } }],
      },
    ]) {
      await client.must('PUT /config', body);
    }
    const changes = [
      ['DELETE /config/service-resolver/shared', undefined],
      ['PUT /config', { Kind: 'service-resolver', Name: 'shared' }],
      ['PUT /config', { Kind: 'service-defaults', Name: 'shared', Protocol: 'tcp' }],
    ] as const;
    const refusals = async (rules: string) => {
      const secret = await tokenWith(`service "shared" { policy = "write" } ${rules}`);
      const texts = [];
      for (const [call, body] of changes) {
        const { status, text } = await client.ask(call, body, secret);
        expect(status).to.equal(409);
        texts.push(text);
      }
      return texts;
    };
    const [deleted, written, retyped] = await refusals('');
    const who = 'an entry that the token may not read';
    expect([deleted, written]).to.deep.equal([
      `cannot delete service-resolver "shared", ${who} still needs it`,
      `cannot write service-resolver "shared" like this, ${who} needs it otherwise`,
    ]);
    expect(retyped).to.contain('that the token may not read').and.not.contain('secret');
    for (const text of await refusals('service_prefix "secret" { policy = "read" }')) {
      expect(text).to.contain('service-router "secret \\"edge"').and.not.contain('may not read');
    }
  });

  it('a change of the whole cluster names no entry of a namespace that is closed', async () => {
    await client.must('PUT /namespace', { Name: 'closed' });
    const proxies = (protocol: string) => ({ Kind: 'proxy-defaults', Config: { protocol } });
    await client.must('PUT /config', proxies('http'));
    const hidden = { Kind: 'service-router', Name: 'hidden' };
    await client.must('PUT /config?ns=closed', hidden);
    const open = 'mesh = "write" service_prefix "" { policy = "read" }';
    const conflictFor = async (rules: string): Promise<string> => {
      const secret = await tokenWith(rules);
      const reply = await client.ask('PUT /config', proxies('tcp'), secret);
      expect(reply.status).to.equal(409);
      return reply.text;
    };
    expect(await conflictFor(open))
      .to.contain('may not read')
      .and.not.contain('hidden');
    const both = `${open} namespace "closed" { service "hidden" { policy = "read" } }`;
    expect(await conflictFor(both)).to.contain('service-router "hidden"');
  });

  it('an unknown token is refused everywhere', async () => {
    for (const operation of ['apply', 'get', 'list', 'delete'] as const) {
      const { status, text } = await attempt(own.client, operation, 'mesh', 'no-such-secret');
      expect(status).to.equal(403);
      expect(text).to.match(/^ACL not found \(the token sent is not known/);
    }
  });

  it('the private key of a certificate is shown to callers who may write it', async () => {
    await client.must('PUT /config', bodyOf('inline-certificate'));
    const keyFor = async (rules: string) => {
      const secret = await tokenWith(rules);
      const one = await client.ask('GET /config/inline-certificate/x', undefined, secret);
      const all = await client.ask('GET /config/inline-certificate', undefined, secret);
      expect(all.body[0].PrivateKey).to.equal(one.body.PrivateKey);
      return one.body.PrivateKey;
    };
    expect(await keyFor('mesh = "write"')).to.contain('PRIVATE KEY');
    expect(await keyFor('mesh = "read"')).to.equal('<hidden>');
    const secret = await tokenWith('mesh = "read"');
    const guess = `?filter=${encodeURIComponent('PrivateKey contains "PRIVATE"')}`;
    const path = `/config/inline-certificate${guess}`;
    expect((await client.ask(`GET ${path}`, undefined, secret)).body).to.deep.equal([]);
  });
});
