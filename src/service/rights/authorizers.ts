/**
 * Resolves the secret of a token to its authorizer. Tokens with the same grants share their
 * compiled rights, which are cached until a state key that they depend on changes. The state
 * machine reports the change within apply, so no request is decided by revoked rights. Rights of
 * many rules are compiled in slices, once for all requests that wait for them.
 */
import { hash } from 'node:crypto';
import { authorizerOf, compile, compileRights } from '../../acl/authorizer.js';
import { ANONYMOUS_ACCESSOR } from '../../acl/builtin.js';
import type { Rights } from '../../acl/layer.js';
import { atOnce, type Steps } from '../../acl/steps.js';
import type { Authorizer } from '../../acl/types.js';
import type { Author } from '../../state/author.js';
import { keys } from '../../state/keys.js';
import type { Link } from '../../state/links.js';
import { stored } from '../../state/lists.js';
import { DEFAULT_NAMESPACE } from '../../state/object.js';
import { authorOf } from '../../state/stamp.js';
import {
  expiryOf,
  identityOf,
  isAlive,
  lifeKeys,
  type Token,
  tokenBySecret,
} from '../../state/tokens.js';
import type { View } from '../../state/types.js';
import { inSlices, inThisTurn } from '../common/event-loop.js';
import { WeightedCache } from '../common/weighted-cache.js';
import { Dependants } from './dependants.js';
import {
  type Collected,
  type CollectedOrigins,
  originsOf,
  ParsedPolicies,
  stepOf,
} from './origins.js';
import { type ReadGrants, RightsCache, type SharedRights } from './rights-cache.js';

/** Bytes of the policies and rights that one search, explanation, lint or plan caches. */
export const RIGHTS_BYTES = 16 * 2 ** 20;

/** The state that authorizers are resolved from, and the limits of their cache. */
export interface AuthorizersOptions {
  readonly view: View;
  /** Policies and identities that are limited to other datacenters grant nothing. */
  readonly datacenter: string;
  readonly defaultPolicy: 'deny' | 'allow';
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  /** Maximum number of cached tokens. The oldest are evicted first. */
  readonly max?: number;
  /** Approximate bytes of cached policies and compiled rights. The oldest are evicted first. */
  readonly rightsBytes: number;
  /** Whether rights are compiled in one turn, however many: for simulated time. */
  readonly inOneTurn?: boolean;
}

/** Reads of several turns. A change of what they have read makes them stale. */
interface Reading {
  readonly keys: Set<string>;
  isStale: boolean;
}

interface CachedToken {
  readonly authorizer: Authorizer;
  readonly namespace: string;
  readonly author: Author;
  /** Milliseconds since the epoch. */
  readonly expiresMs: number;
  /** The keys of the token itself. Those of its rights are in `SharedRights`. */
  readonly dependsOn: readonly string[];
  /** The id of its rights in the cache; absent if it has none. */
  readonly sharedId?: string;
}

/** Tokens in the cache by default. */
const MAX = 20_000;
/** The cache key of a caller without a token. It is not a hash, so it never equals a secret's. */
const NO_TOKEN = 'none';
/** The author of what is done before there is an anonymous token. */
const NOBODY: Author = { AccessorID: ANONYMOUS_ACCESSOR, Description: '' };
const ANONYMOUS_KEY = keys.token(DEFAULT_NAMESPACE, ANONYMOUS_ACCESSOR);

/** Caches the authorizers of tokens, and drops them when the state that they depend on changes. */
export class Authorizers {
  readonly #options: AuthorizersOptions;
  readonly #cached: WeightedCache<CachedToken>;
  readonly #dependants = new Dependants();
  /** By `rightsIdOf`. */
  readonly #shared: RightsCache;
  /** Rights that are being compiled, by their id. */
  readonly #compiling = new Map<string, Promise<void>>();
  readonly #readings = new Set<Reading>();
  readonly #policies: ParsedPolicies;

  constructor(options: AuthorizersOptions) {
    this.#options = options;
    this.#cached = new WeightedCache(options.max ?? MAX, (key, token) => this.#unlink(key, token));
    const third = options.rightsBytes / 3;
    this.#shared = new RightsCache(third, (tokens) => {
      // none is decided by rights that have left the cache
      for (const cacheKey of tokens) this.#forget(cacheKey);
    });
    this.#policies = new ParsedPolicies(third);
  }

  /** Returns what the token of a secret may do now, if that is in the cache. */
  cached(tokenKey: string | null): Authorizer | undefined {
    return this.#fresh(tokenKey ?? NO_TOKEN)?.authorizer;
  }

  /**
   * Lets `of` find the rights of a secret without long work. Returns undefined if it does so
   * already; otherwise a promise, after which this is called again: the state may have changed.
   */
  prepare(tokenKey: string | null): Promise<void> | undefined {
    if (this.#cached.get(tokenKey ?? NO_TOKEN) !== undefined) return undefined;
    const token = this.#tokenOf(tokenKey);
    const rights = token && this.rightsOf(token);
    return rights instanceof Promise ? rights : undefined;
  }

  /**
   * Returns the rights of a token, or a promise after which this is called again. Requests that
   * wait for the same rights share one compilation.
   */
  rightsOf(token: Token): SharedRights | Promise<void> {
    const id = rightsIdOf(token);
    const known = this.#shared.get(id) ?? this.#compiling.get(id);
    if (known !== undefined) return known;
    const steps = this.compiled(token, id);
    if (this.#options.inOneTurn === true) return atOnce(steps);
    const step = inThisTurn(steps, 'authorizer');
    if (step.done) return step.value;
    const compiling = inSlices(steps, 'authorizer').then(() => {});
    const over = (): void => void this.#compiling.delete(id);
    this.#compiling.set(id, compiling);
    compiling.then(over, over);
    return compiling;
  }

  /** Returns what enforcement decides a token's requests by, if that is compiled. */
  known(token: Token): Authorizer | undefined {
    const shared = this.#shared.get(rightsIdOf(token));
    return shared && authorizerFor(token, shared.rights);
  }

  /**
   * Collects what the rights of a token are made from, at the end of the last step. `find` finds
   * the token, again if what was read changes meanwhile. Returns undefined if it finds none.
   */
  *origins<C extends Collected>(
    find: () => C | undefined,
  ): Steps<{ readonly found: C; readonly origins: CollectedOrigins } | undefined> {
    return yield* this.#settled((read) => this.#originsOf(find(), read));
  }

  /**
   * Returns what the token of a secret may do now; undefined if no live token has the secret.
   * Compiles its rights at once, if nobody has prepared them.
   */
  of(tokenKey: string | null): Authorizer | undefined {
    return this.#find(tokenKey)?.authorizer;
  }

  /** Returns the namespace of a secret's token; undefined if no live token has the secret. */
  namespaceOf(tokenKey: string): string | undefined {
    const cached = this.#fresh(tokenKey);
    return cached === undefined ? this.#tokenOf(tokenKey)?.Namespace : cached.namespace;
  }

  /** Whether a live token has the secret. */
  knows(tokenKey: string | null): boolean {
    return tokenKey === null || this.namespaceOf(tokenKey) !== undefined;
  }

  /**
   * Returns the token of a secret as the author of commands; the anonymous one if no live token has
   * the secret, as before a bootstrap.
   */
  authorOf(tokenKey: string | null): Author {
    const cached = this.#fresh(tokenKey ?? NO_TOKEN);
    if (cached !== undefined) return cached.author;
    const { view } = this.#options;
    const token = this.#tokenOf(tokenKey) ?? this.#tokenOf(null);
    return token === undefined ? NOBODY : authorOf(token, identityOf(view, token));
  }

  /** Returns the state keys that the rights of a secret depend on. */
  keysOf(tokenKey: string | null): readonly string[] {
    const cached = this.#find(tokenKey);
    if (cached === undefined) return [];
    const shared = cached.sharedId === undefined ? undefined : this.#shared.get(cached.sharedId);
    return [...cached.dependsOn, ...(shared?.dependsOn ?? [])];
  }

  /** Returns the milliseconds until the token of a secret expires; infinite if it never does. */
  livesMs(tokenKey: string | null): number {
    const expiresMs = this.#find(tokenKey)?.expiresMs ?? Number.POSITIVE_INFINITY;
    return expiresMs - this.#options.nowMs();
  }

  /** Drops what depends on changed keys. Must be called before anything else is decided. */
  changed(changedKeys: readonly string[]): void {
    for (const key of changedKeys) {
      for (const reading of this.#readings) if (reading.keys.has(key)) reading.isStale = true;
      this.#shared.changed(key);
      for (const tokenKey of this.#dependants.of(key)) this.#forget(tokenKey);
      if (key.startsWith('policy\u0000')) this.#policies.delete(key);
    }
  }

  /** Drops everything: the whole state was replaced. */
  reset(): void {
    this.#cached.clear();
    this.#dependants.clear();
    this.#shared.clear();
    this.#policies.clear();
    for (const reading of this.#readings) reading.isStale = true;
  }

  get size(): number {
    return this.#cached.size;
  }

  /**
   * Cached tokens, the distinct rights compiled for them, and the approximate bytes of these and of
   * parsed policies.
   */
  get stats(): { readonly tokens: number; readonly rights: number; readonly bytes: number } {
    const bytes = this.#shared.weight + this.#policies.weight;
    return { tokens: this.#cached.size, rights: this.#shared.size, bytes };
  }

  #find(tokenKey: string | null): CachedToken | undefined {
    const cacheKey = tokenKey ?? NO_TOKEN;
    const cached = this.#fresh(cacheKey);
    if (cached !== undefined) return cached;
    const resolved = this.#resolve(tokenKey);
    if (resolved !== undefined) this.#keep(cacheKey, resolved);
    return resolved;
  }

  /** Returns a cached token. Drops it if it has expired. */
  #fresh(cacheKey: string): CachedToken | undefined {
    const cached = this.#cached.get(cacheKey);
    if (cached === undefined || cached.expiresMs > this.#options.nowMs()) return cached;
    this.#forget(cacheKey);
    return undefined;
  }

  /** Returns the live token of a secret, the anonymous one without a secret. */
  #tokenOf(tokenKey: string | null): Token | undefined {
    const { view, nowMs } = this.#options;
    const token =
      tokenKey === null ? stored<Token>(view, ANONYMOUS_KEY) : tokenBySecret(view, tokenKey);
    return token !== undefined && isAlive(view, token, nowMs()) ? token : undefined;
  }

  #resolve(tokenKey: string | null): CachedToken | undefined {
    const token = this.#tokenOf(tokenKey);
    if (token === undefined) return tokenKey === null ? this.#nobody() : undefined;
    const sharedId = rightsIdOf(token);
    const shared = atOnce(this.compiled(token, sharedId));
    const ownKey = keys.token(token.Namespace, token.AccessorID);
    const dependsOn = [ownKey, ...lifeKeys(token)];
    if (tokenKey !== null) dependsOn.push(keys.tokenSecret(tokenKey));
    return {
      authorizer: authorizerFor(token, shared.rights),
      namespace: token.Namespace,
      author: authorOf(token, identityOf(this.#options.view, token)),
      expiresMs: expiryOf(token) ?? Number.POSITIVE_INFINITY,
      dependsOn,
      sharedId,
    };
  }

  /** Returns the rights of a token. Compiles them unless they are in the cache. */
  *compiled(token: Token, id = rightsIdOf(token)): Steps<SharedRights> {
    const known = this.#shared.get(id);
    if (known !== undefined) return known;
    const fresh = yield* this.#settled((read) => this.#rightsFrom(token, read));
    return this.#shared.get(id) ?? this.#shared.set(id, fresh);
  }

  *#rightsFrom(token: Token, read: Set<string>): Steps<ReadGrants> {
    const collected = { token, first: stepOf(token) };
    const { own, defaults, index } = yield* this.#collect(collected, read);
    const grantsId = this.#shared.grantsIdOf(own, defaults);
    const { defaultPolicy } = this.#options;
    const rights =
      this.#shared.compiledFrom(grantsId) ??
      (yield* compileRights(own, { defaultPolicy, defaults }));
    return { grantsId, rights, dependsOn: [...read], index };
  }

  *#originsOf<C extends Collected>(found: C | undefined, read: Set<string>) {
    if (found === undefined) return undefined;
    const { Namespace, AccessorID } = found.token;
    read.add(keys.token(Namespace, AccessorID));
    return { found, origins: yield* this.#collect(found, read) };
  }

  #collect(collected: Collected, read: Set<string>): Steps<CollectedOrigins> {
    const { view, datacenter } = this.#options;
    return originsOf({ view, datacenter, policies: this.#policies }, collected, read);
  }

  /** Does work that adds the keys it reads to `read`, again if one of them changes meanwhile. */
  *#settled<T>(work: (read: Set<string>) => Steps<T>): Steps<T> {
    for (;;) {
      const reading: Reading = { keys: new Set(), isStale: false };
      this.#readings.add(reading);
      try {
        const result = yield* work(reading.keys);
        if (!reading.isStale) return result;
      } finally {
        this.#readings.delete(reading);
      }
    }
  }

  /** Grants nothing: before the cluster is initialized there is no anonymous token. */
  #nobody(): CachedToken {
    const authorizer = compile([], { accessor: ANONYMOUS_ACCESSOR, anonymous: true });
    return {
      authorizer,
      namespace: DEFAULT_NAMESPACE,
      author: NOBODY,
      expiresMs: Number.POSITIVE_INFINITY,
      dependsOn: [ANONYMOUS_KEY],
    };
  }

  #keep(cacheKey: string, cached: CachedToken): void {
    this.#dependants.add(cacheKey, cached.dependsOn);
    if (cached.sharedId !== undefined) this.#shared.get(cached.sharedId)!.tokens.add(cacheKey);
    this.#cached.set(cacheKey, cached, 1);
  }

  #forget(cacheKey: string): void {
    const cached = this.#cached.get(cacheKey);
    if (cached === undefined) return;
    this.#cached.delete(cacheKey);
    this.#unlink(cacheKey, cached);
  }

  #unlink(cacheKey: string, { dependsOn, sharedId }: CachedToken): void {
    this.#dependants.remove(cacheKey, dependsOn);
    if (sharedId !== undefined) this.#shared.get(sharedId)?.tokens.delete(cacheKey);
  }
}

/** Returns the authorizer of a token with some rights. */
export const authorizerFor = ({ AccessorID: accessor }: Token, rights: Rights): Authorizer =>
  authorizerOf(rights, { accessor, anonymous: accessor === ANONYMOUS_ACCESSOR });

/**
 * Returns a digest of what the rights of a token follow from: its namespace, links and identities.
 * The objects that it links are read from the state, and their keys are watched.
 */
export function rightsIdOf({ Namespace, Policies = [], Roles = [], ...token }: Token): string {
  const ids = (links: readonly Link[]): string[] => links.map(({ ID }) => ID).sort();
  const { ServiceIdentities, NodeIdentities, TemplatedPolicies } = token;
  const identities = [ServiceIdentities, NodeIdentities, TemplatedPolicies];
  return hash('sha256', JSON.stringify([Namespace, ids(Policies), ids(Roles), ...identities]));
}
