/** PATCH of objects with a JSON Merge Patch. */
import { expect } from 'chai';
import fc from 'fast-check';
import { merge } from '../../src/service/common/patch.js';
import { signer } from '../login/signers.js';
import { SoloClient } from '../service/client.js';

describe('http: PATCH', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
    client.solo.must({ type: 'system.level', v: 1, level: 3 } as never);
  });
  afterEach(() => client.close());

  it('changes the given fields of a role alone, and removes those that are null', async () => {
    await client.must('PUT /acl/policy', { Name: 'p' });
    const ServiceIdentities = [{ ServiceName: 'web' }];
    const sent = { Name: 'r', Description: 'd', Policies: [{ Name: 'p' }], ServiceIdentities };
    const before = await client.must('PUT /acl/role', sent);
    const change = { Description: 'new', ServiceIdentities: null };
    const answer = await client.answerTo(`PATCH /acl/role/${before.ID}`, change);
    const { ServiceIdentities: _gone, ...rest } = before;
    const { Hash, ModifyIndex } = answer.body;
    expect(answer.body).to.deep.equal({ ...rest, Description: 'new', Hash, ModifyIndex });
    expect(answer.headers.etag).to.equal(`"${ModifyIndex}"`);
    expect(await client.must(`GET /acl/role/${before.ID}`)).to.deep.equal(answer.body);
  });

  it('keeps a link to a policy that was renamed to what another is called now', async () => {
    const p = await client.must('PUT /acl/policy', { Name: 'p' });
    const role = await client.must('PUT /acl/role', { Name: 'r', Policies: [{ ID: p.ID }] });
    await client.must(`PUT /acl/policy/${p.ID}`, { Name: 'q' });
    await client.must('PUT /acl/policy', { Name: 'p' });
    const { Policies } = await client.must(`PATCH /acl/role/${role.ID}`, { Description: 'x' });
    expect(Policies).to.deep.equal([{ ID: p.ID, Name: 'q' }]);
  });

  it('keeps a link to a policy that is renamed between its reading and its writing', async () => {
    const { solo } = client;
    const p = await client.must('PUT /acl/policy', { Name: 'p' });
    const role = await client.must('PUT /acl/role', { Name: 'r', Policies: [{ ID: p.ID }] });
    const name = (id: string, Name: string, create: boolean) => {
      const policy = { Name, Description: '', Rules: '' };
      solo.must({ type: 'policy.set', v: 1, ns: 'default', id, create, policy } as never);
    };
    const { write } = solo.node;
    solo.node.write = (request) => {
      solo.node.write = write;
      name(p.ID, 'q', false);
      name('11111111-aaaa-4aaa-8aaa-000000000001', 'p', true);
      return write(request);
    };
    const { Policies } = await client.must(`PATCH /acl/role/${role.ID}`, { Description: 'x' });
    expect(Policies).to.deep.equal([{ ID: p.ID, Name: 'q' }]);
  });

  it('changes every type of object', async () => {
    const policy = await client.must('PUT /acl/policy', { Name: 'p', Rules: 'acl = "read"' });
    const token = await client.must('PUT /acl/token', { Policies: [{ Name: 'p' }] });
    await client.must('PUT /namespace', { Name: 'team', Meta: { a: '1', b: '2' } });
    const ok = async (path: string, body: object) => client.must(`PATCH ${path}`, body);
    expect(await ok(`/acl/policy/${policy.ID}`, { Description: 'd' })).to.include({
      Rules: 'acl = "read"',
      Description: 'd',
    });
    expect(await ok(`/acl/token/${token.AccessorID}`, { Description: 't' })).to.deep.include({
      SecretID: token.SecretID,
      Policies: token.Policies,
      Description: 't',
    });
    const team = await ok('/namespace/team', { Meta: { a: null, c: '3' } });
    expect(team.Meta).to.deep.equal({ b: '2', c: '3' });
  });

  it('takes both spellings of the fields of an entry, and answers the entry', async () => {
    const Kind = 'service-defaults';
    const entry = { Kind, Name: 'web', Protocol: 'http', Meta: { a: '1' } };
    await client.must('PUT /config', { ...entry, MeshGateway: { Mode: 'local' } });
    const change = { mesh_gateway: { mode: 'remote' }, protocol: 'grpc', Meta: { b: '2' } };
    const answer = await client.answerTo('PATCH /config/service-defaults/web', change);
    expect(answer.body).to.deep.include({
      Protocol: 'grpc',
      MeshGateway: { Mode: 'remote' },
      Meta: { a: '1', b: '2' },
    });
    expect(answer.headers.etag).to.equal(`"${answer.body.ModifyIndex}"`);
    const same = await client.must('PATCH /config/service-defaults/web', {});
    expect(same).to.deep.equal(answer.body);
  });

  it('takes both spellings of the variable of a template, and of nothing else', async () => {
    const Config = { JWTValidationPubKeys: [(await signer('EdDSA')).pem] };
    await client.must('PUT /acl/auth-method', { Name: 'm', Type: 'jwt', Config });
    const BindVars = { Name: 'a' };
    const rule = { AuthMethod: 'm', BindType: 'templated-policy', BindName: 'builtin/service' };
    const { ID } = await client.must('PUT /acl/binding-rule', { ...rule, BindVars });
    for (const change of [{ Name: 'b' }, { name: 'c' }]) {
      const path = `/acl/binding-rule/${ID}`;
      const answer = await client.must(`PATCH ${path}`, { BindVars: change });
      expect(answer.BindVars).to.deep.equal({ name: Object.values(change)[0] });
      expect((await client.ask(`PATCH ${path}`, { description: 'd' })).status).to.equal(400);
    }
  });

  it('keeps a secret that is sent as hidden', async () => {
    const token = await client.must('PUT /acl/token', {});
    const change = { SecretID: '<hidden>', Description: 'd' };
    const { SecretID } = await client.must(`PATCH /acl/token/${token.AccessorID}`, change);
    expect(SecretID).to.equal(token.SecretID);
  });

  const refused: [what: string, call: string, body: unknown, status: number][] = [
    ['a missing entry', 'PATCH /config/service-defaults/none', {}, 404],
    ['a missing role', 'PATCH /acl/role/0f0f0f0f-1111-4222-8333-444444444444', {}, 404],
    ['a missing token', 'PATCH /acl/token/0f0f0f0f-1111-4222-8333-444444444444', {}, 404],
    ['a missing namespace', 'PATCH /namespace/none', {}, 404],
    ['another name', 'PATCH /config/service-defaults/web', { Name: 'api' }, 400],
    ['another kind', 'PATCH /config/service-defaults/web', { kind: 'mesh' }, 400],
    ['an unknown field', 'PATCH /config/service-defaults/web', { Protokol: 'http' }, 400],
    ['a list', 'PATCH /config/service-defaults/web', [], 400],
    ['cas', 'PATCH /config/service-defaults/web?cas=1', {}, 400],
    ['the own token', 'PATCH /acl/token/self', {}, 405],
  ];
  for (const [what, call, body, status] of refused) {
    it(`refuses ${what}`, async () => {
      await client.must('PUT /config', { Kind: 'service-defaults', Name: 'web' });
      expect((await client.ask(call, body)).status).to.equal(status);
    });
  }

  it('refuses a missing object in the words of a PUT', async () => {
    const path = '/acl/role/0f0f0f0f-1111-4222-8333-444444444444';
    const put = await client.ask(`PUT ${path}`, { Name: 'r' });
    expect((await client.ask(`PATCH ${path}`, {})).text).to.equal(put.text);
  });

  it('refuses a missing entry in the words of a GET', async () => {
    const path = '/config/service-defaults/none';
    const { text } = await client.ask(`GET ${path}`);
    expect(text).to.equal('Config entry not found for "service-defaults" / "none"');
    expect((await client.ask(`PATCH ${path}`, {})).text).to.equal(text);
  });

  it('takes a merge patch and JSON, and no other type', async () => {
    await client.must('PUT /config', { Kind: 'service-defaults', Name: 'web' });
    const as = async (type: string): Promise<number> => {
      const headers = { 'content-type': type, Accept: 'application/json' };
      const call = 'PATCH /config/service-defaults/web';
      return (await client.ask(call, {}, undefined, { headers })).status;
    };
    expect(await as('application/merge-patch+json; charset=utf-8')).to.equal(200);
    expect(await as('application/json')).to.equal(200);
    expect(await as('application/json-patch+json')).to.equal(415);
  });

  it('tells nothing to those who may not write', async () => {
    const reader = await client.secretWith('acl = "read" service_prefix "" { policy = "read" }');
    for (const path of ['/acl/role/0f0f0f0f-1111-4222-8333-444444444444', '/namespace/none'])
      expect((await client.ask(`PATCH ${path}`, {}, reader)).status).to.equal(403);
    const call = 'PATCH /config/service-defaults/none';
    expect((await client.ask(call, {}, reader)).status).to.equal(403);
  });

  it('loses no change of those who patch other fields at the same time', async () => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 3 }), { minLength: 2, maxLength: 4 }),
        async (who) => {
          runs += 1;
          const { ID } = await client.must('PUT /acl/role', { Name: `r-${runs}` });
          const wanted = new Map<string, unknown>();
          const patches = who.map((at, n) => {
            const change: Record<string, unknown> = [
              { Description: `d${n}` },
              { ServiceIdentities: [{ ServiceName: `s${n}` }] },
              { NodeIdentities: [{ NodeName: `n${n}`, Datacenter: 'dc1' }] },
              { Name: `name-${runs}-${n}` },
            ][at]!;
            for (const name of Object.keys(change)) wanted.set(name, undefined);
            return client.ask(`PATCH /acl/role/${ID}`, change).then((answer) => {
              expect(answer.status, answer.text).to.equal(200);
            });
          });
          await Promise.all(patches);
          const stored = await client.must(`GET /acl/role/${ID}`);
          for (const name of wanted.keys()) {
            if (name === 'Name') expect(stored.Name).to.match(/^name-/);
            else expect(stored[name], name).to.not.be.oneOf([undefined, '']);
          }
        },
      ),
      { numRuns: 12 },
    );
  });
});

describe('a merge patch', () => {
  const cases: [target: unknown, change: unknown, result: unknown][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [['a'], { a: 1 }, { a: 1 }],
  ];
  for (const [target, change, result] of cases) {
    it(`of ${JSON.stringify(change)} merges as RFC 7396 says`, () => {
      expect(merge(target, change)).to.deep.equal(result);
    });
  }
});
