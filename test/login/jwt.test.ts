import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { CompactSign, generateKeyPair, UnsecuredJWT } from 'jose';
import { mapClaims } from '../../src/service/login/claims.js';
import { authMethodTypes } from '../../src/service/login/index.js';
import { CA } from './certificates.js';
import { ACCEPTED, NOW, options, type Signer, signer, times, verdict } from './signers.js';

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
  it('a method that lists algorithms accepts no others', async () => {
    const keys = { JWTValidationPubKeys: [rsa.pem, ec.pem, ed.pem] };
    const listed = { ...keys, JWTSupportedAlgs: ['ES384', 'RS512'] };
    expect(await verdict(listed, await ec.sign(times))).to.deep.equal(ACCEPTED);
    for (const key of [rsa, ed])
      expect(await verdict(listed, await key.sign(times))).to.equal(
        'no known key successfully validated the token signature',
      );
    expect(await verdict({ ...keys, JWTSupportedAlgs: [] }, await ed.sign(times))).to.deep.equal(
      ACCEPTED,
    );
  });
  it('a missing signature or one with a shared secret is never accepted', async () => {
    const config = { JWTValidationPubKeys: rsa.pem };
    const none = new UnsecuredJWT(times).encode();
    expect(await verdict(config, none)).to.match(/no known key/);
    expect(await verdict(config, `${none}AAAA`)).to.match(/no known key/);
    // The public key as the secret of an HMAC: the oldest trick.
    const forged = await new CompactSign(new TextEncoder().encode(JSON.stringify(times)))
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(rsa.pem));
    expect(await verdict(config, forged)).to.match(/no known key/);
    const [, , signature] = (await rsa.sign(times)).split('.');
    const [header, payload] = (await rsa.sign({ ...times, admin: true })).split('.');
    expect(await verdict(config, `${header}.${payload}.${signature}`)).to.match(/no known key/);
  });
  it('reports that a text is not a JWT', async () => {
    const config = { JWTValidationPubKeys: rsa.pem };
    expect(await verdict(config, '')).to.equal('missing jwt');
    for (const text of ['x', 'a.b', 'a.b.c', 'a.b.c.d', 'ä.b.c', `${'a'.repeat(100_000)}.b.c`]) {
      expect(await verdict(config, text), text.slice(0, 20)).to.match(/^error parsing token: /);
    }
    expect(await verdict(config, await rsa.sign([]))).to.match(/^error parsing token: /);
  });
  it('refuses claims that are not UTF-8, which would become equal', async () => {
    const payload = Buffer.from(`{"exp":${NOW + 60},"sub":"Müller"}`, 'latin1');
    const config = { JWTValidationPubKeys: [rsa.pem] };
    expect(await verdict(config, await rsa.sign(payload))).to.equal(
      'error parsing token: its payload is not a JSON object: it is not UTF-8',
    );
  });
  it('any text is judged without an exception', async () => {
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

  describe('checks of claims, in order', () => {
    const judged = async (claims: object | string, config: object = {}): Promise<unknown> =>
      verdict({ JWTValidationPubKeys: ec.pem, ...config }, await ec.sign(claims));
    const NS = 1e9;

    it('at least one time is required; missing exp and nbf are derived', async () => {
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
    it('issuer, then times, then audience are checked', async () => {
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
    it('registered claims must have the types of RFC 7519', async () => {
      const mistyped: object[] = [
        ...[5, true, ['a'], null, {}].map((sub) => ({ sub })),
        ...[5, null].map((jti) => ({ jti })),
        ...[5, ['i'], null].map((iss) => ({ iss })),
        ...[5, null, {}, ['a', 5], [['a']]].map((aud) => ({ aud })),
        ...['soon', true, null, [1]].flatMap((at) => [{ exp: at }, { nbf: at }, { iat: at }]),
      ];
      for (const claims of mistyped) {
        expect(await judged({ ...times, ...claims }), JSON.stringify(claims)).to.match(
          /^error validating claims: (sub|jti|iss|aud|exp|nbf|iat) is not a (string|number)/,
        );
      }
      const whole = { ...times, sub: 's', jti: 'j', iss: 'i' };
      expect(await judged(whole)).to.deep.equal(ACCEPTED);
    });
    it('an empty audience counts as an audience', async () => {
      expect(await judged({ ...times, aud: '' })).to.match(
        /audience claim found in JWT but no audiences are bound/,
      );
    });
    it('duplicate names are refused at any depth', async () => {
      const { iat, exp } = times;
      for (const text of [
        `{"iat":${iat},"exp":1,"exp":${exp}}`,
        `{"iat":${iat},"n":"a","\\u006e":"b"}`,
        `{"iat":${iat},"o":{"n":"a","n":"b"}}`,
      ]) {
        expect(await judged(text), text).to.match(/^error parsing token: .*appears twice/);
      }
    });
    it('a header may only contain what selects the key', async () => {
      const config = { JWTValidationPubKeys: ec.pem };
      for (const header of [{ kid: 5 }, { typ: 7 }, { cty: [] }, { b64: false }]) {
        expect(
          await verdict(config, await ec.sign(times, header)),
          JSON.stringify(header),
        ).to.match(/^error parsing token: /);
      }
      const [, payload, signature] = (await ec.sign(times)).split('.');
      const twice = Buffer.from('{"alg":"ES384","alg":"ES384"}').toString('base64url');
      expect(await verdict(config, `${twice}.${payload}.${signature}`)).to.match(/appears twice/);
    });
    it('mapped claims are checked last', async () => {
      const mapped = { ClaimMappings: { who: 'name' } };
      expect(await judged({ ...times, who: 'a' }, mapped)).to.deep.equal({
        value: { name: 'a' },
        list: {},
      });
      expect(await judged({ ...times, who: ['a'] }, mapped)).to.match(
        /^error converting claim 'who' to string/,
      );
    });
  });
});

describe('login by JWT: claims to values', () => {
  const map = (claims: object, values: object, lists: object = {}): ReturnType<typeof mapClaims> =>
    mapClaims(claims as Record<string, unknown>, {
      values: new Map(Object.entries(values)),
      lists: new Map(Object.entries(lists)),
    });
  const claims = JSON.parse(
    '{"s":"a","n":41.9,"t":true,"z":null,"l":["x","",1,false],"o":{"deep":{"org":"acme","at":["p"]}},"a/b":"slash","e":"","__proto__":"pp","big":1e999}',
  );
  it('single values are mapped', () => {
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
  it('lists are mapped', () => {
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
  it('whole numbers keep every digit', async () => {
    const rsa = await signer('RS256');
    const config = {
      JWTValidationPubKeys: [rsa.pem],
      ClaimMappings: { id: 'id' },
      ListClaimMappings: { ids: 'ids' },
    };
    const of = async (id: string): Promise<unknown> => {
      const more = `"id":${id},"ids":[${id},"${id}"],"o":{"id":${id}}`;
      return verdict(config, await rsa.sign(`{"exp":${NOW + 60},${more}}`));
    };
    const whole: Record<string, string> = {
      '9007199254740993': '9007199254740993',
      '-9007199254740993': '-9007199254740993',
      '18446744073709551615': '18446744073709551615',
      '12345678901234567890.75': '12345678901234567890',
      '1.2345678901234567890123e21': '1234567890123456789012',
      '0.012345678901234567890E+20': '1234567890123456789',
      '-0': '0',
      '1E2': '100',
    };
    for (const [id, value] of Object.entries(whole)) {
      expect(await of(id), id).to.deep.equal({ value: { id: value }, list: { ids: [value, id] } });
    }
  });
  it('numbers that have lost digits before they came are refused', () => {
    const reason =
      "error converting claim 'n' to string from a number above 2^53, " +
      'which is not exact here: write it as a string';
    expect(map({ n: 2 ** 53 }, { n: 'n' })).to.deep.equal({ ok: false, reason });
    expect(map({ n: 2 ** 53 - 1 }, { n: 'n' })).to.have.property('ok', true);
  });
  it('names that are special in JavaScript are ordinary', () => {
    const done = map(claims, JSON.parse('{"__proto__":"__proto__","constructor":"c"}'));
    if (!done.ok) throw new Error(done.reason);
    expect(Object.keys(done.identity.selectable['value'] as object)).to.deep.equal(['__proto__']);
  });
});

describe('auth methods of type jwt: Config', () => {
  let pem: string;
  before(async () => {
    pem = (await signer('ES256')).pem;
  });
  const refusal = async (Config: unknown): Promise<string> =>
    authMethodTypes(options).get('jwt')?.checkConfig(Config, 'default')?.message ?? 'accepted';

  it('must have exactly one source of keys', async () => {
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
  it('is refused by name if a field is unknown or has the wrong type', async () => {
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
  it('is refused with mappings to the same name, to none, or of impossible claims', async () => {
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
  it('is refused with private or unreadable keys, without showing them', async () => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const { exportPKCS8 } = await import('jose');
    const secret = await exportPKCS8(privateKey);
    const message = await refusal({ JWTValidationPubKeys: [pem, secret] });
    expect(message).to.equal(
      'Invalid Auth Method: error parsing public key JWTValidationPubKeys[1]: it is a private key',
    );
    const weak = [
      [generateKeyPairSync('ec', { namedCurve: 'secp224r1' }), /curve secp224r1 are not supported/],
      [generateKeyPairSync('ec', { namedCurve: 'secp256k1' }), /curve secp256k1 are not supported/],
      [generateKeyPairSync('rsa', { modulusLength: 1024 }), /RSA key of 1024 bits, at least 2048/],
    ] as const;
    for (const [{ publicKey }, phrase] of weak) {
      const key = publicKey.export({ type: 'spki', format: 'pem' });
      expect(await refusal({ JWTValidationPubKeys: [pem, key] })).to.match(phrase);
    }
    expect(await refusal({ JWTValidationPubKeys: ['x'] })).to.match(
      /error parsing public key JWTValidationPubKeys\[0\]: /,
    );
  });
});
