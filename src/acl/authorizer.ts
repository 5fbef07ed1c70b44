/**
 * Rules to decisions: merging, exact match before longest prefix, namespaces, and what one resource
 * borrows of another.
 */
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

export interface CompileOptions {
  readonly accessor: string;
  readonly anonymous?: boolean;
  /**
   * What holds where no rule says anything. Even `allow` grants nothing on `acl`, nor `operator` to
   * the anonymous.
   */
  readonly defaultPolicy?: 'deny' | 'allow';
  /** Grants of the token's namespace: they count only where the token's own grants have no rule. */
  readonly defaults?: readonly Grant[];
}

/** Compiles what a token is granted. Parsed rules are shared between tokens and never changed. */
export const compile = (grants: readonly Grant[], options: CompileOptions): Authorizer =>
  authorizerOf(compileRights(grants, options), options);

/** Compiled grants. They name no token, so all tokens that are granted the same share them. */
export interface Rights {
  readonly layers: readonly Layer[];
  readonly allowByDefault: boolean;
  /** About how many bytes of memory they take. */
  readonly weight: number;
}

/** Compiles grants, and the defaults that count below them. */
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

/** What one token may do by rights that it may share with others. */
export const authorizerOf = (
  rights: Rights,
  token: Pick<CompileOptions, 'accessor' | 'anonymous'>,
): Authorizer => new CompiledAuthorizer(rights, token);

/** Bytes that a set of rules takes compiled, and one named rule in it: measured, rounded up. */
const SET_BYTES = 1_000;
const RULE_BYTES = 100;

/** About how many bytes of memory rules take, parsed or compiled. */
export function weightOf(rules: Rules): number {
  let weight = SET_BYTES;
  for (const { name } of rules.named) weight += RULE_BYTES + name.length;
  for (const block of rules.namespaces) weight += weightOf(block.rules);
  return weight;
}

/**
 * Resources of the cluster as a whole: their rules stand in `default` and hold for every namespace.
 */
const CLUSTER_WIDE: ReadonlySet<Resource> = new Set(['operator', 'keyring', 'event', 'query']);
const SCALAR_SET: ReadonlySet<Resource> = new Set(SCALARS);
const STRENGTH: Readonly<Record<Level, number>> = { read: 1, list: 2, write: 3, deny: 4 };

const merged = (a: Level | undefined, b: Level): Level =>
  a === undefined || STRENGTH[b] > STRENGTH[a] ? b : a;

function grantsAccess(level: Level, access: Access): boolean {
  if (level === 'write') return true;
  if (level === 'list') return access === 'list' || access === 'read';
  return level === 'read' && access === 'read';
}

/** The merged rules of one resource. */
class NameRules {
  readonly exact = new Map<string, Level>();
  readonly prefix = new Map<string, Level>();
  /** Lengths that prefixes have, longest first: a look-up tries one slice of the name for each. */
  private lengths: number[] = [];

  seal(): this {
    this.lengths = [...new Set([...this.prefix.keys()].map((p) => p.length))].sort((a, b) => b - a);
    return this;
  }

  find(name: string): Level | undefined {
    return this.exact.get(name) ?? this.covering(name);
  }

  /** Level of the longest prefix rule that covers the name. */
  covering(name: string): Level | undefined {
    for (const length of this.lengths) {
      if (length > name.length) continue;
      const level = this.prefix.get(name.slice(0, length));
      if (level !== undefined) return level;
    }
    return undefined;
  }

  *levels(): Iterable<Level> {
    yield* this.exact.values();
    yield* this.prefix.values();
  }

  /** No rule at or below the prefix is weaker than write. */
  writableBelow(prefix: string): boolean {
    for (const rules of [this.exact, this.prefix]) {
      for (const [name, level] of rules) {
        if (level !== 'write' && name.startsWith(prefix)) return false;
      }
    }
    return true;
  }
}

/** Everything said about one namespace, or about those of one prefix. */
class RuleSet {
  readonly scalars = new Map<Scalar, Level>();
  readonly named = new Map<Named | 'intention', NameRules>();
  /** Level on the namespace itself. */
  management: Level | undefined;

  constructor(sources: readonly { readonly rules: Rules; readonly level?: Level }[]) {
    const explicit = { exact: new Map<string, Level>(), prefix: new Map<string, Level>() };
    for (const { rules, level } of sources) {
      if (level !== undefined) this.management = merged(this.management, level);
      for (const scalar of SCALARS) {
        const said = rules.scalars[scalar];
        if (said !== undefined) this.scalars.set(scalar, merged(this.scalars.get(scalar), said));
      }
      for (const { resource, prefix, name, level, intentions } of rules.named) {
        const kind = prefix ? 'prefix' : 'exact';
        const target = this.of(resource)[kind];
        target.set(name, merged(target.get(name), level));
        if (intentions !== undefined) {
          explicit[kind].set(name, merged(explicit[kind].get(name), intentions));
        }
      }
    }
    this.deriveIntentions(explicit);
    for (const rules of this.named.values()) rules.seal();
  }

  private of(resource: Named | 'intention'): NameRules {
    let rules = this.named.get(resource);
    if (rules === undefined) {
      rules = new NameRules();
      this.named.set(resource, rules);
    }
    return rules;
  }

  /**
   * After merging, a service rule without an intention level lets its services' intentions be read,
   * if anything.
   */
  private deriveIntentions(explicit: Record<'exact' | 'prefix', Map<string, Level>>): void {
    const services = this.named.get('service');
    if (services === undefined) return;
    for (const kind of ['exact', 'prefix'] as const) {
      for (const [name, level] of services[kind]) {
        const derived = level === 'deny' ? 'deny' : 'read';
        this.of('intention')[kind].set(name, explicit[kind].get(name) ?? derived);
      }
    }
  }

  /** Whether a rule grants the access to something of the resource. */
  grants(resource: Parameters<Authorizer['anywhere']>[0], access: Access): boolean {
    const single =
      resource === 'namespace' ? this.management : this.scalars.get(resource as Scalar);
    if (single !== undefined && grantsAccess(single, access)) return true;
    for (const level of this.named.get(resource as Named)?.levels() ?? []) {
      if (grantsAccess(level, access)) return true;
    }
    return false;
  }

  get grantsAnything(): boolean {
    if (this.management !== undefined && this.management !== 'deny') return true;
    for (const level of this.scalars.values()) if (level !== 'deny') return true;
    for (const rules of this.named.values()) {
      for (const level of rules.levels()) if (level !== 'deny') return true;
    }
    return false;
  }
}

/** Grants that count alike: the token's own, or those of its namespace. */
class Layer {
  private readonly exact = new Map<string, RuleSet>();
  /** Longest first. */
  private readonly prefixes: readonly (readonly [prefix: string, rules: RuleSet])[];

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
    for (const [name, sources] of exact) this.exact.set(name, new RuleSet(sources));
    this.prefixes = [...prefixes]
      .map(([prefix, sources]) => [prefix, new RuleSet(sources)] as const)
      .sort(([a], [b]) => b.length - a.length);
  }

  /**
   * Rule sets that speak about a namespace, the most specific first. Prefix blocks speak about
   * created namespaces: `default` has the rules at the top of its policies.
   */
  *about(namespace: string): Iterable<RuleSet> {
    const exact = this.exact.get(namespace);
    if (exact !== undefined) yield exact;
    if (namespace === 'default') return;
    for (const [prefix, rules] of this.prefixes) if (namespace.startsWith(prefix)) yield rules;
  }

  scalar(resource: Scalar, namespace: string): Level | undefined {
    for (const rules of this.about(namespace)) {
      const level = rules.scalars.get(resource);
      if (level !== undefined) return level;
    }
    // mesh and peering fall back to operator, which stands in default
    return resource === 'mesh' || resource === 'peering'
      ? this.scalar('operator', 'default')
      : undefined;
  }

  named(resource: Named | 'intention', name: string, namespace: string): Level | undefined {
    for (const rules of this.about(namespace)) {
      const level = rules.named.get(resource)?.find(name);
      if (level !== undefined) return level;
    }
    return undefined;
  }

  /** Write on a whole prefix of keys. */
  writePrefix(prefix: string, namespace: string): boolean | undefined {
    let covering: Level | undefined;
    for (const rules of this.about(namespace)) {
      const keys = rules.named.get('key');
      if (keys === undefined) continue;
      if (!keys.writableBelow(prefix)) return false;
      covering ??= keys.covering(prefix);
    }
    return covering === undefined ? undefined : covering === 'write';
  }

  /**
   * Intentions on `*`: read needs one service rule that grants it, write that all do and the empty
   * prefix is among them.
   */
  wildcardIntention(access: Access, namespace: string): boolean | undefined {
    let said = false;
    let root: Level | undefined;
    for (const rules of this.about(namespace)) {
      const intentions = rules.named.get('intention');
      if (intentions === undefined) continue;
      said = true;
      root ??= intentions.prefix.get('');
      for (const level of intentions.levels()) {
        const grants = grantsAccess(level, access);
        if (access === 'read' ? grants : !grants) return grants;
      }
    }
    if (access === 'read') return said ? false : undefined;
    return root === undefined ? undefined : true;
  }

  /** Whether any rule, of whatever namespace, grants the access to something of the resource. */
  grantsAnywhere(resource: Parameters<Authorizer['anywhere']>[0], access: Access): boolean {
    const sets = [...this.exact.values(), ...this.prefixes.map(([, rules]) => rules)];
    return sets.some((rules) => rules.grants(resource, access));
  }

  management(namespace: string): Level | undefined {
    for (const rules of this.about(namespace)) {
      if (rules.management !== undefined) return rules.management;
    }
    return undefined;
  }
}

class CompiledAuthorizer implements Authorizer {
  readonly accessor: string;
  readonly anonymous: boolean;
  private readonly layers: readonly Layer[];
  private readonly allowByDefault: boolean;
  /** Answers of `anywhere`: each looks at every rule, and is asked for with each write. */
  private readonly somewhere = new Map<string, boolean>();

  constructor(
    { layers, allowByDefault }: Rights,
    { accessor, anonymous = false }: Pick<CompileOptions, 'accessor' | 'anonymous'>,
  ) {
    this.layers = layers;
    this.accessor = accessor;
    this.anonymous = anonymous;
    this.allowByDefault = allowByDefault;
  }

  allowed(resource: Resource, access: Access, segment = '', namespace = 'default'): boolean {
    // who cannot be told from anybody else runs no cluster
    if (this.anonymous && resource === 'operator' && access === 'write') return false;
    const where = CLUSTER_WIDE.has(resource) ? 'default' : namespace;
    for (const layer of this.layers) {
      const decision = decide(layer, resource, access, segment, where);
      if (decision !== undefined) return decision;
    }
    if (resource === 'namespace') return this.namespaceByOtherRights(access, segment);
    if (this.anonymous && resource === 'operator') return false;
    return this.allowByDefault && resource !== 'acl';
  }

  /**
   * A namespace without a rule of its own belongs to the operator, and is visible to whoever has
   * any right in it.
   */
  private namespaceByOtherRights(access: Access, name: string): boolean {
    return this.allowed('operator', access) || (access === 'read' && this.anyIn(name));
  }

  anywhere(resource: Parameters<Authorizer['anywhere']>[0], access: Access): boolean {
    const key = `${resource}:${access}`;
    const known = this.somewhere.get(key);
    if (known !== undefined) return known;
    const fallback = resource === 'mesh' || resource === 'peering' || resource === 'namespace';
    const answer =
      this.allowed(resource, access) ||
      (fallback && this.allowed('operator', access)) ||
      this.layers.some((layer) => layer.grantsAnywhere(resource, access));
    this.somewhere.set(key, answer);
    return answer;
  }

  anyIn(namespace: string): boolean {
    if (this.allowByDefault) return true;
    for (const layer of this.layers) {
      for (const rules of layer.about(namespace)) if (rules.grantsAnything) return true;
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
      ? `Permission denied: anonymous token ${lack}. The anonymous token is used implicitly when a request does not specify a token.`
      : `Permission denied: token with AccessorID '${this.accessor}' ${lack}`;
  }
}

/** What one layer says; undefined when it has no rule. */
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
