/** The compiled rules of one layer of a token's grants, by namespace. */
import { grantsAccess, RuleSet } from './rule-set.js';
import type { Steps } from './steps.js';
import type {
  Access,
  Authorizer,
  Grant,
  Level,
  Named,
  Place,
  Resource,
  Rules,
  Scalar,
} from './types.js';

/**
 * Resources of the cluster as a whole. Their rules are in `default` and hold in every namespace.
 */
export const CLUSTER_WIDE: ReadonlySet<Resource> = new Set([
  'operator',
  'keyring',
  'event',
  'query',
]);

/** Grants of equal precedence: those of the token, or those of its namespace. */
export class Layer {
  readonly #exact: ReadonlyMap<string, RuleSet>;
  /** Longest first. */
  readonly #prefixes: readonly (readonly [prefix: string, rules: RuleSet])[];

  constructor(
    exact: ReadonlyMap<string, RuleSet>,
    prefixes: readonly (readonly [prefix: string, rules: RuleSet])[],
  ) {
    this.#exact = exact;
    this.#prefixes = prefixes;
  }

  static *of(grants: readonly Grant[]): Steps<Layer> {
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
    const byName = new Map<string, RuleSet>();
    for (const [name, sources] of exact) {
      byName.set(name, yield* RuleSet.of(sources));
      yield;
    }
    const byPrefix: [prefix: string, rules: RuleSet][] = [];
    for (const [prefix, sources] of prefixes) {
      byPrefix.push([prefix, yield* RuleSet.of(sources)]);
      yield;
    }
    return new Layer(
      byName,
      byPrefix.sort(([a], [b]) => b.length - a.length),
    );
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

  /** The same with the place of each, for explanations. */
  *placedSetsFor(namespace: string): Iterable<readonly [Place, RuleSet]> {
    const exact = this.#exact.get(namespace);
    if (exact !== undefined) yield [{ match: 'exact', name: namespace }, exact];
    if (namespace === 'default') return;
    for (const [prefix, rules] of this.#prefixes) {
      if (namespace.startsWith(prefix)) yield [{ match: 'prefix', name: prefix }, rules];
    }
  }

  *placedSets(): Iterable<readonly [Place, RuleSet]> {
    for (const [name, rules] of this.#exact) yield [{ match: 'exact', name }, rules];
    for (const [name, rules] of this.#prefixes) yield [{ match: 'prefix', name }, rules];
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
    // a generator costs more than the look-up
    const exact = this.#exact.get(namespace)?.named.get(resource)?.find(name);
    if (exact !== undefined || this.#prefixes.length === 0) return exact;
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

  get grantsAnything(): boolean {
    for (const [, rules] of this.placedSets()) if (rules.grantsAnything) return true;
    return false;
  }

  management(namespace: string): Level | undefined {
    for (const rules of this.setsFor(namespace)) {
      if (rules.management !== undefined) return rules.management;
    }
    return undefined;
  }
}

/** Compiled grants. They name no token, so that tokens with equal grants can share them. */
export interface Rights {
  readonly layers: readonly Layer[];
  readonly allowByDefault: boolean;
  /** Approximate size in memory, in bytes. */
  readonly weight: number;
}
