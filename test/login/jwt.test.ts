import { expect } from 'chai';
import fc from 'fast-check';
import {
  CompactSign,
  type CryptoKey,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWK,
  UnsecuredJWT,
} from 'jose';
import { mapClaims } from '../../src/service/login/claims.js';
import { authMethodTypes, LOGIN_DEFAULTS } from '../../src/service/login/index.js';
import { CA } from './certificates.js';
import { TestServer } from './server.js';

const NOW_MS = 1_800_000_000_000;
const NOW = NOW_MS / 1000;
const options = {
  ...LOGIN_DEFAULTS,
  limits: { timeoutMs: 10_000, bodyBytesMax: 100_000 },
  keysRefetchMsMin: 0,
};

interface Signer {
  readonly alg: string;
  readonly pem: string;
  readonly jwk: JWK;
  sign(claims: object, header?: object): Promise<string>;
}
async function signer(alg: string, kid?: string): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const sign = (
    claims: object,
    header: object = {},
    key: CryptoKey = privateKey,
  ): Promise<string> =>
    new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
      .setProtectedHeader({ alg, ...(kid === undefined ? {} : { kid }), ...header })
      .sign(key);
  const jwk = { ...(await exportJWK(publicKey)), alg, ...(kid === undefined ? {} : { kid }) };
  return { alg, pem: await exportSPKI(publicKey), jwk, sign };
}

const times = { iat: NOW - 10, nbf: NOW - 10, exp: NOW + 600 };

/** The verdict of a fresh node on one JWT: the identity, or the reason. */
async function verdict(
  config: object,
  jwt: string,
  types = authMethodTypes(options),
): Promise<unknown> {
  const judged = await types.get('jwt')?.validate(config, jwt, NOW_MS);
  return judged?.ok ? judged.identity.selectable : judged?.reason;
}
const ACCEPTED = { value: {}, list: {} };

describe('login by JWT: signatures of known keys', () => {
  let rsa: Signer;
  let ec: Signer;
  let ed: Signer;
  before(async () => {
    [rsa, ec, ed] = await Promise.all([signer('RS256'), signer('ES384'), signer('EdDSA')]);
  });

  it('any configured key may verify, whatever kid the header names', async () => {
    const config = { JWTValidationPubKeys: [rsa.pem, ec.pem, ed.pem] };
    for (const key of [rsa, ec, ed]) {
      expect(await verdict(config, await key.sign(times, { kid: 'other' })), key.alg).to.deep.equal(
        ACCEPTED,
      );
    }
    const other = await signer('ES384');
    expect(await verdict(config, await other.sign(times))).to.equal(
      'no known key successfully validated the token signature',
    );
  });
  it('neither no signature nor one by a shared secret ever counts', async () => {
    const config = { JWTValidationPubKeys: rsa.pem };
    const none = new UnsecuredJWT(times).encode();
    expect(await verdict(config, none)).to.match(/no known key/);
    expect(await verdict(config, `${none}AAAA`)).to.match(/no known key/);
    // the public key as the secret of an HMAC: the oldest trick
    const forged = await new CompactSign(new TextEncoder().encode(JSON.stringify(times)))
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(rsa.pem));
    expect(await verdict(config, forged)).to.match(/no known key/);
    const [, , signature] = (await rsa.sign(times)).split('.');
    const [header, payload] = (await rsa.sign({ ...times, admin: true })).split('.');
    expect(await verdict(config, `${header}.${payload}.${signature}`)).to.match(/no known key/);
  });
  it('tells what is no JWT', async () => {
    const config = { JWTValidationPubKeys: rsa.pem };
    expect(await verdict(config, '')).to.equal('missing jwt');
    for (const text of ['x', 'a.b', 'a.b.c', 'a.b.c.d', 'ä.b.c', `${'a'.repeat(100_000)}.b.c`]) {
      expect(await verdict(config, text), text.slice(0, 20)).to.match(/^error parsing token: /);
    }
    expect(await verdict(config, await rsa.sign([]))).to.match(/^error parsing token: /);
  });
  it('any text at all is judged without an exception', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc
            .tuple(fc.base64String(), fc.base64String(), fc.base64String())
            .map((p) => p.join('.').replaceAll('=', '')),
        ),
        async (text) => {
          expect(await verdict({ JWTValidationPubKeys: rsa.pem }, text)).to.be.a('string');
        },
      ),
      { numRuns: 50 },
    );
  });

  describe('checks of claims, in order (section 17)', () => {
    const judged = async (claims: object, config: object = {}): Promise<unknown> =>
      verdict({ JWTValidationPubKeys: ec.pem, ...config }, await ec.sign(claims));
    const NS = 1e9;

    it('some time is needed; a missing exp and nbf follow from the others', async () => {
      expect(await judged({})).to.equal(
        'no issue time, notbefore, or expiration time encoded in token',
      );
      expect(await judged({ iat: NOW - 100 })).to.deep.equal(ACCEPTED);
      expect(await judged({ iat: NOW - 211 })).to.match(/expired \(exp\)$/);
      expect(await judged({ nbf: NOW - 209 })).to.deep.equal(ACCEPTED);
      expect(await judged({ nbf: NOW - 211 })).to.match(/expired \(exp\)$/);
      expect(await judged({ exp: NOW + 200 })).to.deep.equal(ACCEPTED);
      expect(await judged({ exp: NOW + 211 })).to.match(/not valid yet \(nbf\)$/);
      expect(await judged({ iat: NOW - 100 }, { ExpirationLeeway: 30 * NS })).to.match(/expired/);
      expect(await judged({ exp: NOW + 300 }, { NotBeforeLeeway: 300 * NS })).to.deep.equal(
        ACCEPTED,
      );
    });
    it('the clock may be off by a minute, or as configured', async () => {
      expect(await judged({ ...times, exp: NOW - 59 })).to.deep.equal(ACCEPTED);
      expect(await judged({ ...times, exp: NOW - 61 })).to.match(/expired \(exp\)$/);
      expect(await judged({ ...times, nbf: NOW + 61 })).to.match(/not valid yet \(nbf\)$/);
      expect(await judged({ ...times, iat: NOW + 61 })).to.match(/issued in the future \(iat\)$/);
      expect(await judged({ ...times, exp: NOW - 1 }, { ClockSkewLeeway: -1 })).to.match(/expired/);
      expect(await judged({ ...times, exp: 'soon' })).to.match(/exp is not a number/);
    });
    it('issuer, then times, then audience', async () => {
      const bound = { BoundIssuer: 'me', BoundAudiences: 'here' };
      expect(await judged({ exp: NOW - 999, iss: 'you' }, bound)).to.match(
        /invalid issuer claim \(iss\)/,
      );
      expect(await judged({ exp: NOW - 999, iss: 'me' }, bound)).to.match(/expired/);
      expect(await judged({ ...times, iss: 'me' }, bound)).to.match(
        /aud claim does not match any bound audience/,
      );
      expect(await judged({ ...times, iss: 'me', aud: 'here' }, bound)).to.deep.equal(ACCEPTED);
      expect(await judged({ ...times, iss: 'me', aud: ['x', 'here'] }, bound)).to.deep.equal(
        ACCEPTED,
      );
      expect(await judged({ ...times, aud: ['x'] })).to.match(
        /audience claim found in JWT but no audiences are bound/,
      );
      expect(await judged({ ...times, aud: [] })).to.deep.equal(ACCEPTED);
    });
    it('mapped claims last', async () => {
      const mapped = { ClaimMappings: { sub: 'name' } };
      expect(await judged({ ...times, sub: 'a' }, mapped)).to.deep.equal({
        value: { name: 'a' },
        list: {},
      });
      expect(await judged({ ...times, sub: ['a'] }, mapped)).to.match(
        /^error converting claim 'sub' to string/,
      );
    });
  });
});

describe('login by JWT: claims to values (section 18)', () => {
  const map = (claims: object, values: object, lists: object = {}): ReturnType<typeof mapClaims> =>
    mapClaims(claims as Record<string, unknown>, {
      values: new Map(Object.entries(values)),
      lists: new Map(Object.entries(lists)),
    });
  const claims = JSON.parse(
    '{"s":"a","n":41.9,"t":true,"z":null,"l":["x","",1,false],"o":{"deep":{"org":"acme","at":["p"]}},"a/b":"slash","e":"","__proto__":"pp","big":1e999}',
  );
  it('single values', () => {
    const done = map(claims, {
      s: 's',
      n: 'n',
      t: 't',
      z: 'z',
      gone: 'gone',
      '/o/deep/org': 'org',
      'a/b': 'ab',
      '/a~1b': 'ab2',
      e: 'e',
      '/o/deep/at/0': 'at',
      '/o/deep/at/-1': 'none',
      toString: 'ts',
    });
    expect(done.ok && done.identity.selectable['value']).to.deep.equal({
      s: 'a',
      n: '41',
      t: 'true',
      org: 'acme',
      ab: 'slash',
      ab2: 'slash',
      e: '',
      at: 'p',
    });
    expect(done.ok && done.identity.variables.get('value.gone')).to.equal('');
    expect(map(claims, { l: 'x' })).to.have.property('ok', false);
    expect(map(claims, { o: 'x' })).to.have.property('ok', false);
    expect(map(claims, { big: 'x' })).to.have.property('ok', false);
  });
  it('lists', () => {
    const done = map(claims, {}, { l: 'l', s: 's', n: 'n', z: 'z', e: 'e' });
    expect(done.ok && done.identity.selectable['list']).to.deep.equal({
      l: ['x', '1', 'false'],
      s: ['a'],
      n: ['41'],
      e: [],
    });
    expect(map(claims, {}, { o: 'x' })).to.deep.equal({
      ok: false,
      reason: '"o" list claim could not be converted to string list',
    });
    expect(map({ l: [['a']] }, {}, { l: 'x' })).to.have.property('ok', false);
  });
  it('names that are special in JavaScript are plain', () => {
    const done = map(claims, JSON.parse('{"__proto__":"__proto__","constructor":"c"}'));
    if (!done.ok) throw new Error(done.reason);
    expect(Object.keys(done.identity.selectable['value'] as object)).to.deep.equal(['__proto__']);
  });
});

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

  it('are fetched once and kept; an unknown kid fetches them again', async () => {
    const types = authMethodTypes(options);
    expect(await verdict(jwks(), await first.sign(times), types)).to.deep.equal(ACCEPTED);
    expect(await verdict(jwks(), await first.sign(times), types)).to.deep.equal(ACCEPTED);
    expect(server.seen).to.deep.equal(['GET /keys']);
    server.answers.set('/keys', { keys: [first.jwk, second.jwk] });
    expect(await verdict(jwks(), await second.sign(times), types)).to.deep.equal(ACCEPTED);
    expect(server.seen).to.have.length(2);
  });
  it('an unknown kid cannot make them be fetched at every login', async () => {
    const types = authMethodTypes({ ...options, keysRefetchMsMin: 60_000 });
    for (let i = 0; i < 5; i++) {
      expect(await verdict(jwks(), await second.sign(times), types)).to.match(
        /^error verifying token: failed to verify id token signature/,
      );
    }
    expect(server.seen).to.have.length(1);
  });
  it('a JWT without kid tries all keys', async () => {
    const other = await signer('ES256', 'k3');
    server.answers.set('/keys', { keys: [other.jwk, first.jwk] });
    const jwt = await first.sign(times, { kid: undefined });
    expect(await verdict(jwks(), jwt)).to.deep.equal(ACCEPTED);
    server.answers.set('/keys', { keys: [other.jwk, (await signer('ES256', 'k4')).jwk] });
    expect(await verdict(jwks(), jwt)).to.match(/^error verifying token: no known key/);
  });
  it('a shared secret in the set, or no signature, is of no use', async () => {
    const k = Buffer.from('secret-secret-secret-secret-secret').toString('base64url');
    server.answers.set('/keys', { keys: [{ kty: 'oct', alg: 'HS256', k }] });
    const jwt = await new CompactSign(new TextEncoder().encode(JSON.stringify(times)))
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Buffer.from(k, 'base64url'));
    expect(await verdict(jwks(), jwt)).to.match(/failed to verify id token signature/);
    expect(await verdict(jwks(), new UnsecuredJWT(times).encode())).to.match(/failed to verify/);
  });
  it('a server that is slow, large, broken, or sends elsewhere costs a bounded wait', async () => {
    const reason = async (answer: unknown, timeoutMs = 10_000): Promise<unknown> => {
      const limits = { timeoutMs, bodyBytesMax: 2_000 };
      server.answers.set('/keys', answer);
      return verdict(jwks(), await first.sign(times), authMethodTypes({ ...options, limits }));
    };
    expect(await reason(() => undefined, 100)).to.match(/no reply within 100 ms/);
    expect(await reason({ keys: [first.jwk], more: 'x'.repeat(5_000) })).to.match(
      /longer than 2000 bytes/,
    );
    const endless = (_: unknown, response: import('node:http').ServerResponse): void => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(1_000)));
      };
      response.on('drain', more);
      more();
    };
    expect(await reason(endless)).to.match(/longer than 2000 bytes/);
    expect(await reason(undefined)).to.match(/answers with status 404/);
    expect(await reason([])).to.match(/does not answer with a JSON object/);
    expect(await reason({ keys: 'none' })).to.match(/failed to verify/);
    const to =
      (location: string) =>
      (_: unknown, response: { writeHead(s: number, h: object): { end(): void } }) => {
        response.writeHead(302, { location }).end();
      };
    expect(await reason(to('/keys'))).to.match(/redirects more than 3 times/);
    expect(await reason(to('file:///etc/passwd'))).to.match(/redirects to where we do not follow/);
    server.answers.set('/moved', { keys: [first.jwk] });
    expect(await reason(to('/moved'))).to.deep.equal(ACCEPTED);
  });
  it('TLS needs the configured certificates', async () => {
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

    it('the issuer is the URL, exactly, and an expiry is needed', async () => {
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
    it('the algorithm must be listed by the issuer, or by the method when it lists any', async () => {
      const good = { iss: server.url, exp: NOW + 60 };
      server.answers.set('/keys', { keys: [second.jwk, first.jwk] });
      expect(await verdict(oidc(), await second.sign(good))).to.match(
        /failed to verify id token signature/,
      );
      expect(
        await verdict(oidc({ JWTSupportedAlgs: ['RS256'] }), await second.sign(good)),
      ).to.deep.equal(ACCEPTED);
      // an issuer that lists what can be forged does not make it count
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
    it('audiences count as without discovery', async () => {
      const jwt = await first.sign({ iss: server.url, exp: NOW + 60, aud: 'a' });
      expect(await verdict(oidc(), jwt)).to.match(/no audiences are bound/);
      expect(await verdict(oidc({ BoundAudiences: ['a'] }), jwt)).to.deep.equal(ACCEPTED);
    });
    it('a failure is not remembered', async () => {
      const types = authMethodTypes(options);
      const jwt = await first.sign({ iss: server.url, exp: NOW + 60 });
      server.answers.delete('/.well-known/openid-configuration');
      expect(await verdict(oidc(), jwt, types)).to.match(/status 404/);
      discover();
      expect(await verdict(oidc(), jwt, types)).to.deep.equal(ACCEPTED);
    });
  });

  describe('when the method is written', () => {
    const refusal = async (Config: unknown): Promise<string> =>
      (await authMethodTypes(options).get('jwt')?.checkConfig(Config))?.message ?? 'accepted';

    it('they are fetched every time', async () => {
      expect(await refusal(jwks())).to.equal('accepted');
      expect(await refusal(jwks())).to.equal('accepted');
      expect(server.seen).to.have.length(2);
      server.answers.set('/keys', { nothing: true });
      expect(await refusal(jwks())).to.match(/^Invalid Auth Method: error checking JWKSURL: /);
      expect(await refusal({ JWKSURL: 'http://127.0.0.1:1/' })).to.match(
        /error checking JWKSURL: 127\.0\.0\.1:1: ECONNREFUSED/,
      );
      expect(await refusal({ OIDCDiscoveryURL: server.url })).to.match(
        /error checking OIDCDiscoveryURL: .* status 404/,
      );
      expect(await refusal({ JWKSURL: 'ftp://x/' })).to.match(
        /error checking JWKSURL: not an http or https URL/,
      );
      expect(await refusal({ JWKSURL: 'http://user:hush@127.0.0.1/' })).to.match(
        /without credentials$/,
      );
    });
  });
});

describe('auth methods of type jwt: Config (section 14)', () => {
  let pem: string;
  before(async () => {
    pem = (await signer('ES256')).pem;
  });
  const refusal = async (Config: unknown): Promise<string> =>
    (await authMethodTypes(options).get('jwt')?.checkConfig(Config))?.message ?? 'accepted';

  it('exactly one source of keys', async () => {
    for (const config of [
      undefined,
      null,
      {},
      { JWTValidationPubKeys: [] },
      { JWTValidationPubKeys: [pem], JWKSURL: 'http://x/' },
    ]) {
      expect(await refusal(config)).to.match(
        /^Invalid Auth Method: exactly one of 'JWTValidationPubKeys', 'JWKSURL', or 'OIDCDiscoveryURL' must be set for type "jwt"$/,
      );
    }
    expect(await refusal({ JWTValidationPubKeys: pem })).to.equal('accepted');
    expect(await refusal({ jwtvalidationpubkeys: [pem, CA] })).to.equal('accepted');
  });
  it('refuses by name what is unknown or of the wrong shape', async () => {
    const config = (more: object): Promise<string> =>
      refusal({ JWTValidationPubKeys: [pem], ...more });
    expect(await config({ Foo: 1 })).to.match(/error decoding config: .*has invalid keys: Foo$/);
    expect(await config({ BoundAudience: 'x' })).to.match(
      /invalid keys: BoundAudience; did you mean "BoundAudiences"/,
    );
    expect(await config({ boundissuer: 'a', BoundIssuer: 'b' })).to.match(/BoundIssuer twice/);
    expect(await config({ ClaimMappings: 'x' })).to.match(/error decoding config: 'ClaimMappings'/);
    expect(await config({ ClaimMappings: { a: 1 } })).to.match(/error decoding config: /);
    expect(await config({ ExpirationLeeway: '5s' })).to.match(
      /error decoding config: cannot parse 'ExpirationLeeway' as int: /,
    );
    expect(await config({ JWTSupportedAlgs: ['HS256'] })).to.match(
      /Invalid supported algorithm: HS256/,
    );
    expect(await config({ JWKSCACert: CA })).to.match(
      /'JWKSCACert' should not be set unless 'JWKSURL' is set/,
    );
    expect(await refusal({ JWKSURL: 'http://x/', JWKSCACert: 'x' })).to.match(
      /error parsing JWKSCACert: /,
    );
    expect(await refusal('text')).to.match(/error decoding config: Config is not an object/);
  });
  it('refuses mappings to one name, to none, and of what can never be found', async () => {
    const config = (more: object): Promise<string> =>
      refusal({ JWTValidationPubKeys: [pem], ...more });
    expect(await config({ ClaimMappings: { a: 'x', b: 'x' } })).to.match(
      /: ClaimMappings contains multiple mappings for key "x"/,
    );
    expect(await config({ ListClaimMappings: { a: 'x', b: 'x' } })).to.match(
      /: ListClaimMappings contains multiple mappings for key "x"/,
    );
    expect(await config({ ClaimMappings: { a: 'x' }, ListClaimMappings: { a: 'x' } })).to.equal(
      'accepted',
    );
    expect(await config({ ClaimMappings: { '': 'x' } })).to.match(/the name of the claim is empty/);
    expect(await config({ ClaimMappings: { '/a~2': 'x' } })).to.match(/is not a JSON pointer/);
    expect(await config({ ClaimMappings: { a: '' } })).to.match(/is mapped to no name/);
  });
  it('refuses private and unreadable keys without showing them', async () => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const { exportPKCS8 } = await import('jose');
    const secret = await exportPKCS8(privateKey);
    const told = await refusal({ JWTValidationPubKeys: [pem, secret] });
    expect(told).to.equal(
      'Invalid Auth Method: error parsing public key JWTValidationPubKeys[1]: it is a private key',
    );
    expect(await refusal({ JWTValidationPubKeys: ['x'] })).to.match(
      /error parsing public key JWTValidationPubKeys\[0\]: /,
    );
  });
});
