/** Use cases of roles. */
import { randomUUID } from 'node:crypto';
import { isRoleName } from '../acl/names.js';
import { reject } from '../errors.js';
import { keys } from '../state/keys.js';
import { deletedIndex, keysBelow, lastPart, stored } from '../state/lists.js';
import type { Role, RoleDelete, RoleSet } from '../state/roles.js';
import { type Answer, keyOf, type View } from '../state/types.js';
import { type Decoded, ignored, index, list, object, text } from './decode.js';
import { type FilterOf, MATCHES_ALL } from './filters.js';
import { GRANT_FIELDS, LINK_FIELDS, normaliseGrants } from './grants.js';
import type { ListPlan } from './lists.js';
import {
  Links,
  listedNamespaces,
  listPosition,
  mustBeUuid,
  mustRead,
  readNamed,
} from './reading.js';
import type { ReadUseCase, Service } from './types.js';
import { mayWrite, mustMatchPath, propose, type Write } from './writing.js';

export const ROLE_FIELDS = {
  ID: text,
  Name: text,
  // the one description that the body alone bounds: clients of this API are recorded to write 600 kB
  Description: text,
  Policies: list(object(LINK_FIELDS)),
  ...GRANT_FIELDS,
  Namespace: text,
  Hash: ignored,
  CreateIndex: index,
  ModifyIndex: index,
};
export type RoleBody = Decoded<typeof ROLE_FIELDS>;

/** Creates a role (`id` undefined) or replaces one; gives it as answered. */
export async function writeRole(
  service: Service,
  write: Write,
  id: string | undefined,
  body: RoleBody,
): Promise<string> {
  mustMatchPath(body.ID, id, 'Role');
  await mayWrite(service, write);
  const name = body.Name ?? '';
  if (name === '') reject('invalid', 'Invalid Role: no Name is set', { pointer: '/Name' });
  if (!isRoleName(name)) {
    const why =
      "Invalid Role: invalid Name. Only 1 to 256 alphanumeric characters, '-' and '_' are allowed";
    reject('invalid', why, { pointer: '/Name' });
  }
  if (id !== undefined) mustBeUuid(id, 'Role ID invalid UUID');
  const command: RoleSet = {
    type: 'role.set',
    v: 1,
    ns: write.ns,
    id: id?.toLowerCase() ?? randomUUID(),
    create: id === undefined,
    role: {
      Name: name,
      Description: body.Description ?? '',
      Policies: body.Policies ?? [],
      ...normaliseGrants(body, { is: 'role', ns: write.ns }),
    },
  };
  const role = JSON.parse(await propose(service, write, command)) as Role;
  return JSON.stringify(roleShown(role, new Links(service.view)));
}

/** Deletes a role; `true` or `false`. */
export async function deleteRole(service: Service, write: Write, id: string): Promise<string> {
  await mayWrite(service, write);
  const command: RoleDelete = {
    type: 'role.delete',
    v: 1,
    ns: write.ns,
    id: mustBeUuid(id, 'role ID'),
  };
  return propose(service, write, command);
}

/** A role with the present names of its links. */
export function roleShown(role: Role, links: Links): object {
  if (role.Policies === undefined) return role;
  const { ID, Name, Description, Policies, ...rest } = role;
  const named = links.named('policy', Policies);
  return { ID, Name, Description, ...(named.length > 0 ? { Policies: named } : {}), ...rest };
}

export const readRole =
  (ns: string, id: string): ReadUseCase<string | undefined> =>
  ({ view, authorizer }) => {
    mustRead(authorizer, ns);
    return roleAnswer(view, ns, mustBeUuid(id, 'role ID'));
  };

export const readRoleByName =
  (ns: string, name: string): ReadUseCase<string | undefined> =>
  ({ view, authorizer }) => {
    mustRead(authorizer, ns);
    return readNamed(view, keys.roleName(ns, name), { table: 'role', ns }, (id) =>
      roleAnswer(view, ns, id),
    );
  };

/** A role with its names, and the index of the newest thing it shows. */
function roleAnswer(view: View, ns: string, id: string): Answer<string | undefined> {
  const key = keys.role(ns, id);
  const role = stored<Role>(view, key);
  if (role === undefined) {
    return { value: undefined, index: deletedIndex(view, 'role', ns), keys: [key] };
  }
  const links = new Links(view);
  const value = JSON.stringify(roleShown(role, links));
  return { value, index: Math.max(role.ModifyIndex, links.index), keys: [key, ...links.keys] };
}

/** The roles of a namespace (`*`: of all), by name; with `policy` only those linked to that policy. */
export const listRoles =
  (ns: string, options: { policy?: string | undefined; filter: FilterOf }): ReadUseCase<ListPlan> =>
  ({ view, authorizer }) => {
    const { shown, filtered } = listedNamespaces(view, authorizer, ns);
    const policy = options.policy === undefined ? undefined : mustBeUuid(options.policy, 'policy');
    const matches = options.filter('role');
    const candidates = shown.flatMap((each) => nameKeys(view, each, policy));
    const render: ListPlan['render'] = (of, nameKey, links) => {
      const id = of.get(nameKey);
      if (id === undefined) return undefined;
      const [, each] = nameKey.split('\u0000') as [string, string];
      const text = of.get(keys.role(each, id))!;
      // a role may be as long as a body, and what is parsed is in memory several times
      if (matches === MATCHES_ALL && !text.includes('"Policies":[')) return text;
      const item = roleShown(JSON.parse(text) as Role, links);
      return matches(item) ? JSON.stringify(item) : undefined;
    };
    return { value: { candidates, render }, filtered, ...listPosition(view, 'role', ns, shown) };
  };

/** The keys of the names, in their order. */
function nameKeys(view: View, ns: string, policy: string | undefined): string[] {
  if (policy === undefined) return [...keysBelow(view, 'role-name', ns)];
  const linked = [...view.keys(keyOf('role-by-policy', policy, ns, ''))].map(lastPart);
  return linked.map((id) => keys.roleName(ns, stored<Role>(view, keys.role(ns, id))!.Name)).sort();
}
