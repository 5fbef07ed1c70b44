/** Collects the texts that a token's rights are made from, and the way from the token to each. */
import { weightOf } from '../../acl/authorizer.js';
import type { Origins, Path, PathStep, PlacedGrant } from '../../acl/origins.js';
import { storedRules } from '../../acl/rules.js';
import type { Steps } from '../../acl/steps.js';
import { templateGrant } from '../../acl/synthetic.js';
import { type TemplateVariables, templateByName, templateId } from '../../acl/templates.js';
import type { Rules } from '../../acl/types.js';
import { cut } from '../../languages/shown-values.js';
import type { Grants } from '../../state/grants.js';
import { keys } from '../../state/keys.js';
import { type Link, type LinkTarget, linkFact, linkKey } from '../../state/links.js';
import { stored } from '../../state/lists.js';
import type { Namespace } from '../../state/namespaces.js';
import { DEFAULT_NAMESPACE } from '../../state/object.js';
import type { Policy } from '../../state/policies.js';
import type { Role } from '../../state/roles.js';
import type { Token } from '../../state/tokens.js';
import type { View } from '../../state/types.js';
import { WeightedCache } from '../common/weighted-cache.js';

/** What the rights of a token are made from. */
export interface CollectedOrigins extends Origins {
  /** The newest index of what was read. */
  readonly index: number;
}

/** A token, or a draft of one, whose rights are collected. */
export interface Collected {
  readonly token: Token;
  /** The first step of every way from it. */
  readonly first: PathStep;
  /** Further rules of its own. */
  readonly extra?: { readonly text: string; readonly rules: Rules } | undefined;
}

/** Returns a stored token as the first step of a way. */
export const stepOf = ({ AccessorID, Description }: Token): PathStep => ({
  Type: 'token',
  ID: AccessorID,
  Name: cut(Description),
});

export interface CollectorParts {
  readonly view: View;
  /** What is limited to other datacenters grants nothing here. */
  readonly datacenter: string;
  readonly policies: ParsedPolicies;
}

/** Where a holder's texts apply, and the way to it. */
interface Holder {
  readonly path: Path;
  /** The namespace of its links. */
  readonly ns: string;
  /** The namespace in which its rules hold. */
  readonly actIn: string;
  readonly to: PlacedGrant[];
}

/**
 * Collects the origins of a token's rights, in the order in which they are compiled. Adds each
 * state key to `read` before it reads it.
 */
export function* originsOf(
  parts: CollectorParts,
  { token, first, extra }: Collected,
  read: Set<string>,
): Steps<CollectedOrigins> {
  const collector = new Collector(parts, read);
  const own: PlacedGrant[] = [];
  const path = [first];
  const { Namespace: ns } = token;
  yield* collector.holder({ path, ns, actIn: ns, to: own }, token);
  if (extra !== undefined) own.push({ ...extra, namespace: ns, path });
  const defaults: PlacedGrant[] = [];
  yield* collector.namespace(path, ns, defaults);
  const { elsewhere, dangling, index } = collector;
  return { own, defaults, elsewhere, dangling, index };
}

class Collector {
  readonly elsewhere: PlacedGrant[] = [];
  readonly dangling: Path[] = [];
  index = 0;
  readonly #parts: CollectorParts;
  readonly #keys: Set<string>;

  constructor(parts: CollectorParts, read: Set<string>) {
    this.#parts = parts;
    this.#keys = read;
  }

  *holder(
    holder: Holder,
    content: Grants & { readonly Policies?: readonly Link[]; readonly Roles?: readonly Link[] },
  ): Steps<void> {
    yield* this.#policies(holder, content.Policies);
    yield* this.#identities(holder, content);
    for (const { ID } of content.Roles ?? []) yield* this.#role(holder, ID);
  }

  /** Adds what a namespace gives to all its tokens. */
  *namespace(path: Path, name: string, to: PlacedGrant[]): Steps<void> {
    const namespace = this.#read<Namespace>(keys.namespace(name));
    const { PolicyDefaults, RoleDefaults } = namespace?.ACLs ?? {};
    const step: PathStep = { Type: 'namespace', ID: name, Name: name };
    const holder = { path: [...path, step], ns: DEFAULT_NAMESPACE, actIn: name, to };
    yield* this.#policies(holder, PolicyDefaults);
    for (const { ID } of RoleDefaults ?? []) yield* this.#role(holder, ID);
  }

  *#role(holder: Holder, id: string): Steps<void> {
    const role = this.#linked<Role>('role', keys.role(holder.ns, id), holder, id);
    if (role === undefined) return;
    const path = [...holder.path, { Type: 'role', ID: id, Name: role.Name } as const];
    yield* this.#policies({ ...holder, path }, role.Policies);
    yield* this.#identities({ ...holder, path }, role);
  }

  *#policies(holder: Holder, links: readonly Link[] = []): Steps<void> {
    for (const { ID } of links) {
      yield;
      const key = keys.policy(holder.ns, ID);
      const policy = this.#linked<Policy>('policy', key, holder, ID);
      if (policy === undefined) continue;
      const { Rules: text, Name, Datacenters } = policy;
      const rules = yield* this.#parts.policies.rulesOf(key, policy);
      const path = [...holder.path, { Type: 'policy', ID, Name } as const];
      this.#add(holder, { rules, namespace: holder.actIn, path, text }, Datacenters);
    }
  }

  *#identities(holder: Holder, grants: Grants): Steps<void> {
    for (const { ServiceName, Datacenters } of grants.ServiceIdentities ?? []) {
      const step: PathStep = { Type: 'service-identity', ID: '', Name: ServiceName };
      this.#template(holder, step, ['builtin/service', { name: ServiceName }], Datacenters);
      yield;
    }
    for (const { NodeName, Datacenter } of grants.NodeIdentities ?? []) {
      const step: PathStep = { Type: 'node-identity', ID: '', Name: NodeName };
      this.#template(holder, step, ['builtin/node', { name: NodeName }], [Datacenter]);
      yield;
    }
    for (const link of grants.TemplatedPolicies ?? []) {
      const { TemplateName: Name, TemplateVariables, Datacenters } = link;
      const step: PathStep = { Type: 'templated-policy', ID: templateId(Name) ?? '', Name };
      this.#template(holder, step, [Name, TemplateVariables], Datacenters);
      yield;
    }
  }

  #template(
    holder: Holder,
    step: PathStep,
    [name, variables]: readonly [name: string, variables: TemplateVariables | undefined],
    datacenters: readonly string[] | undefined,
  ): void {
    const grant = templateGrant(name, variables, holder.actIn);
    const text = templateByName(name)?.Template ?? '';
    this.#add(holder, { ...grant, path: [...holder.path, step], text }, datacenters);
  }

  #add(holder: Holder, grant: PlacedGrant, datacenters: readonly string[] | undefined): void {
    const isHere = !datacenters?.length || datacenters.includes(this.#parts.datacenter);
    (isHere ? holder.to : this.elsewhere).push(grant);
  }

  /** Reads a linked object. Notes a link to a deleted one. */
  #linked<T extends { readonly ModifyIndex: number }>(
    target: LinkTarget,
    key: string,
    holder: Holder,
    id: string,
  ): T | undefined {
    const object = this.#read<T>(key);
    if (object !== undefined) return object;
    this.#keys.add(linkKey(target, id));
    this.index = Math.max(this.index, linkFact(this.#parts.view, target, id)?.Index ?? 0);
    this.dangling.push([...holder.path, { Type: target, ID: id, Name: '' }]);
    return undefined;
  }

  #read<T extends { readonly ModifyIndex: number }>(key: string): T | undefined {
    this.#keys.add(key);
    const object = stored<T>(this.#parts.view, key);
    this.index = Math.max(this.index, object?.ModifyIndex ?? 0);
    return object;
  }
}

/**
 * Caches the parsed rules of stored policies by their state key. Many roles and tokens link one
 * policy, and parsing is slow. The rules have their places in the text, so that explanations share
 * them.
 */
export class ParsedPolicies {
  readonly #cache: WeightedCache<{ readonly text: string; readonly rules: Rules }>;

  /** `bytes`: approximate size in memory. The oldest policies are evicted first. */
  constructor(bytes: number) {
    this.#cache = new WeightedCache(bytes);
  }

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
