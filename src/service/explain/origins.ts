/** Collects the texts that a token's rights are made from, and the way from the token to each. */
import type { Origins, Path, PathStep, PlacedGrant } from '../../acl/origins.js';
import { policyGrant, templateGrant } from '../../acl/synthetic.js';
import { type TemplateVariables, templateByName, templateId } from '../../acl/templates.js';
import type { Grant } from '../../acl/types.js';
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

/** What the rights of a token are made from, with the keys it was read from. */
export interface CollectedOrigins extends Origins {
  readonly keys: readonly string[];
  /** The newest index of what was read. */
  readonly index: number;
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
 * Collects the origins of a token's rights in the order in which authorizers read them. `first` is
 * the first step of every way, `extra` are further rules of the token's own.
 */
export function originsOf(
  view: View,
  datacenter: string,
  token: Token,
  { first, extra }: { readonly first: PathStep; readonly extra?: string | undefined },
): CollectedOrigins {
  const collector = new Collector(view, datacenter);
  const own: PlacedGrant[] = [];
  const path = [first];
  const { Namespace: ns } = token;
  collector.holder({ path, ns, actIn: ns, to: own }, token);
  if (extra !== undefined) own.push({ ...policyGrant(extra, ns, true), path, text: extra });
  const defaults: PlacedGrant[] = [];
  collector.namespace(path, ns, defaults);
  const { elsewhere, dangling, keys, index } = collector;
  return { own, defaults, elsewhere, dangling, keys: [...keys], index };
}

class Collector {
  readonly elsewhere: PlacedGrant[] = [];
  readonly dangling: Path[] = [];
  readonly keys = new Set<string>();
  index = 0;
  readonly #view: View;
  readonly #datacenter: string;
  /** Policies may be linked many times. */
  readonly #parsed = new Map<string, Grant>();

  constructor(view: View, datacenter: string) {
    this.#view = view;
    this.#datacenter = datacenter;
  }

  holder(
    holder: Holder,
    content: Grants & { readonly Policies?: readonly Link[]; readonly Roles?: readonly Link[] },
  ): void {
    this.#policies(holder, content.Policies);
    this.#identities(holder, content);
    for (const { ID } of content.Roles ?? []) this.#role(holder, ID);
  }

  /** Adds what a namespace gives to all its tokens. */
  namespace(path: Path, name: string, to: PlacedGrant[]): void {
    const namespace = this.#read<Namespace>(keys.namespace(name));
    const { PolicyDefaults, RoleDefaults } = namespace?.ACLs ?? {};
    const step: PathStep = { Type: 'namespace', ID: name, Name: name };
    const holder = { path: [...path, step], ns: DEFAULT_NAMESPACE, actIn: name, to };
    this.#policies(holder, PolicyDefaults);
    for (const { ID } of RoleDefaults ?? []) this.#role(holder, ID);
  }

  #role(holder: Holder, id: string): void {
    const role = this.#linked<Role>('role', keys.role(holder.ns, id), holder, id);
    if (role === undefined) return;
    const path = [...holder.path, { Type: 'role', ID: id, Name: role.Name } as const];
    this.#policies({ ...holder, path }, role.Policies);
    this.#identities({ ...holder, path }, role);
  }

  #policies(holder: Holder, links: readonly Link[] = []): void {
    for (const { ID } of links) {
      const key = keys.policy(holder.ns, ID);
      const policy = this.#linked<Policy>('policy', key, holder, ID);
      if (policy === undefined) continue;
      const { Rules: text, Namespace, Name, Datacenters } = policy;
      const grant = this.#parsed.get(key) ?? policyGrant(text, Namespace, true);
      this.#parsed.set(key, grant);
      const path = [...holder.path, { Type: 'policy', ID, Name } as const];
      const { rules } = grant;
      this.#add(holder, { rules, namespace: holder.actIn, path, text }, Datacenters);
    }
  }

  #identities(holder: Holder, grants: Grants): void {
    for (const { ServiceName, Datacenters } of grants.ServiceIdentities ?? []) {
      const step: PathStep = { Type: 'service-identity', ID: '', Name: ServiceName };
      this.#template(holder, step, ['builtin/service', { name: ServiceName }], Datacenters);
    }
    for (const { NodeName, Datacenter } of grants.NodeIdentities ?? []) {
      const step: PathStep = { Type: 'node-identity', ID: '', Name: NodeName };
      this.#template(holder, step, ['builtin/node', { name: NodeName }], [Datacenter]);
    }
    for (const link of grants.TemplatedPolicies ?? []) {
      const { TemplateName: Name, TemplateVariables, Datacenters } = link;
      const step: PathStep = { Type: 'templated-policy', ID: templateId(Name) ?? '', Name };
      this.#template(holder, step, [Name, TemplateVariables], Datacenters);
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
    const isHere = !datacenters?.length || datacenters.includes(this.#datacenter);
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
    this.keys.add(linkKey(target, id));
    this.index = Math.max(this.index, linkFact(this.#view, target, id)?.Index ?? 0);
    this.dangling.push([...holder.path, { Type: target, ID: id, Name: '' }]);
    return undefined;
  }

  #read<T extends { readonly ModifyIndex: number }>(key: string): T | undefined {
    this.keys.add(key);
    const object = stored<T>(this.#view, key);
    this.index = Math.max(this.index, object?.ModifyIndex ?? 0);
    return object;
  }
}
