/** Subjects that log in, or could: how often an issuer is asked, and which tokens count. */
import { expect } from 'chai';
import { Proofs } from '../../../src/service/decisions/proofs.js';
import { authMethodTypes } from '../../../src/service/login/index.js';
import type { AuthMethodType } from '../../../src/service/login/types.js';
import type { StateRecord } from '../../../src/state/types.js';
import { CA } from '../../login/certificates.js';
import { TestServer } from '../../login/server.js';
import { type Signer, signer } from '../../login/signers.js';
import { LOGIN_DEFAULTS } from '../../support/defaults.js';
import { Solo } from '../solo.js';
import { Decider } from './decider.js';

const RULES = 'key_prefix "orders/" { policy = "read" }';
const REVIEW = '/apis/authentication.k8s.io/v1/tokenreviews';

describe('logins that decisions ask about', () => {
  let decider: Decider;
  let key: Signer;
  /** JWTs that were verified. */
  let verified: number;
  /** Called before each verification. */
  let meanwhile: () => Promise<unknown>;
  const checks: string[] = [];
  /** How far the monotonic clock is ahead of the other. */
  let aheadMs: number;
  before(async () => {
    key = await signer('EdDSA');
  });
  beforeEach(async () => {
    verified = 0;
    meanwhile = async () => {};
    checks.length = 0;
    aheadMs = 0;
    const solo = new Solo();
    const methodTypes = new Map([...authMethodTypes(LOGIN_DEFAULTS)].map(counted));
    const onCheck = (result: string): void => void checks.push(result);
    const now = () => solo.nowMs + aheadMs;
    const proofs = new Proofs({ methodTypes, nowMs: () => solo.nowMs, now, onCheck });
    decider = await Decider.open({ solo, methodTypes, proofs });
    await must('PUT /acl/policy', { Name: 'shop', Rules: RULES });
    await must('PUT /acl/role', { Name: 'clerk', Policies: [{ Name: 'shop' }] });
    await must('PUT /acl/auth-method', method('staff'));
    await must('PUT /acl/binding-rule', rule('staff'));
  });
  afterEach(() => decider.close());

  const counted = ([name, type]: [string, AuthMethodType]): [string, AuthMethodType] => {
    const validate: AuthMethodType['validate'] = async (...given) => {
      verified += 1;
      await meanwhile();
      return type.validate(...given);
    };
    const checkConfig = type.checkConfig.bind(type);
    const checkIssuer = type.checkIssuer.bind(type);
    const examine = type.examine.bind(type);
    const [vouched, shapeOf] = [type.vouched.bind(type), type.shapeOf.bind(type)];
    return [name, { name, validate, checkConfig, checkIssuer, examine, vouched, shapeOf }];
  };
  const must = (call: string, body?: object, token?: string) =>
    decider.client.must(call, body, token);
  const method = (Name: string, more: object = {}) => ({
    Name,
    Type: 'jwt',
    MaxTokenTTL: '1h',
    ...more,
    Config: { JWTValidationPubKeys: [key.pem], ListClaimMappings: { groups: 'groups' } },
  });
  const rule = (AuthMethod: string) => {
    return { AuthMethod, BindType: 'role', BindName: 'clerk', Selector: 'clerks in list.groups' };
  };
  const nowS = (): number => Math.floor(decider.client.solo.nowMs / 1000);
  const jwtOf = (more: object = {}): Promise<string> =>
    key.sign({ iat: nowS(), exp: nowS() + 600, sub: 'ann', groups: ['clerks'], ...more });
  const asked = (subject: readonly [string, string], properties: object = {}) =>
    decider.codeOf(subject, 'approve', ['orders', '18'], { subject: properties });
  const ofJwt = (jwt: string, more: object = {}) =>
    asked(['jwt', jwt], { auth_method: 'staff', ...more });
  const login = async (sub: string, AuthMethod = 'staff', ns = 'default') =>
    must(`POST /acl/login?ns=${ns}`, { AuthMethod, BearerToken: await jwtOf({ sub }) }, '');

  /** Returns the records of a state whose methods have another key, and all their indexes. */
  const stateWith = (other: Signer): readonly StateRecord[] => {
    const { store } = decider.client.solo;
    const [own, theirs] = [key, other].map(({ pem }) => JSON.stringify(pem).slice(1, -1));
    return [...store.keys('')]
      .filter((at) => !/^(machine|request|level|restore)/.test(at))
      .map((at) => [at, store.get(at)!.replaceAll(own!, theirs!)]);
  };
  const restore = (records: readonly StateRecord[]) => decider.client.solo.restore(records);

  it('are verified once a minute at most, by method', async () => {
    const jwt = await jwtOf();
    for (const name of ['staff', 'STAFF', 'staff'])
      expect(await ofJwt(jwt, { auth_method: name })).to.equal('true allowed');
    expect(await ofJwt(` ${jwt}\n`)).to.equal('true allowed');
    expect([verified, checks]).to.deep.equal([1, ['valid', 'known', 'known', 'known']]);
    await must('PUT /acl/auth-method', method('other'));
    expect(await ofJwt(jwt, { auth_method: 'other' })).to.equal('false refused');
    expect(verified).to.equal(2);
    decider.client.solo.nowMs += 59_999;
    await ofJwt(jwt);
    expect(verified).to.equal(2);
    decider.client.solo.nowMs += 1;
    expect(await ofJwt(jwt)).to.equal('true allowed');
    expect(verified).to.equal(3);
  });

  it('are verified again at their end', async () => {
    const jwt = await jwtOf({ exp: nowS() + 10 });
    await ofJwt(jwt);
    decider.client.solo.nowMs = (nowS() + 10) * 1000 - 1;
    await ofJwt(jwt);
    expect(verified).to.equal(1);
    decider.client.solo.nowMs += 1;
    await ofJwt(jwt);
    expect(verified).to.equal(2);
  });

  it('are verified once a minute by either clock, whatever the other one says', async () => {
    const { solo } = decider.client;
    const hourMs = 3600_000;
    const jwt = await jwtOf({ iat: nowS() - 7200 });
    await ofJwt(jwt);
    solo.nowMs -= hourMs;
    aheadMs += hourMs + 59_999;
    await ofJwt(jwt);
    expect(verified).to.equal(1);
    aheadMs += 1;
    expect(await ofJwt(jwt)).to.equal('true allowed');
    expect(verified).to.equal(2);
    // The machine is suspended, and its monotonic clock stands still.
    solo.nowMs += 60_000;
    aheadMs -= 60_000;
    expect(await ofJwt(jwt)).to.equal('true allowed');
    expect(verified).to.equal(3);
  });

  it('without an end are remembered no longer than a login accepts them', async () => {
    // The method permits 150 s, and 60 s for the difference of clocks.
    const jwt = await jwtOf({ iat: nowS() - 200, exp: undefined });
    expect(await ofJwt(jwt)).to.equal('true allowed');
    decider.client.solo.nowMs += 11_000;
    expect(await ofJwt(jwt)).to.equal('false refused');
  });

  it('are verified each time if they are refused', async () => {
    const jwt = await (await signer('EdDSA')).sign({ sub: 'ann', exp: nowS() + 60 });
    for (const _ of [1, 2]) expect(await ofJwt(jwt)).to.equal('false refused');
    expect([verified, checks]).to.deep.equal([2, ['refused', 'refused']]);
  });

  it('once in a request, whatever the number of its questions', async () => {
    const id = await jwtOf();
    const item = (at: number) => ({
      subject: { type: 'jwt', id, properties: { auth_method: 'staff' } },
      action: { name: 'approve' },
      resource: { type: 'orders', id: `${at}` },
    });
    const evaluations = Array.from({ length: 256 }, (_, at) => item(at));
    const { status } = await decider.ask('evaluations', { evaluations });
    expect([status, verified]).to.deep.equal([200, 1]);
  });

  it('are judged by the method that there is in the end', async () => {
    const other = await signer('EdDSA');
    const jwt = await jwtOf();
    const changed = { ...method('staff').Config, JWTValidationPubKeys: [other.pem] };
    meanwhile = async () => {
      meanwhile = async () => {};
      await must('PUT /acl/auth-method/staff', { ...method('staff'), Config: changed });
    };
    expect(await ofJwt(jwt)).to.equal('false refused');
    expect(verified).to.equal(2);
  });

  it('are judged by the method of an archive once it is restored', async () => {
    const jwt = await jwtOf();
    const restored = stateWith(await signer('EdDSA'));
    expect(await ofJwt(jwt)).to.equal('true allowed');
    await restore(restored);
    expect(await ofJwt(jwt)).to.equal('false refused');
    expect(verified).to.equal(2);
  });

  it('are judged by it if that happens while they are verified', async () => {
    const restored = stateWith(await signer('EdDSA'));
    meanwhile = async () => {
      meanwhile = async () => {};
      await restore(restored);
    };
    expect(await ofJwt(await jwtOf())).to.equal('false refused');
    expect(verified).to.equal(2);
  });

  it('are refused if their method never stays the same', async () => {
    const jwt = await jwtOf();
    let count = 0;
    meanwhile = () =>
      must('PUT /acl/auth-method/staff', method('staff', { Description: `${count++}` }));
    expect(await ofJwt(jwt)).to.equal('false refused');
    meanwhile = async () => {};
    expect(await ofJwt(jwt)).to.equal('true allowed');
  });

  it('may have more tokens than their identity, and make none', async () => {
    await must('PUT /operator/acl/configuration', { TokensPerIdentity: 1, OnTokenLimit: 'refuse' });
    await login('ann');
    const index = decider.client.solo.machine.appliedIndex();
    expect(await ofJwt(await jwtOf())).to.equal('true allowed');
    expect(decider.client.solo.machine.appliedIndex()).to.equal(index);
  });

  it('are of the namespace of their method', async () => {
    await must('PUT /namespace', { Name: 'team' });
    await must('PUT /acl/auth-method?ns=team', method('staff'));
    await must('PUT /acl/policy?ns=team', { Name: 'shop', Rules: RULES });
    await must('PUT /acl/role?ns=team', { Name: 'clerk', Policies: [{ Name: 'shop' }] });
    const jwt = await jwtOf();
    expect(await ofJwt(jwt, { namespace: 'TEAM' })).to.equal('false refused');
    await must('PUT /acl/binding-rule?ns=team', rule('staff'));
    expect(await ofJwt(jwt, { namespace: 'team' })).to.equal('true allowed');
    expect(await ofJwt(jwt, { namespace: 'gone' })).to.equal('false refused');
    expect(await ofJwt(jwt, { namespace: 'a b' })).to.equal('status 400');
    // Without a namespace the question is about that of the token.
    const resource = ['orders', '18', { namespace: 'default' }] as const;
    const subject = { auth_method: 'staff', namespace: 'team' };
    expect(await decider.codeOf(['jwt', jwt], 'approve', resource, { subject })).to.equal(
      'false denied',
    );
    await login('ann', 'staff', 'team');
    const ask = (namespace: string) => asked(['identity', 'staff/ann'], { namespace });
    expect([await ask('team'), await ask('default')]).to.deep.equal([
      'true allowed',
      'false unknown_subject',
    ]);
  });

  it('of an identity are all live tokens, the newest thousand', async () => {
    const role = 'GET /acl/role/name/clerk';
    const { solo } = decider.client;
    const first = await login('ann');
    await must(`PUT /acl/role/${(await must(role)).ID}`, { Name: 'clerk' });
    const ask = async () => {
      const answer = await decider.decide(['identity', 'staff/ann'], 'approve', ['orders', '1']);
      return [answer.decision, answer.context.truncated];
    };
    expect(await ask()).to.deep.equal([false, undefined]);
    await must(`PUT /acl/role/${(await must(role)).ID}`, {
      Name: 'clerk',
      Policies: [{ Name: 'shop' }],
    });
    for (let count = 0; count < 999; count++) {
      solo.nowMs += 1;
      await login('ann');
    }
    expect(await ask()).to.deep.equal([true, undefined]);
    solo.nowMs += 1;
    await login('ann');
    expect(await ask()).to.deep.equal([true, true]);
    await must(`DELETE /acl/token/${first.AccessorID}`);
    expect(await ask()).to.deep.equal([true, undefined]);
  }).timeout(120_000);

  it('of an identity are found by nothing but its name', async () => {
    await login('ann');
    await login('');
    const { AccessorID } = await login('a/b');
    const ask = (id: string) => asked(['identity', id]);
    expect(await ask('staff/a/b')).to.equal('true allowed');
    for (const id of [
      'staff',
      'staff/',
      '/ann',
      '',
      'staff/an',
      'staff/Ann',
      'staff/ann\u0000default',
      'staff\u0000ann/default',
      `staff/a/b\u0000default\u0000${AccessorID}`,
      ' staff/ann',
    ])
      expect(await ask(id), JSON.stringify(id)).to.equal('false unknown_subject');
  });

  it('at Kubernetes are reviewed once a minute; others vouch for an account', async () => {
    const cluster = await TestServer.start(true);
    try {
      const jwt = await key.sign({ sub: 'reviewer' });
      const Config = { Host: cluster.url, CACert: CA, ServiceAccountJWT: jwt };
      const demo = '/api/v1/namespaces/prod/serviceaccounts/demo';
      cluster.answers.set(demo, { metadata: {} });
      let reviews = 0;
      cluster.answers.set(REVIEW, () => {
        reviews += 1;
        const user = { username: 'system:serviceaccount:prod:demo', uid: 'u-1' };
        return { kind: 'TokenReview', status: { authenticated: true, user } };
      });
      await must('PUT /acl/auth-method', { Name: 'k8s', Type: 'kubernetes', Config });
      const Selector = 'serviceaccount.namespace == prod';
      await must('PUT /acl/binding-rule', { ...rule('k8s'), Selector });
      const account = ['jwt', 'an.account.token'] as const;
      for (const _ of [1, 2])
        expect(await asked(account, { auth_method: 'k8s' })).to.equal('true allowed');
      expect(reviews).to.equal(1);
      const type = { AuthMethod: 'k8s', Namespace: 'default', From: 'properties' };
      await must('PUT /operator/acl/configuration', { SubjectTypes: { workload: type } });
      expect(await asked(['workload', 'prod/demo'])).to.equal('true allowed');
      for (const id of ['test/demo', 'prod', 'prod/', 'prod/demo/x', ''])
        expect(await asked(['workload', id]), id).to.equal('false refused');
      expect(reviews).to.equal(1);
    } finally {
      await cluster.stop();
    }
  });

  it('of one request do not wait for one another at a slow cluster', async () => {
    const cluster = await TestServer.start(true);
    try {
      const jwt = await key.sign({ sub: 'reviewer' });
      const Config = { Host: cluster.url, CACert: CA, ServiceAccountJWT: jwt };
      await must('PUT /acl/auth-method', { Name: 'k8s', Type: 'kubernetes', Config });
      let arrived = 0;
      let release = (): void => {};
      const all = new Promise<void>((resolve) => {
        release = resolve;
      });
      cluster.answers.set(REVIEW, async () => {
        arrived += 1;
        if (arrived === 4) release();
        await all;
        return { status: { authenticated: false } };
      });
      const properties = { auth_method: 'k8s' };
      const evaluations = ['a', 'b', 'c', 'd', 'e'].map((id) => ({
        subject: { type: 'jwt', id, properties },
      }));
      const action = { name: 'read' };
      const resource = { type: 'service', id: 'web' };
      const body = { action, resource, evaluations };
      const answer = await decider.ask('evaluations', body);
      for (const { context } of answer.body.evaluations) expect(context.code).to.equal('refused');
      expect(arrived).to.equal(5);
    } finally {
      await cluster.stop();
    }
  });

  it('that others vouch for have the claims that they send', async () => {
    const user = { AuthMethod: 'staff', Namespace: 'default', From: 'properties' };
    await must('PUT /operator/acl/configuration', { SubjectTypes: { user } });
    const ask = (properties: object, id = 'bob') => asked(['user', id], properties);
    expect(await ask({ groups: ['clerks'] })).to.equal('true allowed');
    // Times, issuer and audience are not asked for, and nobody else is named by a property.
    expect(await ask({ groups: ['clerks'], exp: 1, sub: 'eve' })).to.equal('true allowed');
    const mistyped = { exp: 'never', aud: 7, iss: ['x'], jti: 1 };
    expect(await ask({ groups: ['clerks'], ...mistyped })).to.equal('true allowed');
    expect(await ask({ groups: [] })).to.equal('false refused');
    expect(await ask({ groups: { a: 1 } })).to.equal('false refused');
    const block = { AuthMethod: 'staff', Subject: 'bob', DryRun: false, BlockFor: '1h' };
    await must('POST /acl/tokens/revoke', block);
    expect(await ask({ groups: ['clerks'] })).to.equal('false blocked');
    expect(await ask({ groups: ['clerks'], sub: 'eve' })).to.equal('false blocked');
    expect(await ask({ groups: ['clerks'] }, 'eve')).to.equal('true allowed');
    expect(verified).to.equal(0);
  });
});
