/** What the checks of a JWT find, for explanations. */
import type { ClaimMappings } from '../../acl/shapes.js';
import { pathOf } from '../../languages/pointers.js';
import { type Claims, hasClaim } from './claims.js';
import { type ClaimFault, type JudgedClaims, judgeClaims } from './jwt-claims.js';
import type { JwtConfig } from './jwt-config.js';
import { CHECKS, type Check, type CheckName, type Examined, type LoginFault } from './types.js';

/** Claims of the token itself, which are not about its bearer. */
const REGISTERED = ['iss', 'aud', 'iat', 'nbf', 'exp', 'jti'];

const NOTHING = {
  known: undefined,
  values: {},
  lists: {},
  missing: { Values: [], Lists: [] },
  unmapped: [],
} as const;

/** Returns what is found if the claims cannot be read. `fault`: why a login is refused. */
export function unreadable(why: LoginFault, fault: LoginFault = why): Examined {
  const checks = CHECKS.map((Name): Check => {
    const isFailed = Name === why.code;
    return { Name, Result: isFailed ? 'failed' : 'skipped', Detail: isFailed ? why.reason : '' };
  });
  return { ...NOTHING, checks, fault, verified: false };
}

/** How claims were found. */
interface Found {
  readonly nowMs: number;
  /** For claims that nobody signed: the checks whose claims are there. */
  readonly only?: ReadonlySet<CheckName>;
  /** For a JWT: why it is refused, if it is. */
  readonly fault?: LoginFault | undefined;
}

/** Returns what is found in claims that can be read. */
export function examined(claims: Claims, config: JwtConfig, found: Found): Examined {
  const { nowMs, only } = found;
  const judged = judgeClaims(claims, config, nowMs, only);
  const { faults, identity, subject, who, named } = judged;
  const { code } = found.fault ?? {};
  const isUnsigned = code === 'signature' || code === 'unreachable';
  const signature = isUnsigned ? found.fault : undefined;
  const checks = CHECKS.map((name) => checkOf(name, judged, only, signature));
  const { value = {}, list = {} } = (identity?.selectable ?? {}) as MappedClaims;
  return {
    checks,
    fault: only === undefined ? found.fault : faults[0],
    verified: only === undefined && !isUnsigned,
    known: identity && { identity, subject, who, named },
    values: value,
    lists: list,
    missing: missingOf(config.mappings, claims),
    unmapped: unmappedOf(config.mappings, claims),
  };
}

interface MappedClaims {
  readonly value?: Readonly<Record<string, string>>;
  readonly list?: Readonly<Record<string, readonly string[]>>;
}

function checkOf(
  Name: CheckName,
  { faults, unjudged }: JudgedClaims,
  only: ReadonlySet<CheckName> | undefined,
  signature: LoginFault | undefined,
): Check {
  const isJudged = (only === undefined || only.has(Name)) && !unjudged.has(Name);
  if (!isJudged) return { Name, Result: 'skipped', Detail: '' };
  const fault: LoginFault | ClaimFault | undefined =
    Name === 'signature' ? signature : faults.find(({ check }) => check === Name);
  return fault === undefined
    ? { Name, Result: 'passed', Detail: '' }
    : { Name, Result: 'failed', Detail: fault.reason };
}

function missingOf({ values, lists }: ClaimMappings, claims: Claims): Examined['missing'] {
  const of = (mapping: ReadonlyMap<string, string>): readonly string[] => {
    const found = new Set(
      [...mapping].flatMap(([key, name]) => (hasClaim(claims, key) ? name : [])),
    );
    return [...mapping.values()].filter((name) => !found.has(name));
  };
  return { Values: of(values), Lists: of(lists) };
}

function unmappedOf({ values, lists }: ClaimMappings, claims: Claims): readonly string[] {
  const mapped = new Set([...values.keys(), ...lists.keys()].map(topLevel));
  return Object.keys(claims)
    .filter((name) => !mapped.has(name) && !REGISTERED.includes(name))
    .sort();
}

/** Returns the top-level claim that a key of a mapping leads to. */
const topLevel = (key: string): string => (key.startsWith('/') ? pathOf(key)[0]! : key);
