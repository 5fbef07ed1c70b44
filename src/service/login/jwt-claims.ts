/**
 * The checks of a JWT's claims: types, issuer, times, audience, mappings. A login is refused for
 * the first fault; an explanation shows all.
 */
import type { Identity } from '../../acl/binding.js';
import { type Claims, mapClaims, namedIn, subjectOf as whoOf } from './claims.js';
import type { JwtConfig } from './jwt-config.js';
import type { CheckName, LoginFault } from './types.js';

/** A fault with the check that finds it. */
export interface ClaimFault extends LoginFault {
  readonly check: CheckName;
}

/** What the checks find: the faults in the order of a login, and the identity if it can be read. */
export interface JudgedClaims {
  readonly faults: readonly ClaimFault[];
  /** Checks that cannot be made, because a claim has the wrong type: a fault of `claims`. */
  readonly unjudged: ReadonlySet<CheckName>;
  readonly identity: Identity | undefined;
  /** Identifies the caller among all that the method verifies; see `Verdict`. */
  readonly subject: string;
  /** The Subject of the Identity; see `Verdict`. */
  readonly who: string;
  /** See `Verdict`. */
  readonly named: string;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean =>
  typeof value === 'number' || typeof value === 'bigint';
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
const TIMES = ['iat', 'nbf', 'exp'] as const;

const invalid = (check: CheckName, code: LoginFault['code'], why: string): ClaimFault => ({
  check,
  code,
  reason: `error validating claims: ${why}`,
});

/**
 * Judges claims at a time in milliseconds since the epoch. `only`: the checks whose claims are
 * judged; by default all.
 */
export function judgeClaims(
  claims: Claims,
  config: JwtConfig,
  nowMs: number,
  only: ReadonlySet<CheckName> = ALL_CHECKS,
): JudgedClaims {
  const wrong = REGISTERED.filter(
    ([name, isOfType]) => Object.hasOwn(claims, name) && !isOfType(claims[name]),
  );
  const types = wrong.map(([name, , type]) =>
    invalid('claims', 'claims', `${name} is not ${type}`),
  );
  const isWrong = (...names: readonly string[]): boolean =>
    wrong.some(([name]) => names.includes(name));
  const unjudged = new Set<CheckName>();
  if (isWrong(...TIMES)) unjudged.add('times');
  if (isWrong('aud')) unjudged.add('audience');
  const mapped = mapClaims(claims, config.mappings);
  const found = [
    ...types,
    ...timesAndIssuer(claims, config, nowMs),
    ...audience(claims, config),
    ...(mapped.ok ? [] : [{ check: 'claims', code: 'claims', reason: mapped.reason } as const]),
  ].filter(({ check }) => !unjudged.has(check));
  const identity = mapped.ok ? mapped.identity : undefined;
  const named = namedIn(claims, config.identityClaim);
  return {
    faults: found.filter(({ check }) => only.has(check)),
    unjudged,
    identity,
    subject: subjectOf(claims, identity),
    who: whoOf(named),
    named,
  };
}

const ALL_CHECKS: ReadonlySet<CheckName> = new Set(['times', 'issuer', 'audience', 'claims']);

/** Returns the checks whose claims are there. Mappings are always judged. */
export function checksOf(claims: Claims): ReadonlySet<CheckName> {
  const has = (name: string): boolean => Object.hasOwn(claims, name);
  const checks: CheckName[] = ['claims'];
  if (TIMES.some(has)) checks.push('times');
  if (has('iss')) checks.push('issuer');
  if (has('aud')) checks.push('audience');
  return new Set(checks);
}

/** Returns the `sub` claim, or all mapped values without one. As JSON, the two never collide. */
const subjectOf = ({ sub }: Claims, identity: Identity | undefined): string =>
  JSON.stringify(typeof sub === 'string' && sub !== '' ? sub : (identity?.selectable ?? null));

/** Returns a time claim in milliseconds since the epoch; 0 if it is absent. */
const timeOf = (claims: Claims, name: (typeof TIMES)[number]): number =>
  // Of another type it is not a number: the caller leaves out what follows from it.
  Object.hasOwn(claims, name) ? Number(claims[name]) * 1000 : 0;

/** Checks the issuer and times. Derives a missing `exp` or `nbf` from the claims that are there. */
function timesAndIssuer(claims: Claims, config: JwtConfig, nowMs: number): readonly ClaimFault[] {
  if (config.source.kind === 'oidc') return discovered(claims, config, config.source.text, nowMs);
  const iat = timeOf(claims, 'iat');
  let nbf = timeOf(claims, 'nbf');
  let exp = timeOf(claims, 'exp');
  const faults: ClaimFault[] = [];
  const isTimeless = iat === 0 && nbf === 0 && exp === 0;
  if (isTimeless) {
    const reason = 'no issue time, notbefore, or expiration time encoded in token';
    faults.push({ check: 'times', code: 'no_times', reason });
  }
  if (config.boundIssuer !== '' && claims['iss'] !== config.boundIssuer) {
    faults.push(invalid('issuer', 'issuer', 'invalid issuer claim (iss)'));
  }
  if (isTimeless) return faults;
  if (exp === 0) exp = Math.max(iat, nbf) + config.expirationLeewayMs;
  if (nbf === 0) nbf = iat !== 0 ? iat : exp - config.notBeforeLeewayMs;
  const skewMs = config.clockSkewMs;
  if (nbf > nowMs + skewMs) {
    faults.push(invalid('times', 'not_yet_valid', 'token not valid yet (nbf)'));
  }
  if (exp < nowMs - skewMs) faults.push(invalid('times', 'expired', 'token is expired (exp)'));
  if (iat > nowMs + skewMs) {
    faults.push(invalid('times', 'issued_in_future', 'token issued in the future (iat)'));
  }
  return faults;
}

/** Checks the issuer and times with discovery: the issuer is the URL, and `exp` is required. */
function discovered(
  claims: Claims,
  { clientId, clockSkewMs: skewMs }: JwtConfig,
  issuer: string,
  nowMs: number,
): readonly ClaimFault[] {
  const faults: ClaimFault[] = [];
  const fault = (check: CheckName, code: LoginFault['code'], why: string): void => {
    faults.push({ check, code, reason: `error validating signature: ${why}` });
  };
  if (claims['iss'] !== issuer) fault('issuer', 'issuer', 'invalid issuer claim (iss)');
  const exp = timeOf(claims, 'exp');
  if (exp === 0) fault('times', 'no_times', 'no expiration time encoded in token (exp)');
  else if (exp < nowMs - skewMs) fault('times', 'expired', 'token is expired (exp)');
  if (timeOf(claims, 'nbf') > nowMs + skewMs) {
    fault('times', 'not_yet_valid', 'token not valid yet (nbf)');
  }
  if (clientId !== undefined && timeOf(claims, 'iat') > nowMs + skewMs) {
    fault('times', 'issued_in_future', 'token issued in the future (iat)');
  }
  return faults;
}

/**
 * Checks the audience. With discovery a method may bind none: its issuer is known, and the tokens
 * of OpenID Connect always have one.
 */
function audience(
  claims: Claims,
  { boundAudiences: bound, clientId, source }: JwtConfig,
): readonly ClaimFault[] {
  const audiences = Object.hasOwn(claims, 'aud') ? [claims['aud']].flat() : [];
  const fault = (why: string): ClaimFault[] => [invalid('audience', 'audience', why)];
  if (clientId !== undefined) {
    if (!audiences.includes(clientId)) return fault('the client is not in the audience (aud)');
    // OpenID Connect Core 1.0, section 3.1.3.7
    const party = Object.hasOwn(claims, 'azp') ? claims['azp'] : clientId;
    if (party !== clientId) return fault('the token is for another client (azp)');
  }
  if (bound.length === 0) {
    return audiences.length > 0 && source.kind !== 'oidc'
      ? fault('audience claim found in JWT but no audiences are bound')
      : [];
  }
  return audiences.some((one) => bound.includes(one as string))
    ? []
    : fault('aud claim does not match any bound audience');
}
