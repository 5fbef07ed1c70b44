/**
 * Logins with JWTs: an auth method that trusts one key of this program, and tokens that are valid
 * or nearly valid.
 */
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import type { Random } from '../../cluster/checker/random.js';

const AUDIENCE = 'fuzz';
const LEEWAY_S = 600;

export class Issuer {
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #pem = this.#keys.publicKey.export({ type: 'spki', format: 'pem' }).toString();

  /** The auth method, and the binding rule through which its logins get a token. */
  get setUp(): readonly (readonly [path: string, body: unknown])[] {
    const Config = {
      JWTValidationPubKeys: [this.#pem],
      BoundAudiences: [AUDIENCE],
      ClaimMappings: { name: 'name', '/deep/name': 'deep' },
      ListClaimMappings: { groups: 'groups' },
    };
    const method = { Name: 'fuzz-jwt', Type: 'jwt', MaxTokenTTL: '1m', Config };
    const rule = { AuthMethod: 'fuzz-jwt', BindType: 'service', BindName: 'svc-${value.name}' };
    return [
      ['/v1/acl/auth-method', method],
      ['/v1/acl/binding-rule', { ...rule, Selector: 'value.name != "" or "g" in list.groups' }],
    ];
  }

  /** The body of a login. */
  login(random: Random): unknown {
    const BearerToken = this.#token(random);
    const AuthMethod = random.chance(0.9) ? 'fuzz-jwt' : random.pick(['FUZZ-jwt', 'm', '', 'é']);
    return { AuthMethod, BearerToken, Meta: { from: 'fuzz' } };
  }

  /** The body of a decision about who could log in. */
  decision(random: Random): unknown {
    const properties = { auth_method: random.chance(0.9) ? 'fuzz-jwt' : 'm' };
    return {
      subject: { type: 'jwt', id: this.#token(random), properties },
      action: { name: random.pick(['read', 'approve']) },
      resource: { type: random.pick(['service', 'orders']), id: 'svc-n1' },
    };
  }

  #token(random: Random): unknown {
    const now = Math.floor(Date.now() / 1000);
    const good = {
      ...{ aud: AUDIENCE, iat: now, nbf: now - 10, exp: now + LEEWAY_S },
      ...{ sub: `s${random.int(50)}`, name: `n${random.int(5)}`, groups: ['g', 'h'] },
    };
    const header = { alg: 'ES256', typ: 'JWT' };
    const whole = this.#sign(header, good);
    const odd: readonly (() => unknown)[] = [
      () => this.#sign(header, { ...good, ...random.pick(CLAIMS) }),
      () => this.#sign({ ...header, ...random.pick(HEADERS) }, good),
      () => this.#sign(header, good, this.#other.privateKey),
      () => this.#sign(header, random.pick(PAYLOADS)),
      () => this.#forged(good),
      () => `${part({ alg: 'none' })}.${part(good)}.`,
      () => flip(whole, random),
      () => whole.slice(0, random.int(whole.length)),
      () => `${whole}${random.pick(['.', '.x', '=', '\u0000', ' ', '\n', '😀'])}`,
      () => whole.split('.').reverse().join('.'),
      () => '.'.repeat(random.int(2000)),
      () => random.pick([null, 1, {}, [], '', 'x'.repeat(60_000), '\ud800', '__proto__']),
    ];
    return random.chance(0.25) ? whole : random.pick(odd)();
  }

  #sign(header: object, claims: unknown, key = this.#keys.privateKey): string {
    const text = `${part(header)}.${part(claims)}`;
    const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
    return `${text}.${signature.toString('base64url')}`;
  }

  /** A MAC computed with the public key as if it were a secret. */
  #forged(claims: object): string {
    const text = `${part({ alg: 'HS256' })}.${part(claims)}`;
    return `${text}.${createHmac('sha256', this.#pem).update(text).digest('base64url')}`;
  }
}

const part = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

function flip(text: string, random: Random): string {
  const at = random.int(text.length);
  return `${text.slice(0, at)}${random.pick([...'Aa0_-.'])}${text.slice(at + 1)}`;
}

const nested = (depth: number): unknown => (depth === 0 ? 'x' : { deep: nested(depth - 1) });
const CLAIMS: readonly object[] = [
  { exp: 1 },
  { exp: 'soon' },
  { exp: 1e308 },
  { exp: -1 },
  { nbf: 2 ** 53 },
  { iat: null },
  { aud: [] },
  { aud: { a: 1 } },
  { aud: ['a', AUDIENCE] },
  { sub: 'é'.repeat(500) },
  { sub: null },
  { name: ['a', 'b'] },
  { name: '${value.name}' },
  { name: '../../x' },
  { name: '\u0000\ud800' },
  { name: 'n'.repeat(5000) },
  { groups: 'g' },
  { groups: Array(3000).fill('g') },
  { groups: [null, 1, {}] },
  { deep: { name: { a: 1 } } },
  { deep: nested(200) },
  { constructor: { name: 'x' }, toString: 'x' },
  JSON.parse('{"__proto__":{"name":"x"}}') as object,
];
const HEADERS: readonly object[] = [
  { alg: 'ES384' },
  { alg: 'HS256' },
  { alg: null },
  { alg: ['ES256'] },
  { alg: '__proto__' },
  { crit: ['exp'] },
  { crit: 'x' },
  { b64: false, crit: ['b64'] },
  { kid: '../../etc/passwd' },
  { kid: { a: 1 } },
  { jku: 'http://127.0.0.1:1/' },
  { jwk: { kty: 'EC' } },
  { zip: 'DEF' },
  { enc: 'A128GCM' },
  { typ: 'x'.repeat(3000) },
];
const PAYLOADS: readonly unknown[] = [
  ...['', '1', 'null', '"a"', '[]', '{', '{"exp":1e999}', '{"a":1,"a":2}', '\ufeff{}', '\u0000'],
  '['.repeat(20_000),
  nested(3000),
];
