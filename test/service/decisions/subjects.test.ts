/** Whom the subjects of decisions mean, and which questions their resources ask. */
import { expect } from 'chai';
import { keys } from '../../../src/state/keys.js';
import { type Signer, signer } from '../../login/signers.js';
import { Decider } from './decider.js';

const SHOP = `key_prefix "orders/" { policy = "read" }
key "orders/approve/17" { policy = "deny" }
key_prefix "orders/approve/eu-" { policy = "deny" }`;

describe('subjects of decisions', () => {
  let decider: Decider;
  let key: Signer;
  /** A token without any right, as a gateway has. */
  let gateway: string;
  before(async () => {
    key = await signer('EdDSA');
  });
  beforeEach(async () => {
    decider = await Decider.open();
    gateway = (await decider.token('')).SecretID;
    const Config = {
      JWTValidationPubKeys: [key.pem],
      ClaimMappings: { team: 'team' },
      ListClaimMappings: { groups: 'groups' },
    };
    await must('PUT /acl/auth-method', { Name: 'jwt1', Type: 'jwt', MaxTokenTTL: '1h', Config });
    await must('PUT /acl/policy', { Name: 'shop', Rules: SHOP });
    await must('PUT /acl/role', { Name: 'clerk', Policies: [{ Name: 'shop' }] });
    await must('PUT /acl/binding-rule', {
      AuthMethod: 'jwt1',
      BindType: 'role',
      BindName: 'clerk',
      Selector: 'clerks in list.groups',
    });
  });
  afterEach(() => decider.close());

  const must = (call: string, body?: object, token?: string) =>
    decider.client.must(call, body, token);
  const nowS = (): number => Math.floor(decider.client.solo.nowMs / 1000);
  const jwtOf = (more: object = {}): Promise<string> =>
    key.sign({ iat: nowS() - 5, exp: nowS() + 600, sub: 'ann', groups: ['clerks'], ...more });
  const asked = (subject: readonly [string, string], more: object = {}, token = gateway) =>
    decider.codeOf(subject, 'approve', ['orders', '18'], { subject: more, token });
  const login = async (more?: object) =>
    must('POST /acl/login', { AuthMethod: 'jwt1', BearerToken: await jwtOf(more) }, '');

  it('are tokens: the own one, or others for who may read them', async () => {
    const token = await decider.token(SHOP);
    expect(await asked(['token', 'self'], {}, token.SecretID)).to.equal('true allowed');
    expect(await asked(['token', token.AccessorID], {}, token.SecretID)).to.equal('true allowed');
    const admin = decider.client.token;
    const { AccessorID } = token;
    expect(await asked(['token', AccessorID.toUpperCase()], {}, admin)).to.equal('true allowed');
    const gone = '99999999-2222-4333-8444-555555555555';
    for (const id of [gone, 'no id']) {
      expect(await asked(['token', id], {}, admin)).to.equal('false unknown_subject');
      // What does not exist and what may not be asked about are the same.
      const replies = await Promise.all(
        [id, AccessorID].map((one) =>
          decider.decide(['token', one], 'approve', ['orders', '18'], { token: gateway }),
        ),
      );
      expect(replies.map(({ status, text }) => [status, text])).to.deep.equal(
        Array(2).fill([403, replies[0]!.text]),
      );
    }
  });

  it('are secrets, without any right of who asks', async () => {
    const { SecretID, AccessorID } = await decider.token(SHOP);
    const secret = ['token_secret', SecretID] as const;
    expect(await asked(secret)).to.equal('true allowed');
    expect(await asked(['token_secret', 'x'])).to.equal('false unknown_subject');
    await must(`DELETE /acl/token/${AccessorID}`);
    expect(await asked(secret)).to.equal('false unknown_subject');
  });

  it('are dead once their token has expired, their method or their rule is gone', async () => {
    const { SecretID } = await login();
    const secret = ['token_secret', SecretID] as const;
    expect(await asked(secret)).to.equal('true allowed');
    await must('PUT /acl/role', { Name: 'other' });
    decider.client.solo.nowMs += 3600_000;
    expect(await asked(secret)).to.equal('false unknown_subject');
  });

  it('are JWTs, decided as a login would be, and nothing is written', async () => {
    const properties = { auth_method: 'JWT1' };
    const index = decider.client.solo.machine.appliedIndex();
    const ask = async (claims: object, more = properties, token = gateway) =>
      asked(['jwt', await jwtOf(claims)], more, token);
    expect(await ask({})).to.equal('true allowed');
    expect(decider.client.solo.machine.appliedIndex()).to.equal(index);
    for (const claims of [{ groups: ['x'] }, { exp: nowS() - 600 }, { sub: 1 }])
      expect(await ask(claims)).to.equal('false refused');
    expect(await ask({}, { auth_method: 'none' })).to.equal('false refused');
    const reasons = await Promise.all(
      [gateway, decider.client.token].map(async (token) => {
        const jwt = await jwtOf({ groups: ['x'] });
        const how = { subject: properties, token };
        return decider.decide(['jwt', jwt], 'approve', ['orders', '1'], how);
      }),
    );
    expect(reasons.map(({ context }) => context.reason_admin.en)).to.deep.equal([
      'the login is refused',
      'the login is refused: no_rule',
    ]);
  });

  it('are JWTs whose issuer is asked once a minute, and rules and blocks always', async () => {
    const jwt = await jwtOf({ exp: nowS() + 30 });
    const subject = ['jwt', jwt] as const;
    const ask = () => asked(subject, { auth_method: 'jwt1' });
    expect(await ask()).to.equal('true allowed');
    const revoked = { AuthMethod: 'jwt1', Subject: 'ann', DryRun: false, BlockFor: '1h' };
    await must('POST /acl/tokens/revoke', revoked);
    expect(await ask()).to.equal('false blocked');
    const [{ ID }] = await must('GET /acl/identity-blocks');
    await must(`DELETE /acl/identity-block/${ID}`);
    const [rule] = await must('GET /acl/binding-rules');
    await must(`PUT /acl/binding-rule/${rule.ID}`, { ...rule, Selector: 'x in list.groups' });
    expect(await ask()).to.equal('false refused');
    await must(`PUT /acl/binding-rule/${rule.ID}`, rule);
    expect(await ask()).to.equal('true allowed');
    decider.client.solo.nowMs += 29_000;
    expect(await ask()).to.equal('true allowed');
    // Beyond its end and the difference of clocks that is permitted.
    decider.client.solo.nowMs += 120_000;
    expect(await ask()).to.equal('false refused');
    const endless = await jwtOf({ exp: undefined });
    const again = () => asked(['jwt', endless], { auth_method: 'jwt1' });
    expect(await again()).to.equal('true allowed');
    decider.client.solo.nowMs += 400_000;
    expect(await again()).to.equal('false refused');
  });

  it('are JWTs verified anew when their method has changed', async () => {
    const jwt = await jwtOf();
    const ask = () => asked(['jwt', jwt], { auth_method: 'jwt1' });
    expect(await ask()).to.equal('true allowed');
    const other = await signer('EdDSA');
    const method = await must('GET /acl/auth-method/jwt1');
    const Config = { ...method.Config, JWTValidationPubKeys: [other.pem] };
    await must('PUT /acl/auth-method/jwt1', { ...method, Config });
    expect(await ask()).to.equal('false refused');
  });

  it('are identities: one of their tokens is enough', async () => {
    const admin = decider.client.token;
    const ask = (id: string, token = admin) => asked(['identity', id], {}, token);
    expect(await ask('jwt1/ann')).to.equal('false unknown_subject');
    await login();
    expect(await ask('JWT1/ann')).to.equal('true allowed');
    expect(await ask('jwt1/ann', gateway)).to.equal('status 403');
    expect(await ask('ann')).to.equal('false unknown_subject');
    // one that is lost, and a recovery accepted that
    const { AccessorID } = await login();
    decider.client.solo.store.commit([[keys.token('default', AccessorID), undefined]]);
    expect(await ask('jwt1/ann')).to.equal('true allowed');
    await must('POST /acl/tokens/revoke', { AuthMethod: 'jwt1', Subject: 'ann', DryRun: false });
    expect(await ask('jwt1/ann')).to.equal('false unknown_subject');
  });

  it('are roles alone', async () => {
    const admin = decider.client.token;
    expect(await asked(['role', 'clerk'], {}, admin)).to.equal('true allowed');
    expect(await asked(['role', 'none'], {}, admin)).to.equal('false unknown_subject');
    expect(await asked(['role', 'clerk'])).to.equal('status 403');
    await must('PUT /namespace', { Name: 'team' });
    await must('PUT /acl/policy?ns=team', { Name: 'shop', Rules: SHOP });
    await must('PUT /acl/role?ns=team', { Name: 'clerk', Policies: [{ Name: 'shop' }] });
    const inTeam = () => asked(['role', 'clerk'], { namespace: 'team' }, admin);
    expect(await inTeam()).to.equal('true allowed');
    // Its roles are there until the namespace is removed.
    await must('DELETE /namespace/team');
    expect(await inTeam()).to.equal('false unknown_subject');
  });

  it('are what the configuration says that they are', async () => {
    const user = { AuthMethod: 'jwt1', Namespace: 'default', From: 'tokens' };
    const SubjectTypes = {
      user,
      member: { ...user, From: 'properties' },
      lost: { ...user, AuthMethod: 'gone', From: 'properties' },
    };
    expect(await asked(['user', 'ann'])).to.equal('false unknown_subject');
    await must('PUT /operator/acl/configuration', { SubjectTypes });
    expect(await must('GET /operator/acl/configuration')).to.deep.include({ SubjectTypes });
    const admin = decider.client.token;
    await login();
    expect(await asked(['user', 'ann'], {}, admin)).to.equal('true allowed');
    expect(await asked(['user', 'ann'])).to.equal('status 403');
    const member = (groups: readonly string[], token = admin) =>
      asked(['member', 'bob'], { groups }, token);
    expect(await member(['clerks'])).to.equal('true allowed');
    expect(await member(['x'])).to.equal('false refused');
    expect(await member(['clerks'], gateway)).to.equal('status 403');
    expect(await asked(['lost', 'x'], {}, admin)).to.equal('false unknown_subject');
    for (const [types, why] of [
      [{ token: user }, 'is a type of the server itself'],
      [{ 'a b': user }, 'is not 1 to 64'],
      [{ user: { ...user, From: 'x' } }, 'From'],
      [{ user: { ...user, AuthMethod: '' } }, 'AuthMethod'],
      [{ user: { ...user, Namespace: 'a b' } }, 'namespace'],
    ] as const) {
      const body = { SubjectTypes: types };
      const { status, text } = await decider.client.ask('PUT /operator/acl/configuration', body);
      expect([status, text.includes(why)], text).to.deep.equal([400, true]);
    }
  });

  it('of other types are not known, whoever asks', async () => {
    for (const token of [gateway, decider.client.token])
      expect(await asked(['robot', 'x'], {}, token)).to.equal('false unknown_subject');
  });

  it('and their credentials stand in no answer and no decision', async () => {
    const jwt = await jwtOf({ groups: [] });
    const secret = '99999999-2222-4333-8444-555555555555';
    const cases = [
      [['jwt', jwt], { auth_method: 'jwt1' }],
      [['jwt', `${jwt}x`], { auth_method: 'jwt1' }],
      [['token_secret', secret], {}],
    ] as const;
    for (const [subject, properties] of cases) {
      const how = { subject: properties, token: gateway };
      const answer = await decider.decide(subject, 'approve', ['orders', '1'], how);
      const { decision_id } = answer.context;
      const kept = await must(`GET /acl/decision/${decision_id}`);
      expect(kept).to.include({ Type: 'evaluation', SubjectType: subject[0], Now: null });
      for (const part of [subject[1], ...subject[1].split('.').filter(Boolean)])
        expect(JSON.stringify([answer, kept])).not.to.include(part);
    }
  });
});

describe('questions of decisions', () => {
  let decider: Decider;
  before(async () => {
    decider = await Decider.open();
  });
  after(() => decider.close());

  it('about services, keys and the like are those of rules', async () => {
    const { SecretID: token } = await decider.token(`
      service "web" { policy = "write" intentions = "read" }
      key_prefix "a/" { policy = "write" } key "b" { policy = "list" }
      operator = "read" node_prefix "" { policy = "read" }`);
    const self = ['token', 'self'] as const;
    const cases: readonly [action: string, type: string, id: string, code: string][] = [
      ['write', 'service', 'web', 'true allowed'],
      ['write', 'service', 'db', 'false denied'],
      ['list', 'service', 'web', 'false unknown_action'],
      ['Read', 'service', 'web', 'false unknown_action'],
      ['read', 'intention', 'web', 'true allowed'],
      ['write', 'intention', 'web', 'false denied'],
      ['write-prefix', 'key', 'a/b', 'true allowed'],
      ['list', 'key', 'b', 'true allowed'],
      ['read', 'operator', 'whatever', 'true allowed'],
      ['write', 'operator', '', 'false denied'],
      ['read', 'node', 'n', 'true allowed'],
      ['read', 'namespace', 'default', 'true allowed'],
      ['read', 'acl', '', 'false denied'],
      ['read', 'app:service', 'web', 'false denied'],
    ];
    for (const [action, type, id, code] of cases)
      expect(
        await decider.codeOf(self, action, [type, id], { token }),
        `${action} ${type}`,
      ).to.equal(code);
  });

  it('about an application ask its key rules', async () => {
    const { SecretID: token } = await decider.token(`${SHOP}
      key "app/read/x" { policy = "read" }
      key "a%2Fb/c%25d/e/f" { policy = "write" }
      key "session/open/1" { policy = "list" }`);
    const self = ['token', 'self'] as const;
    const cases: readonly [action: string, type: string, id: string, allowed: boolean][] = [
      ['approve', 'orders', '18', true],
      ['approve', 'orders', '17', false],
      ['approve', 'orders', 'eu-1', false],
      ['ship', 'orders', '17', true],
      ['approve', 'Orders', '18', false],
      ['approve', 'orders2', '18', false],
      ['read', 'app', 'x', true],
      ['c%d', 'a/b', 'e/f', true],
      ['c%25d', 'a/b', 'e/f', false],
      ['open', 'app:session', '1', true],
      ['approve', 'app:orders', '18', true],
    ];
    for (const [action, type, id, allowed] of cases) {
      const { decision } = await decider.decide(self, action, [type, id], { token });
      expect(decision, `${action} ${type} ${id}`).to.equal(allowed);
    }
  });

  it('are about the namespace of the subject unless the resource names another', async () => {
    await decider.client.must('PUT /namespace', { Name: 'team' });
    const rules = `${SHOP}\nnamespace "team" { service "web" { policy = "read" } }`;
    const { SecretID: token } = await decider.token(rules);
    const ask = (properties?: object) =>
      decider.codeOf(['token', 'self'], 'read', ['service', 'web', properties], { token });
    expect(await ask()).to.equal('false denied');
    expect(await ask({ namespace: 'TEAM' })).to.equal('true allowed');
    expect(await ask({ namespace: 'none' })).to.equal('false denied');
  });

  it('have reasons for who manages, and for who uses', async () => {
    const { SecretID: token } = await decider.token(SHOP);
    const subject = { type: 'token', id: 'self' };
    const ask = async (id: string, query = '') =>
      (
        await decider.ask(
          `evaluation${query}`,
          { subject, action: { name: 'approve' }, resource: { type: 'orders', id } },
          { token },
        )
      ).body.context;
    const denied = await ask('17');
    expect(denied).to.deep.include({ code: 'denied', layer: 'own', id: '0' });
    expect(denied.reason_admin.en).to.match(/is denied by key "orders\/approve\/17" in policy/);
    expect(denied.reason_user).to.deep.equal({ en: 'You may not approve orders 17.' });
    expect(await ask('18')).to.have.all.keys('id', 'code', 'index');
    const allowed = await ask('18', '?reasons=all');
    expect(allowed.reason_admin.en).to.include('is allowed by key_prefix "orders/"');
    const long = await ask('9'.repeat(2000).replace('9', 'eu-'));
    expect(long.reason_user.en).to.have.length.below(180);
  });
});
