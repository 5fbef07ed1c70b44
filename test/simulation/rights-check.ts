/**
 * Decisions of one server by the rights that it has cached, compared with decisions by its state
 * alone: a right that was taken, or given, counts from the entry on that did it.
 */
import type { Access, Authorizer } from '../../src/acl/types.js';
import { Authorizers, type AuthorizersOptions } from '../../src/service/rights/authorizers.js';
import type { Machine } from '../../src/state/machine.js';
import type { View } from '../../src/state/types.js';
import { StorageError } from '../../src/storage/errors.js';
import { Violation } from './invariants.js';
import { SERVICES } from './product-commands.js';

/** The keys under which tokens are found by their secrets. */
const SECRETS = 'token-secret\u0000';
const ACCESSES: readonly Access[] = ['read', 'write'];

export class RightsCheck {
  readonly #id: string;
  readonly #options: AuthorizersOptions;
  /** What its reads by tokens are authorised by. */
  readonly cached: Authorizers;
  /** The secret that was looked at last. */
  #last = '';

  constructor(id: string, machine: Machine, options: AuthorizersOptions) {
    this.#id = id;
    this.#options = { ...options, defaultPolicy: 'deny' };
    this.cached = new Authorizers(this.#options);
    machine.onChanged((keys) => this.cached.changed(keys));
    machine.onReset(() => this.cached.reset());
  }

  /** Looks at the next token. Throws a violation if what it may do is not as the state says. */
  look(): void {
    try {
      const tokenKey = this.next();
      this.judge(tokenKey, this.cached.of(tokenKey));
    } catch (error) {
      // a record cannot be read, which ends the process
      if (!(error instanceof StorageError)) throw error;
    }
  }

  /** Throws a violation unless an authorizer decides as the state does. */
  judge(tokenKey: string | null, authorizer: Authorizer | undefined): void {
    const decided = wordsOf(authorizer);
    const stored = this.storedOf(tokenKey);
    if (decided !== stored)
      throw new Violation(
        'rights are those of the state',
        `${this.#id}: a token may ${decided || 'nothing'}, by the state ${stored || 'nothing'}`,
      );
  }

  /** Returns in words what a token may do by the state alone. */
  storedOf(tokenKey: string | null): string {
    return wordsOf(new Authorizers(this.#options).of(tokenKey));
  }

  /** Returns the key of the next token; null, for the anonymous one, after the last. */
  next(): string | null {
    for (const key of this.#options.view.keys(SECRETS, this.#last || undefined)) {
      this.#last = key;
      return key.slice(SECRETS.length);
    }
    this.#last = '';
    return null;
  }
}

/** Returns in words what a token may do; `unknown` for one that does not live. */
const wordsOf = (authorizer: Authorizer | undefined): string =>
  authorizer === undefined
    ? 'unknown'
    : decisionsOf((...question) => authorizer.allowed(...question));

/** Returns in words what is allowed. */
export const decisionsOf = (
  isAllowed: (resource: 'acl' | 'service', access: Access, name?: string) => boolean,
): string =>
  ACCESSES.flatMap((access) => [
    ...(isAllowed('acl', access) ? [`acl:${access}`] : []),
    ...SERVICES.filter((name) => isAllowed('service', access, name)).map(
      (name) => `service:${access} ${name}`,
    ),
  ]).join(', ');

/** Returns the key of some token of a state; undefined if it has none. `chance`: from 0 to 1. */
export function tokenKeyIn(view: View, chance: number): string | undefined {
  const all = [...view.keys(SECRETS)];
  return all[Math.floor(chance * all.length)]?.slice(SECRETS.length);
}
