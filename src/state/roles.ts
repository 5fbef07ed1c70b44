/** ACL roles: named bundles of policy links, identities and templated policies. */
import { roleHash } from '../acl/hash.js';
import { type Refusal, refusal } from '../errors.js';
import type { Grants } from './grants.js';
import { keys } from './keys.js';
import {
  buryLink,
  type Link,
  type LinkInput,
  linkFact,
  moveLinks,
  nameLink,
  resolveLinks,
} from './links.js';
import { namespaceProblem, noteChange, noteDeletion, refused, stored } from './lists.js';
import type { ApplyContext, Command, Handler } from './types.js';

/** A role as it is stored; answers add the names of the linked policies. */
export interface Role extends Grants {
  readonly ID: string;
  readonly Name: string;
  readonly Description: string;
  readonly Policies?: readonly Link[];
  readonly Hash: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly Namespace: string;
}

/** Creates a role under a new id, or replaces one. Identities and templated policies are normalised already. */
export interface RoleSet extends Command {
  readonly type: 'role.set';
  readonly ns: string;
  readonly id: string;
  readonly create: boolean;
  readonly role: Grants & {
    readonly Name: string;
    readonly Description: string;
    readonly Policies: readonly LinkInput[];
  };
}

export interface RoleDelete extends Command {
  readonly type: 'role.delete';
  readonly ns: string;
  readonly id: string;
}

/** Stores a role; answers it without the names of its links. */
export const setRole: Handler<RoleSet> = (context, command) => {
  const { draft, index } = context;
  const { ns, id } = command;
  const before = stored<Role>(draft, keys.role(ns, id));
  const problem = namespaceProblem(draft, ns) ?? roleProblem(context, command, before);
  if (problem !== undefined) return refused(problem);
  const links = resolveLinks(draft, 'policy', ns, command.role.Policies);
  if ('problem' in links) return refused(links.problem);
  const { Name, Description, Policies: _sent, ...grants } = command.role;
  const content = {
    Name,
    Description,
    ...(links.ids.length > 0 ? { Policies: links.ids.map((ID) => ({ ID })) } : {}),
    ...grants,
  };
  const role: Role = {
    ID: id,
    ...content,
    Hash: roleHash(content),
    CreateIndex: before?.CreateIndex ?? index,
    ModifyIndex: index,
    Namespace: ns,
  };
  return { ok: true, value: putRole(context, role, before) };
};

function putRole(context: ApplyContext, role: Role, before: Role | undefined): string {
  const { draft } = context;
  const { ID: id, Name: name, Namespace: ns } = role;
  if (before?.Name !== name) {
    if (before !== undefined) {
      draft.del(keys.roleName(ns, before.Name));
      noteDeletion(context, 'role', ns);
    }
    draft.put(keys.roleName(ns, name), id);
    nameLink(context, { target: 'role', ns, id }, name);
  }
  moveLinks(context, {
    holder: 'role',
    target: 'policy',
    ns,
    id,
    before: before?.Policies,
    after: role.Policies,
  });
  noteChange(context, 'role', ns);
  const text = JSON.stringify(role);
  draft.put(keys.role(ns, id), text);
  return text;
}

/** Deletes a role; `true` when there was one. */
export const deleteRole: Handler<RoleDelete> = (context, { ns, id }) => {
  const role = stored<Role>(context.draft, keys.role(ns, id));
  if (role === undefined) return { ok: true, value: 'false' };
  removeRole(context, role);
  return { ok: true, value: 'true' };
};

/** Takes a role and what follows from it out of the state. */
export function removeRole(context: ApplyContext, role: Role): void {
  const { ID: id, Name: name, Namespace: ns } = role;
  context.draft.del(keys.role(ns, id));
  context.draft.del(keys.roleName(ns, name));
  moveLinks(context, {
    holder: 'role',
    target: 'policy',
    ns,
    id,
    before: role.Policies,
    after: undefined,
  });
  buryLink(context, { target: 'role', ns, id });
  noteDeletion(context, 'role', ns);
}

function roleProblem(
  { draft }: ApplyContext,
  { ns, id, create, role }: RoleSet,
  before: Role | undefined,
): Refusal | undefined {
  if (!create && before === undefined) return refusal('not_found', `cannot find role ${id}`);
  // what links show is kept by id alone, so ids are unique across namespaces
  if (create && linkFact(draft, 'role', id) !== undefined) {
    return refusal('conflict', `Role ID ${id} is already in use`);
  }
  const holder = draft.get(keys.roleName(ns, role.Name));
  if (holder !== undefined && holder !== id) {
    const why = `A Role with Name ${JSON.stringify(role.Name)} already exists`;
    return refusal('conflict', why, { pointer: '/Name' });
  }
  return undefined;
}
