import { expect } from 'chai';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { DISCOVERY, type Forger, lies, startForger, unsigned } from '../support/oidc-forger.js';

const CALLBACK = 'http://127.0.0.1:9/callback';

describe('the forger of the tests', () => {
  let forger: Forger;
  before(async () => {
    forger = await startForger();
  });
  afterEach(() => forger.reset());
  after(() => forger.stop());

  const authUrl = () =>
    `${forger.issuer}/auth?${new URLSearchParams({
      client_id: 'conclave',
      redirect_uri: CALLBACK,
      state: 'the state',
      nonce: 'the nonce',
    })}`;
  const token = (form: Record<string, string>): Promise<Response> =>
    fetch(`${forger.issuer}/token`, {
      method: 'POST',
      redirect: 'manual',
      headers: { authorization: 'Basic eDp5' },
      body: new URLSearchParams(form),
    });
  const exchanged = async (redirect: string) =>
    (await token({ code: new URL(redirect).searchParams.get('code')! })).json() as Promise<
      Record<string, string>
    >;

  it('is honest unless it is told to lie, and takes a code once', async () => {
    const redirect = forger.logIn(authUrl());
    expect(redirect).to.match(/^http:\/\/127\.0\.0\.1:9\/callback\?code=[^&]+&state=the\+state$/);
    const { id_token } = await exchanged(redirect);
    const keys = createRemoteJWKSet(new URL(`${forger.issuer}/jwks`));
    const options = { issuer: forger.issuer, audience: 'conclave' };
    const { payload } = await jwtVerify(id_token!, keys, options);
    expect(payload).to.include({ sub: 'eve', nonce: 'the nonce' });
    expect(await exchanged(redirect)).to.deep.equal({ error: 'invalid_grant' });
    expect(forger.tokenRequests.at(-1)!.authorization).to.equal('Basic eDp5');
    expect([...forger.tokenRequests.at(-1)!.form.keys()]).to.deep.equal(['code']);
  });

  it('signs what it is told', async () => {
    const claims = { sub: 'mallory', nonce: undefined, groups: ['admins'] };
    const header = { kid: 'another' };
    const answer = { refresh_token: 'r1' };
    const got = await exchanged(forger.logIn(authUrl(), { claims, header, answer }));
    expect(decodeJwt(got['id_token']!)).to.include({ sub: 'mallory' }).and.not.have.key('nonce');
    expect(decodeProtectedHeader(got['id_token']!)).to.include({ alg: 'RS256', kid: 'another' });
    expect(got).to.include({ refresh_token: 'r1' });
    forger.grant('r1', { sign: unsigned });
    const next = (await (await token({ refresh_token: 'r1' })).json()) as Record<string, string>;
    expect(decodeProtectedHeader(next['id_token']!)).to.deep.equal({ alg: 'none', typ: 'JWT' });
  });

  it('fails in every way', async () => {
    const { answers, issuer } = forger;
    answers.set('/token', lies.redirect(`${issuer}/elsewhere`));
    expect((await token({})).headers.get('location')).to.equal(`${issuer}/elsewhere`);
    answers.set('/token', lies.refuse(500, { error: 'server_error' }));
    expect((await token({})).status).to.equal(500);
    answers.set('/token', lies.huge);
    expect((await (await token({})).text()).length).to.be.above(1024 * 1024);
    answers.set('/token', lies.broken);
    expect(await (await token({})).json().catch(String)).to.include('SyntaxError');
    answers.set(DISCOVERY, forger.discovery({ issuer: 'https://else.where', jwks_uri: undefined }));
    const document = await (await fetch(issuer + DISCOVERY)).json();
    expect(document).to.include({ issuer: 'https://else.where' }).and.not.have.key('jwks_uri');
    answers.set('/token', lies.hang);
    const given = new AbortController();
    const hanging = fetch(`${issuer}/token`, { signal: given.signal }).catch((e: Error) => e.name);
    // An answer of another path shows that the first one would have been there.
    await fetch(issuer + DISCOVERY);
    given.abort();
    expect(await hanging).to.equal('AbortError');
  });
});
