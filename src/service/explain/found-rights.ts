/** Tokens with their rights, for what shows all rights of one token, and what is made from them. */
import { keys } from '../../state/keys.js';
import { deletedIndex } from '../../state/lists.js';
import { lifeKeys, type Token } from '../../state/tokens.js';
import { endOf } from '../acl/token-reads.js';
import type { ReadUseCase } from '../common/types.js';
import { WeightedCache } from '../common/weighted-cache.js';
import type { SharedRights } from '../rights/rights-cache.js';
import { type ExplainParts, findToken, type Whose } from './subject.js';

/** A token, and the rights that enforcement decides its requests by. */
export interface FoundRights {
  readonly token: Token;
  readonly rights: SharedRights;
}

/** Returns a read that finds a token and where its rights are in the log. */
export const rightsFinder =
  (
    { nowMs, authorizers }: Pick<ExplainParts, 'nowMs' | 'authorizers'>,
    whose: Whose,
  ): ReadUseCase<FoundRights | undefined> =>
  (context) => {
    const token = findToken(context, whose, nowMs());
    if (token === undefined) {
      const { ns, accessor = '' } = whose;
      // Changes in other namespaces are not for this caller, so it does not wait for them.
      const index = deletedIndex(context.view, 'token', ns);
      return { value: undefined, index, keys: [keys.token(ns, accessor)] };
    }
    const rights = authorizers.rightsOf(token);
    if (rights instanceof Promise) {
      return { value: undefined, index: 0, keys: [], pending: rights };
    }
    const own = keys.token(token.Namespace, token.AccessorID);
    return {
      value: { token, rights },
      index: Math.max(token.ModifyIndex, rights.index),
      keys: [own, ...lifeKeys(token), ...rights.dependsOn],
      ...endOf(token, nowMs()),
    };
  };

interface Made<T> {
  readonly modifyIndex: number;
  readonly rights: WeakRef<SharedRights>;
  readonly value: Promise<T>;
}

/**
 * What was made from tokens and their rights. Requests for the same token with the same rights
 * share it, as those that one change wakes do. It does not keep the rights in memory.
 */
export class MadeFromRights<T> {
  /** By accessor. */
  readonly #kept: WeightedCache<Made<T>>;
  readonly #weightOf: (made: T) => number;

  constructor(max: number, weightOf: (made: T) => number) {
    this.#kept = new WeightedCache(max);
    this.#weightOf = weightOf;
  }

  /** Returns what was made from a token, or makes it. */
  of({ token, rights }: FoundRights, make: () => Promise<T>): Promise<T> {
    const { AccessorID: id, ModifyIndex } = token;
    const known = this.#kept.get(id);
    if (known?.rights.deref() === rights && known.modifyIndex === ModifyIndex) return known.value;
    const value = make();
    const made: Made<T> = { modifyIndex: ModifyIndex, rights: new WeakRef(rights), value };
    this.#kept.set(id, made, 0);
    const isKept = (): boolean => this.#kept.get(id) === made;
    value.then(
      (done) => isKept() && this.#kept.set(id, made, this.#weightOf(done)),
      () => isKept() && this.#kept.delete(id),
    );
    return value;
  }
}
