import { expect } from 'chai';
import { signer } from '../login/signers.js';
import { Browser } from '../support/oidc-browser.js';
import { type OidcProvider, startProvider } from '../support/oidc-provider.js';
import { CALLBACK, type Completion, OidcCluster, SIGNED_OUT, told } from './oidc-cluster.js';
import { until } from './operator.js';

const ALIVE = [200, 200, 200];
const DEAD = [403, 403, 403];
const HOUR_MS = 3_600_000;

describe('a login at an OpenID provider', () => {
  let provider: OidcProvider;
  let field: OidcCluster;
  let account = 'eve';
  before(async () => {
    provider = await startProvider({
      redirectUris: [CALLBACK],
      postLogoutRedirectUris: [SIGNED_OUT],
    });
    provider.setAccount('eve', { email: 'eve@example.com', groups: ['dev'] });
    provider.setAccount('mallory', { email: 'mallory@example.com', groups: ['guests'] });
    field = await OidcCluster.open(3, {
      issuer: provider.issuer,
      logIn: (url) => provider.logIn(url, account),
    });
    await field.addMethod({}, 'other');
  });
  afterEach(async () => {
    account = 'eve';
    provider.setClockSkew(0);
    await provider.start();
  });
  after(async () => {
    await field?.cluster.close();
    await provider.close();
  });

  /** A login that the provider has let through, which only has to be completed. */
  const ready = async (at = 0, change = {}): Promise<Completion> =>
    field.redirected(await field.begin(at, change));
  const ask = (path: string, body: object, token = '') =>
    field.clients[0]!.ask(`POST /acl/oidc/${path}`, body, token);

  it('begins at one node, ends at another, and gives the rights of its groups on all', async () => {
    const answer = await field.complete(await ready(0, { Meta: { from: 'test' } }), 1);
    expect(answer.status, answer.text).to.equal(200);
    const token = answer.body;
    expect(token).to.include({ AuthMethod: 'staff', Namespace: 'default', Local: true });
    expect(token.Description).to.equal('token created via OIDC login: {"from":"test"}');
    expect(token.Roles.map(({ Name }: { Name: string }) => Name)).to.deep.equal(['dev']);
    expect(Date.parse(token.ExpirationTime) - Date.parse(token.CreateTime)).to.equal(HOUR_MS);
    const Identity = { AuthMethod: 'staff', Namespace: 'default', Subject: 'eve' };
    expect(token.Identity).to.deep.equal(Identity);
    expect(token.Renewal).to.be.a('string');
    expect(Object.keys(token).slice(-2)).to.deep.equal(['Identity', 'Renewal']);
    expect(await field.alive(token)).to.deep.equal(ALIVE);
    expect(await field.writes(token, 'dev-web')).to.deep.equal(ALIVE);
    expect(await field.writes(token, 'ops-web')).to.deep.equal(DEAD);
  });

  it('asks the provider for a code with PKCE, a nonce and the scopes', async () => {
    const { AuthURL } = await field.begin();
    const { origin, pathname, searchParams } = new URL(AuthURL);
    expect(origin + pathname).to.equal(`${provider.issuer}/auth`);
    const { code_challenge, nonce, state, ...rest } = Object.fromEntries(searchParams);
    expect(rest).to.deep.include({
      client_id: 'conclave',
      code_challenge_method: 'S256',
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: 'openid email groups offline_access',
    });
    for (const random of [code_challenge, nonce]) expect(random).to.match(/^[\w-]{43}$/);
    expect(state).to.match(/^[\w-]{100,}$/);
    const next = new URL((await field.begin()).AuthURL).searchParams;
    for (const name of ['code_challenge', 'nonce', 'state'])
      expect(next.get(name)).to.not.equal(searchParams.get(name));
  });

  it('passes the Prompt on', async () => {
    for (const Prompt of ['login', 'none', 'select_account']) {
      const { AuthURL } = await field.begin(0, { Prompt });
      expect(new URL(AuthURL).searchParams.get('prompt')).to.include(Prompt);
    }
    const { AuthURL } = await field.begin(0, { Prompt: 'none' });
    const end = new URL(await provider.logIn(AuthURL, 'eve', new Browser()));
    expect(end.searchParams.get('error')).to.equal('login_required');
  });

  it('uses a State up, for every node', async () => {
    const completion = await ready();
    expect((await field.complete(completion, 1)).status).to.equal(200);
    const asked = provider.requests.get('/token');
    for (const at of [1, 2, 0]) {
      const again = await field.complete(completion, at);
      expect(await field.reasonOf(again)).to.equal('state_used');
    }
    expect(provider.requests.get('/token')).to.equal(asked);
  });

  it('makes one token of one State, however many nodes get it at once', async () => {
    const completion = await ready();
    const answers = await Promise.all([0, 1, 2, 0].map((at) => field.complete(completion, at)));
    const made = answers.filter(({ status }) => status === 200);
    expect(made.length).to.equal(1);
    for (const answer of answers)
      if (answer !== made[0]) expect(await field.reasonOf(answer)).to.match(/^(state_used|code)$/);
  });

  it('is refused with a State that this cluster has not made', async () => {
    const completion = await ready();
    const { State } = completion;
    const middle = Math.floor(State.length / 2);
    const other = State[middle] === 'A' ? 'B' : 'A';
    const { Renewal } = await field.logIn();
    for (const wrong of [
      ...['', 'x', `${State}=`, `${State}A`, State.slice(0, -1), State.slice(0, 20), Renewal],
      State.slice(0, middle) + other + State.slice(middle + 1),
    ]) {
      const answer = await field.complete({ ...completion, State: wrong });
      expect(await field.reasonOf(answer), wrong).to.equal('state');
    }
    expect((await field.complete(completion)).status).to.equal(200);
  });

  it('is refused with a State of another method, or of the method before a change', async () => {
    const other = await ready(0, { AuthMethod: 'other' });
    expect(await field.reasonOf(await field.complete(other))).to.equal('state');
    expect((await field.complete(other, 2, { AuthMethod: 'other' })).status).to.equal(200);
    const before = await ready();
    await field.rewriteMethod();
    expect(await field.reasonOf(await field.complete(before))).to.equal('state');
  });

  it('is refused with another ClientNonce, and goes on with the right one', async () => {
    const completion = await ready();
    const asked = provider.requests.get('/token');
    for (const ClientNonce of ['another', '', undefined]) {
      const answer = await field.complete(completion, 1, { ClientNonce });
      expect(await field.reasonOf(answer)).to.equal('client_nonce');
    }
    expect(provider.requests.get('/token')).to.equal(asked);
    expect((await field.complete(completion)).status).to.equal(200);
  });

  it('is refused with a code that was used, or that the provider does not know', async () => {
    const used = await ready();
    expect((await field.complete(used)).status).to.equal(200);
    const fresh = await ready();
    for (const Code of [used.Code, 'unknown', '', undefined, 'a b&c=d']) {
      const answer = await field.complete(fresh, 1, { Code });
      expect(await field.reasonOf(answer), String(Code)).to.equal('code');
    }
    const another = await ready();
    const mixed = await field.complete({ ...fresh, Code: another.Code });
    expect(await field.reasonOf(mixed)).to.equal('code');
  });

  it('is refused without a binding rule, with its identity in the audit log', async () => {
    account = 'mallory';
    expect(await field.reasonOf(await field.attempt())).to.equal('no_rule');
    const { Records } = await field.clients[1]!.must('GET /operator/audit/tail');
    const record = Records.find(
      ({ payload }: { payload: { reason_code?: string } }) => payload.reason_code === 'no_rule',
    );
    expect(record.payload.auth.identity.subject).to.equal('mallory');
  });

  it('is a bad request with what the method does not allow or does not have', async () => {
    const begin = { AuthMethod: 'staff', RedirectURI: CALLBACK };
    const foreign = await ask('auth-url', { ...begin, RedirectURI: `${CALLBACK}/x` });
    expect(told(foreign)).to.deep.equal([
      400,
      `RedirectURI "${CALLBACK}/x" is not among the AllowedRedirectURIs`,
    ]);
    const jwt = { Name: 'jwt', Type: 'jwt', MaxTokenTTL: '1h' };
    const Config = { OIDCDiscoveryURL: provider.issuer, BoundAudiences: ['conclave'] };
    await field.cluster.must('PUT /acl/auth-method', { ...jwt, Config });
    const unknown = 'ACL not found: auth method "nobody" not found';
    for (const [path, body] of [
      ['auth-url', begin],
      ['callback', { AuthMethod: 'staff', State: 's', Code: 'c', ClientNonce: 'n' }],
      ['renew', { AuthMethod: 'staff', Renewal: 'r' }],
    ] as const) {
      const none = await ask(path, { ...body, AuthMethod: 'nobody' });
      expect(told(none), path).to.deep.equal([403, unknown]);
      const other = await ask(path, { ...body, AuthMethod: 'jwt' });
      expect(told(other), path).to.deep.equal([
        400,
        'auth method "jwt" is of type jwt: log in at /v1/acl/login',
      ]);
      const more = await ask(path, { ...body, Unknown: 1 });
      expect(more.status, path).to.equal(400);
      expect(more.text).to.include('Unknown');
    }
    expect(told(await ask('auth-url', { ...begin, Prompt: 'consent' }))).to.deep.equal([
      400,
      'Prompt must be none, login, select_account or empty',
    ]);
    const Meta = { a: 'é'.repeat(600) };
    expect(told(await ask('auth-url', { ...begin, Meta }))).to.deep.equal([
      400,
      'Meta is longer than 1024 bytes of JSON',
    ]);
    const bearer = { AuthMethod: 'staff', BearerToken: 'x' };
    const login = await field.cluster.ask('POST /acl/login', bearer, '');
    expect([login.status, login.text]).to.deep.equal([
      400,
      'auth method "staff" is of type oidc: start at /v1/acl/oidc/auth-url',
    ]);
  });

  it('is offered to whoever asks, without a token', async () => {
    const call = 'GET /internal/ui/oidc-auth-methods';
    const shared = { DisplayName: 'Staff', Kind: 'oidc', Namespace: 'default' };
    for (const client of field.clients)
      expect(await client.must(call, undefined, '')).to.deep.equal([
        { Name: 'other', ...shared },
        { Name: 'staff', ...shared },
      ]);
  });

  it('waits for a provider that is away', async () => {
    const completion = await ready();
    await provider.stop();
    const answer = await field.complete(completion);
    expect(told(answer)).to.deep.equal([
      503,
      'The provider of auth method "staff" cannot be reached',
    ]);
    await field.cluster.nodes[2]!.kill('SIGTERM');
    field.cluster.nodes[2]!.start();
    await field.cluster.nodes[2]!.ready();
    const body = { AuthMethod: 'staff', RedirectURI: CALLBACK };
    const begun = await field.clients[2]!.ask('POST /acl/oidc/auth-url', body, '');
    expect(begun.status).to.equal(503);
    await provider.start();
    expect((await field.complete(completion)).status).to.equal(200);
    await field.logIn(2, 2);
  });

  it('knows new keys of the provider soon', async () => {
    await field.logIn();
    await provider.rotateKeys();
    const first = await field.attempt();
    if (first.status !== 200) expect(await field.reasonOf(first)).to.equal('signature');
    // A node fetches keys again for a JWT that none fits, but not at once after another fetch.
    await until(
      () => field.attempt(),
      ({ status }) => status === 200,
    );
  });

  it('is refused with an ID token that is over, or of the future', async () => {
    provider.setClockSkew(-HOUR_MS);
    expect(await field.reasonOf(await field.attempt())).to.equal('expired');
    provider.setClockSkew(HOUR_MS);
    expect(await field.reasonOf(await field.attempt())).to.equal('issued_in_future');
    provider.setClockSkew(30_000);
    await field.logIn();
  });

  it('is refused to a blocked identity, whose tokens have ended', async () => {
    const token = await field.logIn();
    const identity = { AuthMethod: 'staff', Subject: 'eve' };
    const block = { ...identity, DryRun: false, BlockFor: '1h' };
    const { BlockID } = await field.cluster.must('POST /acl/tokens/revoke', block);
    expect(await field.alive(token)).to.deep.equal(DEAD);
    expect(await field.reasonOf(await field.attempt())).to.equal('blocked');
    const renewed = await field.renew(token);
    expect(told(renewed)).to.deep.equal([403, 'ACL not found']);
    await field.cluster.must(`DELETE /acl/identity-block/${BlockID}`);
    await field.logIn();
  });

  it('ends with a logout, which says where the session at the provider ends', async () => {
    const browser = new Browser();
    const begun = await field.begin();
    const end = new URL(await provider.logIn(begun.AuthURL, 'eve', browser));
    const State = end.searchParams.get('state')!;
    const Code = end.searchParams.get('code')!;
    const { body } = await field.complete({ ...begun, State, Code });
    const answer = await field.clients[2]!.must('POST /acl/oidc/logout', undefined, body.SecretID);
    const query = new URLSearchParams({
      client_id: 'conclave',
      post_logout_redirect_uri: SIGNED_OUT,
    });
    expect(answer).to.deep.equal({ LogoutURL: `${provider.issuer}/session/end?${query}` });
    expect(await field.alive(body)).to.deep.equal(DEAD);
    expect(await provider.logOut(answer.LogoutURL, browser)).to.equal(SIGNED_OUT);
    const silent = await field.begin(0, { Prompt: 'none' });
    const again = await provider.logIn(silent.AuthURL, 'eve', browser);
    expect(new URL(again).searchParams.get('error')).to.equal('login_required');
    const manager = await ask('logout', {}, field.cluster.token);
    expect(told(manager)).to.deep.equal([403, "Permission denied: token wasn't created via login"]);
    const key = await signer('EdDSA');
    const Config = { JWTValidationPubKeys: [key.pem] };
    await field.cluster.must('PUT /acl/auth-method', { Name: 'keys', Type: 'jwt', Config });
    const rule = { AuthMethod: 'keys', BindType: 'service', BindName: 'web' };
    await field.cluster.must('PUT /acl/binding-rule', rule);
    const now = Math.floor(Date.now() / 1000);
    const BearerToken = await key.sign({ iat: now, exp: now + 600, sub: 'eve' });
    const login = { AuthMethod: 'keys', BearerToken };
    const { SecretID } = await field.cluster.must('POST /acl/login', login, '');
    expect(told(await ask('logout', {}, SecretID))).to.deep.equal([
      403,
      "Permission denied: token wasn't created via OIDC login",
    ]);
  });
});
