/** Maps the claims of a JWT to what selectors and bind names refer to. */
import { hash } from 'node:crypto';
import type { Identity } from '../../acl/binding.js';
import type { ClaimMappings } from '../../acl/shapes.js';
import { isObject } from '../../languages/fields.js';
import { pathOf } from '../../languages/pointers.js';
import { isSubject } from '../../state/stamp.js';

/** The claims of a JWT: the members of its payload. */
export type Claims = Readonly<Record<string, unknown>>;
/** An identity, or the reason why the claims cannot be mapped. */
export type Mapped =
  | { readonly ok: true; readonly identity: Identity }
  | { readonly ok: false; readonly reason: string };

/** Returns why a claim key can never find a claim; undefined if it can. */
export function claimKeyProblem(key: string): string | undefined {
  if (key === '') return 'the name of the claim is empty';
  if (key.startsWith('/') && /~(?![01])/.test(key)) {
    return `${JSON.stringify(key)} is not a JSON pointer: "~" is written "~0"`;
  }
  return undefined;
}

/** Maps claims. Fails for a claim that cannot be converted to a string or a list of strings. */
export function mapClaims(claims: Claims, { values, lists }: ClaimMappings): Mapped {
  const value: [string, string][] = [];
  const list: [string, string[]][] = [];
  const variables = new Map<string, string>();
  for (const [key, name] of values) {
    const claim = claimAt(claims, key);
    const text = claim === undefined || claim === null ? '' : textOf(claim);
    if (text === undefined) {
      const from = `error converting claim '${key}' to string from`;
      const type = Array.isArray(claim) ? 'list' : typeof claim;
      const why = type === 'number' ? INEXACT : `unknown type ${type}`;
      return { ok: false, reason: `${from} ${why}` };
    }
    variables.set(`value.${name}`, text);
    if (claim !== undefined && claim !== null) value.push([name, text]);
  }
  for (const [key, name] of lists) {
    const claim = claimAt(claims, key);
    if (claim === undefined || claim === null) continue;
    const texts = (Array.isArray(claim) ? claim : [claim]).map(textOf);
    if (texts.includes(undefined)) {
      const reason = Array.isArray(claim)
        ? `value in "${key}" list claim could not be parsed as string`
        : `"${key}" list claim could not be converted to string list`;
      return { ok: false, reason };
    }
    list.push([name, (texts as string[]).filter((text) => text !== '')]);
  }
  // Built from entries, because names such as __proto__ must become plain keys.
  const selectable = { value: Object.fromEntries(value), list: Object.fromEntries(list) };
  return { ok: true, identity: { selectable, variables } };
}

/** Whether the claims hold a value, other than null, where a key of a mapping leads. */
export const hasClaim = (claims: Claims, key: string): boolean =>
  (claimAt(claims, key) ?? null) !== null;

function claimAt(claims: Claims, key: string): unknown {
  if (!key.startsWith('/')) return Object.hasOwn(claims, key) ? claims[key] : undefined;
  let found: unknown = claims;
  for (const name of pathOf(key)) {
    if (Array.isArray(found)) found = /^(0|[1-9]\d*)$/.test(name) ? found[Number(name)] : undefined;
    else found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found;
}

/** Returns claims with a text where a key leads. What stands in the way gives place. */
export function withClaim(claims: Claims, key: string, text: string): Claims {
  if (!key.startsWith('/')) return { ...claims, [key]: text };
  return pathOf(key).reduceRight<(within: unknown) => unknown>(
    (inner, name) => (within) => {
      const members = isObject(within) ? within : {};
      return { ...members, [name]: inner(members[name]) };
    },
    () => text,
  )(claims) as Claims;
}

/** Returns whom the claims name where a key leads; empty if there is no text, number or boolean. */
export function namedIn(claims: Claims, key: string): string {
  const claim = claimAt(claims, key);
  return (claim === undefined || claim === null ? '' : textOf(claim)) ?? '';
}

/** The same as the Subject of an Identity. */
export const whoIn = (claims: Claims, key: string): string => subjectOf(namedIn(claims, key));

/** Returns a text as a Subject: its SHA-256 if it is too long, or has control characters. */
export const subjectOf = (text: string): string =>
  isSubject(text) ? text : `sha256:${hash('sha256', text)}`;

function textOf(claim: unknown): string | undefined {
  if (typeof claim === 'string') return claim;
  if (typeof claim === 'boolean' || typeof claim === 'bigint') return String(claim);
  // A larger one has lost digits. Those of a JWT are bigints.
  if (typeof claim === 'number' && Math.abs(claim) <= Number.MAX_SAFE_INTEGER)
    return String(Math.trunc(claim) + 0);
  return undefined;
}

const INEXACT = 'a number above 2^53, which is not exact here: write it as a string';
