/**
 * What a JWT, or the properties that a caller vouches for, prove about a subject (decisions.md 2.1
 * and 2.2). What an issuer says is remembered for a minute; what follows from it is not.
 */
import { decodeJwt } from 'jose/jwt/decode';
import { reject } from '../../base/errors.js';
import type { MethodPlace } from '../../state/identity-blocks.js';
import { keys } from '../../state/keys.js';
import { stored } from '../../state/lists.js';
import { subjectTypes } from '../../state/login-limits.js';
import type { AuthMethod } from '../../state/methods.js';
import { restoredAt } from '../../state/restore.js';
import { secretKeyOf } from '../../state/tokens.js';
import type { View } from '../../state/types.js';
import { OWN_TYPES } from '../acl/acl-configuration.js';
import { WeightedCache } from '../common/weighted-cache.js';
import type { LoginParts } from '../login/login.js';
import type { LoginReason, Verdict } from '../login/types.js';
import { type Entity, namespaceIn } from './questions.js';

/** The identity that a method found, or why it refuses the claim. */
export interface Proof {
  readonly method: MethodPlace;
  /** The version of the method that was asked; undefined if there was none. */
  readonly version: string | undefined;
  readonly outcome:
    | Extract<Verdict, { readonly ok: true }>
    | { readonly ok: false; readonly code: LoginReason };
}

/**
 * Returns what tells a method from every other of its name; undefined for none. A restored one may
 * have the index of the one before.
 */
export const versionOf = (view: View, method: AuthMethod | undefined): string | undefined =>
  method && `${method.ModifyIndex} ${restoredAt(view)}`;

/** What must be proven before a subject can be resolved. */
export type Claim = { readonly method: MethodPlace } & (
  | { readonly jwt: string }
  | { readonly id: string; readonly properties: Entity['properties'] }
);

interface Known {
  readonly outcome: Proof['outcome'];
  readonly untilMs: number;
  /** The same on the monotonic clock, because the other one may be set back. */
  readonly until: number;
}

/** Verified JWTs that a node remembers, some 2 kB each. */
const KNOWN_MAX = 10_000;
/** Milliseconds for which what an issuer says is remembered, at most. */
const KNOWN_MS = 60_000;

/** What becomes of a JWT: its answer is remembered, or the method accepts or refuses it. */
export const JWT_CHECKS = ['known', 'valid', 'refused'] as const;
export type JwtCheck = (typeof JWT_CHECKS)[number];

export interface ProofParts extends Pick<LoginParts, 'methodTypes' | 'nowMs'> {
  /** Milliseconds of the monotonic clock. */
  readonly now: () => number;
  /** Called with the outcome of each JWT. */
  readonly onCheck: (result: JwtCheck) => void;
}

/** Verifies JWTs, and remembers those that are valid. */
export class Proofs {
  readonly #parts: ProofParts;
  readonly #known = new WeightedCache<Known>(KNOWN_MAX);
  constructor(parts: ProofParts) {
    this.#parts = parts;
  }

  /**
   * Proves a claim by the method as the view has it. `admit` is called before a JWT is verified; it
   * throws ApiError `too_many`.
   */
  async prove(view: View, claim: Claim, admit: (method: string) => void): Promise<Proof> {
    const { method: place } = claim;
    const method = stored<AuthMethod>(view, keys.method(place.ns, place.name));
    if (method === undefined)
      return { method: place, version: undefined, outcome: { ok: false, code: 'unknown_method' } };
    const version = versionOf(view, method)!;
    const outcome =
      'jwt' in claim
        ? await this.#verified({ ...method, version }, claim.jwt, admit)
        : await this.#vouched(method, claim.id, claim.properties);
    return { method: place, version, outcome };
  }

  async #verified(
    method: AuthMethod & { readonly version: string },
    sent: string,
    admit: (method: string) => void,
  ): Promise<Proof['outcome']> {
    const { methodTypes, nowMs, now } = this.#parts;
    const { Namespace: namespace, Name, version } = method;
    const jwt = sent.trim();
    const id = `${secretKeyOf(jwt)} ${namespace}/${Name.toLowerCase()} ${version}`;
    const known = this.#known.get(id);
    const [atMs, begin] = [nowMs(), now()];
    if (known !== undefined && atMs < known.untilMs && begin < known.until) {
      this.#parts.onCheck('known');
      return known.outcome;
    }
    admit(`${namespace}/${Name.toLowerCase()}`);
    const at = { namespace, nowMs: atMs };
    const outcome = await methodTypes.get(method.Type)!.validate(method.Config, jwt, at);
    this.#parts.onCheck(outcome.ok ? 'valid' : 'refused');
    if (outcome.ok) {
      const untilMs = Math.min(atMs + KNOWN_MS, endOf(jwt, method.Type));
      this.#known.set(id, { outcome, untilMs, until: begin + KNOWN_MS }, 1);
    }
    return outcome;
  }

  /** Judges claims by their mappings alone: times, issuer and audience are not asked for. */
  async #vouched(
    method: AuthMethod,
    id: string,
    properties: Entity['properties'],
  ): Promise<Proof['outcome']> {
    const type = this.#parts.methodTypes.get(method.Type)!;
    const { namespace: _, ...others } = properties;
    const claims = type.vouched(method.Config, id, others);
    if (claims === undefined) return { ok: false, code: 'claims' };
    const at = { namespace: method.Namespace, nowMs: this.#parts.nowMs() };
    const { known } = await type.examine(method.Config, { claims }, at);
    return known === undefined ? { ok: false, code: 'claims' } : { ok: true, ...known };
  }
}

/**
 * Returns until when a verified bearer token may be remembered, in Unix milliseconds: its `exp`. A
 * method may accept a JWT without one, until an end of its own: this is verified every time.
 */
function endOf(jwt: string, type: AuthMethod['Type']): number {
  try {
    const { exp } = decodeJwt(jwt);
    if (typeof exp === 'number') return exp * 1000;
  } catch {
    // A cluster may accept tokens that are no JWTs.
  }
  return type === 'kubernetes' ? Number.POSITIVE_INFINITY : 0;
}

/**
 * Returns what must be proven about a subject; undefined if nothing has to be. `ns`: the namespace
 * of the request. Throws ApiError 400.
 */
export function claimOf(view: View, subject: Entity, ns: string): Claim | undefined {
  const { type, id, properties } = subject;
  if (type === 'jwt') {
    const { auth_method: name } = properties;
    if (typeof name !== 'string' || name === '')
      reject('invalid', 'subject.properties.auth_method is missing: it names the auth method');
    return { method: { ns: namespaceIn(properties, 'subject') ?? ns, name }, jwt: id };
  }
  // The configuration is parsed anew each time.
  if (OWN_TYPES.includes(type)) return undefined;
  const types = subjectTypes(view);
  const mapped = Object.hasOwn(types, type) ? types[type]! : undefined;
  if (mapped?.From !== 'properties') return undefined;
  return { method: { ns: mapped.Namespace, name: mapped.AuthMethod }, id, properties };
}
