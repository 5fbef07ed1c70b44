/** Config entries as clients see them. */
import { expect } from 'chai';
import { SoloClient } from '../service/client.js';
import type { Solo } from '../service/solo.js';
import { decodeEntry } from './decode-entry.js';

const defaults = (Name: string, Protocol = 'http') => ({
  Kind: 'service-defaults',
  Name,
  Protocol,
});
const names = (list: { Name: string }[]): string[] => list.map(({ Name }) => Name);

describe('kinds: config entries over HTTP', () => {
  let solo: Solo;
  let client: SoloClient;
  const put = (body: unknown, query = '') => client.ask(`PUT /config${query}`, body);
  const get = (path: string, secret?: string, headers: Record<string, string> = {}) =>
    client.ask(`GET /config/${path}`, undefined, secret, { headers });
  const remove = (path: string) => client.ask(`DELETE /config/${path}`);

  beforeEach(async () => {
    client = await SoloClient.open();
    solo = client.solo;
  });
  afterEach(() => client.close());

  describe('refusals', () => {
    const refused: [string, string, unknown, number, string][] = [
      ['PUT', '/config', [], 400, "'' expected a map, got 'slice'"],
      [
        'PUT',
        '/config',
        { Kind: 'service-default', Name: 'a' },
        400,
        'Did you mean "service-defaults"?',
      ],
      ['PUT', '/config?cas=x', defaults('a'), 400, 'parsing "x": invalid syntax'],
      ['PUT', '/config', defaults('x'.repeat(1_025)), 400, 'Name exceeds maximum length 1024'],
      ...['a\nb', '/a', 'a//b', '.', 'a/..', 'a/./b'].map(
        (name): [string, string, unknown, number, string] => [
          ...(['PUT', '/config', defaults(name), 400, 'fit into a URL path'] as const),
        ],
      ),
      ...['a\u009b2J', 'a\u202eb', 'a\u2066b', 'a\u200fb', 'a\u2028b'].map(
        (name): [string, string, unknown, number, string] => [
          ...(['PUT', '/config', defaults(name), 400, 'Name must be plain text'] as const),
        ],
      ),
      [
        'PUT',
        '/config',
        {
          Kind: 'exported-services',
          Name: 'default',
          Services: [{ Name: 'web', Namespace: 'team-a', Consumers: [{ Peer: 'p' }] }],
        },
        400,
        'an entry exports services of its own namespace, here "default"',
      ],
      ['PUT', '/config?cas=18446744073709551616', defaults('a'), 400, 'value out of range'],
      ['GET', '/config/nothing', undefined, 400, 'invalid config entry kind: nothing'],
      ['GET', '/config/nothing/x', undefined, 400, 'invalid config entry kind: nothing'],
      ['DELETE', '/config/nothing/x', undefined, 400, 'invalid config entry kind: nothing'],
      ['DELETE', '/config/mesh', undefined, 404, 'Must provide both a kind and name to delete'],
      ['DELETE', '/config/proxy-defaults/x', undefined, 400, 'only "global" is supported'],
      ['GET', '/config/mesh?ns=*', undefined, 400, 'namespace'],
      ['GET', '/config/mesh/x', undefined, 404, 'Config entry not found for "mesh" / "x"'],
      ['GET', '/config/mesh/', undefined, 404, 'Config entry not found for "mesh" / ""'],
      [
        'GET',
        '/config/service-defaults?filter=Nme==x',
        undefined,
        400,
        'Selector "Nme" is not valid',
      ],
    ];
    for (const [method, path, body, status, phrase] of refused) {
      it(`${method} ${path} ${body === undefined ? '' : JSON.stringify(body)}: ${status}`, async () => {
        const reply = await client.ask(`${method} ${path}`, body);
        expect(reply.status).to.equal(status);
        expect(reply.text).to.contain(phrase);
      });
    }

    it('do not keep an entry of an older release from being read and deleted', async () => {
      const name = 'a\u009b2J';
      const decoded = decodeEntry(defaults('a'), { namespace: 'default' });
      const entry = decoded.ok ? decoded.entry : undefined;
      await solo.must({
        type: 'config.set',
        v: 1,
        ns: 'default',
        kind: 'service-defaults',
        name,
        entry: JSON.stringify({ ...entry, Name: name }),
        cas: null,
        at: '2026-01-01T00:00:00Z',
        datacenter: 'dc1',
      } as never);
      const path = `service-defaults/${encodeURIComponent(name)}`;
      expect((await get(path)).body).to.include({ Name: name });
      expect((await remove(path)).status).to.equal(200);
      expect((await get(path)).status).to.equal(404);
    });

    it('spare the own namespace of exported services, which is not stored', async () => {
      await client.must('PUT /namespace', { Name: 'team-a' });
      const exported = (Namespace: string) => ({
        Kind: 'exported-services',
        Name: 'default',
        Services: [{ Name: 'web', Namespace, Consumers: [{ Peer: 'p' }] }],
      });
      for (const [query, ns] of [
        ['', ''],
        ['', 'default'],
        ['?ns=team-a', 'team-a'],
      ] as const) {
        expect((await put(exported(ns), query)).text).to.equal('true');
        const { body } = await get(`exported-services/default${query}`);
        expect(body.Services).to.deep.equal([{ Name: 'web', Consumers: [{ Peer: 'p' }] }]);
      }
    });

    it('include a pointer for clients that accept JSON', async () => {
      const wrong = { ...defaults('a'), Protocl: 'x' };
      const headers = { accept: 'application/json' };
      const reply = await client.ask('PUT /config', wrong, undefined, { headers });
      expect(JSON.parse(reply.text)).to.include({
        status: 400,
        code: 'invalid',
        pointer: '/Protocl',
        hint: 'did you mean "Protocol"?',
      });
    });
  });

  describe('a GET of an entry', () => {
    it('returns the stored bytes, with their Hash', async () => {
      await put(defaults('web'));
      const { text, body } = await get('service-defaults/web');
      expect(text).to.equal(
        `{"Kind":"service-defaults","Name":"web","Protocol":"http","TransparentProxy":{},"MeshGateway":{},"Expose":{},"Hash":${body.Hash},"CreateIndex":${solo.machine.appliedIndex()},"ModifyIndex":${solo.machine.appliedIndex()},"Namespace":"default"}`,
      );
    });

    it('takes everything after the kind as the name', async () => {
      await put(defaults('a/b c"\\'));
      const found = await get('service-defaults/a/b%20c%22%5C');
      expect(found.body).to.include({ Name: 'a/b c"\\' });
      expect((await get('service-defaults/a%2Fb%20c%22%5C')).text).to.equal(found.text);
    });

    it('returns the index of the entry, not of its neighbours', async () => {
      await put(defaults('web'));
      const before = (await get('service-defaults/web')).index;
      await put(defaults('api'));
      expect((await get('service-defaults/web')).index).to.equal(before);
    });

    it('returns an index to wait on for a missing entry', async () => {
      expect((await get('service-defaults/web')).index).to.equal(1);
      await put(defaults('web'));
      await remove('service-defaults/web');
      expect((await get('service-defaults/web')).index).to.equal(solo.machine.appliedIndex());
    });

    it('waits only for its entry', async () => {
      await put(defaults('web'));
      const { index } = await get('service-defaults/web');
      const held = get(`service-defaults/web?index=${index}&wait=1m`);
      let answered = false;
      void held.then(() => {
        answered = true;
      });
      await put(defaults('web'));
      await put(defaults('api'));
      await get('service-defaults/api');
      expect(answered, 'an equal write and another entry wake nobody').to.equal(false);
      await remove('service-defaults/web');
      const { status, index: after } = await held;
      expect(status).to.equal(404);
      expect(after).to.be.greaterThan(index);
    });

    it('waits for a missing entry', async () => {
      const { index } = await get('service-defaults/web');
      const held = get(`service-defaults/web?index=${index}&wait=1m`);
      await put(defaults('api'));
      await put(defaults('web'));
      expect((await held).body).to.include({ Name: 'web' });
    });
  });

  describe('a list of entries', () => {
    it('is ordered by lower-cased name, and first by kind for all kinds', async () => {
      for (const name of ['b', 'A', 'C']) await put(defaults(name));
      await put({ Kind: 'mesh' });
      expect(names((await get('service-defaults')).body)).to.deep.equal(['A', 'b', 'C']);
      expect(names((await get('')).body)).to.deep.equal(['mesh', 'A', 'b', 'C']);
      expect((await get('http-route')).text).to.equal('[]');
    });

    it('is never older than the last write, and shows only what the caller may see', async () => {
      const secret = await client.secretWith('service "b" { policy = "read" }');
      for (const name of ['a', 'b']) await put(defaults(name));
      const wide = async () => names((await get('service-defaults')).body);
      const narrow = async () => names((await get('service-defaults', secret)).body);
      // From here on the list is cached for callers who may read all of it.
      expect([await wide(), await narrow()]).to.deep.equal([['a', 'b'], ['b']]);
      expect([await wide(), await narrow()]).to.deep.equal([['a', 'b'], ['b']]);
      await put(defaults('c'));
      expect([await wide(), await narrow()]).to.deep.equal([['a', 'b', 'c'], ['b']]);
      await remove('service-defaults/a');
      expect([await wide(), await narrow()]).to.deep.equal([['b', 'c'], ['b']]);
      expect((await get('service-defaults', secret)).filtered).to.equal('true');
      expect((await get('service-defaults')).filtered).to.equal(null);
    });

    it('returns its own index, and waits only for its kind', async () => {
      await put(defaults('web'));
      const { index } = await get('service-defaults');
      await put({ Kind: 'mesh' });
      expect((await get('service-defaults')).index).to.equal(index);
      const held = get(`service-defaults?index=${index}&wait=1m`);
      await put({ Kind: 'mesh', ValidateClusters: true });
      await remove('service-defaults/web');
      const { body, index: after } = await held;
      expect(body).to.deep.equal([]);
      expect(after).to.be.greaterThan(index);
    });

    it('returns thousands of entries, in order', async () => {
      const at = '2026-01-01T00:00:00.000Z';
      for (let i = 0; i < 1_200; i += 1) {
        const entry = JSON.stringify({
          ...defaults(`s${i}`),
          TransparentProxy: {},
          MeshGateway: {},
          Expose: {},
          Meta: { a: '<&>'.repeat(100) },
        });
        const head = { kind: 'service-defaults', name: `s${i}`, ns: 'default', datacenter: 'dc1' };
        solo.must({ type: 'config.set', v: 1, ...head, entry, cas: null, at } as never);
      }
      const { body, text } = await get('service-defaults');
      expect(names(body)).to.deep.equal(Array.from({ length: 1_200 }, (_, i) => `s${i}`).sort());
      expect(text).not.to.contain('<');
      expect(body[7].Meta.a).to.equal('<&>'.repeat(100));
    });

    const filters: [string, string, string[]][] = [
      ['service-defaults', 'Protocol == http', ['a']],
      ['service-defaults', 'Meta.team == red or Name == b', ['a', 'b']],
      ['service-resolver', 'ConnectTimeout == "5s"', ['r']],
      ['service-resolver', 'Subsets is empty', []],
      ['service-resolver', 'Redirect.Service == x', []],
      ['service-intentions', 'Sources.Precedence == 9', ['a']],
      ['mesh', 'TLS.Incoming.TLSMinVersion == TLSv1_2', ['mesh']],
      ['', 'Kind == mesh or Name == a', ['mesh', 'a', 'a']],
    ];
    for (const [kind, filter, wanted] of filters) {
      it(`filters ${kind || 'all kinds'} by ${filter}`, async () => {
        await put({ ...defaults('a'), Meta: { team: 'red' } });
        await put(defaults('b', 'tcp'));
        await put({
          ...{ Kind: 'service-resolver', Name: 'r', ConnectTimeout: '5s' },
          Subsets: { v1: {} },
        });
        await put({
          ...{ Kind: 'service-intentions', Name: 'a' },
          Sources: [{ Name: 'x', Action: 'allow' }],
        });
        await put({ Kind: 'mesh', TLS: { Incoming: { TLSMinVersion: 'TLSv1_2' } } });
        const { body, text } = await get(`${kind}?filter=${encodeURIComponent(filter)}`);
        expect(names(body ?? []), text).to.deep.equal(wanted);
      });
    }
  });

  describe('their namespaces', () => {
    beforeEach(() => client.must('PUT /namespace', { Name: 'team' }));

    it('are chosen by the parameter, then the header, then the token', async () => {
      await put(defaults('web'));
      await put(defaults('web', 'tcp'), '?ns=team');
      const header = { 'x-service-namespace': 'team' };
      const protocolOf = async (path: string, headers = {}) =>
        (await get(path, undefined, headers)).body.Protocol;
      expect(await protocolOf('service-defaults/web')).to.equal('http');
      expect(await protocolOf('service-defaults/web?ns=team')).to.equal('tcp');
      expect(await protocolOf('service-defaults/web', header)).to.equal('tcp');
      expect(await protocolOf('service-defaults/web?ns=default', header)).to.equal('http');
      expect((await get('service-defaults?ns=team')).body[0]).to.include({ Namespace: 'team' });
    });

    it('share the cluster-wide entries', async () => {
      expect((await put({ Kind: 'mesh' }, '?ns=team')).body).to.equal(true);
      expect((await get('mesh/mesh')).body).to.include({ Namespace: 'default' });
      expect((await get('mesh/mesh?ns=team')).body).to.include({ Namespace: 'default' });
      expect(names((await get('mesh?ns=team')).body)).to.deep.equal(['mesh']);
    });

    it('must exist before they are written to', async () => {
      const { status, text } = await put(defaults('web'), '?ns=nowhere');
      expect(status).to.equal(400);
      expect(text).to.contain('"nowhere" does not exist');
    });

    it('cannot be written to with the permissions of another', async () => {
      const secret = await client.secretWith('service_prefix "" { policy = "write" }');
      const reply = await client.ask('PUT /config?ns=team', defaults('web'), secret);
      expect(reply.status).to.equal(403);
    });
  });

  it('are not deleted while another entry needs them, which the refusal names', async () => {
    await put(defaults('web'));
    await put({ Kind: 'service-router', Name: 'web' });
    const { status, text } = await remove('service-defaults/web');
    expect(status).to.equal(409);
    expect(text).to.contain(
      'cannot delete service-defaults "web", service-router "web" still needs it',
    );
  });
});
