import { expect } from 'chai';
import { ACL_DEFAULTS } from '../../src/state/login-limits.js';
import type { Command } from '../../src/state/types.js';
import { CA } from '../login/certificates.js';
import { TestServer } from '../login/server.js';
import { type Signer, signer } from '../login/signers.js';
import { SoloClient } from './client.js';

const EXPLAIN = 'POST /acl/login/explain';

describe('POST /v1/acl/login/explain', () => {
  let key: Signer;
  let client: SoloClient;
  before(async () => {
    key = await signer('EdDSA');
  });
  beforeEach(async () => {
    client = await SoloClient.open();
    const Config = {
      JWTValidationPubKeys: [key.pem],
      BoundIssuer: 'https://issuer',
      BoundAudiences: ['conclave'],
      ClaimMappings: { name: 'name', '/org/team': 'team', mail: 'mail' },
      ListClaimMappings: { groups: 'groups', teams: 'teams' },
    };
    const MaxTokenTTL = '1h';
    await client.must('PUT /acl/auth-method', { Name: 'jwt1', Type: 'jwt', MaxTokenTTL, Config });
    await client.must('PUT /acl/role', {
      Name: 'team-blue',
      ServiceIdentities: [{ ServiceName: 'web' }],
    });
  });
  afterEach(() => client.close());

  const rule = (body: object) =>
    client.must('PUT /acl/binding-rule', { AuthMethod: 'jwt1', ...body });
  const now = () => Math.floor(client.solo.nowMs / 1000);
  const claims = (more: object = {}) => ({
    iss: 'https://issuer',
    aud: 'conclave',
    iat: now() - 10,
    exp: now() + 600,
    sub: 'me',
    name: 'web',
    org: { team: 'blue' },
    admin: true,
    groups: ['dev', 'ops'],
    ...more,
  });
  const explain = (body: object, secret?: string) =>
    client.must(EXPLAIN, { AuthMethod: 'JWT1', ...body }, secret);
  const withToken = async (more?: object) => ({ BearerToken: `${await key.sign(claims(more))}\n` });
  const results = ({ Checks }: { Checks: { Name: string; Result: string }[] }) =>
    Checks.map(({ Name, Result }) => `${Name} ${Result}`);

  it('shows what a login would make, and which rules make it', async () => {
    const made = await rule({
      BindType: 'role',
      BindName: 'team-${value.team}',
      Selector: 'value.team == blue',
    });
    const other = await rule({
      BindType: 'service',
      BindName: 'x',
      Selector: '"qa" in list.groups',
    });
    const answer = await explain(await withToken());
    const { Rules, Rights, Index, ...rest } = answer;
    const [role] = await client.must('GET /acl/roles');
    expect(rest).to.deep.equal({
      AuthMethod: 'jwt1',
      Type: 'jwt',
      Namespace: 'default',
      Outcome: 'granted',
      ReasonCode: '',
      Reason: '',
      Verified: true,
      Checks: ['form', 'signature', 'times', 'issuer', 'audience', 'claims'].map((Name) => ({
        Name,
        Result: 'passed',
        Detail: '',
      })),
      Values: { name: 'web', team: 'blue' },
      Lists: { groups: ['dev', 'ops'] },
      Missing: { Values: ['mail'], Lists: ['teams'] },
      Unmapped: ['admin', 'sub'],
      TokenNamespace: 'default',
      NamespaceRule: null,
      MoreRules: 0,
      Token: {
        Description: 'token created via login',
        Roles: [{ ID: role.ID, Name: 'team-blue' }],
        Local: true,
        AuthMethod: 'jwt1',
        ExpirationTTL: '1h0m0s',
        Namespace: 'default',
      },
      Truncated: false,
    });
    expect(Index).to.equal(client.solo.machine.appliedIndex());
    expect(Rules[0]).to.deep.equal({
      ID: made.ID,
      Description: '',
      BindType: 'role',
      BindName: 'team-${value.team}',
      Selector: 'value.team == blue',
      Matches: true,
      Clause: {
        Type: 'match',
        Text: 'value.team == blue',
        Field: 'value.team',
        Operator: '==',
        Value: 'blue',
        Actual: 'blue',
        Missing: false,
        Result: true,
      },
      Name: 'team-blue',
      Vars: null,
      Target: { Type: 'role', Exists: true, ID: role.ID, Name: 'team-blue' },
      Effect: 'binds',
      Problem: '',
    });
    expect(Rules[1]).to.include({ ID: other.ID, Matches: false, Effect: 'no_match' });
    expect(Rules[1].Clause).to.include({ Operator: 'in', Value: 'qa', Result: false });
    expect(Rules[1].Clause.Actual).to.deep.equal(['dev', 'ops']);
    expect(Rights[0].Sources[0].Path.map(({ Type }: { Type: string }) => Type)).to.deep.equal([
      ...['draft', 'role', 'service-identity'],
    ]);
  });

  it('makes no token, no write and no decision', async () => {
    await rule({ BindType: 'service', BindName: 'web' });
    const before = client.solo.machine.appliedIndex();
    await explain(await withToken());
    const refused = await client.ask(EXPLAIN, { AuthMethod: 'jwt1', BearerToken: 'x' });
    expect([refused.status, refused.decision]).to.deep.equal([200, null]);
    expect(client.solo.machine.appliedIndex()).to.equal(before);
  });

  it('names the check that fails, and shows the rules all the same', async () => {
    await rule({ BindType: 'service', BindName: 'web', Selector: 'value.name == api' });
    const other = await signer('EdDSA');
    const late = { iat: now() - 1000, exp: now() - 900 };
    const cases: [object, string, string, string][] = [
      [await withToken(late), 'expired', 'times', 'token is expired'],
      [await withToken({ nbf: now() + 900 }), 'not_yet_valid', 'times', 'not valid yet'],
      [await withToken({ iat: now() + 900, nbf: 1 }), 'issued_in_future', 'times', 'future'],
      [await withToken({ iat: undefined, exp: undefined }), 'no_times', 'times', 'no issue time'],
      [await withToken({ iss: 'x' }), 'issuer', 'issuer', 'invalid issuer'],
      [await withToken({ aud: 'x' }), 'audience', 'audience', 'does not match'],
      [{ BearerToken: await other.sign(claims()) }, 'signature', 'signature', 'no known key'],
      [{ Claims: claims(late) }, 'expired', 'times', 'token is expired'],
    ];
    for (const [body, code, check, words] of cases) {
      const answer = await explain(body);
      expect([answer.Outcome, answer.ReasonCode], code).to.deep.equal(['refused', code]);
      expect(answer.Reason).to.include(words);
      expect(answer.Token).to.equal(null);
      expect(answer.Rights).to.equal(null);
      expect(results(answer)).to.include(`${check} failed`);
      expect(answer.Rules[0].Clause).to.include({ Result: false, Actual: 'web' });
    }
    const both = await explain(await withToken({ ...late, aud: 'x' }));
    expect(results(both)).to.include.members(['times failed', 'audience failed']);
    const mistyped = await explain(await withToken({ exp: 'soon', aud: 7, iss: 'x' }));
    expect(mistyped.ReasonCode).to.equal('claims');
    expect(results(mistyped).slice(2)).to.deep.equal([
      'times skipped',
      'issuer failed',
      'audience skipped',
      'claims failed',
    ]);
  });

  it('says so when the claims cannot be read', async () => {
    const garbled = await explain({ BearerToken: 'a.b.c' });
    expect(garbled).to.include({ Outcome: 'refused', ReasonCode: 'form', Verified: false });
    expect(results(garbled).slice(0, 2)).to.deep.equal(['form failed', 'signature skipped']);
    expect(garbled.Rules).to.deep.equal([]);
    const odd = await explain(await withToken({ name: { a: 1 } }));
    expect([odd.ReasonCode, odd.TokenNamespace]).to.deep.equal(['claims', null]);
    expect(results(odd)).to.include('claims failed');
    expect(odd.Missing).to.deep.equal({ Values: ['mail'], Lists: ['teams'] });
  });

  it('judges claims that nobody signed as far as they go', async () => {
    await rule({ BindType: 'service', BindName: 'web' });
    const answer = await explain({ Claims: { name: 'web' } });
    expect(answer).to.include({ Outcome: 'granted', Verified: false });
    expect(results(answer)).to.deep.equal([
      'form skipped',
      'signature skipped',
      'times skipped',
      'issuer skipped',
      'audience skipped',
      'claims passed',
    ]);
  });

  it('names what rules lack: a match, a target, a valid name, a mapped claim', async () => {
    const codeOf = async () => (await explain(await withToken())).ReasonCode;
    expect(await codeOf()).to.equal('no_rule');
    const missing = await rule({ BindType: 'role', BindName: 'none' });
    const answer = await explain(await withToken());
    expect(answer).to.include({ ReasonCode: 'nothing_bound' });
    expect(answer.Rules[0]).to.deep.include({
      Effect: 'missing_target',
      Target: { Type: 'role', Exists: false, ID: '', Name: 'none' },
    });
    const bad = await rule({ BindType: 'service', BindName: 'x${value.name}' });
    const named = await explain(await withToken({ name: '%' }));
    expect(named).to.include({ Outcome: 'refused', ReasonCode: 'bad_name' });
    const fails = named.Rules.find(({ ID }: { ID: string }) => ID === bad.ID);
    expect(fails).to.deep.include({ Effect: 'fails_login', Name: null, Target: null });
    expect(fails.Problem).to.include('invalid bind name');
    await client.must(`DELETE /acl/binding-rule/${bad.ID}`);
    await client.must(`DELETE /acl/binding-rule/${missing.ID}`);
    await rule({ BindType: 'service', BindName: 'web', Selector: 'value.mail != "x"' });
    const method = await client.must('GET /acl/auth-method/jwt1');
    const { mail: _, ...ClaimMappings } = method.Config.ClaimMappings;
    // A write of the method refuses this now; older releases did not.
    const { CreateIndex: __, ModifyIndex: ___, Namespace: ns, ...content } = method;
    const changed = { ...content, Config: { ...method.Config, ClaimMappings } };
    client.solo.must({ type: 'method.set', v: 1, ns, create: false, method: changed } as Command);
    const { Rules } = await explain(await withToken());
    expect(Rules[0]).to.include({ Matches: false, Effect: 'no_match' });
    expect(Rules[0].Problem).to.include('"value.mail" is produced by no claim mapping');
    expect(Rules[0].Clause).to.include({ Result: true, Missing: true, Actual: null });
  });

  it('evaluates every part of a selector, also those that a login skips', async () => {
    const Selector = 'value.name == web or not (list.groups is  empty and value.team matches `^b`)';
    await rule({ BindType: 'service', BindName: 'web', Selector });
    const { Rules } = await explain(await withToken());
    const [, not] = Rules[0].Clause.Terms;
    expect(Rules[0].Clause).to.include({ Type: 'or', Result: true, Text: Selector });
    expect(not).to.include({
      Type: 'not',
      Text: 'not (list.groups is  empty and value.team matches `^b`)',
    });
    const [and] = not.Terms;
    expect([and.Type, and.Result]).to.deep.equal(['and', false]);
    expect(and.Terms[0]).to.include({ Operator: 'is empty', Value: null, Result: false });
    expect(and.Terms[1]).to.include({ Operator: 'matches', Value: '^b', Result: true });
  });

  it('cuts long claims, and shows the rules for which an answer has room', async () => {
    for (let n = 0; n < 300; n++) {
      const Selector = `value.name != "${n}" and "x" not in list.groups`;
      await rule({ BindType: 'service', BindName: 'x${value.name}', Selector });
    }
    const name = '\u0001'.repeat(65_000);
    const groups = Array.from({ length: 2_000 }, (_, n) => `group-${n}`);
    const reply = await client.ask(EXPLAIN, {
      AuthMethod: 'jwt1',
      Claims: claims({ name, groups }),
    });
    expect(reply.text.length).to.be.lessThan(2 ** 20);
    const { Values, Lists, Rules, MoreRules, ReasonCode } = reply.body;
    expect(ReasonCode).to.equal('bad_name');
    expect(Values.name).to.equal(`${'\u0001'.repeat(256)}…`);
    expect(Lists.groups).to.have.length(101);
    expect(Lists.groups.at(-1)).to.equal('… 1900 more');
    expect(Rules).not.to.have.length(0);
    expect(Rules.length + MoreRules).to.equal(300);
    expect(MoreRules).to.be.greaterThan(0);
    // What is left of a SecretID where a text is cut could not be hidden.
    const { SecretID } = await client.must('PUT /acl/token', {});
    const parted = await explain({ Claims: claims({ name: `${'z'.repeat(230)}${SecretID}` }) });
    expect(parted.Values.name).to.equal(`${'z'.repeat(230)}…`);
  }).timeout(60_000);

  it('shows nothing of a namespace that the caller may not read', async () => {
    await client.must('PUT /namespace', { Name: 'team' });
    const role = await client.must('PUT /acl/role?ns=team', { Name: 'r' });
    const method = await client.must('GET /acl/auth-method/jwt1');
    const NamespaceRules = [{ Selector: 'value.name == web', BindNamespace: 'team' }];
    await client.must('PUT /acl/auth-method/jwt1', { ...method, NamespaceRules });
    await rule({ BindType: 'role', BindName: 'r' });
    const reader = await client.secretWith('acl = "read"');
    const hidden = await explain(await withToken(), reader);
    expect(hidden).to.deep.include({
      Outcome: 'granted',
      TokenNamespace: 'team',
      NamespaceRule: { ...NamespaceRules[0], Namespace: 'team' },
      Token: null,
      Rights: null,
    });
    expect(hidden.Rules[0].Target).to.deep.equal({ Hidden: true });
    const open = await explain(await withToken());
    expect(open.Token).to.include({ Namespace: 'team', AuthMethodNamespace: 'default' });
    await client.must(`DELETE /acl/role/${role.ID}?ns=team`);
    const unbound = await explain(await withToken(), reader);
    expect(unbound).to.include({
      ReasonCode: 'nothing_bound',
      Reason: 'the login makes no token in the namespace "team"',
    });
    expect((await explain(await withToken())).Reason).to.include('no role "r"');
    const nobody = await client.secretWith('key "a" { policy = "read" }');
    const refused = await client.ask(EXPLAIN, { AuthMethod: 'jwt1', Claims: {} }, nobody);
    expect([refused.status, refused.body.code]).to.deep.equal([403, 'permission_denied']);
  });

  it('refuses what it cannot explain', async () => {
    const cases: [object, number, string][] = [
      [{ AuthMethod: 'none', Claims: {} }, 404, 'auth method does not exist'],
      [{ AuthMethod: 'jwt1' }, 400, 'Exactly one of BearerToken and Claims'],
      [{ AuthMethod: 'jwt1', Claims: {}, BearerToken: 'x' }, 400, 'Exactly one of'],
      [{ Claims: {} }, 400, 'AuthMethod is required'],
      [{ AuthMethod: 'jwt1', Claims: [] }, 400, 'expected an object'],
    ];
    for (const [body, status, words] of cases) {
      const reply = await client.ask(EXPLAIN, body);
      expect(reply.status, reply.text).to.equal(status);
      expect(reply.body.detail).to.include(words);
    }
  });

  it('tells when the identity has as many tokens as it may have', async () => {
    const configuration = { ...ACL_DEFAULTS, TokensPerIdentity: 1 };
    client.solo.must({ type: 'acl.configure', v: 1, configuration } as Command);
    await rule({ BindType: 'service', BindName: 'web' });
    const shown = await withToken();
    expect(await explain(shown)).to.include({ Outcome: 'granted' });
    await client.must('POST /acl/login', { AuthMethod: 'jwt1', ...shown });
    expect(await explain(shown)).to.include({ ReasonCode: 'token_limit' });
    expect(await explain({ Claims: claims() })).to.include({ ReasonCode: 'token_limit' });
  });

  it('hides bearer tokens and SecretIDs that stand in claims', async () => {
    const { SecretID } = await client.must('PUT /acl/token', {});
    await rule({ BindType: 'service', BindName: 'web', Selector: `value.name != "${SecretID}"` });
    const planted = await key.sign(claims({ name: SecretID, org: { team: 'x' } }));
    const { text } = await client.ask(EXPLAIN, { AuthMethod: 'jwt1', BearerToken: planted });
    expect(text).to.include('hidden');
    for (const secret of [SecretID, planted, ...planted.split('.').slice(1)]) {
      expect(text.includes(secret), secret).to.equal(false);
    }
  });

  it('asks the cluster of a method of type kubernetes, or takes a service account', async () => {
    const server = await TestServer.start(true);
    const reviews = '/apis/authentication.k8s.io/v1/tokenreviews';
    const user = { username: 'system:serviceaccount:prod:web', uid: 'u1' };
    server.answers.set(reviews, (_: unknown, __: unknown, body: string) =>
      body.includes('good')
        ? { status: { authenticated: true, user } }
        : { status: { authenticated: false } },
    );
    server.answers.set('/api/v1/namespaces/prod/serviceaccounts/web', { metadata: {} });
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const ServiceAccountJWT = `${part({ alg: 'RS256' })}.${part({ sub: 'planted-account' })}.sig`;
    const Config = { Host: server.url, CACert: CA, serviceaccountjwt: `${ServiceAccountJWT}\n` };
    await client.must('PUT /acl/auth-method', { Name: 'k8s', Type: 'kubernetes', Config });
    await rule({ AuthMethod: 'k8s', BindType: 'service', BindName: '${serviceaccount.name}' });
    const ask = (body: object) => explain({ AuthMethod: 'k8s', ...body });
    const good = await ask({ BearerToken: 'good' });
    expect(good).to.deep.include({
      Outcome: 'granted',
      Verified: true,
      Values: {
        'serviceaccount.namespace': 'prod',
        'serviceaccount.name': 'web',
        'serviceaccount.uid': 'u1',
      },
    });
    expect(good.Token.ServiceIdentities).to.deep.equal([{ ServiceName: 'web' }]);
    expect(results(good)).to.deep.equal([
      'form passed',
      'signature passed',
      'times skipped',
      'issuer skipped',
      'audience skipped',
      'claims passed',
    ]);
    const bad = await ask({ BearerToken: 'bad' });
    expect([bad.ReasonCode, results(bad)[1]]).to.deep.equal(['signature', 'signature failed']);
    const serviceaccount = { namespace: 'prod', name: 'api', uid: 'u2' };
    const claimed = await ask({ Claims: { serviceaccount } });
    expect(claimed).to.include({ Outcome: 'granted', Verified: false });
    expect(claimed.Rules[0].Name).to.equal('api');
    const long = { namespace: 'prod', name: `${'z'.repeat(250)}${ServiceAccountJWT}`, uid: 'u3' };
    const cutOff = await ask({ Claims: { serviceaccount: long } });
    expect(cutOff.Values['serviceaccount.name']).to.equal(`${'z'.repeat(250)}<hi…`);
    expect(await ask({ Claims: { serviceaccount: 7 } })).to.include({ ReasonCode: 'claims' });
    await server.stop();
    expect(await ask({ BearerToken: 'good' })).to.include({ ReasonCode: 'unreachable' });
    expect(JSON.stringify(good)).not.to.include('planted-account');
  });
});
