/**
 * Caches compiled rights. Tokens with equal links share an entry, and entries that lead to the same
 * policies share what was compiled from them: many roles hold the same policies under other names.
 */
import type { Rights } from '../../acl/layer.js';
import type { Grant, Rules } from '../../acl/types.js';
import { WeightedCache } from '../common/weighted-cache.js';
import { Dependants } from './dependants.js';

/** Compiled rights, the state keys that they were read from, and the tokens that have them. */
export interface SharedRights {
  readonly rights: Rights;
  readonly dependsOn: readonly string[];
  /** The newest index of what they were read from. */
  readonly index: number;
  readonly tokens: Set<string>;
}

/** The grants that some links lead to, and what they were read from. */
export interface ReadGrants extends Pick<SharedRights, 'rights' | 'dependsOn' | 'index'> {
  /** The id of the grants, from `grantsIdOf`. */
  readonly grantsId: string;
}

interface Entry extends SharedRights {
  readonly grantsId: string;
}

interface Compiled {
  readonly rights: Rights;
  /** The ids of the entries that use them. */
  readonly users: Set<string>;
}

/** Bytes for a watched state key. It covers the entry too, since each watches at least one key. */
const KEY_BYTES = 400;

export class RightsCache {
  /** By an id of links: `rightsIdOf`. */
  readonly #entries: WeightedCache<Entry>;
  readonly #dependants = new Dependants();
  /** By an id of grants. */
  readonly #compiled: WeightedCache<Compiled>;
  readonly #released: (tokens: Iterable<string>) => void;
  readonly #rulesIds = new WeakMap<Rules, number>();
  #rulesSeen = 0;

  /**
   * `bytes`: approximate bytes of compiled rights, and as many again of what leads to them. The
   * oldest are evicted first. `released` is called with the tokens of each entry that is dropped.
   */
  constructor(bytes: number, released: (tokens: Iterable<string>) => void) {
    this.#released = released;
    this.#entries = new WeightedCache(bytes, (id, entry) => this.#release(id, entry));
    this.#compiled = new WeightedCache(bytes, (_, { users }) => {
      for (const id of users) this.#drop(id);
    });
  }

  get size(): number {
    return this.#compiled.size;
  }

  get weight(): number {
    return this.#entries.weight + this.#compiled.weight;
  }

  get(id: string): SharedRights | undefined {
    return this.#entries.get(id);
  }

  /**
   * Returns an id of grants: equal for the same parsed rules in the same namespaces, in any order.
   */
  grantsIdOf(own: readonly Grant[], defaults: readonly Grant[]): string {
    const idsOf = (grants: readonly Grant[]): string[] => [
      ...new Set(grants.map(({ rules, namespace }) => `${this.#rulesIdOf(rules)} ${namespace}`)),
    ];
    return JSON.stringify([idsOf(own).sort(), idsOf(defaults).sort()]);
  }

  /** Returns the rights that were compiled from some grants, if they are in the cache. */
  compiledFrom(grantsId: string): Rights | undefined {
    return this.#compiled.get(grantsId)?.rights;
  }

  /** Adds what some links lead to. */
  set(id: string, { grantsId, rights, dependsOn, index }: ReadGrants): SharedRights {
    let compiled = this.#compiled.get(grantsId);
    if (compiled === undefined) {
      compiled = { rights, users: new Set() };
      this.#compiled.set(grantsId, compiled, rights.weight);
    }
    compiled.users.add(id);
    const entry = {
      rights: compiled.rights,
      dependsOn,
      index,
      tokens: new Set<string>(),
      grantsId,
    };
    this.#dependants.add(id, dependsOn);
    this.#entries.set(id, entry, dependsOn.length * KEY_BYTES);
    return entry;
  }

  /** Drops what was read from a key. */
  changed(key: string): void {
    for (const id of this.#dependants.of(key)) this.#drop(id);
  }

  /** Drops everything, without a call of `released`. */
  clear(): void {
    this.#entries.clear();
    this.#compiled.clear();
    this.#dependants.clear();
  }

  #rulesIdOf(rules: Rules): number {
    const known = this.#rulesIds.get(rules);
    if (known !== undefined) return known;
    this.#rulesSeen += 1;
    this.#rulesIds.set(rules, this.#rulesSeen);
    return this.#rulesSeen;
  }

  #drop(id: string): void {
    const entry = this.#entries.get(id)!;
    this.#entries.delete(id);
    this.#release(id, entry);
  }

  #release(id: string, { dependsOn, tokens, grantsId }: Entry): void {
    this.#dependants.remove(id, dependsOn);
    const compiled = this.#compiled.get(grantsId);
    compiled?.users.delete(id);
    if (compiled?.users.size === 0) this.#compiled.delete(grantsId);
    this.#released(tokens);
  }
}
