/**
 * Auth methods of type jwt: whose signature, which times, for whom, and what it says
 * (tokens-auth-login 17, 18).
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
import type { AuthMethodType, IssuerProblem, RefusalCause, Verdict } from './types.js';

/** Signatures by a public key only: neither `none` nor a shared secret can be among them. */
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
/** Longer than any header may be that usually carries a JWT. */
const TOKEN_LENGTH_MAX = 32 * 1024;

/** When a JWT is judged, and for a method of which namespace. */
type At = Parameters<AuthMethodType['validate']>[2];

/** Why a JWT is not accepted; never leaves this file. */
class Unacceptable extends Error {
  readonly refused: RefusalCause;
  constructor(message: string, refused: RefusalCause = 'token') {
    super(message);
    this.refused = refused;
  }
}

/** The key of a Config that names a source of keys. */
const KEY_OF: Readonly<Record<JwtConfig['source']['kind'], string>> = {
  keys: 'JWTValidationPubKeys',
  jwks: 'JWKSURL',
  oidc: 'OIDCDiscoveryURL',
};

export class JwtMethod implements AuthMethodType {
  readonly name = 'jwt';
  private readonly keys: KeyCache;

  constructor(options: KeyCacheOptions) {
    this.keys = new KeyCache(options);
  }

  checkConfig(config: unknown, namespace: string): Refusal | undefined {
    return refusing(() => {
      const { source } = readJwtConfig(config);
      const problem = source.kind === 'keys' ? undefined : this.keys.problem(source, namespace);
      if (problem === undefined) return;
      const key = KEY_OF[source.kind];
      throw new ConfigFault(`error checking ${key}: ${problem}`, key);
    });
  }

  async checkIssuer(config: unknown, namespace: string): Promise<IssuerProblem | undefined> {
    const { source } = readJwtConfig(config);
    if (source.kind === 'keys') return undefined;
    try {
      await this.keys.check(source, namespace);
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
    const refused = (cause: RefusalCause, reason: string): Verdict => ({
      ok: false,
      cause,
      reason,
    });
    try {
      const read = readJwtConfig(config);
      const claims = await this.verified(read, bearerToken, at);
      checkAudience(claims, read.boundAudiences);
      const mapped = mapClaims(claims, read.mappings);
      if (!mapped.ok) return refused('token', mapped.reason);
      return { ...mapped, subject: subjectOf(claims, mapped.identity) };
    } catch (error) {
      if (error instanceof Unacceptable) return refused(error.refused, error.message);
      if (error instanceof ConfigFault) {
        return refused('config', `the method's Config is not usable: ${error.message}`);
      }
      throw error;
    }
  }

  /** Claims of a JWT whose signature, issuer and times are good. */
  private async verified(
    config: JwtConfig,
    jwt: string,
    { namespace, nowMs }: At,
  ): Promise<Claims> {
    if (jwt === '') throw new Unacceptable('missing jwt');
    checkForm(jwt);
    const { source } = config;
    const listed = config.algorithms.length > 0 ? config.algorithms : ALGORITHMS;
    if (source.kind === 'keys') {
      const claims = checkTypes(await byKnownKeys(jwt, source.keys, listed));
      checkIssuerAndTimes(claims, config, nowMs);
      return claims;
    }
    const keys = await this.keys.of(source, namespace, nowMs).catch((error: unknown) => {
      if (!(error instanceof FetchFault)) throw error;
      const why = `the keys of the issuer cannot be fetched: ${error.message}`;
      throw new Unacceptable(why, 'unreachable');
    });
    if (source.kind === 'jwks') {
      const claims = checkTypes(await byKeySet(jwt, keys, listed, 'error verifying token: '));
      checkIssuerAndTimes(claims, config, nowMs);
      return claims;
    }
    const wanted = config.algorithms.length > 0 ? config.algorithms : keys.algorithms;
    // an issuer that lists nothing signs by RS256
    const allowed = wanted.length > 0 ? wanted.filter((a) => ALGORITHMS.includes(a)) : ['RS256'];
    const claims = checkTypes(await byKeySet(jwt, keys, allowed, 'error validating signature: '));
    checkDiscovered(claims, source.text, config.clockSkewMs, nowMs);
    return claims;
  }
}

function checkForm(jwt: string): void {
  const fail = (why: string): never => {
    throw new Unacceptable(`error parsing token: ${why}`);
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
  // RFC 7797, section 7: a JWT is always encoded
  if (Object.hasOwn(header, 'b64') && header['b64'] !== true) fail('its payload is not encoded');
}

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
      if (error instanceof Unacceptable) throw error;
      // a key of another type, or another key: the next one may fit
      if (!isOfKey(error)) throw error;
    }
  }
  throw new Unacceptable('no known key successfully validated the token signature');
}

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
    if (error instanceof Unacceptable) throw error;
    if (error instanceof errors.JWKSMultipleMatchingKeys) {
      const keys = [];
      for await (const key of error) keys.push(key);
      return byKnownKeys(jwt, keys, algorithms).catch((inner: Error) => {
        throw new Unacceptable(`${lead}${inner.message}`);
      });
    }
    if (isOfKey(error)) {
      throw new Unacceptable(`${lead}failed to verify id token signature (${codeOf(error)})`);
    }
    if (!(error instanceof FetchFault)) throw error;
    throw new Unacceptable(`${lead}the keys cannot be fetched: ${error.message}`, 'unreachable');
  }
}

/** A signature that a key does not fit, or a key that is none. */
const isOfKey = (error: unknown): error is Error =>
  error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException;
/** The `sub` claim; without one, all that is mapped. As JSON neither can be taken for the other. */
const subjectOf = ({ sub }: Claims, { selectable }: Identity): string =>
  JSON.stringify(typeof sub === 'string' && sub !== '' ? sub : selectable);

/** A fault of the server that was asked, not of ours. */
const isForeign = (error: unknown): error is Error =>
  error instanceof FetchFault || error instanceof errors.JOSEError;
const codeOf = (error: Error): string => ('code' in error ? String(error.code) : error.name);

/** The members of one part of a JWT, in which no name may stand twice (RFC 7519, section 4). */
function objectOf(bytes: Uint8Array, part: 'header' | 'payload' = 'payload'): Claims {
  const parsed = parseStrictJson(new TextDecoder().decode(bytes));
  if (parsed.ok && isObject(parsed.value)) return parsed.value;
  const why = parsed.ok ? '' : `: ${parsed.problem.message}`;
  throw new Unacceptable(`error parsing token: its ${part} is not a JSON object${why}`);
}

const invalid = (why: string): never => {
  throw new Unacceptable(`error validating claims: ${why}`);
};

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';
/** The registered claims (RFC 7519, section 4.1): what each must be where it is present. */
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
    if (Object.hasOwn(claims, name) && !isOfType(claims[name])) invalid(`${name} is not ${type}`);
  }
  return claims;
}

/** A time claim in milliseconds; 0 when it is absent. */
const timeOf = (claims: Claims, name: 'iat' | 'nbf' | 'exp'): number =>
  Object.hasOwn(claims, name) ? (claims[name] as number) * 1000 : 0; // its type was checked

/** Checks 4 to 8 of section 17. */
function checkIssuerAndTimes(claims: Claims, config: JwtConfig, nowMs: number): void {
  const iat = timeOf(claims, 'iat');
  let nbf = timeOf(claims, 'nbf');
  let exp = timeOf(claims, 'exp');
  if (iat === 0 && nbf === 0 && exp === 0) {
    throw new Unacceptable('no issue time, notbefore, or expiration time encoded in token');
  }
  if (exp === 0) exp = Math.max(iat, nbf) + config.expirationLeewayMs;
  if (nbf === 0) nbf = iat !== 0 ? iat : exp - config.notBeforeLeewayMs;
  if (config.boundIssuer !== '' && claims['iss'] !== config.boundIssuer) {
    invalid('invalid issuer claim (iss)');
  }
  if (nbf > nowMs + config.clockSkewMs) invalid('token not valid yet (nbf)');
  if (exp < nowMs - config.clockSkewMs) invalid('token is expired (exp)');
  if (iat > nowMs + config.clockSkewMs) invalid('token issued in the future (iat)');
}

/** With discovery the issuer is the discovery URL, and an expiry is required. */
function checkDiscovered(claims: Claims, issuer: string, skewMs: number, nowMs: number): void {
  const fail = (why: string): never => {
    throw new Unacceptable(`error validating signature: ${why}`);
  };
  if (claims['iss'] !== issuer) fail('invalid issuer claim (iss)');
  const exp = timeOf(claims, 'exp');
  if (exp === 0) fail('no expiration time encoded in token (exp)');
  if (exp < nowMs - skewMs) fail('token is expired (exp)');
  if (timeOf(claims, 'nbf') > nowMs + skewMs) fail('token not valid yet (nbf)');
}

function checkAudience(claims: Claims, bound: readonly string[]): void {
  const audiences = Object.hasOwn(claims, 'aud') ? [claims['aud']].flat() : [];
  if (bound.length > 0) {
    if (!audiences.some((one) => bound.includes(one as string))) {
      invalid('aud claim does not match any bound audience');
    }
  } else if (audiences.length > 0) {
    invalid('audience claim found in JWT but no audiences are bound');
  }
}
