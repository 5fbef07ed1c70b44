import { createHash, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { Browser } from '../support/oidc-browser.js';
import {
  CLIENT_SECRET,
  type OidcProvider,
  type ProviderOptions,
  startProvider,
} from '../support/oidc-provider.js';

const CALLBACK = 'http://127.0.0.1:9/callback';
const SIGNED_OUT = 'http://127.0.0.1:9/signed-out';
const EVE = { email: 'eve@example.com', groups: ['dev'], name: 'Eve' };

/** Returns the JSON of a response that must be a success. */
async function json(response: Response): Promise<Record<string, string>> {
  const body = await response.text();
  expect(response.status, body).to.equal(200);
  return JSON.parse(body);
}

describe('the OpenID provider of the tests', () => {
  const running: OidcProvider[] = [];
  let provider: OidcProvider;
  let discovery: Record<string, string>;
  const verifier = randomBytes(32).toString('base64url');

  async function start(options: ProviderOptions = {}): Promise<void> {
    provider = await startProvider({
      redirectUris: [CALLBACK],
      postLogoutRedirectUris: [SIGNED_OUT],
      ...options,
    });
    running.push(provider);
    provider.setAccount('eve', EVE);
    discovery = await json(await fetch(`${provider.issuer}/.well-known/openid-configuration`));
  }

  function authUrl(change: Record<string, string> = {}): string {
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    return `${discovery['authorization_endpoint']}?${new URLSearchParams({
      client_id: provider.clientId,
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'openid profile email groups offline_access',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      state: 'the state',
      nonce: 'the nonce',
      ...change,
    })}`;
  }

  function token(parameters: Record<string, string>, isPost = false): Promise<Response> {
    const { clientId } = provider;
    const credentials = [clientId, CLIENT_SECRET].map((part) =>
      new URLSearchParams({ part }).toString().slice('part='.length),
    );
    const basic = `Basic ${Buffer.from(credentials.join(':')).toString('base64')}`;
    const post = isPost ? { client_id: clientId, client_secret: CLIENT_SECRET } : {};
    return fetch(discovery['token_endpoint']!, {
      method: 'POST',
      headers: isPost ? {} : { authorization: basic },
      body: new URLSearchParams({ ...parameters, ...post }),
    });
  }

  const exchange = (code: string, isPost = false): Promise<Response> =>
    token(
      {
        grant_type: 'authorization_code',
        code,
        redirect_uri: CALLBACK,
        code_verifier: verifier,
      },
      isPost,
    );

  /** Logs in and returns the answer of the token endpoint. */
  async function logIn(change: Record<string, string> = {}, browser = new Browser()) {
    const end = new URL(await provider.logIn(authUrl(change), 'eve', browser));
    expect(end.href).to.match(/^http:\/\/127\.0\.0\.1:9\/callback\?code=/);
    expect(end.searchParams.get('state')).to.equal('the state');
    return json(await exchange(end.searchParams.get('code')!));
  }

  const keys = () => createRemoteJWKSet(new URL(discovery['jwks_uri']!));
  const userInfo = async ({ access_token }: Record<string, string>) =>
    json(
      await fetch(discovery['userinfo_endpoint']!, {
        headers: { authorization: `Bearer ${access_token}` },
      }),
    );

  afterEach(async () => {
    for (const one of running.splice(0)) await one.close();
  });

  it('gives a code, an ID token of the account and its UserInfo', async () => {
    await start();
    const answer = await logIn();
    const { payload } = await jwtVerify(answer['id_token']!, keys(), {
      issuer: provider.issuer,
      audience: provider.clientId,
    });
    expect(payload).to.include({ sub: 'eve', nonce: 'the nonce', name: 'Eve' });
    expect(payload['groups']).to.deep.equal(['dev']);
    expect(await userInfo(answer)).to.deep.equal({ sub: 'eve', ...EVE });
    expect(provider.requests.get('/token')).to.equal(1);
  });

  it('takes a code once, with its verifier and the secret of the client', async () => {
    await start();
    const code = async () =>
      new URL(await provider.logIn(authUrl(), 'eve')).searchParams.get('code')!;
    const used = await code();
    expect((await exchange(used)).status).to.equal(200);
    expect((await exchange(used)).status).to.equal(400);
    expect((await exchange(await code(), true)).status).to.equal(401);
    const wrong = { grant_type: 'authorization_code', code: await code(), redirect_uri: CALLBACK };
    expect((await token({ ...wrong, code_verifier: 'v'.repeat(43) })).status).to.equal(400);
  });

  it('asks for the account again only with prompt=login, and not at all with none', async () => {
    await start();
    const browser = new Browser();
    await logIn({}, browser);
    const asked = () => [...provider.requests.keys()].filter((path) => path.startsWith('/inter'));
    const before = asked().length;
    await logIn({ scope: 'openid' }, browser);
    await logIn({ scope: 'openid', prompt: 'none' }, browser);
    expect(asked().length).to.equal(before);
    await logIn({ scope: 'openid', prompt: 'login' }, browser);
    expect(asked().length).to.equal(before + 1);
    await logIn({ scope: 'openid', prompt: 'select_account' }, browser);
    expect(asked().length).to.equal(before + 2);
    const silent = await provider.logIn(authUrl({ prompt: 'none' }), 'eve');
    expect(new URL(silent).searchParams.get('error')).to.equal('login_required');
    const cancelled = await provider.logIn(authUrl(), null);
    expect(new URL(cancelled).searchParams.get('error')).to.equal('access_denied');
  });

  it('rotates refresh tokens, and answers them with the present claims', async () => {
    await start();
    const first = await logIn();
    provider.setAccount('eve', { ...EVE, groups: ['ops'] });
    const refresh = (refresh_token: string) =>
      token({ grant_type: 'refresh_token', refresh_token });
    const second = await json(await refresh(first['refresh_token']!));
    expect(decodeJwt(second['id_token']!)['groups']).to.deep.equal(['ops']);
    expect(second['refresh_token']).to.not.equal(first['refresh_token']);
    expect((await refresh(first['refresh_token']!)).status).to.equal(400);
    expect(await logIn({ scope: 'openid' })).to.not.have.property('refresh_token');
    const third = await logIn();
    provider.removeAccount('eve');
    expect((await refresh(third['refresh_token']!)).status).to.equal(400);
  });

  it('leaves claims to UserInfo, and the ID token out of a refresh, if told so', async () => {
    await start({ userInfoOnly: true, idTokenOnRefresh: false });
    const answer = await logIn();
    expect(decodeJwt(answer['id_token']!)).to.not.have.any.keys('groups', 'email', 'name');
    const refresh_token = answer['refresh_token']!;
    const next = await json(await token({ grant_type: 'refresh_token', refresh_token }));
    expect(next).to.not.have.property('id_token');
    expect(await userInfo(next)).to.deep.equal({ sub: 'eve', ...EVE });
  });

  it('takes the secret in the body, or no secret, as its options say', async () => {
    await start({ clientAuth: 'client_secret_post' });
    expect(discovery['token_endpoint_auth_methods_supported']).to.deep.equal([
      'client_secret_post',
    ]);
    const code = async () =>
      new URL(await provider.logIn(authUrl(), 'eve')).searchParams.get('code')!;
    expect((await exchange(await code(), true)).status).to.equal(200);
    await start({ clientAuth: 'none', clientId: 'public' });
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: 'public',
      code: await code(),
      redirect_uri: CALLBACK,
      code_verifier: verifier,
    });
    const answer = await fetch(discovery['token_endpoint']!, { method: 'POST', body });
    expect(answer.status).to.equal(200);
  });

  it('signs with a new key after a rotation, under a new kid', async () => {
    await start();
    const before = (await logIn())['id_token']!;
    await provider.rotateKeys();
    const after = (await logIn())['id_token']!;
    await jwtVerify(after, keys());
    const error = await jwtVerify(before, keys()).catch((e: Error) => e);
    expect(error).to.have.property('code', 'ERR_JWKS_NO_MATCHING_KEY');
  });

  it('dates ID tokens by its own clock', async () => {
    await start();
    provider.setClockSkew(-3_600_000);
    const error = await jwtVerify((await logIn())['id_token']!, keys()).catch((e: Error) => e);
    expect(error).to.have.property('code', 'ERR_JWT_EXPIRED');
  });

  it('knows its sessions after it was away, and new redirect URIs', async () => {
    await start();
    const browser = new Browser();
    await logIn({}, browser);
    await provider.stop();
    expect(await fetch(discovery['jwks_uri']!).catch(() => 'away')).to.equal('away');
    await provider.start();
    const elsewhere = 'http://127.0.0.1:9/elsewhere';
    const refused = await provider.logIn(authUrl({ redirect_uri: elsewhere }), 'eve').catch(String);
    expect(refused).to.include('redirect_uri');
    provider.allowRedirect(elsewhere);
    const change = { redirect_uri: elsewhere, scope: 'openid', prompt: 'none' };
    const end = await provider.logIn(authUrl(change), 'eve', browser);
    expect(end).to.match(/^http:\/\/127\.0\.0\.1:9\/elsewhere\?code=/);
  });

  it('ends the session at its end_session_endpoint', async () => {
    await start();
    const browser = new Browser();
    await logIn({}, browser);
    const query = new URLSearchParams({
      client_id: provider.clientId,
      post_logout_redirect_uri: SIGNED_OUT,
    });
    const end = await provider.logOut(`${discovery['end_session_endpoint']}?${query}`, browser);
    expect(end).to.equal(SIGNED_OUT);
    const silent = await provider.logIn(authUrl({ prompt: 'none' }), 'eve', browser);
    expect(new URL(silent).searchParams.get('error')).to.equal('login_required');
  });
});
