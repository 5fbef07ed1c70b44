/** Claims of a JWT to what selectors and names may refer to (tokens-auth-login 18). */
import type { Identity, IdentityShape } from '../../acl/binding.js';
import { isObject } from './exchange.js';

export interface ClaimMappings {
  /** Claim, or JSON pointer to one, to the name it gets in `value`. */
  readonly values: ReadonlyMap<string, string>;
  /** The same in `list`. */
  readonly lists: ReadonlyMap<string, string>;
}
export type Claims = Readonly<Record<string, unknown>>;
export type Mapped =
  | { readonly ok: true; readonly identity: Identity }
  | { readonly ok: false; readonly reason: string };

/** Why a claim key can never find anything; undefined when it may. */
export function claimKeyProblem(key: string): string | undefined {
  if (key === '') return 'the name of the claim is empty';
  if (key.startsWith('/') && /~(?![01])/.test(key)) {
    return `${JSON.stringify(key)} is not a JSON pointer: "~" is written "~0"`;
  }
  return undefined;
}

const TEXT = { kind: 'string' } as const;
/** The same object for all methods, so that their selectors are compiled once. */
const SELECTABLE: IdentityShape['selectable'] = {
  kind: 'struct',
  fields: {
    value: { kind: 'map', key: 'string', of: TEXT },
    list: { kind: 'map', key: 'string', of: { kind: 'list', of: TEXT } },
  },
};

export function shapeOfMappings({ values, lists }: ClaimMappings): IdentityShape {
  const value = [...values.values()];
  return {
    selectable: SELECTABLE,
    mapped: { value, list: [...lists.values()] },
    variables: value.map((name) => `value.${name}`),
  };
}

/** Fails for a claim that cannot be made a text, or a list of texts. */
export function mapClaims(claims: Claims, { values, lists }: ClaimMappings): Mapped {
  const value: [string, string][] = [];
  const list: [string, string[]][] = [];
  const variables = new Map<string, string>();
  for (const [key, name] of values) {
    const claim = claimAt(claims, key);
    const text = claim === undefined || claim === null ? '' : textOf(claim);
    if (text === undefined) {
      const type = Array.isArray(claim) ? 'list' : typeof claim;
      return {
        ok: false,
        reason: `error converting claim '${key}' to string from unknown type ${type}`,
      };
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
  // entries, because names such as __proto__ must become plain keys
  const selectable = { value: Object.fromEntries(value), list: Object.fromEntries(list) };
  return { ok: true, identity: { selectable, variables } };
}

function claimAt(claims: Claims, key: string): unknown {
  if (!key.startsWith('/')) return Object.hasOwn(claims, key) ? claims[key] : undefined;
  let found: unknown = claims;
  for (const part of key.slice(1).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(found)) found = /^(0|[1-9]\d*)$/.test(name) ? found[Number(name)] : undefined;
    else found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found;
}

function textOf(claim: unknown): string | undefined {
  if (typeof claim === 'string') return claim;
  if (typeof claim === 'boolean') return String(claim);
  // JSON can spell numbers too large to be one
  if (typeof claim === 'number' && Number.isFinite(claim)) return String(BigInt(Math.trunc(claim)));
  return undefined;
}
