import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { CompactSign, UnsecuredJWT } from 'jose';
import { authMethodTypes } from '../../src/service/login/index.js';
import type { AuthMethodType } from '../../src/service/login/types.js';
import { CA } from './certificates.js';
import { TestServer } from './server.js';
import { ACCEPTED, AT, NOW, options, type Signer, signer, times, verdict } from './signers.js';

describe('login by JWT: keys of a URL', () => {
  let server: TestServer;
  let first: Signer;
  let second: Signer;
  before(async () => {
    [first, second] = await Promise.all([signer('ES256', 'k1'), signer('RS256', 'k2')]);
  });
  beforeEach(async () => {
    server = await TestServer.start();
    server.answers.set('/keys', { keys: [first.jwk] });
  });
  afterEach(() => server.stop());
  const jwks = (): object => ({ JWKSURL: `${server.url}/keys` });

  it('are fetched once and cached; an unknown kid fetches them again', async () => {
    const types = authMethodTypes(options);
    expect(await verdict(jwks(), await first.sign(times), types)).to.deep.equal(ACCEPTED);
    expect(await verdict(jwks(), await first.sign(times), types)).to.deep.equal(ACCEPTED);
    expect(server.seen).to.deep.equal(['GET /keys']);
    server.answers.set('/keys', { keys: [first.jwk, second.jwk] });
    expect(await verdict(jwks(), await second.sign(times), types)).to.deep.equal(ACCEPTED);
    expect(server.seen).to.have.length(2);
  });
  it('that one namespace may fetch are not used for another, which may not', async () => {
    const method = authMethodTypes(options).get('jwt')!;
    const jwt = await first.sign(times);
    expect((await method.validate(jwks(), jwt, AT)).ok).to.equal(true);
    const elsewhere = await method.validate(jwks(), jwt, { ...AT, namespace: 'alpha' });
    expect(elsewhere).to.include({ ok: false, code: 'unreachable' });
  });
  it('that rotate several times in a short time are known at once', async () => {
    const types = authMethodTypes({ ...options, keysRenewalMs: 60_000 });
    expect(await verdict(jwks(), await first.sign(times), types)).to.deep.equal(ACCEPTED);
    for (const kid of ['k2', 'k3', 'k4']) {
      const renewed = await signer('ES256', kid);
      server.answers.set('/keys', { keys: [renewed.jwk] });
      const jwt = await renewed.sign(times);
      const logins = Array.from({ length: 20 }, () => verdict(jwks(), jwt, types));
      for (const judged of await Promise.all(logins)) expect(judged).to.deep.equal(ACCEPTED);
    }
    expect(server.seen).to.have.length(4);
  });
  it('unknown kids do not cause a fetch at every login', async () => {
    const types = authMethodTypes({ ...options, keysRenewalMs: 60_000 });
    for (let i = 0; i < 20; i++) {
      expect(await verdict(jwks(), await second.sign(times), types)).to.match(
        /^error verifying token: failed to verify id token signature/,
      );
    }
    expect(server.seen).to.have.length(6);
  });
  it('that cannot be fetched for an unknown kid are tried at the next login', async () => {
    const types = authMethodTypes({ ...options, keysRenewalMs: 60_000 });
    expect(await verdict(jwks(), await first.sign(times), types)).to.deep.equal(ACCEPTED);
    server.answers.delete('/keys');
    for (let i = 0; i < 20; i++)
      expect(await verdict(jwks(), await second.sign(times), types)).to.match(/ status 404$/);
    server.answers.set('/keys', { keys: [second.jwk] });
    expect(await verdict(jwks(), await second.sign(times), types)).to.deep.equal(ACCEPTED);
  });
  for (const [what, kid] of [
    ['the same kid', 'k1'],
    ['no kid', undefined],
  ] as const)
    it(`a new key of the issuer under ${what} is fetched once a signature fails`, async () => {
      const types = authMethodTypes({ ...options, keysRenewalMs: 0 });
      const renewed = await signer('ES256', 'k1');
      const sign = (by: Signer): Promise<string> => by.sign(times, { kid });
      const listed = (by: Signer): object => ({ ...by.jwk, ...(kid === undefined && { kid }) });
      server.answers.set('/keys', { keys: [listed(first)] });
      expect(await verdict(jwks(), await sign(first), types)).to.deep.equal(ACCEPTED);
      server.answers.set('/keys', { keys: [listed(renewed)] });
      expect(await verdict(jwks(), await sign(renewed), types)).to.deep.equal(ACCEPTED);
      expect(server.seen).to.have.length(2);
      expect(await verdict(jwks(), await sign(first), types)).to.match(/failed to verify|no known/);
      expect(server.seen).to.have.length(3);
    });
  it('several new keys without kid are fetched once none verifies the signature', async () => {
    const types = authMethodTypes({ ...options, keysRenewalMs: 0 });
    const [other, renewed] = await Promise.all([signer('ES256', 'k3'), signer('ES256', 'k4')]);
    server.answers.set('/keys', { keys: [first.jwk, other.jwk] });
    const sign = (by: Signer): Promise<string> => by.sign(times, { kid: undefined });
    expect(await verdict(jwks(), await sign(first), types)).to.deep.equal(ACCEPTED);
    server.answers.set('/keys', { keys: [renewed.jwk, other.jwk] });
    expect(await verdict(jwks(), await sign(renewed), types)).to.deep.equal(ACCEPTED);
    expect(server.seen).to.have.length(2);
  });
  it('bad signatures do not cause a fetch at every login', async () => {
    const types = authMethodTypes({ ...options, keysRenewalMs: 60_000 });
    const foreign = await signer('ES256', 'k1');
    for (let i = 0; i < 20; i++) {
      expect(await verdict(jwks(), await foreign.sign(times), types)).to.match(
        /^error verifying token: failed to verify id token signature/,
      );
    }
    expect(server.seen).to.have.length(6);
  });
  it('a JWT without kid is tried with all keys', async () => {
    const other = await signer('ES256', 'k3');
    server.answers.set('/keys', { keys: [other.jwk, first.jwk] });
    const jwt = await first.sign(times, { kid: undefined });
    expect(await verdict(jwks(), jwt)).to.deep.equal(ACCEPTED);
    server.answers.set('/keys', { keys: [other.jwk, (await signer('ES256', 'k4')).jwk] });
    expect(await verdict(jwks(), jwt)).to.match(/^error verifying token: no known key/);
  });
  it('are limited in number, so that one JWT does not keep the node busy', async () => {
    const keys = (most: number): object[] =>
      Array.from({ length: most }, (_, at) => ({ ...first.jwk, kid: at === 0 ? 'k1' : undefined }));
    const unnamed = await first.sign(times, { kid: undefined });
    server.answers.set('/keys', { keys: keys(32) });
    expect(await verdict(jwks(), unnamed)).to.deep.equal(ACCEPTED);
    server.answers.set('/keys', { keys: keys(256) });
    expect(await verdict(jwks(), unnamed)).to.match(/^error verifying token: more than 32 keys/);
    expect(await verdict(jwks(), await first.sign(times))).to.deep.equal(ACCEPTED);
    server.answers.set('/keys', { keys: keys(257) });
    expect(await verdict(jwks(), await first.sign(times))).to.match(/has more than 256 keys$/);
  });
  it('a method that lists algorithms accepts no others', async () => {
    server.answers.set('/keys', { keys: [first.jwk, second.jwk] });
    const listed = { ...jwks(), JWTSupportedAlgs: ['RS256'] };
    expect(await verdict(listed, await second.sign(times))).to.deep.equal(ACCEPTED);
    for (const header of [{}, { kid: undefined }])
      expect(await verdict(listed, await first.sign(times, header))).to.match(
        /^error verifying token: failed to verify id token signature/,
      );
  });
  it('a shared secret in the set, or a missing signature, is not accepted', async () => {
    const k = Buffer.from('secret-secret-secret-secret-secret').toString('base64url');
    server.answers.set('/keys', { keys: [{ kty: 'oct', alg: 'HS256', k }] });
    const jwt = await new CompactSign(new TextEncoder().encode(JSON.stringify(times)))
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Buffer.from(k, 'base64url'));
    expect(await verdict(jwks(), jwt)).to.match(/failed to verify id token signature/);
    expect(await verdict(jwks(), new UnsecuredJWT(times).encode())).to.match(/failed to verify/);
  });
  it('a server that is slow, large, broken, or redirects delays a login only briefly', async () => {
    const reason = async (answer: unknown, timeoutMs = 10_000): Promise<unknown> => {
      const limits = { ...options.limits, timeoutMs, bodyBytesMax: 2_000 };
      server.answers.set('/keys', answer);
      return verdict(jwks(), await first.sign(times), authMethodTypes({ ...options, limits }));
    };
    expect(await reason(() => undefined, 100)).to.match(/no reply within 100 ms/);
    expect(await reason({ keys: [first.jwk], more: 'x'.repeat(5_000) })).to.match(
      /longer than 2000 bytes/,
    );
    const endless = (_: unknown, response: ServerResponse): void => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(1_000)));
      };
      response.on('drain', more);
      more();
    };
    expect(await reason(endless)).to.match(/longer than 2000 bytes/);
    expect(await reason(undefined)).to.match(/answers with status 404/);
    expect(await reason([])).to.match(/does not answer with a JSON object/);
    const deep = Array.from({ length: 100 }).reduce((inner) => [inner], []);
    expect(await reason({ keys: [first.jwk], deep })).to.match(/not answer with a JSON object/);
    const latin = (_: unknown, response: ServerResponse): void =>
      void response.end(Buffer.from('{"keys":[],"name":"ü"}', 'latin1'));
    expect(await reason(latin)).to.match(/the reply is not UTF-8/);
    expect(await reason({ keys: 'none' })).to.match(/the keys cannot be used: .*malformed$/);
    const to =
      (location: string) =>
      (_: unknown, response: { writeHead(s: number, h: object): { end(): void } }) => {
        response.writeHead(302, { location }).end();
      };
    expect(await reason(to('/keys'))).to.match(/redirects more than 3 times/);
    expect(await reason(to('file:///etc/passwd'))).to.match(
      /redirects to a URL that this node does not follow/,
    );
    expect(await reason(to('http://'))).to.match(
      /redirects to a URL that this node does not follow/,
    );
    server.answers.set('/moved', { keys: [first.jwk] });
    expect(await reason(to('/moved'))).to.deep.equal(ACCEPTED);
  });
  it('a set of broken keys refuses the login without an internal error', async () => {
    const broken: unknown[] = [
      ...[null, 7, {}, { kty: 'EC' }, { ...first.jwk, x: '!!' }, { ...first.jwk, y: first.jwk.x }],
      ...[
        { ...first.jwk, crv: 'P-999' },
        { ...first.jwk, x: 7 },
        { ...first.jwk, key_ops: ['no'] },
      ],
      ...[
        { ...first.jwk, use: 'enc' },
        { ...first.jwk, ext: 'no' },
        { ...first.jwk, d: 'AA' },
      ],
    ];
    const jwt = await first.sign(times);
    for (const key of broken) {
      server.answers.set('/keys', { keys: [key] });
      const what = JSON.stringify(key);
      expect(await verdict(jwks(), jwt), what).to.match(/^error verifying token: /);
    }
    const jwt2 = await second.sign(times);
    for (const more of [{ n: 'AQ' }, { n: '!!' }, { e: '' }, { n: 7 }]) {
      server.answers.set('/keys', { keys: [{ ...second.jwk, ...more }] });
      expect(await verdict(jwks(), jwt2), JSON.stringify(more)).to.match(
        /^error verifying token: /,
      );
    }
  });
  it('TLS requires the configured certificates', async () => {
    const secure = await TestServer.start(true);
    secure.answers.set('/keys', { keys: [first.jwk] });
    const jwt = await first.sign(times);
    const JWKSURL = `${secure.url}/keys`;
    expect(await verdict({ JWKSURL, JWKSCACert: CA }, jwt)).to.deep.equal(ACCEPTED);
    expect(await verdict({ JWKSURL }, jwt)).to.match(
      /the keys cannot be fetched: 127\.0\.0\.1:\d+: \w+/,
    );
    await secure.stop();
  });

  describe('by discovery', () => {
    const oidc = (more: object = {}): object => ({ OIDCDiscoveryURL: server.url, ...more });
    const discover = (more: object = {}): void => {
      server.answers.set('/.well-known/openid-configuration', {
        issuer: server.url,
        jwks_uri: `${server.url}/keys`,
        id_token_signing_alg_values_supported: ['ES256'],
        ...more,
      });
    };
    beforeEach(() => discover());

    it('the issuer must equal the URL, and an expiry is required', async () => {
      const iss = server.url;
      expect(await verdict(oidc(), await first.sign({ iss, exp: NOW + 60 }))).to.deep.equal(
        ACCEPTED,
      );
      expect(await verdict(oidc(), await first.sign({ iss: `${iss}/`, exp: NOW + 60 }))).to.match(
        /^error validating signature: invalid issuer/,
      );
      expect(await verdict(oidc(), await first.sign({ iss }))).to.match(
        /^error validating signature: no expiration/,
      );
      expect(await verdict(oidc(), await first.sign({ iss, exp: NOW - 99 }))).to.match(
        /^error validating signature: .*expired/,
      );
      discover({ issuer: `${iss}/` });
      expect(await verdict(oidc(), await first.sign({ iss, exp: NOW + 60 }))).to.match(
        /the issuer of the discovery document is not/,
      );
    });
    it('the algorithm must be listed by the issuer, or by the method if it lists any', async () => {
      const good = { iss: server.url, exp: NOW + 60 };
      server.answers.set('/keys', { keys: [second.jwk, first.jwk] });
      expect(await verdict(oidc(), await second.sign(good))).to.match(
        /failed to verify id token signature/,
      );
      expect(
        await verdict(oidc({ JWTSupportedAlgs: ['RS256'] }), await second.sign(good)),
      ).to.deep.equal(ACCEPTED);
      // An issuer that lists forgeable algorithms does not make them acceptable.
      discover({ id_token_signing_alg_values_supported: ['none', 'HS256'] });
      const secret = Buffer.from('secret-secret-secret-secret-secret');
      const oct = { kty: 'oct', alg: 'HS256', k: secret.toString('base64url') };
      server.answers.set('/keys', { keys: [oct] });
      const forged = await new CompactSign(new TextEncoder().encode(JSON.stringify(good)))
        .setProtectedHeader({ alg: 'HS256' })
        .sign(secret);
      expect(await verdict(oidc(), forged)).to.match(/failed to verify/);
      expect(await verdict(oidc(), new UnsecuredJWT(good).encode())).to.match(/failed to verify/);
    });
    it('audiences are checked if the method binds any', async () => {
      const jwt = await first.sign({ iss: server.url, exp: NOW + 60, aud: 'a' });
      expect(await verdict(oidc(), jwt)).to.deep.equal(ACCEPTED);
      expect(await verdict(oidc({ BoundAudiences: ['b'] }), jwt)).to.match(/does not match any/);
      expect(await verdict(oidc({ BoundAudiences: ['a'] }), jwt)).to.deep.equal(ACCEPTED);
    });
    it('a failure is not cached', async () => {
      const types = authMethodTypes(options);
      const jwt = await first.sign({ iss: server.url, exp: NOW + 60 });
      server.answers.delete('/.well-known/openid-configuration');
      expect(await verdict(oidc(), jwt, types)).to.match(/status 404/);
      discover();
      expect(await verdict(oidc(), jwt, types)).to.deep.equal(ACCEPTED);
    });
  });

  describe('when the method is written', () => {
    const jwt = (): AuthMethodType => authMethodTypes(options).get('jwt')!;
    const reason = async (Config: unknown): Promise<string> =>
      (await jwt().checkIssuer(Config, 'default'))?.reason ?? 'accepted';
    const refusal = (Config: unknown): string =>
      jwt().checkConfig(Config, 'default')?.message ?? 'accepted';

    it('logins use what was fetched', async () => {
      const method = jwt();
      const verified = async (by: Signer): Promise<boolean> =>
        (await method.validate(jwks(), await by.sign(times), AT)).ok;
      expect(await verified(first)).to.equal(true);
      const renewed = await signer('ES256', 'k1');
      server.answers.set('/keys', { keys: [renewed.jwk] });
      expect(await method.checkIssuer(jwks(), 'default')).to.equal(undefined);
      expect([await verified(first), await verified(renewed)]).to.deep.equal([false, true]);
    });

    it('they are fetched every time', async () => {
      expect(await reason(jwks())).to.equal('accepted');
      expect(await reason(jwks())).to.equal('accepted');
      expect(server.seen).to.have.length(2);
      server.answers.set('/keys', { nothing: true });
      expect(await reason(jwks())).to.match(/JSON Web Key Set malformed/);
      expect(await reason({ JWKSURL: 'http://127.0.0.1:1/' })).to.equal(
        '127.0.0.1:1: ECONNREFUSED',
      );
      expect(await reason({ OIDCDiscoveryURL: server.url })).to.match(/ status 404$/);
      server.seen.length = 0;
      for (const config of [jwks(), { OIDCDiscoveryURL: server.url }])
        expect(refusal(config)).to.equal('accepted');
      expect(server.seen).to.deep.equal([]);
      expect(refusal({ JWKSURL: 'ftp://x/' })).to.match(
        /error checking JWKSURL: not an http or https URL/,
      );
      expect(refusal({ JWKSURL: 'http://user:hush@127.0.0.1/' })).to.match(/without credentials$/);
    });
  });
});
