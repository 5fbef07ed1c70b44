/**
 * Namespaces. A deletion only marks a namespace. `namespace.reap` then removes its objects in
 * parts, and the namespace last. Nothing can be written into a marked namespace, and its tokens are
 * not valid.
 */
import { policyHash } from '../acl/hash.js';
import { isNamespaceName } from '../acl/names.js';
import { type Refusal, refusal } from '../base/errors.js';
import {
  always,
  computed,
  type Infer,
  labels,
  nonEmpty,
  object,
  text,
} from '../languages/fields.js';
import { dropTracesIn } from './history/trim.js';
import { keys } from './keys.js';
import { levelOf } from './levels.js';
import { type Link, type LinkInput, links, resolveLinks, take } from './links.js';
import { keysBelow, noteDeletion, refused, stored } from './lists.js';
import { CASCADE_MAX } from './methods.js';
import { NAMESPACED } from './namespaced.js';
import {
  type CommandCheck,
  type Commands,
  DEFAULT_NAMESPACE,
  defineObject,
  description,
  indexes,
  type ObjectDefinition,
  putObject,
  removeObject,
  type StoredObject,
} from './object.js';
import { forgetOwnership } from './owners.js';
import { plantPolicy } from './policies.js';
import type { ApplyContext, Command, Handler, View } from './types.js';

const fields = {
  Name: always('The name of the namespace, a DNS label.', text()),
  Description: nonEmpty('A human-readable description of the namespace.', description),
  ACLs: nonEmpty(
    'Links to objects in the namespace default that every token of this namespace has in ' +
      'addition to its own.',
    object({
      PolicyDefaults: nonEmpty('Policies in the namespace default.', links('policy')),
      RoleDefaults: nonEmpty('Roles in the namespace default.', links('role')),
    }),
  ),
  Meta: nonEmpty('User-defined labels. They have no effect.', labels),
  DeletedAt: nonEmpty(
    'When the deletion of the namespace began. Absent if it is not being deleted.',
    computed(text()),
  ),
  ...indexes,
};

/** A namespace as it is stored. Answers add the names of the linked policies and roles. */
export type Namespace = Readonly<Infer<typeof fields>>;

/**
 * Creates or replaces a namespace. `policyId` is the ID of the policy `namespace-management` if the
 * namespace is new.
 */
export interface NamespaceSet extends Command {
  readonly type: 'namespace.set';
  readonly policyId: string;
  readonly namespace: {
    readonly Name: string;
    readonly Description?: string;
    readonly Meta?: { readonly [key: string]: string };
    readonly PolicyDefaults: readonly LinkInput[];
    readonly RoleDefaults: readonly LinkInput[];
  };
}

/** Marks a namespace for deletion. */
interface NamespaceDelete extends Command {
  readonly type: 'namespace.delete';
  readonly name: string;
  readonly at: string;
}

/** Removes more objects of a marked namespace. Answers `true` once the namespace is removed. */
export interface NamespaceReap extends Command {
  readonly type: 'namespace.reap';
  readonly name: string;
}

/**
 * The level from which each deleted namespace leaves the index of its deletion, so that the index
 * of a list of namespaces counts those that its reader could see.
 */
export const SEEN_LEVEL = 3;

/** What the policy `namespace-management` of a new namespace grants inside it. */
export const MANAGEMENT_RULES = [
  'acl = "write"',
  'mesh = "write"',
  ...['agent', 'key', 'session'].map((kind) => `${kind}_prefix "" {\n\tpolicy = "write"\n}`),
  'service_prefix "" {\n\tpolicy = "write"\n\tintentions = "write"\n}',
  'node_prefix "" {\n\tpolicy = "read"\n}',
].join('\n');

/** The content of that policy. */
export const MANAGEMENT_POLICY = {
  Name: 'namespace-management',
  Description: 'Grants all rights inside this namespace',
  Rules: MANAGEMENT_RULES,
} as const;

export const namespaces = defineObject<Namespace, typeof fields>({
  table: 'namespace',
  description: 'A part of the cluster with its own objects and entries.',
  noun: 'namespace',
  identity: 'Name',
  columns:
    'Name, ACLs.PolicyDefaults as Policies, ACLs.RoleDefaults as Roles, DeletedAt as Deleted?, ' +
    'Description',
  lines:
    'Name, Description, ACLs.PolicyDefaults as Default policies, ' +
    'ACLs.RoleDefaults as Default roles, Meta, DeletedAt as Deleted',
  resource: 'namespace',
  fields,
  recordTables: ['namespace-dying'],
  key: (_ns, name) => keys.namespace(name),
  nameProblem(name) {
    if (name === '') return 'Invalid Namespace: no Name is set';
    return isNamespaceName(name)
      ? undefined
      : 'Invalid Namespace: invalid Name. ' +
          'It must be a DNS label: 1 to 63 lower case letters, digits and hyphens inside';
  },
  records: ({ Name, DeletedAt }) =>
    DeletedAt === undefined ? [] : [[keys.namespaceDying(Name), '']],
});

/** Stores a namespace. Answers it without the names of its links. */
const setNamespace: Handler<NamespaceSet> = (context, { namespace, policyId }) => {
  const { draft, index } = context;
  const { Name, Description, Meta } = namespace;
  const before = stored<Namespace>(draft, keys.namespace(Name));
  if (before?.DeletedAt !== undefined) {
    return refused(refusal('conflict', `Namespace ${JSON.stringify(Name)} is being deleted`));
  }
  const defaults = resolveDefaults(draft, namespace);
  if ('problem' in defaults) return refused(defaults.problem);
  const after: Namespace = {
    Name,
    ...(Description ? { Description } : {}),
    ...(Object.keys(defaults).length > 0 ? { ACLs: defaults } : {}),
    ...(Meta && Object.keys(Meta).length > 0 ? { Meta } : {}),
    CreateIndex: before?.CreateIndex ?? index,
    ModifyIndex: index,
  };
  const content = putObject(context, namespaces, after, before);
  if (before === undefined && Name !== DEFAULT_NAMESPACE) plantManagement(context, Name, policyId);
  return { ok: true, value: content };
};

/**
 * Returns the refusal of a command with a pointer into the body of a write. That of the command
 * stays as it is, because refusals are kept in the state, which all releases must make alike.
 */
export function refusedInBody({ pointer, ...why }: Refusal): Refusal {
  if (pointer === undefined) return why;
  const inBody = pointer
    .replace(/^\/Policies(?=\/)/, '/ACLs/PolicyDefaults')
    .replace(/^\/Roles(?=\/)/, '/ACLs/RoleDefaults');
  return { ...why, pointer: inBody };
}

function resolveDefaults(
  view: View,
  { PolicyDefaults, RoleDefaults }: NamespaceSet['namespace'],
): { PolicyDefaults?: Link[]; RoleDefaults?: Link[] } | { problem: Refusal } {
  const policies = resolveLinks(view, 'policy', DEFAULT_NAMESPACE, PolicyDefaults);
  if ('problem' in policies) return policies;
  const roles = resolveLinks(view, 'role', DEFAULT_NAMESPACE, RoleDefaults);
  if ('problem' in roles) return roles;
  const link = (ID: string): Link => ({ ID });
  return {
    ...(policies.ids.length > 0 ? { PolicyDefaults: policies.ids.map(link) } : {}),
    ...(roles.ids.length > 0 ? { RoleDefaults: roles.ids.map(link) } : {}),
  };
}

function plantManagement(context: ApplyContext, ns: string, id: string): void {
  plantPolicy(context, {
    ID: id,
    ...MANAGEMENT_POLICY,
    Hash: policyHash(MANAGEMENT_POLICY),
    CreateIndex: context.index,
    ModifyIndex: context.index,
    Namespace: ns,
  });
}

/** Marks a namespace for deletion. Answers `true` if there was one. */
const deleteNamespace: Handler<NamespaceDelete> = (context, { name, at }) => {
  const namespace = stored<Namespace>(context.draft, keys.namespace(name));
  if (namespace === undefined) return { ok: true, value: 'false' };
  if (name === DEFAULT_NAMESPACE) {
    return refused(refusal('invalid', 'Deletion of the namespace "default" is not permitted'));
  }
  if (namespace.DeletedAt === undefined) {
    const { CreateIndex, ModifyIndex: _before, ...rest } = namespace;
    const after = { ...rest, DeletedAt: at, CreateIndex, ModifyIndex: context.index };
    putObject(context, namespaces, after, namespace);
  }
  return { ok: true, value: 'true' };
};

/** Removes more objects of a marked namespace, and the namespace itself once it is empty. */
const reapNamespace: Handler<NamespaceReap> = (context, { name }) => {
  const { draft } = context;
  const namespace = stored<Namespace>(draft, keys.namespace(name));
  if (namespace?.DeletedAt === undefined) return { ok: true, value: 'false' };
  let left = CASCADE_MAX;
  for (const definition of Object.values(NAMESPACED)) {
    left -= removeSome(context, definition, name, left);
  }
  left -= removeConfigs(context, name, left);
  left -= dropTracesIn(context, name, left);
  if (left <= 0) return { ok: true, value: 'false' };
  removeObject(context, namespaces, namespace);
  if (levelOf(draft) >= SEEN_LEVEL) {
    draft.put(keys.deleted('namespace', name), String(context.index));
  }
  return { ok: true, value: 'true' };
};

/** Removes up to `max` objects of a namespace. Returns how many. */
function removeSome(
  context: ApplyContext,
  definition: ObjectDefinition,
  ns: string,
  max: number,
): number {
  const some = take(keysBelow(context.draft, definition.table, ns), max);
  for (const key of some) {
    removeObject(context, definition, stored<StoredObject>(context.draft, key)!);
  }
  return some.length;
}

function removeConfigs(context: ApplyContext, ns: string, max: number): number {
  const some = take(keysBelow(context.draft, 'config', ns), max);
  for (const key of some) {
    const [, , kind, name] = key.split('\u0000') as [string, string, string, string];
    context.draft.del(key);
    forgetOwnership(context, { table: 'config', ns, id: `${kind}/${name}` });
    noteDeletion(context, 'config', ns, kind);
  }
  const references = take(keysBelow(context.draft, 'config-ref', ns), max - some.length);
  for (const key of references) context.draft.del(key);
  return some.length + references.length;
}

/** Setting or removing the links that a namespace grants to its tokens needs `acl` write too. */
const mayWrite: CommandCheck = (authorizer, command, view) => {
  const { namespace } = command as NamespaceSet;
  const before = stored<Namespace>(view, keys.namespace(namespace.Name));
  const links = namespace.PolicyDefaults.length + namespace.RoleDefaults.length;
  const setsDefaults = links > 0 || before?.ACLs !== undefined;
  return (
    authorizer.denial('namespace', 'write', namespace.Name) ??
    (setsDefaults ? authorizer.denial('acl', 'write', undefined, DEFAULT_NAMESPACE) : undefined)
  );
};

const mayDelete: CommandCheck = (authorizer, command) =>
  authorizer.denial('namespace', 'write', (command as NamespaceDelete).name);

export const namespaceCommands: Commands = {
  'namespace.set': { right: mayWrite, apply: setNamespace },
  'namespace.delete': { right: mayDelete, apply: deleteNamespace },
  'namespace.reap': { right: 'internal', apply: reapNamespace },
};
