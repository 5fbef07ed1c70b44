/**
 * Auth methods of type jwt. A login checks the signature, issuer, times and audience of a JWT, and
 * maps its claims.
 */
import * as errors from 'jose/errors';
import { compactVerify } from 'jose/jws/compact/verify';
import type { Identity, IdentityShape } from '../../acl/binding.js';
import type { Refusal } from '../../errors.js';
import { parseStrictJson } from '../../languages/json.js';
import { type Claims, mapClaims, shapeOfMappings } from './claims.js';
import { ConfigFault, refusing } from './config-reader.js';
import { FetchFault, isObject } from './exchange.js';
import { type JwtConfig, readJwtConfig } from './jwt-config.js';
import { type IssuerKeys, KeyCache, type KeyCacheOptions } from './keys.js';
import type { AuthMethodType, IssuerProblem, LoginReason, Verdict } from './types.js';

/** Algorithms with a public key only: `none` and shared secrets (HMAC) are never accepted. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** Characters of a JWT: longer than the HTTP headers that usually carry one. */
const TOKEN_LENGTH_MAX = 32 * 1024;

/** The time at which a JWT is checked, and the namespace of the method. */
type At = Parameters<AuthMethodType['validate']>[2];

/** Why a JWT is not accepted. Never leaves this file. */
class TokenFault extends Error {
  readonly code: LoginReason;
  constructor(message: string, code: LoginReason) {
    super(message);
    this.code = code;
  }
}

/** The key of the Config that names each source of keys. */
const KEY_OF: Readonly<Record<JwtConfig['source']['kind'], string>> = {
  keys: 'JWTValidationPubKeys',
  jwks: 'JWKSURL',
  oidc: 'OIDCDiscoveryURL',
};

/** The auth method type `jwt`. */
export class JwtMethod implements AuthMethodType {
  readonly name = 'jwt';
  readonly #keys: KeyCache;

  constructor(options: KeyCacheOptions) {
    this.#keys = new KeyCache(options);
  }

  checkConfig(config: unknown, namespace: string): Refusal | undefined {
    return refusing(() => {
      const { source } = readJwtConfig(config);
      const problem = source.kind === 'keys' ? undefined : this.#keys.problem(source, namespace);
      if (problem === undefined) return;
      const key = KEY_OF[source.kind];
      throw new ConfigFault(`error checking ${key}: ${problem}`, key);
    });
  }

  async checkIssuer(config: unknown, namespace: string): Promise<IssuerProblem | undefined> {
    const { source } = readJwtConfig(config);
    if (source.kind === 'keys') return undefined;
    try {
      await this.#keys.check(source, namespace);
      return undefined;
    } catch (error) {
      if (!isForeign(error)) throw error;
      return { key: KEY_OF[source.kind], reason: error.message };
    }
  }

  shapeOf(config: unknown): IdentityShape {
    return shapeOfMappings(readJwtConfig(config).mappings);
  }

  async validate(config: unknown, bearerToken: string, at: At): Promise<Verdict> {
    const refused = (code: LoginReason, reason: string): Verdict => ({ ok: false, code, reason });
    try {
      const read = readJwtConfig(config);
      const claims = await this.#verify(read, bearerToken, at);
      checkAudience(claims, read.boundAudiences);
      const mapped = mapClaims(claims, read.mappings);
      if (!mapped.ok) return refused('claims', mapped.reason);
      return { ...mapped, subject: subjectOf(claims, mapped.identity) };
    } catch (error) {
      if (error instanceof TokenFault) return refused(error.code, error.message);
      if (error instanceof ConfigFault) {
        return refused('config', `the method's Config is not usable: ${error.message}`);
      }
      throw error;
    }
  }

  /** Returns the claims of a JWT with a valid signature, issuer and times. Throws TokenFault. */
  async #verify(config: JwtConfig, jwt: string, { namespace, nowMs }: At): Promise<Claims> {
    if (jwt === '') throw new TokenFault('missing jwt', 'form');
    checkForm(jwt);
    const { source } = config;
    const listed = config.algorithms.length > 0 ? config.algorithms : ALGORITHMS;
    if (source.kind === 'keys') {
      const claims = checkTypes(await byKnownKeys(jwt, source.keys, listed));
      checkIssuerAndTimes(claims, config, nowMs);
      return claims;
    }
    const keys = await this.#keys.of(source, namespace, nowMs).catch((error: unknown) => {
      if (!(error instanceof FetchFault)) throw error;
      const why = `the keys of the issuer cannot be fetched: ${error.message}`;
      throw new TokenFault(why, 'unreachable');
    });
    if (source.kind === 'jwks') {
      const claims = checkTypes(await byKeySet(jwt, keys, listed, 'error verifying token: '));
      checkIssuerAndTimes(claims, config, nowMs);
      return claims;
    }
    const wanted = config.algorithms.length > 0 ? config.algorithms : keys.algorithms;
    // An issuer that lists no algorithm signs with RS256.
    const allowed = wanted.length > 0 ? wanted.filter((a) => ALGORITHMS.includes(a)) : ['RS256'];
    const claims = checkTypes(await byKeySet(jwt, keys, allowed, 'error validating signature: '));
    checkDiscovered(claims, source.text, config.clockSkewMs, nowMs);
    return claims;
  }
}

/** Throws TokenFault unless a text has the form of a signed JWT (JWS Compact Serialization). */
function checkForm(jwt: string): void {
  const fail = (why: string): never => {
    throw new TokenFault(`error parsing token: ${why}`, 'form');
  };
  if (jwt.length > TOKEN_LENGTH_MAX) fail(`longer than ${TOKEN_LENGTH_MAX} characters`);
  if (!/^[\w-]+\.[\w-]+\.[\w-]*$/.test(jwt)) fail('not three parts in base64url');
  const header = objectOf(Buffer.from(jwt.slice(0, jwt.indexOf('.')), 'base64url'), 'header');
  if (typeof header['alg'] !== 'string') fail('its header has no alg');
  for (const name of ['kid', 'typ', 'cty']) {
    if (Object.hasOwn(header, name) && typeof header[name] !== 'string') {
      fail(`the ${name} of its header is not a string`);
    }
  }
  // The payload of a JWT is always encoded (RFC 7797, section 7).
  if (Object.hasOwn(header, 'b64') && header['b64'] !== true) fail('its payload is not encoded');
}

/** Returns the claims if one of the keys verifies the signature. Throws TokenFault. */
async function byKnownKeys(
  jwt: string,
  keys: readonly Parameters<typeof compactVerify>[1][],
  algorithms: readonly string[],
): Promise<Claims> {
  const options = { algorithms: [...algorithms] };
  for (const key of keys) {
    try {
      return objectOf((await compactVerify(jwt, key, options)).payload);
    } catch (error) {
      if (error instanceof TokenFault) throw error;
      // The key has another type or did not sign the token. The next one may fit.
      if (!isOfKey(error)) throw error;
    }
  }
  throw new TokenFault('no known key successfully validated the token signature', 'signature');
}

/** Returns the claims if the key set verifies the signature. Throws TokenFault. */
async function byKeySet(
  jwt: string,
  { jwks }: IssuerKeys,
  algorithms: readonly string[],
  lead: string,
): Promise<Claims> {
  const options = { algorithms: [...algorithms] };
  try {
    return objectOf((await compactVerify(jwt, jwks, options)).payload);
  } catch (error) {
    if (error instanceof TokenFault) throw error;
    if (error instanceof errors.JWKSMultipleMatchingKeys) {
      const keys = [];
      for await (const key of error) keys.push(key);
      return byKnownKeys(jwt, keys, algorithms).catch((inner: Error) => {
        const code = inner instanceof TokenFault ? inner.code : 'signature';
        throw new TokenFault(`${lead}${inner.message}`, code);
      });
    }
    if (isOfKey(error)) {
      const why = `${lead}failed to verify id token signature (${codeOf(error)})`;
      throw new TokenFault(why, 'signature');
    }
    if (!(error instanceof FetchFault)) throw error;
    throw new TokenFault(`${lead}the keys cannot be fetched: ${error.message}`, 'unreachable');
  }
}

/** Whether an error means that a key does not fit the signature, or is no valid key. */
const isOfKey = (error: unknown): error is Error =>
  error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException;
/** Returns the `sub` claim, or all mapped values without one. As JSON, the two never collide. */
const subjectOf = ({ sub }: Claims, { selectable }: Identity): string =>
  JSON.stringify(typeof sub === 'string' && sub !== '' ? sub : selectable);

/** Whether an error is the fault of another server. */
const isForeign = (error: unknown): error is Error =>
  error instanceof FetchFault || error instanceof errors.JOSEError;
const codeOf = (error: Error): string => ('code' in error ? String(error.code) : error.name);

/** Parses one part of a JWT, in which member names must be unique (RFC 7519, section 4). */
function objectOf(bytes: Uint8Array, part: 'header' | 'payload' = 'payload'): Claims {
  const parsed = parseStrictJson(new TextDecoder().decode(bytes));
  if (parsed.ok && isObject(parsed.value)) return parsed.value;
  const why = parsed.ok ? '' : `: ${parsed.problem.message}`;
  throw new TokenFault(`error parsing token: its ${part} is not a JSON object${why}`, 'form');
}

const invalid = (why: string, code: LoginReason): never => {
  throw new TokenFault(`error validating claims: ${why}`, code);
};

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';
/** The registered claims (RFC 7519, section 4.1), and the type of each if it is present. */
const REGISTERED: readonly [name: string, isOfType: (value: unknown) => boolean, type: string][] = [
  ['iss', isText, 'a string'],
  ['sub', isText, 'a string'],
  ['jti', isText, 'a string'],
  [
    'aud',
    (value) => (Array.isArray(value) ? value : [value]).every(isText),
    'a string or a list of them',
  ],
  ['exp', isNumber, 'a number'],
  ['nbf', isNumber, 'a number'],
  ['iat', isNumber, 'a number'],
];

function checkTypes(claims: Claims): Claims {
  for (const [name, isOfType, type] of REGISTERED) {
    if (Object.hasOwn(claims, name) && !isOfType(claims[name])) {
      invalid(`${name} is not ${type}`, 'claims');
    }
  }
  return claims;
}

/** Returns a time claim in milliseconds since the epoch; 0 if it is absent. */
const timeOf = (claims: Claims, name: 'iat' | 'nbf' | 'exp'): number =>
  // `checkTypes` has checked the type.
  Object.hasOwn(claims, name) ? (claims[name] as number) * 1000 : 0;

const NO_TIMES = 'no issue time, notbefore, or expiration time encoded in token';

/** Checks the issuer and times. Derives a missing `exp` or `nbf` from the claims that are there. */
function checkIssuerAndTimes(claims: Claims, config: JwtConfig, nowMs: number): void {
  const iat = timeOf(claims, 'iat');
  let nbf = timeOf(claims, 'nbf');
  let exp = timeOf(claims, 'exp');
  if (iat === 0 && nbf === 0 && exp === 0) {
    throw new TokenFault(NO_TIMES, 'no_times');
  }
  if (exp === 0) exp = Math.max(iat, nbf) + config.expirationLeewayMs;
  if (nbf === 0) nbf = iat !== 0 ? iat : exp - config.notBeforeLeewayMs;
  if (config.boundIssuer !== '' && claims['iss'] !== config.boundIssuer) {
    invalid('invalid issuer claim (iss)', 'issuer');
  }
  if (nbf > nowMs + config.clockSkewMs) invalid('token not valid yet (nbf)', 'not_yet_valid');
  if (exp < nowMs - config.clockSkewMs) invalid('token is expired (exp)', 'expired');
  if (iat > nowMs + config.clockSkewMs) {
    invalid('token issued in the future (iat)', 'issued_in_future');
  }
}

/** Checks the issuer and times with discovery: the issuer is the URL, and `exp` is required. */
function checkDiscovered(claims: Claims, issuer: string, skewMs: number, nowMs: number): void {
  const fail = (why: string, code: LoginReason): never => {
    throw new TokenFault(`error validating signature: ${why}`, code);
  };
  if (claims['iss'] !== issuer) fail('invalid issuer claim (iss)', 'issuer');
  const exp = timeOf(claims, 'exp');
  if (exp === 0) fail('no expiration time encoded in token (exp)', 'no_times');
  if (exp < nowMs - skewMs) fail('token is expired (exp)', 'expired');
  if (timeOf(claims, 'nbf') > nowMs + skewMs) {
    fail('token not valid yet (nbf)', 'not_yet_valid');
  }
}

function checkAudience(claims: Claims, bound: readonly string[]): void {
  const audiences = Object.hasOwn(claims, 'aud') ? [claims['aud']].flat() : [];
  if (bound.length > 0) {
    if (!audiences.some((one) => bound.includes(one as string))) {
      invalid('aud claim does not match any bound audience', 'audience');
    }
  } else if (audiences.length > 0) {
    invalid('audience claim found in JWT but no audiences are bound', 'audience');
  }
}
