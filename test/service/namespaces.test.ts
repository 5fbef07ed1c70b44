/** Namespaces as seen by clients, with and without permissions in them. */
import { expect } from 'chai';
import type { Command } from '../../src/state/types.js';
import { SoloClient } from './client.js';

describe('namespaces over HTTP', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
  });
  afterEach(() => client.close());

  it('always show ACLs with both lists', async () => {
    const { ID } = await client.must('PUT /acl/policy', { Name: 'p' });
    const empty = { PolicyDefaults: [], RoleDefaults: [] };
    const linked = { PolicyDefaults: [{ ID, Name: 'p' }], RoleDefaults: [] };
    expect((await client.must('PUT /namespace', { Name: 'red' })).ACLs).to.deep.equal(empty);
    const ACLs = { PolicyDefaults: [{ Name: 'p' }] };
    expect((await client.must('PUT /namespace/blue', { ACLs })).ACLs).to.deep.equal(linked);
    expect((await client.must('GET /namespace/default')).ACLs).to.deep.equal(empty);
    const all: { Name: string; ACLs: object }[] = await client.must('GET /namespaces');
    expect(Object.fromEntries(all.map((one) => [one.Name, one.ACLs]))).to.deep.equal({
      blue: linked,
      default: empty,
      red: empty,
    });
  });

  it('are refused with a pointer to the default that does not exist', async () => {
    await client.must('PUT /acl/policy', { Name: 'p' });
    client.solo.must({ type: 'system.level', v: 1, level: 3 } as Command);
    const none = { Name: 'none' };
    const headers = { Accept: 'application/json' };
    const cases: [ACLs: object, pointer: string][] = [
      [{ PolicyDefaults: [{ Name: 'p' }, none] }, '/ACLs/PolicyDefaults/1'],
      [{ PolicyDefaults: [{ Name: 'p' }], RoleDefaults: [none] }, '/ACLs/RoleDefaults/0'],
    ];
    for (const [ACLs, pointer] of cases) {
      const refused = await client.ask('PUT /namespace/team', { ACLs }, undefined, { headers });
      expect(refused.body).to.include({ code: 'unknown_reference', pointer });
      const Objects = [{ Type: 'namespace', Object: { Name: 'team', ACLs } }];
      const { Problems } = await client.must('POST /plan', { Objects });
      expect(Problems[0].Pointer).to.equal(`/Objects/0/Object${pointer}`);
    }
  });

  it('are named in one header, or alike in repeated ones and those of both prefixes', async () => {
    await client.must('PUT /namespace', { Name: 'red' });
    const put = (Name: string, headers: Record<string, string>) =>
      client.ask('PUT /acl/role', { Name }, undefined, { headers });
    // `fetch` and Node join repeated headers alike.
    const pairs: [alike: Record<string, string>, differing: Record<string, string>][] = [
      [
        { 'X-Consul-Namespace': 'red', 'X-Service-Namespace': 'red' },
        { 'X-Consul-Namespace': 'red', 'X-Service-Namespace': 'default' },
      ],
      [{ 'X-Consul-Namespace': 'red, red' }, { 'X-Consul-Namespace': 'red, default' }],
    ];
    for (const [at, [alike, differing]] of pairs.entries()) {
      expect((await put(`a${at}`, alike)).body.Namespace).to.equal('red');
      const refused = await put('b', differing);
      expect([refused.status, refused.text]).to.deep.equal([
        400,
        'The request carries two headers "namespace" that differ: send one',
      ]);
    }
    expect(await client.must('GET /acl/roles?ns=*')).to.have.lengthOf(pairs.length);
  });

  it('are part of every response, even default', async () => {
    await client.must('PUT /namespace', { Name: 'red' });
    for (const ns of ['default', 'red']) {
      const made: [path: string, body: object][] = [
        ['/acl/policy', { Name: 'p' }],
        ['/acl/role', { Name: 'r' }],
        ['/acl/token', {}],
      ];
      for (const [path, body] of made) {
        const object = await client.must(`PUT ${path}?ns=${ns}`, body);
        expect(object.Namespace, path).to.equal(ns);
        const id = object.ID ?? object.AccessorID;
        expect((await client.must(`GET ${path}/${id}?ns=${ns}`)).Namespace, path).to.equal(ns);
        for (const item of await client.must(`GET ${path}s?ns=${ns}`.replace('ys?', 'ies?'))) {
          expect(item.Namespace, path).to.equal(ns);
        }
      }
      const entry = { Kind: 'service-defaults', Name: 'web' };
      await client.must(`PUT /config?ns=${ns}`, entry);
      const path = `/config/service-defaults`;
      expect((await client.must(`GET ${path}/web?ns=${ns}`)).Namespace).to.equal(ns);
      expect((await client.must(`GET ${path}?ns=${ns}`))[0].Namespace).to.equal(ns);
    }
  });

  it('point to a default that does not exist', async () => {
    const body = { Name: 'team', ACLs: { RoleDefaults: [], PolicyDefaults: [{ Name: 'x' }] } };
    const headers = { Accept: 'application/json' };
    const { body: problem } = await client.ask('PUT /namespace', body, undefined, { headers });
    expect(problem).to.include({
      code: 'unknown_reference',
      pointer: '/ACLs/PolicyDefaults/0',
    });
  });

  it('accept the partition default in a body and refuse others with an explanation', async () => {
    for (const [path, body] of [
      ['/acl/policy', { Name: 'p' }],
      ['/acl/role', { Name: 'r' }],
      ['/acl/token', {}],
      ['/namespace', { Name: 'red' }],
      ['/config', { Kind: 'service-defaults', Name: 'web' }],
    ] as const) {
      for (const Partition of ['default', '', null]) {
        const Name = 'Name' in body ? { Name: `${body.Name}-${String(Partition)}x` } : {};
        const reply = await client.ask(`PUT ${path}`, { ...body, ...Name, Partition });
        expect(reply.status, reply.text).to.equal(200);
        expect(reply.text).not.to.include('Partition');
      }
      for (const Partition of ['p', '*', 7]) {
        const reply = await client.ask(`PUT ${path}`, { ...body, Partition });
        expect(reply.status).to.equal(400);
        expect(reply.text).to.include('partitions are a feature that this server does not have');
      }
    }
  });

  it('have one partition, also in parameters and headers, which say so', async () => {
    for (const path of [
      '/acl/policies',
      '/acl/roles',
      '/acl/tokens',
      '/namespaces',
      '/config/mesh',
    ]) {
      await client.must(`GET ${path}?partition=default`);
      const { status, text } = await client.ask(`GET ${path}?partition=p`);
      expect(status, path).to.equal(400);
      expect(text).to.equal(
        'Invalid query parameter: "partition" - this server has no admin partitions but "default"',
      );
    }
    const headers = { 'X-Consul-Partition': 'p' };
    const refused = await client.ask('GET /acl/policies', undefined, '', { headers });
    expect(refused.text).to.match(/^Invalid header: "X-[A-Z][a-z]+-Partition" - this server/);
  });

  describe('in which the caller has no permission', () => {
    let secret: string;
    /** Responses about `red`, which exists, must equal those about `none`, which does not. */
    const alike = async (call: string): Promise<void> => {
      const red = await client.ask(call.replace('NS', 'red'), undefined, secret);
      const none = await client.ask(call.replace('NS', 'none'), undefined, secret);
      const text = none.text.replaceAll('"none"', '"red"');
      expect([red.status, red.index, red.filtered, red.text], call).to.deep.equal([
        ...[none.status, none.index, none.filtered, text],
      ]);
    };
    beforeEach(async () => {
      await client.must('PUT /namespace', { Name: 'red' });
      for (const Name of ['web', 'api']) {
        await client.must('PUT /config?ns=red', { Kind: 'service-defaults', Name });
        await client.must('PUT /config', { Kind: 'service-defaults', Name });
      }
      await client.must('PUT /acl/role?ns=red', { Name: 'r' });
      secret = await client.secretWith('service "web" { policy = "read" }');
    });

    it('every response is as if it did not exist', async () => {
      const reads = ['config/service-defaults', 'config/service-defaults/web', 'config/tcp-route'];
      reads.push('config/inline-certificate', 'config/', 'acl/roles', 'acl/role/name/r');
      reads.push('acl/policies', 'acl/tokens', 'acl/auth-methods', 'acl/binding-rules');
      for (const path of reads) await alike(`GET /${path}?ns=NS`);
      await alike('GET /namespace/NS');
      const list = await client.ask('GET /config/service-defaults?ns=red', undefined, secret);
      expect([list.text, list.index, list.filtered]).to.deep.equal(['[]', 1, null]);
    });

    it('hidden items elsewhere are reported', async () => {
      const list = await client.ask('GET /config/service-defaults', undefined, secret);
      expect(list.body).to.have.lengthOf(1);
      expect(list.filtered).to.equal('true');
      const own = await client.secretWith('service "web" { policy = "read" }', 'red');
      const red = await client.ask('GET /config/service-defaults?ns=red', undefined, own);
      expect([red.body.length, red.filtered]).to.deep.equal([1, 'true']);
    });

    it('an operator may read what belongs to the mesh', async () => {
      await client.must('PUT /config?ns=red', { Kind: 'tcp-route', Name: 'route' });
      const operator = await client.secretWith('operator = "read"');
      const list = await client.ask('GET /config/tcp-route?ns=red', undefined, operator);
      expect(list.body).to.have.lengthOf(1);
      const hidden = await client.ask('GET /config/service-defaults?ns=red', undefined, operator);
      expect([hidden.text, hidden.filtered]).to.deep.equal(['[]', 'true']);
    });

    it('changes in it do not wake a blocking list, but a permission there does', async () => {
      const path = '/config/service-defaults?ns=red';
      const change = () =>
        client.must('PUT /config?ns=red', { Kind: 'service-defaults', Name: 'new' });
      expect((await client.across(path, change, secret)).woken).to.equal(undefined);
      const own = await client.must('GET /acl/token/self', undefined, secret);
      const Rules = 'namespace "red" { service_prefix "" { policy = "read" } }';
      const grant = async () => {
        await client.must(`PUT /acl/policy/${own.Policies[0].ID}`, { Name: 'q', Rules });
      };
      const { woken } = await client.across(path, grant, secret);
      expect(woken?.body).to.have.lengthOf(3);
    });

    it('lists over all namespaces neither show it nor wake for it', async () => {
      const all = await client.secretWith('acl = "read"');
      for (const [path, headers] of [
        ['/namespaces', {}],
        ['/acl/roles?ns=*', {}],
        ['/acl/roles', { 'X-Consul-Namespace': '*' }],
      ] as const) {
        const change = () => client.must('PUT /namespace', { Name: `more-${path.length}` });
        const { before, woken } = await client.across(path, change, all, headers);
        expect([before.status, before.filtered], path).to.deep.equal([200, null]);
        expect(woken, path).to.equal(undefined);
      }
    });

    describe('from level 3 on, the index of lists over all namespaces', () => {
      const LISTS = ['/namespaces', '/acl/roles?ns=*', '/acl/tokens?ns=*', '/acl/policies?ns=*'];
      let some: string;
      const indexes = async (): Promise<number[]> => {
        const replies = LISTS.map((path) => client.ask(`GET ${path}`, undefined, some));
        return (await Promise.all(replies)).map(({ index }) => index);
      };
      /** Empties and removes a namespace that is marked for deletion, as the leader does. */
      const reap = (name: string): void => {
        while (client.solo.must({ type: 'namespace.reap', v: 1, name } as Command) !== true);
      };
      beforeEach(async () => {
        const rules = 'acl = "read" namespace "blue" { acl = "read" }';
        some = await client.secretWith(rules);
        client.solo.must({ type: 'system.level', v: 1, level: 3 } as Command);
      });

      it('tells nothing of a namespace that the caller may not see', async () => {
        const before = await indexes();
        await client.must('PUT /namespace', { Name: 'green' });
        await client.must('PUT /acl/role?ns=green', { Name: 'r' });
        await client.must('PUT /namespace', { Name: 'red', Description: 'changed' });
        expect(await indexes()).to.deep.equal(before);
        for (const name of ['green', 'red']) {
          await client.must(`DELETE /namespace/${name}`);
          reap(name);
        }
        expect(await indexes()).to.deep.equal(before);
      });

      it('rises with one that it may see, and never falls when that goes', async () => {
        let last = await indexes();
        const rises = async (change: () => unknown, lists: readonly string[]): Promise<void> => {
          await change();
          const now = await indexes();
          for (const [at, path] of LISTS.entries()) {
            const isHigher = lists.includes(path);
            const [index, before] = [now[at]!, last[at]!];
            expect(index > before, `${path} ${before} -> ${index}`).to.equal(isHigher);
            expect(index).to.be.at.least(before);
          }
          last = now;
        };
        const [all, roles, , policies] = LISTS as [string, string, string, string];
        await rises(() => client.must('PUT /namespace', { Name: 'blue' }), [all, policies]);
        await rises(() => client.must('PUT /acl/role?ns=blue', { Name: 'r' }), [roles]);
        await rises(() => client.must('DELETE /namespace/blue'), [all]);
        await rises(() => reap('blue'), [all, roles, policies]);
        await rises(() => client.must('PUT /namespace', { Name: 'blue' }), [all, policies]);
      });

      it('wakes a list for an object of a namespace that was created meanwhile', async () => {
        const change = async () => {
          await client.must('PUT /namespace', { Name: 'blue' });
          await client.must('PUT /acl/role?ns=blue', { Name: 'late' });
        };
        const { woken } = await client.across('/acl/roles?ns=*', change, some);
        expect(woken?.body).to.have.lengthOf(1);
        const gone = async () => {
          await client.must('DELETE /namespace/blue');
          reap('blue');
        };
        expect((await client.across('/acl/roles?ns=*', gone, some)).woken?.body).to.deep.equal([]);
      });
    });
  });
});
