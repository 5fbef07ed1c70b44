import { expect } from 'chai';
import { SoloClient } from '../client.js';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
type Any = any;
const NOTHING = {
  Refused: '',
  Removed: {},
  Unlinked: {},
  TokensThatLoseRights: 0,
  Truncated: false,
};

describe('GET /v1/refs/:type/:id', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
  });
  afterEach(() => client.close());

  const policy = (Name: string, Rules: string) => client.must('PUT /acl/policy', { Name, Rules });
  const refs = (path: string, token?: string): Promise<Any> =>
    client.must(`GET /refs/${path}`, undefined, token);
  const named = (list: Any[]): string[] => list.map(({ Type, Name }) => `${Type} ${Name}`);
  const entry = (body: object) => client.must('PUT /config', body);

  it('shows who links a policy, and whose rights its deletion takes', async () => {
    const ops = await policy('ops', 'service_prefix "" { policy = "read" }');
    await policy('same', 'service_prefix "" { policy = "read" }');
    const role = await client.must('PUT /acl/role', {
      Name: 'admins',
      Policies: [{ Name: 'ops' }],
    });
    await client.must('PUT /acl/token', { Description: 'ci', Policies: [{ Name: 'ops' }] });
    await client.must('PUT /acl/token', { Description: 'by role', Roles: [{ Name: 'admins' }] });
    await client.must('PUT /acl/token', { Policies: [{ Name: 'ops' }, { Name: 'same' }] });
    const ACLs = { PolicyDefaults: [{ Name: 'ops' }] };
    await client.must('PUT /namespace', { Name: 'team', ACLs });
    await client.must('PUT /acl/token?ns=team', { Description: 'of team' });
    const { Index, ...found } = await refs(`policy/${ops.ID}`);
    expect(Index).to.equal(client.solo.machine.appliedIndex());
    expect(found).to.deep.include({
      Type: 'policy',
      ID: ops.ID,
      Name: 'ops',
      Namespace: 'default',
      Ref: 'policy/default/ops',
      ModifyIndex: ops.ModifyIndex,
      Owner: '',
      UsedByTotal: { role: 1, token: 2, namespace: 1 },
      Uses: [],
      Filtered: false,
    });
    expect(found.UsedBy[0]).to.deep.equal({
      Type: 'role',
      ID: role.ID,
      Name: 'admins',
      Namespace: 'default',
    });
    expect(found.IfDeleted).to.deep.equal({
      ...NOTHING,
      Unlinked: { role: 1, token: 2, namespace: 1 },
      TokensThatLoseRights: 3,
    });
    expect(named((await refs(`role/${role.ID}`)).Uses)).to.deep.equal(['policy ops']);
    expect(named((await refs('namespace/team')).Uses)).to.deep.equal(['policy ops']);
    // A refusal is the sentence of a deletion.
    const builtIn = await refs('policy/00000000-0000-0000-0000-000000000001');
    expect(builtIn.IfDeleted).to.deep.equal({
      ...NOTHING,
      Refused: 'Delete operation not permitted on the builtin global-management policy',
    });
  });

  it('counts all, and lists 100 of each type', async () => {
    const ops = await policy('ops', 'acl = "read"');
    for (let n = 0; n < 120; n += 1) {
      await client.must('PUT /acl/token', { Policies: [{ ID: ops.ID }] });
    }
    const found = await refs(`policy/${ops.ID}`);
    expect(found.UsedBy).to.have.length(100);
    expect(found.UsedByTotal).to.deep.equal({ token: 120 });
    expect(found.IfDeleted.TokensThatLoseRights).to.equal(120);
  });

  it('shows the rules and tokens of an auth method, and what a rule names', async () => {
    await client.must('PUT /acl/auth-method', {
      Name: 'jwt1',
      Type: 'jwt',
      Config: { JWTValidationPubKeys: [KEY], ClaimMappings: { name: 'name' } },
    });
    await client.must('PUT /acl/role', { Name: 'web' });
    const rule = { AuthMethod: 'jwt1', BindType: 'role' };
    const one = await client.must('PUT /acl/binding-rule', { ...rule, BindName: 'web' });
    await client.must('PUT /acl/binding-rule', { ...rule, BindName: '${value.name}' });
    const method = await refs('auth-method/jwt1');
    expect(method).to.deep.include({ ID: 'jwt1', Ref: 'auth-method/default/jwt1' });
    expect(method.UsedByTotal).to.deep.equal({ 'binding-rule': 2 });
    expect(method.IfDeleted.Removed).to.deep.equal({ 'binding-rule': 2 });
    expect(named((await refs(`binding-rule/${one.ID}`)).Uses)).to.deep.equal([
      'auth-method jwt1',
      'role web',
    ]);
    const [role] = await client.must('GET /acl/roles');
    const used = await refs(`role/${role.ID}`);
    expect(used.UsedBy.map((by: Any) => by.ID)).to.deep.equal([one.ID]);
    expect(used.IfDeleted.Unlinked).to.deep.equal({});
  });

  it('counts what a namespace holds, and its tokens', async () => {
    await client.must('PUT /namespace', { Name: 'team' });
    await client.must('PUT /acl/role?ns=team', { Name: 'r' });
    await client.must('PUT /acl/token?ns=team', { Roles: [{ Name: 'r' }] });
    await client.must('PUT /config?ns=team', { Kind: 'service-defaults', Name: 'web' });
    const { IfDeleted, Ref } = await refs('namespace/team');
    expect(Ref).to.equal('namespace/team');
    expect(IfDeleted.Removed).to.deep.equal({ policy: 1, role: 1, token: 1, config: 1 });
    expect(IfDeleted.TokensThatLoseRights).to.equal(1);
    expect((await refs('namespace/default')).IfDeleted.Refused).to.equal(
      'Deletion of the namespace "default" is not permitted',
    );
  });

  it('tells that the own token and the anonymous one cannot be deleted', async () => {
    const self = await client.must('GET /acl/token/self');
    const own = await refs(`token/${self.AccessorID}`);
    expect(own.IfDeleted.Refused).to.not.equal('');
    expect(own.Ref).to.equal(`token/${self.AccessorID}`);
    expect(named(own.Uses)).to.deep.equal(['policy global-management']);
    const anonymous = await refs('token/00000000-0000-0000-0000-000000000002');
    expect(anonymous.IfDeleted.Refused).to.not.equal('');
    const other = await client.must('PUT /acl/token', { Description: 'x', Policies: [] });
    expect((await refs(`token/${other.AccessorID}`)).IfDeleted).to.deep.equal({
      ...NOTHING,
      TokensThatLoseRights: 1,
    });
  });

  it('shows the entries that name an entry, its intentions and exports', async () => {
    await entry({ Kind: 'proxy-defaults', Name: 'global', Config: { protocol: 'http' } });
    await entry({ Kind: 'service-resolver', Name: 'Web', Subsets: { v1: {} } });
    const Splits = [{ Weight: 100, Service: 'web', ServiceSubset: 'v1' }];
    await entry({ Kind: 'service-splitter', Name: 'api', Splits });
    await entry({
      Kind: 'service-intentions',
      Name: 'Web',
      Sources: [{ Name: 'x', Action: 'allow' }],
    });
    const Services = [{ Name: 'Web', Consumers: [{ Peer: 'east' }] }];
    await entry({ Kind: 'exported-services', Name: 'default', Services });
    const found = await refs('config/service-resolver/web');
    expect(found).to.include({
      ID: 'service-resolver/Web',
      Ref: 'config/default/service-resolver/Web',
    });
    expect(found.UsedBy.map((by: Any) => by.ID)).to.deep.equal([
      'service-splitter/api',
      'service-intentions/Web',
      'exported-services/default',
    ]);
    const removal = await client.ask('DELETE /config/service-resolver/web');
    expect(removal.status).to.equal(409);
    expect(found.IfDeleted).to.deep.equal({ ...NOTHING, Refused: removal.text });
    const splitter = await refs('config/service-splitter/api');
    expect(splitter.Uses.map((by: Any) => by.ID)).to.deep.equal(['service-resolver/Web']);
    expect(splitter.IfDeleted.Refused).to.equal('');
    expect(await client.ask('GET /config/service-resolver/web')).to.include({ status: 200 });
  });

  it('hides what the caller may not read, in lists, counts and sentences', async () => {
    await entry({ Kind: 'proxy-defaults', Name: 'global', Config: { protocol: 'http' } });
    await entry({ Kind: 'service-resolver', Name: 'web', Subsets: { v1: {} } });
    const Splits = [{ Weight: 100, Service: 'web', ServiceSubset: 'v1' }];
    await entry({ Kind: 'service-splitter', Name: 'secret', Splits });
    const reader = await client.secretWith('service "web" { policy = "write" }');
    const found = await refs('config/service-resolver/web', reader);
    expect(found).to.deep.include({ UsedBy: [], UsedByTotal: {}, Filtered: true });
    expect(found.IfDeleted.Refused).to.not.equal('').and.not.include('secret');
    const ops = await policy('ops', 'service "x" { policy = "read" }');
    const ACLs = { PolicyDefaults: [{ Name: 'ops' }] };
    await client.must('PUT /namespace', { Name: 'team', ACLs });
    await client.must('PUT /acl/token?ns=team', {});
    const acl = await client.secretWith('acl = "read"');
    expect(await refs(`policy/${ops.ID}`, acl)).to.deep.include({
      UsedBy: [],
      UsedByTotal: {},
      Filtered: false,
      IfDeleted: NOTHING,
    });
    const some = 'acl = "read"\nnamespace "team" { policy = "deny"\nkey "a" { policy = "read" } }';
    const seer = await client.secretWith(some);
    expect(await refs(`policy/${ops.ID}`, seer)).to.deep.include({ UsedBy: [], Filtered: true });
  });

  it('is refused without the right to read the object, whether it exists or not', async () => {
    const ops = await policy('ops', '');
    const nobody = await client.secretWith('key "a" { policy = "read" }');
    const missing = '0f0f0f0f-1111-4222-8333-444444444444';
    for (const id of [ops.ID, missing]) {
      for (const type of ['policy', 'role', 'token', 'binding-rule']) {
        const { status } = await client.ask(`GET /refs/${type}/${id}`, undefined, nobody);
        expect(status, `${type} ${id}`).to.equal(403);
      }
    }
    for (const path of ['config/service-defaults/x', 'auth-method/x', 'namespace/x']) {
      const { status } = await client.ask(`GET /refs/${path}`, undefined, nobody);
      expect(status, path).to.equal(403);
    }
    for (const path of [`policy/${missing}`, `token/${missing}`, 'auth-method/x', 'namespace/x']) {
      expect(await client.ask(`GET /refs/${path}`)).to.include({ status: 404 });
    }
    expect(await client.ask('GET /refs/config/service-defaults/x')).to.include({ status: 404 });
  });

  it('refuses what names no object, and unknown parameters', async () => {
    for (const path of ['polices/x', 'policy/x', 'config/web', 'config/mush/x', 'policy/']) {
      expect((await client.ask(`GET /refs/${path}`)).status, path).to.equal(400);
    }
    expect((await client.ask('GET /refs/polices/x')).body.detail).to.include(
      'did you mean "policy"',
    );
    for (const [path, what] of [
      ['config/service-defaults/x', 'config entry'],
      ['auth-method/x', 'auth method'],
    ]) {
      const { status, body } = await client.ask(`GET /refs/${path}`);
      expect([status, body.detail]).to.deep.equal([404, `Requested ${what} does not exist`]);
    }
    const self = await client.must('GET /acl/token/self');
    const odd = await client.ask(`GET /refs/token/${self.AccessorID}?foo=1`);
    expect(odd.status).to.equal(400);
  });
});

const KEY =
  '-----BEGIN PUBLIC KEY-----\n' +
  'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqRpGmmzvm8YlBnMAfdGvzoaB7ugR\n' +
  'csj5v1pQlMOllerstsi0VQb5nDYQHD7iwnjmy/wdSWAeK0DDNOLWyUUEgg==\n' +
  '-----END PUBLIC KEY-----\n';
