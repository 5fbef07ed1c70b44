/**
 * Resolves the secret of a token to its authorizer. Tokens with the same grants share their
 * compiled rights, which are cached until a state key that they depend on changes. The state
 * machine reports the change within apply, so no request is decided by revoked rights.
 */
import { hash } from 'node:crypto';
import { authorizerOf, compile, compileRights, type Rights, weightOf } from '../acl/authorizer.js';
import { ANONYMOUS_ACCESSOR } from '../acl/builtin.js';
import { nodeGrant, policyGrant, serviceGrant, templateGrant } from '../acl/synthetic.js';
import type { Authorizer, Grant } from '../acl/types.js';
import type { Grants } from '../state/grants.js';
import { keys } from '../state/keys.js';
import type { Link } from '../state/links.js';
import { stored } from '../state/lists.js';
import type { Namespace } from '../state/namespaces.js';
import { DEFAULT_NAMESPACE } from '../state/object.js';
import type { Policy } from '../state/policies.js';
import type { Role } from '../state/roles.js';
import { expiryOf, isAlive, lifeKeys, type Token, tokenBySecret } from '../state/tokens.js';
import type { View } from '../state/types.js';
import { WeightedCache } from './weighted-cache.js';

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
}

/** Compiled rights, the state keys that they were read from, and the tokens that have them. */
interface SharedRights {
  readonly rights: Rights;
  readonly dependsOn: readonly string[];
  readonly tokens: Set<string>;
}

interface CachedToken {
  readonly authorizer: Authorizer;
  readonly namespace: string;
  /** Milliseconds since the epoch. */
  readonly expiresMs: number;
  /** The keys of the token itself. Those of its rights are in `SharedRights`. */
  readonly dependsOn: readonly string[];
  /** The id of its rights in the cache; absent if it has none. */
  readonly sharedId?: string;
}

/** Tokens in the cache by default. */
const MAX = 20_000;
/** Bytes for a watched state key. It covers the entry too, since each watches at least one key. */
const KEY_BYTES = 400;
/** The cache key of a caller without a token. It is not a hash, so it never equals a secret's. */
const NO_TOKEN = 'none';

/** Caches the authorizers of tokens, and drops them when the state that they depend on changes. */
export class Authorizers {
  readonly #options: AuthorizersOptions;
  readonly #cached = new Map<string, CachedToken>();
  readonly #dependants = new Dependants();
  /** Compiled rights by `rightsIdOf`, a digest of what they follow from. */
  readonly #shared: WeightedCache<SharedRights>;
  readonly #sharedDependants = new Dependants();
  /** Parsed policies by key: many roles and tokens share a policy, and parsing is slow. */
  readonly #policies: WeightedCache<{ readonly text: string; readonly grant: Grant }>;

  constructor(options: AuthorizersOptions) {
    this.#options = options;
    const half = options.rightsBytes / 2;
    this.#shared = new WeightedCache(half, (id, shared) => this.#release(id, shared));
    this.#policies = new WeightedCache(half);
  }

  /** Returns what the token of a secret may do now; undefined if no live token has the secret. */
  of(tokenKey: string | null): Authorizer | undefined {
    return this.#find(tokenKey)?.authorizer;
  }

  /** Returns the namespace of a secret's token; undefined if no live token has the secret. */
  namespaceOf(tokenKey: string): string | undefined {
    return this.#find(tokenKey)?.namespace;
  }

  /** Returns the state keys that the rights of a secret depend on. */
  keysOf(tokenKey: string | null): readonly string[] {
    const cached = this.#find(tokenKey);
    if (cached === undefined) return [];
    const shared = cached.sharedId === undefined ? undefined : this.#shared.get(cached.sharedId);
    return [...cached.dependsOn, ...(shared?.dependsOn ?? [])];
  }

  /**
   * Returns the authorizer of a token by what it links and grants, whether it exists or not.
   * `more`: further grants of its own.
   */
  ofDraft(token: Token, more: readonly Grant[] = []): Authorizer {
    const collector = new GrantCollector(this.#options, (key, policy) =>
      this.#grantOf(key, policy),
    );
    const defaults = collector.namespaceDefaults(token.Namespace);
    const { defaultPolicy } = this.#options;
    const anonymous = token.AccessorID === ANONYMOUS_ACCESSOR;
    const options = { accessor: token.AccessorID, anonymous, defaultPolicy, defaults };
    return compile([...collector.token(token), ...more], options);
  }

  /** Drops what depends on changed keys. Must be called before anything else is decided. */
  changed(changedKeys: readonly string[]): void {
    for (const key of changedKeys) {
      for (const id of this.#sharedDependants.of(key)) {
        const shared = this.#shared.get(id)!;
        this.#shared.delete(id);
        this.#release(id, shared);
      }
      for (const tokenKey of this.#dependants.of(key)) this.#forget(tokenKey);
      if (key.startsWith('policy\u0000')) this.#policies.delete(key);
    }
  }

  /** Drops everything: the whole state was replaced. */
  reset(): void {
    this.#cached.clear();
    this.#dependants.clear();
    this.#shared.clear();
    this.#sharedDependants.clear();
    this.#policies.clear();
  }

  /** The number of cached tokens. */
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
    const cached = this.#cached.get(cacheKey);
    if (cached !== undefined) {
      if (cached.expiresMs > this.#options.nowMs()) return cached;
      this.#forget(cacheKey);
    }
    const fresh = this.#resolve(tokenKey);
    if (fresh !== undefined) this.#keep(cacheKey, fresh);
    return fresh;
  }

  #resolve(tokenKey: string | null): CachedToken | undefined {
    const { view, nowMs } = this.#options;
    const anonymous = keys.token(DEFAULT_NAMESPACE, ANONYMOUS_ACCESSOR);
    const token =
      tokenKey === null ? stored<Token>(view, anonymous) : tokenBySecret(view, tokenKey);
    if (token === undefined) return tokenKey === null ? this.#nobody(anonymous) : undefined;
    if (!isAlive(view, token, nowMs())) return undefined;
    const sharedId = rightsIdOf(token);
    const authorizer = authorizerOf(this.#rightsOf(sharedId, token), {
      accessor: token.AccessorID,
      anonymous: token.AccessorID === ANONYMOUS_ACCESSOR,
    });
    const ownKey = keys.token(token.Namespace, token.AccessorID);
    const dependsOn = [ownKey, ...lifeKeys(token)];
    if (tokenKey !== null) dependsOn.push(keys.tokenSecret(tokenKey));
    return {
      authorizer,
      namespace: token.Namespace,
      expiresMs: expiryOf(token) ?? Number.POSITIVE_INFINITY,
      dependsOn,
      sharedId,
    };
  }

  /** Returns the rights of a token. Compiles them unless another token has the same. */
  #rightsOf(id: string, token: Token): Rights {
    const known = this.#shared.get(id);
    if (known !== undefined) return known.rights;
    const collector = new GrantCollector(this.#options, (key, policy) =>
      this.#grantOf(key, policy),
    );
    const own = collector.token(token);
    const defaults = collector.namespaceDefaults(token.Namespace);
    const { defaultPolicy } = this.#options;
    const rights = compileRights(own, { defaultPolicy, defaults });
    const dependsOn = [...collector.dependsOn];
    this.#sharedDependants.add(id, dependsOn);
    const weight = rights.weight + dependsOn.length * KEY_BYTES;
    this.#shared.set(id, { rights, dependsOn, tokens: new Set() }, weight);
    return rights;
  }

  /** Grants nothing: before the cluster is initialized there is no anonymous token. */
  #nobody(anonymousKey: string): CachedToken {
    const authorizer = compile([], { accessor: ANONYMOUS_ACCESSOR, anonymous: true });
    return {
      authorizer,
      namespace: DEFAULT_NAMESPACE,
      expiresMs: Number.POSITIVE_INFINITY,
      dependsOn: [anonymousKey],
    };
  }

  #grantOf(key: string, policy: Policy): Grant {
    const known = this.#policies.get(key);
    if (known?.text === policy.Rules) return known.grant;
    const grant = policyGrant(policy.Rules, policy.Namespace);
    const weight = policy.Rules.length + weightOf(grant.rules);
    this.#policies.set(key, { text: policy.Rules, grant }, weight);
    return grant;
  }

  #keep(cacheKey: string, cached: CachedToken): void {
    this.#cached.set(cacheKey, cached);
    this.#dependants.add(cacheKey, cached.dependsOn);
    if (cached.sharedId !== undefined) this.#shared.get(cached.sharedId)!.tokens.add(cacheKey);
    if (this.#cached.size <= (this.#options.max ?? MAX)) return;
    const [oldest] = this.#cached.keys();
    this.#forget(oldest!);
  }

  #forget(cacheKey: string): void {
    const cached = this.#cached.get(cacheKey);
    if (cached === undefined) return;
    this.#cached.delete(cacheKey);
    this.#dependants.remove(cacheKey, cached.dependsOn);
    if (cached.sharedId !== undefined) this.#shared.get(cached.sharedId)?.tokens.delete(cacheKey);
  }

  /** Drops the tokens of rights that have left the cache, so that none is decided by them. */
  #release(id: string, { dependsOn, tokens }: SharedRights): void {
    this.#sharedDependants.remove(id, dependsOn);
    for (const cacheKey of tokens) this.#forget(cacheKey);
  }
}

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

/** The ids that depend on each state key. */
class Dependants {
  readonly #byKey = new Map<string, Set<string>>();

  add(id: string, dependsOn: readonly string[]): void {
    for (const key of dependsOn) {
      const ids = this.#byKey.get(key);
      if (ids === undefined) this.#byKey.set(key, new Set([id]));
      else ids.add(id);
    }
  }

  remove(id: string, dependsOn: readonly string[]): void {
    for (const key of dependsOn) {
      const ids = this.#byKey.get(key);
      ids?.delete(id);
      if (ids?.size === 0) this.#byKey.delete(key);
    }
  }

  /** Returns a copy, because the caller may remove ids while it iterates. */
  of(key: string): readonly string[] {
    const ids = this.#byKey.get(key);
    return ids === undefined ? NO_IDS : [...ids];
  }

  clear(): void {
    this.#byKey.clear();
  }
}

const NO_IDS: readonly string[] = [];

/** Collects the grants of a token, and the state keys that they were read from. */
class GrantCollector {
  readonly dependsOn = new Set<string>();
  readonly #view: View;
  readonly #datacenter: string;
  readonly #grantOf: (key: string, policy: Policy) => Grant;

  constructor(
    { view, datacenter }: AuthorizersOptions,
    grantOf: (key: string, policy: Policy) => Grant,
  ) {
    this.#view = view;
    this.#datacenter = datacenter;
    this.#grantOf = grantOf;
  }

  token(token: Token): Grant[] {
    const ns = token.Namespace;
    return [
      ...this.#policies(ns, token.Policies),
      ...this.#identities(ns, token),
      ...this.#roles(ns, token.Roles),
    ];
  }

  namespaceDefaults(ns: string): Grant[] {
    const key = keys.namespace(ns);
    this.dependsOn.add(key);
    const acls = stored<Namespace>(this.#view, key)?.ACLs;
    return [
      ...this.#policies(DEFAULT_NAMESPACE, acls?.PolicyDefaults, ns),
      ...this.#roles(DEFAULT_NAMESPACE, acls?.RoleDefaults, ns),
    ];
  }

  /**
   * `actIn`: the namespace in which the rules hold. Defaults hold in the namespace that has them.
   */
  #policies(ns: string, links: readonly Link[] = [], actIn = ns): Grant[] {
    return links.flatMap(({ ID }) => {
      const key = keys.policy(ns, ID);
      this.dependsOn.add(key);
      const policy = stored<Policy>(this.#view, key);
      if (policy === undefined || !this.#isHere(policy.Datacenters)) return [];
      return [{ ...this.#grantOf(key, policy), namespace: actIn }];
    });
  }

  #roles(ns: string, links: readonly Link[] = [], actIn = ns): Grant[] {
    return links.flatMap(({ ID }) => {
      const key = keys.role(ns, ID);
      this.dependsOn.add(key);
      const role = stored<Role>(this.#view, key);
      if (role === undefined) return [];
      return [...this.#policies(ns, role.Policies, actIn), ...this.#identities(actIn, role)];
    });
  }

  #identities(ns: string, grants: Grants): Grant[] {
    const services = grants.ServiceIdentities ?? [];
    const nodes = grants.NodeIdentities ?? [];
    const templates = grants.TemplatedPolicies ?? [];
    return [
      ...services
        .filter(({ Datacenters }) => this.#isHere(Datacenters))
        .map(({ ServiceName }) => serviceGrant(ServiceName, ns)),
      ...nodes
        .filter(({ Datacenter }) => this.#isHere([Datacenter]))
        .map(({ NodeName }) => nodeGrant(NodeName, ns)),
      ...templates
        .filter(({ Datacenters }) => this.#isHere(Datacenters))
        .map((link) => templateGrant(link.TemplateName, link.TemplateVariables, ns)),
    ];
  }

  #isHere(datacenters: readonly string[] | undefined): boolean {
    return !datacenters?.length || datacenters.includes(this.#datacenter);
  }
}
