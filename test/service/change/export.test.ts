import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { Random } from '../../../cluster/checker/random.js';
import type { Command } from '../../../src/state/types.js';
import { randomCommand } from '../../support/random-commands.js';
import { SoloClient } from '../client.js';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
type Any = any;

const KEY =
  '-----BEGIN PUBLIC KEY-----\n' +
  'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqRpGmmzvm8YlBnMAfdGvzoaB7ugR\n' +
  'csj5v1pQlMOllerstsi0VQb5nDYQHD7iwnjmy/wdSWAeK0DDNOLWyUUEgg==\n' +
  '-----END PUBLIC KEY-----\n';

/** Writes objects of all types. */
async function fill(client: SoloClient): Promise<void> {
  await client.must('PUT /acl/policy', { Name: 'ops', Rules: 'acl = "read"' });
  await client.must('PUT /acl/role', { Name: 'admins', Policies: [{ Name: 'ops' }] });
  await client.must('PUT /namespace', {
    Name: 'team',
    Meta: { a: 'b' },
    ACLs: { RoleDefaults: [{ Name: 'admins' }] },
  });
  await client.must('PUT /acl/policy?ns=team', { Name: 'Inside', Rules: '', Datacenters: [] });
  await client.must('PUT /acl/auth-method', {
    Name: 'jwt1',
    Type: 'jwt',
    MaxTokenTTL: '5m',
    Config: { JWTValidationPubKeys: [KEY], ClaimMappings: { name: 'name' } },
  });
  const rule = { AuthMethod: 'jwt1', BindType: 'service', BindName: 'web' };
  await client.must('PUT /acl/binding-rule', rule);
  await client.must('PUT /acl/token', { Policies: [{ Name: 'ops' }] });
  await client.must('PUT /config', {
    Kind: 'mesh',
    TLS: { Incoming: { TLSMinVersion: 'TLSv1_3' } },
  });
  await client.must('PUT /config', { Kind: 'service-defaults', Name: 'web', Protocol: 'http' });
  const Listeners = [{ Name: 'l', Port: 1, Protocol: 'http' }];
  await client.must('PUT /config?ns=team', { Kind: 'api-gateway', Name: 'gw', Listeners });
}

describe('GET /v1/export', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
  });
  afterEach(() => client.close());

  const exported = (query = '', token?: string): Promise<Any> =>
    client.must(`GET /export${query}`, undefined, token);
  const refs = ({ Objects }: Any): string[] =>
    Objects.map(({ Type, Namespace = '', Object: { Kind = '', Name = '' } }: Any) =>
      [Type, Namespace, Kind, Name].filter((part) => part !== '').join('/'),
    );
  const levelled = () => client.solo.must({ type: 'system.level', v: 1, level: 3 } as Command);

  it('holds all objects but tokens and built-ins as a set, in the order of plans', async () => {
    await fill(client);
    const { Index, Objects, Secrets } = await exported('?ns=*');
    expect([Index, Secrets]).to.deep.equal([client.solo.machine.appliedIndex(), 0]);
    expect(refs({ Objects })).to.deep.equal([
      'namespace/team',
      ...['policy/default/ops', 'policy/team/Inside', 'role/default/admins'],
      ...['auth-method/default/jwt1', 'binding-rule/default'],
      ...['config/default/mesh/mesh', 'config/default/service-defaults/web'],
      'config/team/api-gateway/gw',
    ]);
    const [namespace, policy, , role, , rule, , defaults, gateway] = Objects;
    expect(namespace.Object).to.deep.equal({
      Name: 'team',
      Meta: { a: 'b' },
      ACLs: { RoleDefaults: [{ Name: 'admins' }] },
    });
    expect(policy.Object).to.deep.equal({ Name: 'ops', Rules: 'acl = "read"' });
    expect(role.Object).to.deep.equal({ Name: 'admins', Policies: [{ Name: 'ops' }] });
    // Nothing else names a rule.
    expect(rule.Object).to.have.keys('ID', 'AuthMethod', 'BindType', 'BindName');
    expect(defaults.Object).to.include({ Kind: 'service-defaults', Name: 'web', Protocol: 'http' });
    for (const member of ['Status', 'CreateIndex', 'ModifyIndex', 'Namespace', 'Hash']) {
      expect(gateway.Object).to.not.have.property(member);
    }
    const ids = await exported('?ns=*&ids=true&types=policy,role');
    for (const { Object: body } of ids.Objects) expect(body).to.have.property('ID');
  });

  it('is the same of two clusters with equal objects, but for the index', async () => {
    const other = await SoloClient.open();
    try {
      await other.must('PUT /acl/policy', { Name: 'gone', Rules: '' });
      for (const one of [client, other]) await fill(one);
      const [gone] = (await other.must('GET /acl/policies')).filter((p: Any) => p.Name === 'gone');
      await other.must(`DELETE /acl/policy/${gone.ID}`);
      const types = 'namespace,policy,role,auth-method,config';
      const [a, b] = await Promise.all(
        [client, other].map((one) => one.must(`GET /export?ns=*&types=${types}`)),
      );
      expect(a.Index).to.not.equal(b.Index);
      expect(a.Objects).to.deep.equal(b.Objects);
    } finally {
      await other.close();
    }
  });

  it('writes the same objects again, each by its PUT', async () => {
    await fill(client);
    const { Objects } = await exported('?ns=*');
    const other = await SoloClient.open();
    try {
      const paths: Any = {
        namespace: 'namespace',
        config: 'config',
        policy: 'acl/policy',
        role: 'acl/role',
        'auth-method': 'acl/auth-method',
        'binding-rule': 'acl/binding-rule',
      };
      // A namespace names roles of the default one, which are later in the order.
      const later = ({ Type }: Any): number => Number(Type === 'namespace');
      const order = [...Objects].sort(
        (a: Any, b: Any) => Number(a.Namespace === 'team') - Number(b.Namespace === 'team'),
      );
      const roles = order.filter((item: Any) => !later(item) && item.Namespace === 'default');
      const rest = order
        .filter((item: Any) => !roles.includes(item))
        .sort((a: Any, b: Any) => later(b) - later(a));
      for (const { Type, Namespace = 'default', Object: body } of [...roles, ...rest]) {
        const { ID: _id, ...sent } = body;
        await other.must(`PUT /${paths[Type]}?ns=${Namespace}`, sent);
      }
      const again = await other.must('GET /export?ns=*');
      const bare = (items: Any[]) =>
        items.map(({ Object: { ID, ...body }, ...item }) => [item, body]);
      expect(bare(again.Objects)).to.deep.equal(bare(Objects));
    } finally {
      await other.close();
    }
  });

  const changed = ({ Summary, Problems }: Any) => {
    const { Unchanged, ...others } = Summary;
    return { Unchanged, others: Object.values(others), Problems };
  };
  const NOTHING = [0, 0, 0, 0];

  it('is a set of which a plan changes nothing, with secrets, handles and owners', async () => {
    levelled();
    await fill(client);
    const path = 'test/tables/config-decode.json';
    const rows: Any[] = JSON.parse(readFileSync(path, 'utf8'));
    const certificate = rows.find(({ name }) => name.startsWith('inline-certificate: minimal'));
    await client.must('PUT /config', certificate.input);
    const rule = { AuthMethod: 'jwt1', BindType: 'node', BindName: 'n' };
    const handled = { Type: 'binding-rule', Handle: 'ci-web', Object: rule };
    await client.must('POST /apply', { Owner: 'gitops/x', Objects: [handled] });
    for (const query of ['?ns=*', '?ns=*&ids=true', '']) {
      const set = await exported(query);
      expect(set.Secrets).to.equal(1);
      const plan = changed(await client.must('POST /plan', set));
      const Unchanged = set.Objects.length;
      expect(plan).to.deep.equal({ Unchanged, others: NOTHING, Problems: [] });
    }
    const owned = await exported('?owner=gitops/x');
    expect(owned.Objects).to.deep.equal([{ ...handled, Namespace: 'default' }]);
  });

  it('is such a set after any commands', async () => {
    levelled();
    await client.must('PUT /namespace', { Name: 'team' });
    const own = /^(policy|role)\.(set|delete)$|^config\./;
    // the API refuses node identities elsewhere
    const isWritable = ({ ns, role }: Any): boolean =>
      ns === 'default' || role?.NodeIdentities === undefined;
    for (let seed = 1; seed <= 12; seed += 1) {
      const random = new Random(seed);
      const view = client.solo.store;
      for (let n = 0; n < 60; n += 1) {
        const applied = client.solo.machine.appliedIndex();
        const command = randomCommand({ random, n, view, applied });
        if (own.test(command.type) && isWritable(command)) client.solo.apply(command);
      }
      const set = await exported('?ns=*');
      const plan = changed(await client.must('POST /plan', set));
      const Unchanged = set.Objects.length;
      expect(plan, `seed ${seed}`).to.deep.equal({ Unchanged, others: NOTHING, Problems: [] });
    }
  }).timeout(60_000);

  it('of a moment takes the objects back when it is applied', async () => {
    levelled();
    await fill(client);
    const then = client.solo.machine.appliedIndex();
    const before = await exported('?ns=*&ids=true');
    const [ops] = (await client.must('GET /acl/policies')).filter((p: Any) => p.Name === 'ops');
    await client.must(`PUT /acl/policy/${ops.ID}`, { Name: 'renamed', Rules: '' });
    await client.must('DELETE /config/service-defaults/web');
    const set = await exported(`?ns=*&at=${then}`);
    const { Summary } = await client.must('POST /plan', set);
    expect(Summary).to.include({ Create: 1, Update: 1, Delete: 0 });
    await client.must('POST /apply', set);
    expect((await exported('?ns=*&ids=true')).Objects).to.deep.equal(before.Objects);
  });

  it('is narrowed by namespace, types, kind and owner', async () => {
    await fill(client);
    expect(refs(await exported('?ns=team'))).to.deep.equal([
      ...['namespace/team', 'policy/team/Inside', 'config/team/api-gateway/gw'],
    ]);
    expect(refs(await exported('?types=role,namespace'))).to.deep.equal(['role/default/admins']);
    expect(refs(await exported('?kind=mesh'))).to.deep.equal(['config/default/mesh/mesh']);
    expect(refs(await exported('?owner=x'))).to.deep.equal([]);
    expect(refs(await exported('?ns=gone'))).to.deep.equal([]);
  });

  it('shows a changed default namespace, and no namespace that is being deleted', async () => {
    await fill(client);
    await client.must('PUT /namespace/default', { Name: 'default', Meta: { a: 'b' } });
    await client.must('DELETE /namespace/team');
    const found = refs(await exported('?ns=*'));
    expect(found).to.include('namespace/default');
    expect(found.join()).to.not.include('team');
  });

  it('hides secrets, and counts them', async () => {
    const types = await client.ask('PUT /acl/auth-method', {
      Name: 'k8s',
      Type: 'kubernetes',
      Config: { Host: 'https://127.0.0.1:1', CACert: '', ServiceAccountJWT: 'aaa.bbb.ccc' },
    });
    if (types.status === 200) {
      const found = await exported('?types=auth-method');
      expect(found.Secrets).to.equal(1);
      expect(JSON.stringify(found)).to.include('<hidden>').and.not.include('aaa.bbb.ccc');
    } else expect(types.status).to.equal(400);
    const config = { Host: 'https://h', ServiceAccountJWT: 'aaa.bbb.ccc' };
    client.solo.must({
      ...({ type: 'method.set', v: 1, ns: 'default' } as const),
      method: { Name: 'k', Type: 'kubernetes', Config: config },
    } as Command);
    const found = await exported('?types=auth-method');
    expect(found.Secrets).to.be.greaterThan(0);
    expect(JSON.stringify(found)).to.include('<hidden>').and.not.include('aaa.bbb.ccc');
  });

  it('leaves out what the caller may not read, and says so', async () => {
    await fill(client);
    const web = await client.secretWith('service "web" { policy = "read" }');
    const answer = await client.answerTo('GET /export', undefined, web);
    expect(answer.filtered).to.equal('true');
    expect(refs(answer.body)).to.deep.equal([
      // Anybody may read these.
      ...['config/default/mesh/mesh', 'config/default/service-defaults/web'],
    ]);
    const whole = await client.answerTo('GET /export');
    expect(whole.filtered).to.equal(null);
    // Without any right in a namespace, not even its presence shows.
    const reader = await client.secretWith('acl = "read"');
    const others = await client.answerTo('GET /export?ns=team&types=policy', undefined, reader);
    expect([others.filtered, others.body.Objects]).to.deep.equal([null, []]);
  });

  it('refuses tokens, unknown types and kinds, and other parameters', async () => {
    for (const query of ['types=token', 'types=polices', 'types=policy,', 'kind=mush', 'ids=yes']) {
      expect((await client.ask(`GET /export?${query}`)).status, query).to.equal(400);
    }
    expect((await client.ask('GET /export?types=token')).body.detail).to.include('credentials');
    expect((await client.ask('GET /export?foo=1')).status).to.equal(400);
    expect((await client.ask('GET /export?at=99999')).status).to.be.oneOf([400, 503]);
  });

  it('holds the objects as they were at a moment, with IDs', async () => {
    levelled();
    await fill(client);
    const then = client.solo.machine.appliedIndex();
    const before = await exported('?ns=*&ids=true');
    const [ops] = (await client.must('GET /acl/policies')).filter((p: Any) => p.Name === 'ops');
    await client.must(`PUT /acl/policy/${ops.ID}`, { Name: 'ops', Rules: '' });
    const [role] = await client.must('GET /acl/roles');
    await client.must(`DELETE /acl/role/${role.ID}`);
    await client.must('PUT /acl/policy', { Name: 'later', Rules: '' });
    await client.must('DELETE /config/service-defaults/web');
    const { At, Index, ...past } = await exported(`?ns=*&at=${then}`);
    expect(At.Index).to.equal(then);
    expect(Index).to.equal(client.solo.machine.appliedIndex());
    expect(past).to.deep.equal({ Objects: before.Objects, Secrets: 0 });
  });

  it('refuses objects of which nothing is kept from then, or names them as unknown', async () => {
    const old = await client.must('PUT /acl/policy', { Name: 'old', Rules: 'acl = "read"' });
    levelled();
    await client.must('PUT /acl/policy', { Name: 'first', Rules: '' });
    const then = client.solo.machine.appliedIndex();
    await client.must(`PUT /acl/policy/${old.ID}`, { Name: 'old', Rules: '' });
    const bounds = { VersionsPerObject: 1, Bytes: 1 << 28, LoginBytes: 1 << 26, MaxAge: '' };
    client.solo.must({ type: 'history.configure', v: 1, bounds } as Command);
    await client.must(`PUT /acl/policy/${old.ID}`, { Name: 'old', Rules: 'acl = "write"' });
    await client.must('PUT /acl/policy', { Name: 'last', Rules: '' });
    client.solo.must({ type: 'history.trim', v: 1, nowMs: 0 } as Command);
    const refused = await client.ask(`GET /export?at=${then}&types=policy`);
    expect(refused.status, refused.text).to.equal(404);
    expect(refused.body.Oldest.Index).to.be.greaterThan(then);
    const part = await exported(`?at=${then}&types=policy&partial=true`);
    // Below what is kept, an object that was made later may have been there before under its ID.
    expect(part.Unknown).to.deep.equal(['policy/default/last', 'policy/default/old']);
    expect(refs(part)).to.deep.equal(['policy/default/first']);
  });
});
