/**
 * From a token's secret to what it may do. Compiled rights are shared by all tokens that are granted the same, and kept
 * until a key that they depend on changes: the machine tells within the apply, so no request is decided by rights that
 * are gone.
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
import { Weighted } from './weighted.js';

export interface AuthorizersOptions {
  readonly view: View;
  readonly datacenter: string;
  readonly defaultPolicy: 'deny' | 'allow';
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  /** Tokens whose rights are at hand; the oldest go first. */
  readonly max?: number;
  /** Bytes that policies and compiled rights kept may take, about; the oldest go first. */
  readonly rightsBytes: number;
}

/** Compiled rights, the state keys that they were read from, and the tokens that have them. */
interface Shared {
  readonly rights: Rights;
  readonly dependsOn: readonly string[];
  readonly tokens: Set<string>;
}

interface Cached {
  readonly authorizer: Authorizer;
  readonly namespace: string;
  readonly expiresMs: number;
  /** The keys of the token itself; those of its rights stand with these. */
  readonly dependsOn: readonly string[];
  /** What its rights are kept under; undefined: it has none. */
  readonly sharedId?: string;
}

/** Tokens whose rights are at hand. */
const MAX = 20_000;
/** What it takes to watch a state key, with what every entry takes: each watches one at least. */
const KEY_BYTES = 400;
/** Key under which a caller without a token is cached: not a hash, so never a secret's. */
const NO_TOKEN = 'none';

export class Authorizers {
  readonly #options: AuthorizersOptions;
  readonly #cached = new Map<string, Cached>();
  readonly #dependants = new Dependants();
  /** By what the rights follow from: `idOf`. */
  readonly #shared: Weighted<Shared>;
  readonly #sharedDependants = new Dependants();
  /** Grants of policies by id: many roles and tokens share a policy, and texts are slow to parse. */
  readonly #policies: Weighted<{ readonly text: string; readonly grant: Grant }>;

  constructor(options: AuthorizersOptions) {
    this.#options = options;
    const half = options.rightsBytes / 2;
    this.#shared = new Weighted(half, (id, shared) => this.#release(id, shared));
    this.#policies = new Weighted(half);
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
    const cached = this.#find(tokenKey);
    if (cached === undefined) return [];
    const shared = cached.sharedId === undefined ? undefined : this.#shared.get(cached.sharedId);
    return [...cached.dependsOn, ...(shared?.dependsOn ?? [])];
  }

  /** These keys have changed; to be called before anything else is decided. */
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

  /** Another state was put in place. */
  reset(): void {
    this.#cached.clear();
    this.#dependants.clear();
    this.#shared.clear();
    this.#sharedDependants.clear();
    this.#policies.clear();
  }

  /** Tokens whose rights are at hand. */
  get size(): number {
    return this.#cached.size;
  }

  /** What is kept: tokens, different rights compiled for them, and bytes that these and parsed policies take, about. */
  get stats(): { readonly tokens: number; readonly rights: number; readonly bytes: number } {
    const bytes = this.#shared.weight + this.#policies.weight;
    return { tokens: this.#cached.size, rights: this.#shared.size, bytes };
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
    const sharedId = idOf(token);
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

  /** The rights of a token, compiled unless another token has the same. */
  #rightsOf(id: string, token: Token): Rights {
    const known = this.#shared.get(id);
    if (known !== undefined) return known.rights;
    const collector = new Collector(this.#options, (key, policy) => this.#grantOf(key, policy));
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
    const weight = policy.Rules.length + weightOf(grant.rules);
    this.#policies.set(key, { text: policy.Rules, grant }, weight);
    return grant;
  }

  #keep(cacheKey: string, cached: Cached): void {
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

  /** Rights are kept no longer: nobody decides by them from here on. */
  #release(id: string, { dependsOn, tokens }: Shared): void {
    this.#sharedDependants.remove(id, dependsOn);
    for (const cacheKey of tokens) this.#forget(cacheKey);
  }
}

/**
 * What the rights of a token follow from, as a digest: its namespace and all that it links or holds itself. What the
 * links lead to is read from the state, and watched there.
 */
function idOf({ Namespace, Policies = [], Roles = [], ...token }: Token): string {
  const ids = (links: readonly Link[]): string[] => links.map(({ ID }) => ID).sort();
  const { ServiceIdentities, NodeIdentities, TemplatedPolicies } = token;
  const identities = [ServiceIdentities, NodeIdentities, TemplatedPolicies];
  return hash('sha256', JSON.stringify([Namespace, ids(Policies), ids(Roles), ...identities]));
}

/** Who depends on which key. */
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

  /** A copy: who is told of it may remove themselves. */
  of(key: string): readonly string[] {
    const ids = this.#byKey.get(key);
    return ids === undefined ? NOBODY : [...ids];
  }

  clear(): void {
    this.#byKey.clear();
  }
}

const NOBODY: readonly string[] = [];

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
    const key = keys.namespace(ns);
    this.dependsOn.add(key);
    const acls = stored<Namespace>(this.#view, key)?.ACLs;
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
