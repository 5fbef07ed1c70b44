/**
 * Auth methods whose logins are decided by a JWT. A login checks its signature, issuer, times and
 * audience, and maps its claims.
 */
import { isUtf8 } from 'node:buffer';
import * as errors from 'jose/errors';
import { compactVerify } from 'jose/jws/compact/verify';
import type { IdentityShape } from '../../acl/binding.js';
import { shapeOfMappings } from '../../acl/shapes.js';
import { KEYS_MAX } from '../../api/auth-methods.js';
import type { Refusal } from '../../base/errors.js';
import { isObject } from '../../languages/fields.js';
import { parseExactJson } from '../../languages/json.js';
import type { MethodType } from '../../state/methods.js';
import { type Claims, withClaim } from './claims.js';
import { ConfigFault, refusing } from './config-reader.js';
import { FetchFault } from './exchange.js';
import { checksOf, judgeClaims } from './jwt-claims.js';
import { type JwtConfig, readJwtConfig } from './jwt-config.js';
import { examined, unreadable } from './jwt-examine.js';
import type { IssuerKeys, KeyCache } from './keys.js';
import type {
  AuthMethodType,
  Examined,
  IssuerProblem,
  LoginFault,
  LoginReason,
  Shown,
  Verdict,
} from './types.js';

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

const TOO_MANY_FIT =
  `error verifying token: more than ${KEYS_MAX} keys of the issuer fit it: ` +
  'its header has no kid that names one';

/** The time at which a JWT is checked, and the namespace of the method. */
type At = Parameters<AuthMethodType['validate']>[2];

const NO_MAPPINGS = { values: new Map(), lists: new Map() } as const;

/** Why a JWT is not accepted. Never leaves this file. */
class TokenFault extends Error {
  readonly code: LoginReason;
  constructor(message: string, code: LoginReason) {
    super(message);
    this.code = code;
  }
}

/** None of several keys verifies the signature. */
class UnverifiedFault extends TokenFault {
  constructor() {
    super('no known key successfully validated the token signature', 'signature');
  }
}

/** The key of the Config that names each source of keys. */
const KEY_OF: Readonly<Record<JwtConfig['source']['kind'], string>> = {
  keys: 'JWTValidationPubKeys',
  jwks: 'JWKSURL',
  oidc: 'OIDCDiscoveryURL',
};

/** What is special about a type of methods that verify JWTs. */
export interface JwtRules {
  readonly name: MethodType;
  /** Reads a Config. Throws ConfigFault. */
  readonly read: (config: unknown) => JwtConfig;
}

/** The rules of the type `jwt`. */
export const JWT_RULES: JwtRules = { name: 'jwt', read: readJwtConfig };

/** An auth method type whose logins are decided by a JWT. */
export class JwtMethod implements AuthMethodType {
  readonly name: MethodType;
  readonly #read: JwtRules['read'];
  readonly #keys: KeyCache;

  constructor({ name, read }: JwtRules, keys: KeyCache) {
    this.name = name;
    this.#read = read;
    this.#keys = keys;
  }

  checkConfig(config: unknown, namespace: string): Refusal | undefined {
    return refusing(() => {
      const { source } = this.#read(config);
      const problem = source.kind === 'keys' ? undefined : this.#keys.problem(source, namespace);
      if (problem === undefined) return;
      const key = KEY_OF[source.kind];
      throw new ConfigFault(`error checking ${key}: ${problem}`, key);
    });
  }

  async checkIssuer(config: unknown, namespace: string): Promise<IssuerProblem | undefined> {
    const { source } = this.#read(config);
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
    const mappings = this.#accepted(config)?.mappings ?? NO_MAPPINGS;
    return shapeOfMappings(mappings);
  }

  vouched(config: unknown, id: string, others: Claims): Claims | undefined {
    const read = this.#accepted(config);
    return read && withClaim(others, read.identityClaim, id);
  }

  /** Reads a Config; undefined for one of an earlier release that is not accepted any more. */
  #accepted(config: unknown): JwtConfig | undefined {
    try {
      return this.#read(config);
    } catch (error) {
      if (!(error instanceof ConfigFault)) throw error;
      return undefined;
    }
  }

  async validate(config: unknown, bearerToken: string, at: At): Promise<Verdict> {
    const refused = (code: LoginReason, reason: string): Verdict => ({ ok: false, code, reason });
    try {
      const read = this.#read(config);
      const claims = await this.#verify(read, bearerToken, at);
      const { faults, identity, subject, who, named } = judgeClaims(claims, read, at.nowMs);
      const [fault] = faults;
      if (fault !== undefined) return { ...refused(fault.code, fault.reason), who };
      // Claims that cannot be mapped are a fault.
      return { ok: true, identity: identity!, subject, who, named };
    } catch (error) {
      if (error instanceof TokenFault) return refused(error.code, error.message);
      if (error instanceof ConfigFault) return { ok: false, ...configFault(error) };
      throw error;
    }
  }

  async examine(config: unknown, shown: Shown, at: At): Promise<Examined> {
    let read: JwtConfig;
    try {
      read = this.#read(config);
    } catch (error) {
      if (!(error instanceof ConfigFault)) throw error;
      return unreadable(configFault(error));
    }
    if ('claims' in shown) {
      const { claims } = shown;
      return examined(claims, read, { only: checksOf(claims), nowMs: at.nowMs });
    }
    const verdict = await this.validate(config, shown.bearerToken, at);
    const claims = claimsIn(shown.bearerToken);
    const fault = verdict.ok ? undefined : verdict;
    if (claims instanceof TokenFault) {
      return unreadable({ code: 'form', reason: claims.message }, fault);
    }
    return examined(claims, read, { nowMs: at.nowMs, fault });
  }

  /** Returns the claims of a JWT with a valid signature, or why there are none. */
  async claimsOf(
    config: JwtConfig,
    jwt: string,
    at: At,
  ): Promise<{ readonly claims: Claims } | { readonly fault: LoginFault }> {
    try {
      return { claims: await this.#verify(config, jwt, at) };
    } catch (error) {
      if (!(error instanceof TokenFault)) throw error;
      return { fault: { code: error.code, reason: error.message } };
    }
  }

  /** Returns the claims of a JWT with a valid signature. Throws TokenFault. */
  async #verify(config: JwtConfig, jwt: string, { namespace, nowMs }: At): Promise<Claims> {
    if (jwt === '') throw new TokenFault('missing jwt', 'form');
    checkForm(jwt);
    const { source } = config;
    const listed = config.algorithms.length > 0 ? config.algorithms : ALGORITHMS;
    if (source.kind === 'keys') return byKnownKeys(jwt, source.keys, listed);
    const keys = await this.#keys.of(source, namespace, nowMs).catch((error: unknown) => {
      if (!(error instanceof FetchFault)) throw error;
      const why = `the keys of the issuer cannot be fetched: ${error.message}`;
      throw new TokenFault(why, 'unreachable');
    });
    if (source.kind === 'jwks') return byKeySet(jwt, keys, listed, 'error verifying token: ');
    const wanted = config.algorithms.length > 0 ? config.algorithms : keys.algorithms;
    // An issuer that lists no algorithm signs with RS256.
    const allowed = wanted.length > 0 ? wanted.filter((a) => ALGORITHMS.includes(a)) : ['RS256'];
    return byKeySet(jwt, keys, allowed, 'error validating signature: ');
  }
}

const configFault = ({ message }: ConfigFault): LoginFault => ({
  code: 'config',
  reason: `the method's Config is not usable: ${message}`,
});

/** Returns the claims of a JWT without verifying its signature, or why they cannot be read. */
function claimsIn(jwt: string): Claims | TokenFault {
  try {
    if (jwt === '') throw new TokenFault('missing jwt', 'form');
    checkForm(jwt);
    return objectOf(Buffer.from(jwt.split('.')[1]!, 'base64url'));
  } catch (error) {
    if (error instanceof TokenFault) return error;
    throw error;
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
  throw new UnverifiedFault();
}

/** Returns the claims if the key set verifies the signature. Throws TokenFault. */
async function byKeySet(
  jwt: string,
  { keySet }: IssuerKeys,
  algorithms: readonly string[],
  lead: string,
): Promise<Claims> {
  try {
    return await keySet.verify(() => byKeysOf(keySet.jwks, jwt, algorithms), isUnverified);
  } catch (error) {
    if (error instanceof UnverifiedFault)
      throw new TokenFault(`${lead}${error.message}`, error.code);
    if (error instanceof TokenFault) throw error;
    if (error instanceof errors.JWKSInvalid)
      throw new TokenFault(`${lead}the keys cannot be used: ${error.message}`, 'unreachable');
    if (isOfKey(error)) {
      const why = `${lead}failed to verify id token signature (${codeOf(error)})`;
      throw new TokenFault(why, 'signature');
    }
    if (!(error instanceof FetchFault)) throw error;
    throw new TokenFault(`${lead}the keys cannot be fetched: ${error.message}`, 'unreachable');
  }
}

/** Returns the claims if one of the keys that fit the header verifies the signature. */
async function byKeysOf(
  jwks: IssuerKeys['keySet']['jwks'],
  jwt: string,
  algorithms: readonly string[],
): Promise<Claims> {
  try {
    return objectOf((await compactVerify(jwt, jwks, { algorithms: [...algorithms] })).payload);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    const keys = [];
    for await (const key of error) {
      if (keys.length === KEYS_MAX) throw new TokenFault(TOO_MANY_FIT, 'signature');
      keys.push(key);
    }
    return byKnownKeys(jwt, keys, algorithms);
  }
}

/**
 * Whether an error means that no key fits a JWT. The issuer may sign with a new key, under a new
 * id, the same one or none.
 */
const isUnverified = (error: unknown): boolean =>
  error instanceof UnverifiedFault ||
  error instanceof errors.JWKSNoMatchingKey ||
  error instanceof errors.JWSSignatureVerificationFailed;

/** Whether an error means that a key does not fit the signature, or is no valid key. */
const isOfKey = (error: unknown): error is Error =>
  error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException;

/** Whether an error is the fault of another server. */
export const isForeign = (error: unknown): error is Error =>
  error instanceof FetchFault || error instanceof errors.JOSEError;
const codeOf = (error: Error): string => ('code' in error ? String(error.code) : error.name);

/** Parses one part of a JWT, in which member names must be unique (RFC 7519, section 4). */
function objectOf(bytes: Uint8Array, part: 'header' | 'payload' = 'payload'): Claims {
  // Bytes that are no characters would all become the same one, in the names of users too.
  const isText = isUtf8(bytes);
  const parsed = parseExactJson(new TextDecoder().decode(bytes));
  if (isText && parsed.ok && isObject(parsed.value)) return parsed.value;
  const fault = parsed.ok ? '' : `: ${parsed.problem.message}`;
  const why = isText ? fault : ': it is not UTF-8';
  throw new TokenFault(`error parsing token: its ${part} is not a JSON object${why}`, 'form');
}
