/**
 * Decides requests by the rules of a token. Equal rules of several policies merge to the strongest
 * level (deny > write > list > read). An exact rule takes precedence over a prefix rule, a longer
 * prefix over a shorter one, and a namespace block over a block for a prefix of namespaces:
 *
 *     service_prefix "web" { policy = "read" }    read on "web" and "web-db"
 *     service "web-api" { policy = "write" }      write on "web-api"
 */
import { grantsAccess, RuleSet } from './rule-set.js';
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
} from './types.js';

/** Options of compile. */
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
  authorizerOf(compileRights(grants, options), options);

/** Compiled grants. They name no token, so that tokens with equal grants can share them. */
export interface Rights {
  readonly layers: readonly Layer[];
  readonly allowByDefault: boolean;
  /** Approximate size in memory, in bytes. */
  readonly weight: number;
}

/** Compiles grants, and the defaults that apply below them. */
export function compileRights(
  grants: readonly Grant[],
  { defaultPolicy, defaults = [] }: Pick<CompileOptions, 'defaultPolicy' | 'defaults'>,
): Rights {
  const layers = [new Layer(grants)];
  if (defaults.length > 0) layers.push(new Layer(defaults));
  let weight = 0;
  for (const { rules } of [...grants, ...defaults]) weight += weightOf(rules);
  return { layers, allowByDefault: defaultPolicy === 'allow', weight };
}

/** Returns the authorizer of a token with rights that it may share with other tokens. */
export const authorizerOf = (
  rights: Rights,
  token: Pick<CompileOptions, 'accessor' | 'anonymous'>,
): Authorizer => new CompiledAuthorizer(rights, token);

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

/**
 * Resources of the cluster as a whole. Their rules are in `default` and hold in every namespace.
 */
const CLUSTER_WIDE: ReadonlySet<Resource> = new Set(['operator', 'keyring', 'event', 'query']);
const SCALAR_SET: ReadonlySet<Resource> = new Set(SCALARS);

/** Grants of equal precedence: those of the token, or those of its namespace. */
class Layer {
  readonly #exact = new Map<string, RuleSet>();
  /** Longest first. */
  readonly #prefixes: readonly (readonly [prefix: string, rules: RuleSet])[];

  constructor(grants: readonly Grant[]) {
    type Source = { readonly rules: Rules; readonly level?: Level };
    const exact = new Map<string, Source[]>();
    const prefixes = new Map<string, Source[]>();
    const add = (to: Map<string, Source[]>, name: string, source: Source): void => {
      const sources = to.get(name);
      if (sources === undefined) to.set(name, [source]);
      else sources.push(source);
    };
    for (const { rules, namespace } of grants) {
      add(exact, namespace, { rules });
      for (const block of rules.namespaces) add(block.prefix ? prefixes : exact, block.name, block);
    }
    for (const [name, sources] of exact) this.#exact.set(name, new RuleSet(sources));
    this.#prefixes = [...prefixes]
      .map(([prefix, sources]) => [prefix, new RuleSet(sources)] as const)
      .sort(([a], [b]) => b.length - a.length);
  }

  /**
   * Yields the rule sets that apply to a namespace, the most specific first. Prefix blocks do not
   * apply to `default`, whose rules are at the top of its policies.
   */
  *setsFor(namespace: string): Iterable<RuleSet> {
    const exact = this.#exact.get(namespace);
    if (exact !== undefined) yield exact;
    if (namespace === 'default') return;
    for (const [prefix, rules] of this.#prefixes) if (namespace.startsWith(prefix)) yield rules;
  }

  scalar(resource: Scalar, namespace: string): Level | undefined {
    for (const rules of this.setsFor(namespace)) {
      const level = rules.scalars.get(resource);
      if (level !== undefined) return level;
    }
    // mesh and peering fall back to operator, whose rules are in default.
    return resource === 'mesh' || resource === 'peering'
      ? this.scalar('operator', 'default')
      : undefined;
  }

  named(resource: Named | 'intention', name: string, namespace: string): Level | undefined {
    for (const rules of this.setsFor(namespace)) {
      const level = rules.named.get(resource)?.find(name);
      if (level !== undefined) return level;
    }
    return undefined;
  }

  /** Decides write on all keys below a prefix; undefined if no rule applies. */
  writePrefix(prefix: string, namespace: string): boolean | undefined {
    let covering: Level | undefined;
    for (const rules of this.setsFor(namespace)) {
      const keys = rules.named.get('key');
      if (keys === undefined) continue;
      if (!keys.writableBelow(prefix)) return false;
      covering ??= keys.covering(prefix);
    }
    return covering === undefined ? undefined : covering === 'write';
  }

  /**
   * Decides access to intentions on `*`. Read needs one rule that grants it. Write needs a rule for
   * the empty prefix, and that every rule grants write. Returns undefined if no rule applies.
   */
  wildcardIntention(access: Access, namespace: string): boolean | undefined {
    let hasRule = false;
    let root: Level | undefined;
    for (const rules of this.setsFor(namespace)) {
      const intentions = rules.named.get('intention');
      if (intentions === undefined) continue;
      hasRule = true;
      root ??= intentions.prefix.get('');
      for (const level of intentions.levels()) {
        const grants = grantsAccess(level, access);
        if (access === 'read' ? grants : !grants) return grants;
      }
    }
    if (access === 'read') return hasRule ? false : undefined;
    return root === undefined ? undefined : true;
  }

  /** Whether any rule, in any namespace, grants the access to any object of the resource. */
  grantsAnywhere(resource: Parameters<Authorizer['anywhere']>[0], access: Access): boolean {
    const sets = [...this.#exact.values(), ...this.#prefixes.map(([, rules]) => rules)];
    return sets.some((rules) => rules.grants(resource, access));
  }

  management(namespace: string): Level | undefined {
    for (const rules of this.setsFor(namespace)) {
      if (rules.management !== undefined) return rules.management;
    }
    return undefined;
  }
}

class CompiledAuthorizer implements Authorizer {
  readonly accessor: string;
  readonly anonymous: boolean;
  readonly #layers: readonly Layer[];
  readonly #allowByDefault: boolean;
  /** Results of `anywhere`, which scans every rule and is called for each write. */
  readonly #anywhere = new Map<string, boolean>();

  constructor(
    { layers, allowByDefault }: Rights,
    { accessor, anonymous = false }: Pick<CompileOptions, 'accessor' | 'anonymous'>,
  ) {
    this.#layers = layers;
    this.accessor = accessor;
    this.anonymous = anonymous;
    this.#allowByDefault = allowByDefault;
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
    segment?: string,
    namespace = 'default',
  ): string | undefined {
    if (this.allowed(resource, access, segment, namespace)) return undefined;
    const what = segment === undefined ? '' : ` on ${JSON.stringify(segment)}`;
    const where = namespace === 'default' ? '' : ` in namespace ${JSON.stringify(namespace)}`;
    const lack = `lacks permission '${resource}:${access}'${what}${where}`;
    return this.anonymous
      ? `Permission denied: anonymous token ${lack}. ` +
          'The anonymous token is used implicitly when a request does not specify a token.'
      : `Permission denied: token with AccessorID '${this.accessor}' ${lack}`;
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
