/**
 * Decides requests by the rules of a token. Equal rules of several policies merge to the strongest
 * level (deny > write > list > read). An exact rule takes precedence over a prefix rule, a longer
 * prefix over a shorter one, and a namespace block over a block for a prefix of namespaces:
 *
 *     service_prefix "web" { policy = "read" }    read on "web" and "web-db"
 *     service "web-api" { policy = "write" }      write on "web-api"
 */
import type { Refusal } from '../base/errors.js';
import { denialOf } from './denial.js';
import { CLUSTER_WIDE, Layer, type Rights } from './layer.js';
import { whyOf } from './reasons.js';
import { grantsAccess } from './rule-set.js';
import { atOnce, type Steps } from './steps.js';
import {
  type Access,
  type Authorizer,
  type Grant,
  type Level,
  type Named,
  type Resource,
  type Rules,
  SCALARS,
  type Scalar,
  type Spelled,
  type Why,
} from './types.js';

export interface CompileOptions {
  readonly accessor: string;
  readonly anonymous?: boolean;
  /**
   * The decision where no rule applies. Even `allow` grants nothing on `acl`, and no `operator` to
   * the anonymous token.
   */
  readonly defaultPolicy?: 'deny' | 'allow';
  /** Grants of the token's namespace. They apply where the token's own grants have no rule. */
  readonly defaults?: readonly Grant[];
}

/** Compiles the grants of a token. Tokens share parsed rules, which never change. */
export const compile = (grants: readonly Grant[], options: CompileOptions): Authorizer =>
  authorizerOf(atOnce(compileRights(grants, options)), options);

/** Compiles grants, and the defaults that apply below them. */
export function* compileRights(
  grants: readonly Grant[],
  { defaultPolicy, defaults = [] }: Pick<CompileOptions, 'defaultPolicy' | 'defaults'>,
): Steps<Rights> {
  const layers = [yield* Layer.of(grants)];
  if (defaults.length > 0) layers.push(yield* Layer.of(defaults));
  let weight = 0;
  for (const { rules } of [...grants, ...defaults]) {
    weight += weightOf(rules);
    yield;
  }
  return { layers, allowByDefault: defaultPolicy === 'allow', weight };
}

/** Returns the authorizer of a token with rights that it may share with other tokens. */
export const authorizerOf = (
  rights: Rights,
  token: Pick<CompileOptions, 'accessor' | 'anonymous'>,
): Authorizer => new CompiledAuthorizer(rights, token);

/** Returns the rights by which an authorizer decides. */
export function rightsBehind(authorizer: Authorizer): Rights {
  if (authorizer instanceof CompiledAuthorizer) return authorizer.rights;
  throw new Error('an authorizer of another kind');
}

/** Whether some rights allow anything. */
export const grantsAnything = ({ layers, allowByDefault }: Rights): boolean =>
  allowByDefault || layers.some((layer) => layer.grantsAnything);

/** Size of a compiled set of rules without its named rules, in bytes: measured, rounded up. */
const SET_BYTES = 1_000;
/** Size of a compiled named rule without its name, in bytes: measured, rounded up. */
const RULE_BYTES = 100;

/** Returns the approximate size of rules in memory, in bytes, parsed or compiled. */
export function weightOf(rules: Rules): number {
  let weight = SET_BYTES;
  for (const { name } of rules.named) weight += RULE_BYTES + name.length;
  for (const block of rules.namespaces) weight += weightOf(block.rules);
  return weight;
}

const SCALAR_SET: ReadonlySet<Resource> = new Set(SCALARS);

class CompiledAuthorizer implements Authorizer {
  readonly accessor: string;
  readonly anonymous: boolean;
  readonly rights: Rights;
  readonly #layers: readonly Layer[];
  readonly #allowByDefault: boolean;
  /** Results of `anywhere`, which scans every rule and is called for each write. */
  readonly #anywhere = new Map<string, boolean>();

  constructor(
    rights: Rights,
    { accessor, anonymous = false }: Pick<CompileOptions, 'accessor' | 'anonymous'>,
  ) {
    this.rights = rights;
    this.#layers = rights.layers;
    this.accessor = accessor;
    this.anonymous = anonymous;
    this.#allowByDefault = rights.allowByDefault;
  }

  why(resource: Resource, access: Access, segment = '', namespace = 'default'): Why {
    return whyOf(this.rights, this.anonymous, { resource, access, segment, namespace });
  }

  allowed(resource: Resource, access: Access, segment = '', namespace = 'default'): boolean {
    // Anybody can use the anonymous token, so it never gets operator:write.
    if (this.anonymous && resource === 'operator' && access === 'write') return false;
    const where = CLUSTER_WIDE.has(resource) ? 'default' : namespace;
    for (const layer of this.#layers) {
      const decision = decide(layer, resource, access, segment, where);
      if (decision !== undefined) return decision;
    }
    if (resource === 'namespace') return this.#namespaceByOtherRights(access, segment);
    if (this.anonymous && resource === 'operator') return false;
    return this.#allowByDefault && resource !== 'acl';
  }

  /**
   * Decides access to a namespace without a rule of its own: `operator` rights apply, and any right
   * in the namespace grants read.
   */
  #namespaceByOtherRights(access: Access, name: string): boolean {
    return this.allowed('operator', access) || (access === 'read' && this.anyIn(name));
  }

  anywhere(resource: Parameters<Authorizer['anywhere']>[0], access: Access): boolean {
    const key = `${resource}:${access}`;
    const known = this.#anywhere.get(key);
    if (known !== undefined) return known;
    const fallback = resource === 'mesh' || resource === 'peering' || resource === 'namespace';
    const answer =
      this.allowed(resource, access) ||
      (this.#allowByDefault && resource !== 'acl') ||
      (fallback && this.allowed('operator', access)) ||
      this.#layers.some((layer) => layer.grantsAnywhere(resource, access));
    this.#anywhere.set(key, answer);
    return answer;
  }

  anyIn(namespace: string): boolean {
    if (this.#allowByDefault) return true;
    for (const layer of this.#layers) {
      for (const rules of layer.setsFor(namespace)) if (rules.grantsAnything) return true;
    }
    return false;
  }

  denial(
    resource: Resource,
    access: Access,
    named?: string | Spelled,
    namespace = 'default',
  ): Refusal | undefined {
    const { stored: segment, sent } =
      typeof named === 'object' ? named : { stored: named, sent: undefined };
    if (this.allowed(resource, access, segment, namespace)) return undefined;
    const denied = { resource, access, ...(segment !== undefined && { segment }), namespace };
    return denialOf(this, denied, { ...(sent !== undefined && { sent }) });
  }
}

/** Returns the decision of one layer; undefined if it has no rule. */
function decide(
  layer: Layer,
  resource: Resource,
  access: Access,
  segment: string,
  namespace: string,
): boolean | undefined {
  if (access === 'write-prefix') return layer.writePrefix(segment, namespace);
  if (resource === 'intention' && segment === '*')
    return layer.wildcardIntention(access, namespace);
  const level = levelOf(layer, resource, segment, namespace);
  return level === undefined ? undefined : grantsAccess(level, access);
}

function levelOf(
  layer: Layer,
  resource: Resource,
  segment: string,
  namespace: string,
): Level | undefined {
  if (resource === 'namespace') return layer.management(segment);
  return SCALAR_SET.has(resource)
    ? layer.scalar(resource as Scalar, namespace)
    : layer.named(resource as Named | 'intention', segment, namespace);
}
