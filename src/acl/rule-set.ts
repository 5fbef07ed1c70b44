/** The merged rules of several policies for one namespace, and the look-up of names in them. */

import { endsStep, type Steps } from './steps.js';
import {
  type Access,
  type Authorizer,
  type Level,
  type Named,
  type Rules,
  SCALARS,
  type Scalar,
} from './types.js';

const STRENGTH: Readonly<Record<Level, number>> = { read: 1, list: 2, write: 3, deny: 4 };

/** Returns the stronger of two levels. */
export const merged = (a: Level | undefined, b: Level): Level =>
  a === undefined || STRENGTH[b] > STRENGTH[a] ? b : a;

/** Whether a level grants an access. */
export function grantsAccess(level: Level, access: Access): boolean {
  if (level === 'write') return true;
  if (level === 'list') return access === 'list' || access === 'read';
  return level === 'read' && access === 'read';
}

/** Returns the level on intentions that follows from a service's level where none is written. */
export const impliedIntentions = (service: Level): Level => (service === 'deny' ? 'deny' : 'read');

/** The merged rules of one resource. */
class NameRules {
  readonly exact = new Map<string, Level>();
  readonly prefix = new Map<string, Level>();
  /** The distinct lengths of the prefixes, longest first. A look-up tries one slice for each. */
  #lengths: number[] = [];

  seal(): this {
    const lengths = new Set([...this.prefix.keys()].map((prefix) => prefix.length));
    this.#lengths = [...lengths].sort((a, b) => b - a);
    return this;
  }

  find(name: string): Level | undefined {
    // many have no exact rules, and a new name has yet to be hashed
    return (this.exact.size > 0 ? this.exact.get(name) : undefined) ?? this.covering(name);
  }

  /** Returns the level of the longest prefix rule that matches the name. */
  covering(name: string): Level | undefined {
    for (const length of this.#lengths) {
      if (length > name.length) continue;
      const level = this.prefix.get(name.slice(0, length));
      if (level !== undefined) return level;
    }
    return undefined;
  }

  /** Yields every prefix rule that matches the name, the longest first. */
  *coveringAll(name: string): Iterable<readonly [prefix: string, level: Level]> {
    for (const length of this.#lengths) {
      const prefix = name.slice(0, length);
      const level = length > name.length ? undefined : this.prefix.get(prefix);
      if (level !== undefined) yield [prefix, level];
    }
  }

  *levels(): Iterable<Level> {
    yield* this.exact.values();
    yield* this.prefix.values();
  }

  /** Whether every rule at or below the prefix grants write. */
  writableBelow(prefix: string): boolean {
    for (const rules of [this.exact, this.prefix]) {
      for (const [name, level] of rules) {
        if (level !== 'write' && name.startsWith(prefix)) return false;
      }
    }
    return true;
  }
}

/** The merged rules for one namespace, or for the namespaces of one prefix. */
export class RuleSet {
  readonly scalars = new Map<Scalar, Level>();
  readonly named = new Map<Named | 'intention', NameRules>();
  /** The level on the namespace itself. */
  management: Level | undefined;

  static *of(
    sources: readonly { readonly rules: Rules; readonly level?: Level }[],
  ): Steps<RuleSet> {
    const set = new RuleSet();
    const explicit = { exact: new Map<string, Level>(), prefix: new Map<string, Level>() };
    let count = 0;
    for (const { rules, level } of sources) {
      if (level !== undefined) set.management = merged(set.management, level);
      for (const scalar of SCALARS) {
        const level = rules.scalars[scalar];
        if (level !== undefined) set.scalars.set(scalar, merged(set.scalars.get(scalar), level));
      }
      for (const { resource, prefix, name, level, intentions } of rules.named) {
        const kind = prefix ? 'prefix' : 'exact';
        const target = set.#of(resource)[kind];
        target.set(name, merged(target.get(name), level));
        if (intentions !== undefined) {
          explicit[kind].set(name, merged(explicit[kind].get(name), intentions));
        }
        count += 1;
        if (endsStep(count)) yield;
      }
    }
    yield* set.#deriveIntentions(explicit);
    for (const rules of set.named.values()) rules.seal();
    return set;
  }

  #of(resource: Named | 'intention'): NameRules {
    let rules = this.named.get(resource);
    if (rules === undefined) {
      rules = new NameRules();
      this.named.set(resource, rules);
    }
    return rules;
  }

  /**
   * Derives the intention levels after merging. A service rule without an `intentions` level grants
   * read on the intentions of its services, unless it denies.
   */
  *#deriveIntentions(explicit: Record<'exact' | 'prefix', Map<string, Level>>): Steps<void> {
    const services = this.named.get('service');
    if (services === undefined) return;
    let count = 0;
    for (const kind of ['exact', 'prefix'] as const) {
      for (const [name, level] of services[kind]) {
        const written = explicit[kind].get(name);
        this.#of('intention')[kind].set(name, written ?? impliedIntentions(level));
        count += 1;
        if (endsStep(count)) yield;
      }
    }
  }

  /** Whether a rule grants the access to any object of the resource. */
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
