/**
 * From a token's secret to what it may do. Compiled authorizers are kept until a key that they depend on changes: the
 * machine tells within the apply, so no request is decided by rights that are gone.
 */
import { compile } from '../acl/authorizer.js';
import { ANONYMOUS_ACCESSOR } from '../acl/builtin.js';
import { nodeGrant, policyGrant, serviceGrant, templateGrant } from '../acl/synthetic.js';
import type { Authorizer, Grant } from '../acl/types.js';
import type { Grants } from '../state/grants.js';
import { keys } from '../state/keys.js';
import type { Link } from '../state/links.js';
import { stored } from '../state/lists.js';
import { DEFAULT_NAMESPACE, type Namespace } from '../state/namespaces.js';
import type { Policy } from '../state/policies.js';
import type { Role } from '../state/roles.js';
import { expiryOf, isAlive, lifeKeys, type Token, tokenBySecret } from '../state/tokens.js';
import type { View } from '../state/types.js';

export interface AuthorizersOptions {
  readonly view: View;
  readonly datacenter: string;
  readonly defaultPolicy: 'deny' | 'allow';
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  /** Compiled authorizers kept; the oldest go first. */
  readonly max?: number;
}

interface Cached {
  readonly authorizer: Authorizer;
  readonly namespace: string;
  readonly expiresMs: number;
  readonly dependsOn: readonly string[];
}

const MAX = 20_000;
/** Key under which a caller without a token is cached: not a hash, so never a secret's. */
const NO_TOKEN = 'none';

export class Authorizers {
  readonly #options: AuthorizersOptions;
  readonly #cached = new Map<string, Cached>();
  readonly #dependants = new Map<string, Set<string>>();
  /** Grants of policies by id: many tokens share a policy, and texts are slow to parse. */
  readonly #policies = new Map<string, { readonly text: string; readonly grant: Grant }>();

  constructor(options: AuthorizersOptions) {
    this.#options = options;
  }

  /** What a secret's token may do now; undefined when there is no such token (any more). */
  of(tokenKey: string | null): Authorizer | undefined {
    return this.#find(tokenKey)?.authorizer;
  }

  /** Where the token of a secret lives. */
  namespaceOf(tokenKey: string): string | undefined {
    return this.#find(tokenKey)?.namespace;
  }

  /** The state keys that a secret's rights depend on: a change of one may be a change of them. */
  keysOf(tokenKey: string | null): readonly string[] {
    return this.#find(tokenKey)?.dependsOn ?? [];
  }

  /** These keys have changed; to be called before anything else is decided. */
  changed(changedKeys: readonly string[]): void {
    for (const key of changedKeys) {
      const tokenKeys = this.#dependants.get(key);
      if (tokenKeys !== undefined) for (const tokenKey of [...tokenKeys]) this.#forget(tokenKey);
      if (key.startsWith('policy\u0000')) this.#policies.delete(key);
    }
  }

  /** Another state was put in place. */
  reset(): void {
    this.#cached.clear();
    this.#dependants.clear();
    this.#policies.clear();
  }

  /** Compiled authorizers at hand. */
  get size(): number {
    return this.#cached.size;
  }

  #find(tokenKey: string | null): Cached | undefined {
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

  #resolve(tokenKey: string | null): Cached | undefined {
    const { view, nowMs } = this.#options;
    const anonymous = keys.token(DEFAULT_NAMESPACE, ANONYMOUS_ACCESSOR);
    const token =
      tokenKey === null ? stored<Token>(view, anonymous) : tokenBySecret(view, tokenKey);
    if (token === undefined) return tokenKey === null ? this.#nobody(anonymous) : undefined;
    if (!isAlive(view, token, nowMs())) return undefined;
    const collector = new Collector(this.#options, (key, policy) => this.#grantOf(key, policy));
    const own = collector.token(token);
    const defaults = collector.namespaceDefaults(token.Namespace);
    const authorizer = compile(own, {
      accessor: token.AccessorID,
      anonymous: token.AccessorID === ANONYMOUS_ACCESSOR,
      defaultPolicy: this.#options.defaultPolicy,
      defaults,
    });
    const ownKey = keys.token(token.Namespace, token.AccessorID);
    const dependsOn = new Set([ownKey, ...lifeKeys(token), ...collector.dependsOn]);
    if (tokenKey !== null) dependsOn.add(keys.tokenSecret(tokenKey));
    return {
      authorizer,
      namespace: token.Namespace,
      expiresMs: expiryOf(token) ?? Number.POSITIVE_INFINITY,
      dependsOn: [...dependsOn],
    };
  }

  /** Before the cluster has begun there is no anonymous token yet, and nothing to be allowed. */
  #nobody(anonymousKey: string): Cached {
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
    this.#policies.set(key, { text: policy.Rules, grant });
    return grant;
  }

  #keep(cacheKey: string, cached: Cached): void {
    this.#cached.set(cacheKey, cached);
    for (const key of cached.dependsOn) {
      const dependants = this.#dependants.get(key);
      if (dependants === undefined) this.#dependants.set(key, new Set([cacheKey]));
      else dependants.add(cacheKey);
    }
    if (this.#cached.size <= (this.#options.max ?? MAX)) return;
    const [oldest] = this.#cached.keys();
    this.#forget(oldest!);
  }

  #forget(cacheKey: string): void {
    const cached = this.#cached.get(cacheKey);
    this.#cached.delete(cacheKey);
    for (const key of cached?.dependsOn ?? []) {
      const dependants = this.#dependants.get(key);
      dependants?.delete(cacheKey);
      if (dependants?.size === 0) this.#dependants.delete(key);
    }
  }
}

/** Gathers what a token is granted, and the keys that this was read from. */
class Collector {
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
    const acls = stored<Namespace>(this.#view, keys.namespace(ns))?.ACLs;
    return [
      ...this.#policies(DEFAULT_NAMESPACE, acls?.PolicyDefaults, ns),
      ...this.#roles(DEFAULT_NAMESPACE, acls?.RoleDefaults, ns),
    ];
  }

  /** `actIn`: the namespace whose defaults these are; their rules hold there. */
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
