/** What rules decide about names that no rule spells out: by their prefixes (decisions.md 4.2). */
import { type Steps, sorted } from '../../acl/steps.js';
import type { PrefixRule } from '../../api/decided.js';
import { compareCodePoints } from '../../base/text.js';

/** The names in rules: of single objects, and prefixes. */
export interface RuleNames {
  readonly exact: Set<string>;
  readonly prefix: Set<string>;
}

/** The decisions on all names that begin with one of the prefixes of some rules. */
export class Prefixes {
  readonly #decided: ReadonlyMap<string, boolean>;
  /** The lengths of the prefixes, longest first. */
  readonly #lengths: readonly number[];

  constructor(decided: ReadonlyMap<string, boolean>) {
    this.#decided = decided;
    const lengths = new Set([...decided.keys()].map(({ length }) => length));
    this.#lengths = [...lengths].sort((a, b) => b - a);
  }

  /** Decides about the prefixes of some names. `may` decides a name, as enforcement does. */
  static *of({ exact, prefix }: RuleNames, may: (name: string) => boolean): Steps<Prefixes> {
    const prefixes = new Set(['', ...prefix]);
    const decided = new Map<string, boolean>();
    for (const one of prefixes) {
      // A name that begins so, which no rule has, and no longer prefix begins.
      let name = `${one}\u0000`;
      while (exact.has(name) || prefixes.has(name)) name += '\u0000';
      decided.set(one, may(name));
      yield;
    }
    return new Prefixes(decided);
  }

  /** Whether any name is allowed. */
  static *allowAny(names: RuleNames, may: (name: string) => boolean): Steps<boolean> {
    for (const name of names.exact) {
      if (may(name)) return true;
      yield;
    }
    const prefixes = yield* Prefixes.of(names, may);
    return [...prefixes.#decided.values()].includes(true);
  }

  /** Whether a name is allowed if no exact rule has it. */
  isAllowed(name: string): boolean {
    for (const length of this.#lengths) {
      const allow = length > name.length ? undefined : this.#decided.get(name.slice(0, length));
      if (allow !== undefined) return allow;
    }
    return false;
  }

  /** Returns the prefixes whose decision differs from that of the next shorter one. */
  *shown(): Steps<readonly PrefixRule[]> {
    const shortest = (a: string, b: string) => a.length - b.length || compareCodePoints(a, b);
    const all = yield* sorted([...this.#decided.keys()], shortest);
    const kept = new Map<string, boolean>();
    for (const prefix of all) {
      const allow = this.#decided.get(prefix)!;
      let before = false;
      for (let length = prefix.length - 1; length >= 0; length--) {
        const shorter = kept.get(prefix.slice(0, length));
        if (shorter === undefined) continue;
        before = shorter;
        break;
      }
      if (allow !== before) kept.set(prefix, allow);
      yield;
    }
    return [...kept].map(([prefix, allow]) => ({ prefix, allow }));
  }
}
