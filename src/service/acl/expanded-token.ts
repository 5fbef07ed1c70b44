/** The expanded read of a token: the token, and all policies and roles that apply to it. */
import {
  inAllDatacenters,
  nodePolicy,
  type SyntheticPolicy,
  servicePolicy,
  syntheticPolicy,
} from '../../acl/templates.js';
import type { Grants } from '../../state/grants.js';
import { keys } from '../../state/keys.js';
import type { Link } from '../../state/links.js';
import { stored } from '../../state/lists.js';
import type { Namespace } from '../../state/namespaces.js';
import { DEFAULT_NAMESPACE } from '../../state/object.js';
import type { Policy } from '../../state/policies.js';
import { type Role, roles } from '../../state/roles.js';
import { identityOf, lifeKeys } from '../../state/tokens.js';
import type { View } from '../../state/types.js';
import { Links, mustRead } from '../common/reading.js';
import type { ReadUseCase } from '../common/types.js';
import { type ObjectParts, withNames } from './objects.js';
import { endOf, mustFindToken, tokenShown } from './token-reads.js';

/** Reads a token with all that it links or implies. Throws ApiError 403, also if there is none. */
export const readTokenExpanded =
  (
    ns: string,
    accessor: string,
    resolver: Pick<ObjectParts, 'nodeName' | 'defaultPolicy'>,
    now: () => number,
  ): ReadUseCase<string | undefined> =>
  ({ view, authorizer }) => {
    mustRead(authorizer, ns);
    const nowMs = now();
    const token = mustFindToken(view, ns, accessor, nowMs);
    const links = new Links(view);
    const parts = new ExpandedParts(view);
    parts.addGrants(token);
    parts.addPolicies(ns, token.Policies);
    parts.addRoles(ns, token.Roles);
    const namespace = stored<Namespace>(view, keys.namespace(ns));
    const acls = namespace?.ACLs;
    // The rules of another namespace are for callers who may read it.
    if (authorizer.allowed('acl', 'read', undefined, DEFAULT_NAMESPACE)) parts.addDefaults(acls);
    const mayWrite = authorizer.allowed('acl', 'write', undefined, ns);
    const value = {
      ...tokenShown(token, links, mayWrite, identityOf(view, token)),
      ExpandedPolicies: orNull([...parts.policies.values()]),
      ExpandedRoles: orNull(parts.roles.map((role) => withNames(roles, role, links, true))),
      NamespaceDefaultPolicyIDs: orNull(idsOf(links.named('policy', acls?.PolicyDefaults))),
      NamespaceDefaultRoleIDs: orNull(idsOf(links.named('role', acls?.RoleDefaults))),
      AgentACLDefaultPolicy: resolver.defaultPolicy,
      AgentACLDownPolicy: 'extend-cache',
      ResolvedByAgent: resolver.nodeName,
    };
    return {
      value: JSON.stringify(value),
      index: Math.max(token.ModifyIndex, namespace?.ModifyIndex ?? 0, links.index, parts.index),
      keys: [keys.token(ns, token.AccessorID), ...lifeKeys(token), ...links.keys, ...parts.keys],
      ...endOf(token, nowMs),
    };
  };

const idsOf = (links: readonly Link[]): string[] => links.map(({ ID }) => ID);
const orNull = <T>(items: readonly T[]): readonly T[] | null => (items.length > 0 ? items : null);

/** Collects policies and roles, the keys that they were read from, and their newest index. */
class ExpandedParts {
  readonly policies = new Map<string, Policy | SyntheticPolicy>();
  readonly roles: Role[] = [];
  readonly keys: string[] = [];
  index = 0;
  readonly #view: View;

  constructor(view: View) {
    this.#view = view;
  }

  addPolicies(ns: string, links: readonly Link[] = []): void {
    for (const { ID } of links) {
      const policy = this.#read<Policy>(keys.policy(ns, ID));
      if (policy === undefined) continue;
      const { Datacenters = [], ...rest } = policy;
      this.policies.set(ID, Datacenters.length > 0 ? policy : rest);
    }
  }

  addRoles(ns: string, links: readonly Link[] = []): void {
    for (const { ID } of links) {
      const role = this.#read<Role>(keys.role(ns, ID));
      if (role === undefined || this.roles.some((known) => known.ID === ID)) continue;
      this.roles.push(role);
      this.addGrants(role);
      this.addPolicies(ns, role.Policies);
    }
  }

  addGrants({ ServiceIdentities, NodeIdentities, TemplatedPolicies }: Grants): void {
    const synthetic = [
      ...(ServiceIdentities ?? []).map((one) => servicePolicy(one.ServiceName, one.Datacenters)),
      ...(NodeIdentities ?? []).map((one) => nodePolicy(one.NodeName, one.Datacenter)),
      ...(TemplatedPolicies ?? []).map((one) =>
        syntheticPolicy(one.TemplateName, one.TemplateVariables, one.Datacenters),
      ),
    ];
    for (const policy of synthetic) this.#addSynthetic(policy);
  }

  /** Adds a policy. Of several with equal rules it keeps one, for the datacenters of all. */
  #addSynthetic(policy: SyntheticPolicy): void {
    const known = this.policies.get(policy.ID) as SyntheticPolicy | undefined;
    this.policies.set(policy.ID, known === undefined ? policy : inAllDatacenters(known, policy));
  }

  /** Adds what the namespace grants to all its tokens. */
  addDefaults(acls: Namespace['ACLs']): void {
    this.addPolicies(DEFAULT_NAMESPACE, acls?.PolicyDefaults);
    this.addRoles(DEFAULT_NAMESPACE, acls?.RoleDefaults);
  }

  #read<T extends { readonly ModifyIndex: number }>(key: string): T | undefined {
    this.keys.push(key);
    const object = stored<T>(this.#view, key);
    this.index = Math.max(this.index, object?.ModifyIndex ?? 0);
    return object;
  }
}
