/**
 * The parsed rules of stored policies. Many roles and tokens link one policy, and parsing is slow.
 * The rules have their places in the text, so that explanations share them.
 */
import { weightOf } from '../../acl/authorizer.js';
import { storedRules } from '../../acl/rules.js';
import type { Steps } from '../../acl/steps.js';
import type { Rules } from '../../acl/types.js';
import type { Policy } from '../../state/policies.js';
import { WeightedCache } from '../common/weighted-cache.js';

/** Caches parsed policies by their state key. */
export class ParsedPolicies {
  readonly #cache: WeightedCache<{ readonly text: string; readonly rules: Rules }>;

  /** `bytes`: approximate size in memory. The oldest policies are evicted first. */
  constructor(bytes: number) {
    this.#cache = new WeightedCache(bytes);
  }

  /** Approximate bytes. */
  get weight(): number {
    return this.#cache.weight;
  }

  /** Returns the rules of a policy. Views of different age may have it with different texts. */
  *rulesOf(key: string, { Rules: text, Namespace }: Policy): Steps<Rules> {
    const known = this.#cache.get(key);
    if (known?.text === text) return known.rules;
    const rules = yield* storedRules(text, Namespace);
    this.#cache.set(key, { text, rules }, text.length + weightOf(rules));
    return rules;
  }

  /** Drops a policy that has changed. */
  delete(key: string): void {
    this.#cache.delete(key);
  }

  clear(): void {
    this.#cache.clear();
  }
}
