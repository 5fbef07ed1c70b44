import { expect } from 'chai';
import { SignJWT } from 'jose';
import { type Signer, signer } from '../login/signers.js';
import type { Answer } from '../support/client.js';
import {
  DISCOVERY,
  type Forger,
  type Forgery,
  lies,
  startForger,
  unsigned,
} from '../support/oidc-forger.js';
import { CLIENT_SECRET } from '../support/oidc-provider.js';
import { OidcCluster, told } from './oidc-cluster.js';

const AWAY = 'The provider of auth method "staff" cannot be reached';
const GROUPS = { email: 'eve@example.com', groups: ['dev'] };
const now = (): number => Math.floor(Date.now() / 1000);

describe('a login at a provider that lies', () => {
  let forger: Forger;
  let field: OidcCluster;
  let stranger: Signer;
  let forgery: Forgery = {};
  before(async () => {
    forger = await startForger();
    stranger = await signer('RS256', 'forged');
    field = await OidcCluster.open(1, {
      issuer: forger.issuer,
      logIn: (url) => forger.logIn(url, forgery),
    });
  });
  beforeEach(() => {
    forger.reset();
    forgery = {};
  });
  after(async () => {
    await field?.cluster.close();
    await forger.stop();
  });

  /** A login whose ID token has the groups, and what is forged. */
  const logIn = (forged: Forgery = {}): Promise<Answer> => {
    forgery = { ...forged, claims: { ...GROUPS, ...forged.claims } };
    return field.attempt(0, 0);
  };
  /** A login that succeeds and can be renewed. */
  const renewable = async () => {
    const { status, text, body } = await logIn({ answer: { refresh_token: 'r1' } });
    expect(status, text).to.equal(200);
    return body;
  };
  const renew = (token: { SecretID: string; Renewal: string }): Promise<Answer> =>
    field.renew(token, 0);
  const roles = ({ body }: Answer) => body.Roles?.map(({ Name }: { Name: string }) => Name);

  it('succeeds as long as it says the truth', async () => {
    expect(roles(await logIn())).to.deep.equal(['dev']);
    const several = await logIn({ claims: { aud: ['another', 'conclave'], azp: 'conclave' } });
    expect(roles(several)).to.deep.equal(['dev']);
    const { authorization, form } = forger.tokenRequests.at(-1)!;
    expect(authorization).to.match(/^Basic /);
    expect(form.get('grant_type')).to.equal('authorization_code');
    expect(form.has('client_secret')).to.equal(false);
  });

  const HOUR = 3600;
  const REFUSED: readonly [what: string, code: string, forged: () => Forgery][] = [
    ['the nonce of another login', 'nonce', () => ({ claims: { nonce: 'another' } })],
    ['no nonce', 'nonce', () => ({ claims: { nonce: undefined } })],
    ['another issuer', 'issuer', () => ({ claims: { iss: 'https://id.example.com' } })],
    ['the issuer with a slash', 'issuer', () => ({ claims: { iss: `${forger.issuer}/` } })],
    ['no issuer', 'issuer', () => ({ claims: { iss: undefined } })],
    ['another audience', 'audience', () => ({ claims: { aud: 'another' } })],
    ['no audience', 'audience', () => ({ claims: { aud: undefined } })],
    ['another authorized party', 'audience', () => ({ claims: { azp: 'another' } })],
    ['an end in the past', 'expired', () => ({ claims: { exp: now() - HOUR } })],
    ['no end', 'no_times', () => ({ claims: { exp: undefined } })],
    ['a begin in the future', 'not_yet_valid', () => ({ claims: { nbf: now() + HOUR } })],
    ['an issue in the future', 'issued_in_future', () => ({ claims: { iat: now() + HOUR } })],
    ['an end that is no number', 'claims', () => ({ claims: { exp: 'tomorrow' } })],
    ['no subject', 'claims', () => ({ claims: { sub: undefined } })],
    ['an empty subject', 'claims', () => ({ claims: { sub: '' } })],
    ['a subject that is no text', 'claims', () => ({ claims: { sub: 7 } })],
    ['the signature of nobody', 'signature', () => ({ sign: unsigned })],
    ['the signature of another key', 'signature', () => ({ sign: stranger.sign })],
    ['an unknown key', 'signature', () => ({ header: { kid: 'unknown' } })],
    ['the secret as the key', 'signature', () => ({ sign: bySecret })],
    ['no ID token', 'form', () => ({ answer: { id_token: undefined } })],
    ['an ID token that is no JWT', 'form', () => ({ answer: { id_token: 'a.b' } })],
  ];
  const bySecret = (claims: object): Promise<string> =>
    new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'HS256', kid: 'forged' })
      .sign(new TextEncoder().encode(CLIENT_SECRET.padEnd(32)));
  for (const [what, code, forged] of REFUSED)
    it(`is refused with ${what}: ${code}`, async () => {
      expect(await field.reasonOf(await logIn(forged()))).to.equal(code);
    });

  it('names who tried where the signature holds', async () => {
    const whoIn = async (answer: Answer): Promise<unknown> =>
      (await field.clients[0]!.must(`GET /acl/decision/${answer.decision}`)).Identity;
    const Identity = { AuthMethod: 'staff', Namespace: 'default', Subject: 'eve' };
    for (const claims of [{ aud: 'another' }, { nonce: 'another' }, { exp: now() - HOUR }])
      expect(await whoIn(await logIn({ claims }))).to.deep.equal(Identity);
    expect(await whoIn(await logIn({ sign: stranger.sign }))).to.equal(null);
  });

  it('is refused with an algorithm that neither provider nor method lists', async () => {
    const id_token_signing_alg_values_supported = ['ES256'];
    forger.answers.set(DISCOVERY, forger.discovery({ id_token_signing_alg_values_supported }));
    await field.rewriteMethod();
    expect(await field.reasonOf(await logIn())).to.equal('signature');
    await field.rewriteMethod({ JWTSupportedAlgs: ['RS256'] });
    expect((await logIn()).status).to.equal(200);
    forger.reset();
    await field.rewriteMethod();
  });

  it('takes from UserInfo what the ID token lacks, and nothing else', async () => {
    const claims = { groups: undefined };
    forger.answers.set('/userinfo', { sub: 'eve', groups: ['ops'], iss: 'x', aud: 'x', exp: 1 });
    expect(roles(await logIn({ claims }))).to.deep.equal(['ops']);
    forger.answers.set('/userinfo', { sub: 'eve', email: 'x', groups: ['ops'] });
    expect(roles(await logIn({ claims: { email: undefined } }))).to.deep.equal(['dev']);
  });

  it('takes nothing from UserInfo about another subject', async () => {
    for (const sub of ['mallory', undefined, ['eve']]) {
      forger.answers.set('/userinfo', { sub, groups: ['dev', 'ops'] });
      const answer = await logIn({ claims: { groups: undefined } });
      expect(await field.reasonOf(answer)).to.equal('no_rule');
    }
  });

  it('is refused if UserInfo that it needs is', async () => {
    for (const status of [200, 400, 401, 403]) {
      forger.answers.set('/userinfo', lies.refuse(status, { error: 'invalid_token' }));
      const answer = await logIn({ claims: { groups: undefined } });
      expect(await field.reasonOf(answer)).to.equal('claims');
    }
  });

  it('is unavailable while UserInfo that it needs does not answer as it should', async () => {
    const redirected = lies.redirect(`${forger.issuer}/elsewhere`);
    const token = await renewable();
    const busy = [429, 500].map((status) => lies.refuse(status, {}));
    for (const lie of [lies.huge, lies.broken, ...busy, redirected]) {
      forger.answers.set('/userinfo', lie);
      const answer = await logIn({ claims: { groups: undefined } });
      expect(told(answer)).to.deep.equal([503, AWAY]);
    }
    forger.grant('r1', { answer: { id_token: undefined } });
    expect(told(await renew(token))).to.deep.equal([503, AWAY]);
  });

  it('is unavailable while the token endpoint does not answer as it should', async () => {
    const elsewhere = `${forger.issuer}/elsewhere`;
    let asked = 0;
    forger.answers.set('/elsewhere', () => {
      asked += 1;
      return {};
    });
    const statuses = [201, 204, 205, 304, 408, 429, 500, 503, 999];
    for (const lie of [
      ...[lies.huge, lies.broken, lies.redirect(elsewhere), () => [], () => 'text'],
      ...statuses.map((status) => lies.refuse(status, { error: 'server_error' })),
      () => ({ access_token: 'a', token_type: 'mac' }),
      () => ({ token_type: 'Bearer' }),
    ]) {
      forger.answers.set('/token', lie);
      expect(told(await logIn())).to.deep.equal([503, AWAY]);
    }
    expect(asked).to.equal(0);
  });

  it('is unavailable when the token endpoint does not answer at all', async () => {
    forger.answers.set('/token', lies.hang);
    expect(told(await logIn())).to.deep.equal([503, AWAY]);
  });

  it('is refused when the token endpoint refuses the code', async () => {
    for (const [status, error] of [
      [400, 'invalid_grant'],
      [401, 'invalid_client'],
      // as GitHub and Slack do
      [200, 'bad_verification_code'],
      [403, ['not', 'a', 'code']],
    ] as const) {
      forger.answers.set('/token', lies.refuse(status, { error }));
      expect(await field.reasonOf(await logIn())).to.equal('code');
    }
  });

  it('is renewed with UserInfo alone, if there is no new ID token', async () => {
    const token = await renewable();
    forger.grant('r1', { answer: { id_token: undefined, refresh_token: 'r2' } });
    forger.answers.set('/userinfo', { sub: 'eve', ...GROUPS, groups: ['ops'] });
    const renewed = await renew(token);
    expect(roles(renewed)).to.deep.equal(['ops']);
    forger.grant('r2', { answer: { id_token: undefined } });
    forger.answers.set('/userinfo', { sub: 'mallory', ...GROUPS });
    expect(await field.reasonOf(await renew(renewed.body))).to.equal('subject');
  });

  it('is not renewed without anything that says who it is', async () => {
    const document = forger.discovery({ userinfo_endpoint: undefined });
    forger.answers.set(DISCOVERY, document);
    await field.rewriteMethod();
    const token = await renewable();
    forger.grant('r1', { answer: { id_token: undefined } });
    expect(await field.reasonOf(await renew(token))).to.equal('renewal');
    forger.reset();
    await field.rewriteMethod();
  });

  it('goes on with a refresh token until there is another one', async () => {
    let token = await renewable();
    for (const expected of ['r1', 'r1']) {
      forger.grant(expected, { claims: { aud: 'conclave', ...GROUPS } });
      const { status, text, body } = await renew(token);
      expect(status, text).to.equal(200);
      expect(forger.tokenRequests.at(-1)!.form.get('refresh_token')).to.equal(expected);
      token = body;
    }
  });

  it('is not renewed for another subject, or with a bad ID token', async () => {
    const claims = { aud: 'conclave', ...GROUPS };
    const token = await renewable();
    for (const [code, forged] of [
      ['subject', { claims: { ...claims, sub: 'mallory' } }],
      ['audience', { claims: { ...claims, aud: 'another' } }],
      ['issuer', { claims: { ...claims, iss: 'https://id.example.com' } }],
      ['expired', { claims: { ...claims, exp: now() - HOUR } }],
      ['signature', { claims, sign: stranger.sign }],
      ['no_rule', { claims: { ...claims, groups: [] } }],
    ] as const) {
      forger.grant('r1', forged);
      expect(await field.reasonOf(await renew(token))).to.equal(code);
    }
    forger.grant('r1', { claims });
    expect((await renew(token)).status).to.equal(200);
  });

  it('is refused if its identity is blocked or its method changes meanwhile', async () => {
    const sign = async (claims: object): Promise<string> => {
      const block = { AuthMethod: 'staff', Subject: 'eve', DryRun: false, BlockFor: '1h' };
      await field.cluster.must('POST /acl/tokens/revoke', block);
      return forger.sign(claims);
    };
    expect(await field.reasonOf(await logIn({ sign }))).to.equal('blocked');
    const [{ ID }] = await field.cluster.must('GET /acl/identity-blocks');
    await field.cluster.must(`DELETE /acl/identity-block/${ID}`);
    const changing = async (claims: object): Promise<string> => {
      await field.rewriteMethod();
      return forger.sign(claims);
    };
    const changed = await logIn({ sign: changing });
    expect(told(changed)).to.deep.equal([403, 'Permission denied']);
    const token = await renewable();
    const ending = async (claims: object): Promise<string> => {
      await field.cluster.must('POST /acl/oidc/logout', undefined, token.SecretID);
      return forger.sign(claims);
    };
    forger.grant('r1', { claims: { aud: 'conclave', ...GROUPS }, sign: ending });
    expect(told(await renew(token))).to.deep.equal([403, 'ACL not found']);
  });

  it('is not set up with a discovery document that lies', async () => {
    for (const change of [
      { issuer: `${forger.issuer}/` },
      { issuer: undefined },
      { authorization_endpoint: undefined },
      { token_endpoint: undefined },
      { token_endpoint: 'javascript:alert(1)' },
      { jwks_uri: undefined },
    ]) {
      forger.answers.set(DISCOVERY, forger.discovery(change));
      const answer = await field.cluster.ask('PUT /acl/auth-method/staff', field.method());
      expect(answer.status, JSON.stringify(change)).to.equal(400);
      expect(answer.text).to.match(/^Invalid Auth Method: error checking OIDCDiscoveryURL: /);
    }
  });

  it('ends here alone if the provider has no end of sessions', async () => {
    const { SecretID } = await renewable();
    const ended = await field.cluster.must('POST /acl/oidc/logout', undefined, SecretID);
    expect(ended).to.deep.equal({ LogoutURL: '' });
  });

  it('leaves no secret in logs, audit log and data', async () => {
    await field.audited();
    expect(field.found(field.secrets)).to.deep.equal([]);
    expect(field.found([CLIENT_SECRET], field.isText)).to.deep.equal([]);
  });
});
