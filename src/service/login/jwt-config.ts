/** The Config of auth methods of type jwt. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { ClaimMappings } from '../../acl/shapes.js';
import {
  ALGORITHMS,
  JWKS_OF_CA,
  JWT_CONFIG,
  KEYS_MAX,
  OIDC_OF_CA,
  ONE_SOURCE,
} from '../../api/auth-methods.js';
import type { Rule } from '../../languages/fields.js';
import { WeightedCache } from '../common/weighted-cache.js';
import { claimKeyProblem } from './claims.js';
import { ConfigFault, ConfigReader, checkCertificate } from './config-reader.js';
import { httpUrl } from './exchange.js';

/** Where keys are fetched from: a key set, or where a discovery document says. */
export interface Remote {
  readonly kind: 'jwks' | 'oidc';
  readonly url: URL;
  readonly text: string;
  readonly ca?: string;
}

/** A checked Config. */
export interface JwtConfig {
  /** Where the keys are: in the Config, in a key set, or where a discovery document says. */
  readonly source: { readonly kind: 'keys'; readonly keys: readonly KeyObject[] } | Remote;
  readonly boundAudiences: readonly string[];
  readonly boundIssuer: string;
  /** The audience that the ID tokens of an OpenID provider are for; absent for type jwt. */
  readonly clientId?: string;
  /** Empty allows all supported algorithms, with discovery only those that the issuer lists. */
  readonly algorithms: readonly string[];
  readonly mappings: ClaimMappings;
  /** The claim, or a JSON pointer to it, that names who logs in. */
  readonly identityClaim: string;
  readonly expirationLeewayMs: number;
  readonly notBeforeLeewayMs: number;
  readonly clockSkewMs: number;
}

type Reader = ConfigReader<(typeof JWT_CONFIG)['fields']>;

/** Reads and checks a Config without using the network. Throws ConfigFault. */
export function readJwtConfig(config: unknown): JwtConfig {
  const reader = new ConfigReader(config, JWT_CONFIG.fields);
  const source = readSource(reader);
  return {
    source,
    algorithms: readAlgorithms(reader),
    boundAudiences: reader.list('BoundAudiences'),
    boundIssuer: reader.text('BoundIssuer'),
    ...readClaims(reader),
    expirationLeewayMs: leeway(reader, 'ExpirationLeeway', 150_000),
    notBeforeLeewayMs: leeway(reader, 'NotBeforeLeeway', 150_000),
    clockSkewMs: leeway(reader, 'ClockSkewLeeway', 60_000),
  };
}

/** Reads the accepted algorithms. Throws ConfigFault. */
export function readAlgorithms(reader: { list(key: 'JWTSupportedAlgs'): string[] }): string[] {
  const algorithms = reader.list('JWTSupportedAlgs');
  for (const algorithm of algorithms) {
    if (!ALGORITHMS.includes(algorithm)) {
      throw new ConfigFault(`Invalid supported algorithm: ${algorithm}`, 'JWTSupportedAlgs');
    }
  }
  return algorithms;
}

/** What reads the claims that a Config names. */
interface ClaimReader {
  map(key: 'ClaimMappings' | 'ListClaimMappings'): Map<string, string>;
  text(key: 'IdentityClaim'): string;
}

/** Reads which claims a method maps, and which one names who logs in. Throws ConfigFault. */
export const readClaims = (reader: ClaimReader): Pick<JwtConfig, 'mappings' | 'identityClaim'> => ({
  mappings: {
    values: readMappings(reader, 'ClaimMappings'),
    lists: readMappings(reader, 'ListClaimMappings'),
  },
  identityClaim: readIdentityClaim(reader),
});

function readSource(reader: Reader): JwtConfig['source'] {
  const keys = reader.list('JWTValidationPubKeys');
  const jwks = reader.text('JWKSURL');
  const oidc = reader.text('OIDCDiscoveryURL');
  const sources = { JWTValidationPubKeys: keys, JWKSURL: jwks, OIDCDiscoveryURL: oidc };
  if (!ONE_SOURCE.holds(sources)) {
    throw new ConfigFault(
      "exactly one of 'JWTValidationPubKeys', 'JWKSURL', or 'OIDCDiscoveryURL' must be set for type \"jwt\"",
    );
  }
  const jwksCa = readCa(reader, 'JWKSCACert', 'JWKSURL', JWKS_OF_CA);
  const oidcCa = readCa(reader, 'OIDCDiscoveryCACert', 'OIDCDiscoveryURL', OIDC_OF_CA);
  if (jwks !== '') return remote('jwks', 'JWKSURL', jwks, jwksCa);
  if (oidc !== '') return remote('oidc', 'OIDCDiscoveryURL', oidc, oidcCa);
  if (keys.length > KEYS_MAX) {
    throw new ConfigFault(`more than ${KEYS_MAX} keys`, 'JWTValidationPubKeys');
  }
  return { kind: 'keys', keys: keys.map(readKey) };
}

/** Returns the source of keys at a URL. Throws ConfigFault. */
export function remote(
  kind: 'jwks' | 'oidc',
  key: string,
  text: string,
  ca: string | undefined,
): Remote {
  const url = httpUrl(text);
  if (url === undefined) {
    throw new ConfigFault(
      `error checking ${key}: not an http or https URL without credentials`,
      key,
    );
  }
  return { kind, url, text, ...(ca === undefined ? {} : { ca }) };
}

function readCa(
  reader: Reader,
  key: 'JWKSCACert' | 'OIDCDiscoveryCACert',
  of: 'JWKSURL' | 'OIDCDiscoveryURL',
  needsUrl: Rule,
): string | undefined {
  const pem = reader.text(key);
  if (!needsUrl.holds({ [key]: pem, [of]: reader.text(of) }))
    throw new ConfigFault(`'${key}' should not be set unless '${of}' is set`, key);
  if (pem === '') return undefined;
  checkCertificate(pem, key, key);
  return pem;
}

/** Keys that are remembered, some 1 kB each: to parse one takes longer than a decision. */
const REMEMBERED_MAX = 1_000;
const remembered = new WeightedCache<KeyObject>(REMEMBERED_MAX);

function readKey(pem: string, i: number): KeyObject {
  const known = remembered.get(pem);
  if (known !== undefined) return known;
  const found = parsedKey(pem, i);
  remembered.set(pem, found, 1);
  return found;
}

function parsedKey(pem: string, i: number): KeyObject {
  const key = `JWTValidationPubKeys/${i}`;
  const fail = (why: string): never => {
    throw new ConfigFault(`error parsing public key JWTValidationPubKeys[${i}]: ${why}`, key);
  };
  // Node.js would accept a private key and derive its public key, but a Config is no place for one.
  if (pem.includes('PRIVATE KEY')) return fail('it is a private key');
  let found: KeyObject;
  try {
    found = createPublicKey(pem);
  } catch {
    return fail('not a public key or certificate in PEM form');
  }
  if (!['rsa', 'ec', 'ed25519'].includes(found.asymmetricKeyType ?? '')) {
    return fail(`keys of type ${found.asymmetricKeyType} are not supported`);
  }
  const { namedCurve: curve, modulusLength: bits } = found.asymmetricKeyDetails ?? {};
  if (curve !== undefined && !CURVES.includes(curve)) {
    return fail(`keys on the curve ${curve} are not supported, only P-256, P-384 and P-521`);
  }
  if (bits !== undefined && bits < RSA_BITS_MIN) {
    return fail(`an RSA key of ${bits} bits, at least ${RSA_BITS_MIN} are needed`);
  }
  return found;
}

/** The curves of the algorithms ES256, ES384 and ES512. */
const CURVES = ['prime256v1', 'secp384r1', 'secp521r1'];
/** RFC 7518, section 3.3. */
const RSA_BITS_MIN = 2048;

function readIdentityClaim(reader: ClaimReader): string {
  const key = reader.text('IdentityClaim');
  const problem = key === '' ? undefined : claimKeyProblem(key);
  if (problem !== undefined) throw new ConfigFault(`IdentityClaim: ${problem}`, 'IdentityClaim');
  return key === '' ? 'sub' : key;
}

function readMappings(
  reader: ClaimReader,
  key: 'ClaimMappings' | 'ListClaimMappings',
): Map<string, string> {
  const mappings = reader.map(key);
  const targets = new Set<string>();
  for (const [claim, target] of mappings) {
    const problem =
      target === ''
        ? `the claim ${JSON.stringify(claim)} is mapped to no name`
        : claimKeyProblem(claim);
    if (problem !== undefined) throw new ConfigFault(`${key}: ${problem}`, key);
    if (targets.has(target)) {
      throw new ConfigFault(
        `${key} contains multiple mappings for key ${JSON.stringify(target)}`,
        key,
      );
    }
    targets.add(target);
  }
  return mappings;
}

/** Reads a leeway in milliseconds. Zero selects the default, a negative value disables it. */
function leeway(
  reader: Reader,
  key: 'ExpirationLeeway' | 'NotBeforeLeeway' | 'ClockSkewLeeway',
  defaultMs: number,
): number {
  const ms = reader.nanoseconds(key);
  return ms === 0 ? defaultMs : Math.max(0, ms);
}
