/** GET /v1/acl/lint: findings in stored objects and between them, rights and bounds. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { LongWork } from '../../src/service/reads/long-work.js';
import { type Signer, signer } from '../login/signers.js';
import { SoloClient } from './client.js';

const LINT = 'GET /acl/lint';
/** An entry with a certificate. */
const CERTIFICATE = (
  JSON.parse(readFileSync('test/tables/config-decode.json', 'utf8')) as {
    accepted: boolean;
    input: { Kind?: string; Name: string };
  }[]
).find(({ accepted, input }) => accepted && input.Kind === 'inline-certificate')!.input;

describe('lint of all that is stored', () => {
  let client: SoloClient;
  let issuer: Signer;
  before(async () => {
    issuer = await signer('ES256');
  });
  beforeEach(async () => {
    client = await SoloClient.open();
  });
  afterEach(() => client.close());

  /** The findings as `code ref`, those of lint of single texts left out. */
  const found = async (query = '', token?: string): Promise<string[]> =>
    (await client.must(`${LINT}${query}`, undefined, token)).Findings.map(
      ({ Code, Ref }: { Code: string; Ref: string }) => `${Code} ${Ref}`,
    );
  const method = (Name: string, more: object = {}) => {
    const Config = { JWTValidationPubKeys: [issuer.pem], ClaimMappings: { team: 'team' } };
    return client.must('PUT /acl/auth-method', { Name, Type: 'jwt', Config, ...more });
  };

  it('finds nothing in a new cluster', async () => {
    const { body, index } = await client.ask(LINT);
    expect(body).to.deep.equal({ Index: index, Findings: [], More: 0 });
    expect(index).to.equal(client.solo.machine.appliedIndex());
  });

  it('finds what lint of policies and binding rules finds', async () => {
    const Rules = 'key "a" { policy = "read" }\nacl = "write"';
    await client.must('PUT /acl/policy', { Name: 'P', Rules });
    await method('M', { MaxTokenTTL: '1h' });
    const rule = {
      AuthMethod: 'm',
      Selector: 'value.team != a',
      BindType: 'service',
      BindName: 'w',
    };
    const { ID } = await client.must('PUT /acl/binding-rule', rule);
    const { Findings } = await client.must(LINT);
    expect(Findings).to.have.lengthOf(2);
    expect(Findings[0]).to.deep.include({
      Ref: `binding-rule/default/${ID}`,
      Code: 'absent_claim_passes',
    });
    expect(Findings[0]).not.to.have.property('Line');
    expect(Findings[1]).to.deep.equal({
      Ref: 'policy/default/P',
      Severity: 'warning',
      Code: 'acl_write',
      Message: 'acl = "write": whoever has it can give itself everything',
      Line: 2,
    });
    expect(await found('?severity=info')).to.include.members([
      'no_endpoint_here policy/default/P',
      'unused_policy policy/default/P',
    ]);
    expect(await found('?severity=error')).to.deep.equal([]);
    await client.must('PUT /acl/binding-rule', rule);
    expect((await found()).filter((each) => each.startsWith('covered'))).to.have.lengthOf(2);
  });

  it('finds rules over claims that are mapped no more', async () => {
    await method('m', { MaxTokenTTL: '1h' });
    const rule = {
      AuthMethod: 'm',
      Selector: 'value.team == a',
      BindType: 'service',
      BindName: 'w',
    };
    const { ID } = await client.must('PUT /acl/binding-rule', rule);
    // Writes do not lead there.
    const { store } = client.solo;
    const key = ['method', 'default', 'm'].join('\u0000');
    store.commit([[key, store.get(key)!.replace('"team":"team"', '"team":"name"')]]);
    expect(await found('?severity=error')).to.deep.equal([`invalid binding-rule/default/${ID}`]);
  });

  it('finds policies and roles that nothing uses, and roles without content', async () => {
    for (const Name of ['idle', 'linked', 'bound', 'matched-x']) {
      await client.must('PUT /acl/policy', { Name, Rules: 'acl = "read"' });
    }
    const Policies = [{ Name: 'linked' }];
    await client.must('PUT /acl/role', { Name: 'empty' });
    await client.must('PUT /acl/role', { Name: 'used', Policies });
    await client.must('PUT /acl/token', { Roles: [{ Name: 'used' }] });
    await method('m', { MaxTokenTTL: '1h' });
    for (const BindName of ['Bound', 'matched-${value.team}']) {
      const Selector = 'value.team == a';
      const rule = { AuthMethod: 'm', Selector, BindType: 'policy', BindName };
      await client.must('PUT /acl/binding-rule', rule);
    }
    expect(await found('?severity=info')).to.deep.equal([
      'unused_policy policy/default/idle',
      'empty_role role/default/empty',
      'unused_role role/default/empty',
    ]);
  });

  it('finds links to deleted objects, and tokens without rights', async () => {
    const Rules = 'service "web" { policy = "read" }';
    const { ID } = await client.must('PUT /acl/policy', { Name: 'p', Rules });
    const Policies = [{ ID }];
    await client.must('PUT /acl/role', { Name: 'r', Policies });
    await client.must('PUT /namespace', { Name: 'team', ACLs: { PolicyDefaults: Policies } });
    const Roles = [{ Name: 'r' }];
    const accessor = async (body: object, ns = 'default'): Promise<string> =>
      (await client.must(`PUT /acl/token?ns=${ns}`, body)).AccessorID;
    const linked = await accessor({ Policies });
    const inRole = await accessor({ Roles });
    const bare = await accessor({});
    const rich = await accessor({ ServiceIdentities: [{ ServiceName: 'web' }] });
    const defaults = await accessor({}, 'team');
    expect(await found('?ns=*')).to.deep.equal([`token_without_rights token/${bare}`]);
    await client.must(`DELETE /acl/policy/${ID}`);
    const all = await found('?ns=*');
    expect(all).to.have.members([
      'dangling_link role/default/r',
      `dangling_link token/${linked}`,
      'dangling_link namespace/team',
      ...[linked, inRole, bare, defaults].map((each) => `token_without_rights token/${each}`),
    ]);
    expect(all.join()).not.to.include(rich);
  });

  it('finds tokens whose policies and identities give no right', async () => {
    await client.must('PUT /acl/policy', { Name: 'empty', Rules: '' });
    await client.must('PUT /acl/policy', {
      Name: 'no',
      Rules: 'service_prefix "" {policy="deny"}',
    });
    const made = async (body: object): Promise<string> =>
      (await client.must('PUT /acl/token', body)).AccessorID;
    const empty = await made({ Policies: [{ Name: 'empty' }] });
    const denied = await made({ Policies: [{ Name: 'no' }] });
    const elsewhere = await made({
      ServiceIdentities: [{ ServiceName: 'web', Datacenters: ['dc2'] }],
    });
    await made({ ServiceIdentities: [{ ServiceName: 'web' }] });
    const all = (await found()).filter((each) => each.startsWith('token_without_rights'));
    expect(all).to.have.members(
      [empty, denied, elsewhere].map((each) => `token_without_rights token/${each}`),
    );
  });

  it('counts what rules of default bind, and knows nothing of rules it may not read', async () => {
    await client.must('PUT /namespace', { Name: 'team' });
    for (const Name of ['bound', 'idle']) {
      await client.must('PUT /acl/role?ns=team', {
        Name,
        ServiceIdentities: [{ ServiceName: 'web' }],
      });
    }
    const NamespaceRules = [{ Selector: '', BindNamespace: 'team' }];
    await method('m', { MaxTokenTTL: '1h', NamespaceRules });
    await client.must('PUT /acl/binding-rule', {
      AuthMethod: 'm',
      Selector: 'value.team == a',
      BindType: 'role',
      BindName: 'bound',
    });
    const unused = async (token?: string) =>
      (await found('?ns=team&severity=info', token)).filter((each) => each.startsWith('unused'));
    expect(await unused()).to.deep.equal(['unused_role role/team/idle']);
    const reader = await client.secretWith('namespace "team" { acl = "read" }');
    expect(await unused(reader)).to.deep.equal([]);
  });

  it('counts management tokens, those that live', async () => {
    const manage = (more: object = {}) =>
      client.must('PUT /acl/token', { Policies: [{ Name: 'global-management' }], ...more });
    await manage();
    await manage({ ExpirationTTL: '1m' });
    const { Findings } = await client.must(LINT);
    expect(Findings).to.deep.equal([
      {
        Ref: 'policy/default/global-management',
        Severity: 'warning',
        Code: 'management_tokens',
        Message: '3 tokens are linked to it, and each may do everything',
      },
    ]);
    client.solo.nowMs += 120_000;
    expect(await found()).to.deep.equal([]);
  });

  it('finds auth methods whose tokens never expire', async () => {
    await method('Ever');
    await method('short', { MaxTokenTTL: '1h' });
    expect(await found()).to.deep.equal(['login_tokens_never_expire auth-method/default/Ever']);
  });

  it('finds certificates that end within 30 days, for those who may read them', async () => {
    const Ref = `config/default/inline-certificate/${CERTIFICATE.Name}`;
    await client.must('PUT /config', CERTIFICATE);
    client.solo.nowMs = Date.UTC(2020, 0);
    expect(await found()).to.deep.equal([]);
    client.solo.nowMs = Date.UTC(2200, 0);
    expect(await found()).to.deep.equal([`certificate_expires ${Ref}`]);
    expect((await client.must(LINT)).Findings[0].Message).to.match(
      /^the certificate expired on 2\d{3}-\d\d-\d\d$/,
    );
    const reader = await client.secretWith('acl = "read"');
    expect((await found('', reader)).join()).not.to.include('certificate');
    const meshed = await client.secretWith('acl = "read"\nmesh = "read"');
    expect((await found('', meshed)).join()).to.include('certificate');
  });

  it('shows the namespaces whose ACL objects the caller may read', async () => {
    for (const Name of ['a', 'b']) {
      await client.must('PUT /namespace', { Name });
      await client.must(`PUT /acl/policy?ns=${Name}`, { Name: 'p', Rules: 'acl = "write"' });
    }
    const of = async (query: string, token?: string): Promise<string[]> =>
      (await found(query, token)).filter((each) => each.endsWith('/p'));
    expect(await of('?ns=*')).to.deep.equal(['acl_write policy/a/p', 'acl_write policy/b/p']);
    expect(await of('?ns=b')).to.deep.equal(['acl_write policy/b/p']);
    expect(await of('')).to.deep.equal([]);
    const ofA = await client.secretWith('namespace "a" { acl = "read" }');
    expect(await of('?ns=*', ofA)).to.deep.equal(['acl_write policy/a/p']);
    expect((await client.ask(`${LINT}?ns=b`, undefined, ofA)).status).to.equal(403);
    expect((await client.ask(LINT, undefined, ofA)).status).to.equal(403);
    const other = await client.secretWith('service_prefix "" { policy = "read" }');
    expect((await client.ask(`${LINT}?ns=*`, undefined, other)).status).to.equal(403);
  });

  it('says that namespaces are left out, unless they are hidden', async () => {
    await client.must('PUT /namespace', { Name: 'a' });
    await client.must('PUT /namespace', { Name: 'b' });
    const filtered = async (rules: string) =>
      (await client.ask(`${LINT}?ns=*`, undefined, await client.secretWith(rules))).filtered;
    expect(await filtered('acl = "read"\nnamespace "a" { acl = "read" }')).to.equal(null);
    const seesB = 'acl = "read"\nnamespace "b" { service_prefix "" { policy = "read" } }';
    expect(await filtered(seesB)).to.equal('true');
  });

  it('shows 1,000 findings, the most severe ones, and counts the others', async () => {
    for (let n = 0; n < 6; n++) {
      const lines = Array.from({ length: 200 }, (_, i) => `namespace "n${i}" { acl = "write" }`);
      await client.must('PUT /acl/policy', { Name: `p${n}`, Rules: lines.join('\n') });
    }
    const { Findings, More } = await client.must(`${LINT}?severity=info`);
    expect([Findings.length, More]).to.deep.equal([1000, 206]);
    expect(Findings.every(({ Code }: { Code: string }) => Code === 'acl_write')).to.equal(true);
  });

  it('refuses unknown parameters and severities, and a third such work at a time', async () => {
    for (const query of ['?severty=info', '?severity=warn', '?index=3']) {
      const refused = await client.ask(`${LINT}${query}`);
      expect([refused.status, refused.body.code], query).to.deep.equal([400, 'invalid']);
    }
    const longWork = new LongWork();
    let isOver = false;
    function* work(): Generator<void, void> {
      while (!isOver) yield;
    }
    const running = ['a', 'b'].map((token) =>
      longWork.run({ token, namespace: 'default' }, 'lint', work),
    );
    const third = await SoloClient.open([], client.solo, {}, { longWork });
    const refused = await third.ask(LINT);
    expect([refused.status, refused.body.code]).to.deep.equal([429, 'too_many']);
    isOver = true;
    await Promise.all(running);
    expect((await third.ask(LINT)).status).to.equal(200);
    await third.close();
  });
});
