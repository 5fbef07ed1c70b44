/**
 * Namespaces. Deleting one only marks it; `namespace.reap` then empties it part by part and removes it last. While it is
 * marked nothing can be written into it and its tokens do not count.
 */
import { policyHash } from '../acl/hash.js';
import { type Refusal, refusal } from '../errors.js';
import { keys, type Table } from './keys.js';
import { type Link, type LinkInput, moveLinks, resolveLinks, take } from './links.js';
import { keysBelow, lastPart, noteChange, noteDeletion, refused, stored } from './lists.js';
import { type AuthMethod, CASCADE_MAX, removeMethod } from './methods.js';
import { type Policy, putPolicy, removePolicy } from './policies.js';
import { type Role, removeRole } from './roles.js';
import { removeRule } from './rules.js';
import { removeToken, type Token } from './tokens.js';
import type { ApplyContext, Command, Handler, View } from './types.js';

export const DEFAULT_NAMESPACE = 'default';

/** A namespace as it is stored; answers add the names of the linked policies and roles. */
export interface Namespace {
  readonly Name: string;
  readonly Description?: string;
  /** What every token of the namespace is given besides its own links; lives in `default`. */
  readonly ACLs?: {
    readonly PolicyDefaults?: readonly Link[];
    readonly RoleDefaults?: readonly Link[];
  };
  readonly Meta?: { readonly [key: string]: string };
  /** RFC 3339; only while it is being deleted. */
  readonly DeletedAt?: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** Creates or replaces a namespace. `policyId`: id for the `namespace-management` policy of a new one. */
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

export interface NamespaceDelete extends Command {
  readonly type: 'namespace.delete';
  readonly name: string;
  readonly at: string;
}

/** Removes another part of a marked namespace, and at last itself; answers `true` then. */
export interface NamespaceReap extends Command {
  readonly type: 'namespace.reap';
  readonly name: string;
}

/** What the policy `namespace-management` of a new namespace grants inside it. */
const MANAGEMENT_RULES = [
  'acl = "write"',
  'mesh = "write"',
  ...['agent', 'key', 'session'].map((kind) => `${kind}_prefix "" {\n\tpolicy = "write"\n}`),
  'service_prefix "" {\n\tpolicy = "write"\n\tintentions = "write"\n}',
  'node_prefix "" {\n\tpolicy = "read"\n}',
].join('\n');

/** Stores a namespace; answers it without the names of its links. */
export const setNamespace: Handler<NamespaceSet> = (context, { namespace, policyId }) => {
  const { draft, index } = context;
  const { Name, Description, Meta } = namespace;
  const before = stored<Namespace>(draft, keys.namespace(Name));
  if (before?.DeletedAt !== undefined) {
    return refused(refusal('conflict', `Namespace ${JSON.stringify(Name)} is being deleted`));
  }
  const defaults = resolveDefaults(draft, namespace);
  if ('problem' in defaults) return refused(defaults.problem);
  moveDefaults(context, Name, before?.ACLs, defaults);
  const text = putNamespace(context, {
    Name,
    ...(Description ? { Description } : {}),
    ...(Object.keys(defaults).length > 0 ? { ACLs: defaults } : {}),
    ...(Meta && Object.keys(Meta).length > 0 ? { Meta } : {}),
    CreateIndex: before?.CreateIndex ?? index,
    ModifyIndex: index,
  });
  if (before === undefined && Name !== DEFAULT_NAMESPACE) plantManagement(context, Name, policyId);
  return { ok: true, value: text };
};

/** Writes a namespace; gives its text. */
export function putNamespace(context: ApplyContext, namespace: Namespace): string {
  const text = JSON.stringify(namespace);
  context.draft.put(keys.namespace(namespace.Name), text);
  noteChange(context, 'namespace', DEFAULT_NAMESPACE);
  return text;
}

/** Notes what a namespace links, so that it is told when a linked object is renamed or deleted. */
function moveDefaults(
  context: ApplyContext,
  id: string,
  before: Namespace['ACLs'],
  after: Namespace['ACLs'],
): void {
  const holder = 'namespace';
  const ns = DEFAULT_NAMESPACE;
  const policies = { before: before?.PolicyDefaults, after: after?.PolicyDefaults };
  moveLinks(context, { holder, target: 'policy', ns, id, ...policies });
  const roles = { before: before?.RoleDefaults, after: after?.RoleDefaults };
  moveLinks(context, { holder, target: 'role', ns, id, ...roles });
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
  const content = {
    Name: 'namespace-management',
    Description: 'Grants all rights inside this namespace',
    Rules: MANAGEMENT_RULES,
  };
  putPolicy(context, {
    ID: id,
    ...content,
    Hash: policyHash(content),
    CreateIndex: context.index,
    ModifyIndex: context.index,
    Namespace: ns,
  });
}

/** Marks a namespace for deletion; `true` when there was one. */
export const deleteNamespace: Handler<NamespaceDelete> = (context, { name, at }) => {
  const namespace = stored<Namespace>(context.draft, keys.namespace(name));
  if (namespace === undefined) return { ok: true, value: 'false' };
  if (name === DEFAULT_NAMESPACE) {
    return refused(refusal('invalid', 'Deletion of the namespace "default" is not permitted'));
  }
  if (namespace.DeletedAt === undefined) {
    const { CreateIndex, ModifyIndex: _before, ...rest } = namespace;
    putNamespace(context, { ...rest, DeletedAt: at, CreateIndex, ModifyIndex: context.index });
    context.draft.put(keys.namespaceDying(name), '');
  }
  return { ok: true, value: 'true' };
};

/** Empties a marked namespace by another part. */
export const reapNamespace: Handler<NamespaceReap> = (context, { name }) => {
  const { draft } = context;
  const namespace = stored<Namespace>(draft, keys.namespace(name));
  if (namespace?.DeletedAt === undefined) return { ok: true, value: 'false' };
  let left = CASCADE_MAX;
  for (const remove of REMOVERS) left -= remove(context, name, left);
  if (left <= 0) return { ok: true, value: 'false' };
  moveDefaults(context, name, namespace.ACLs, undefined);
  draft.del(keys.namespace(name));
  draft.del(keys.namespaceDying(name));
  noteDeletion(context, 'namespace', DEFAULT_NAMESPACE);
  return { ok: true, value: 'true' };
};

/** Removes up to `max` objects of a table in a namespace; gives how many. */
type Remover = (context: ApplyContext, ns: string, max: number) => number;

const remover =
  <T>(table: Table, remove: (context: ApplyContext, object: T) => void): Remover =>
  (context, ns, max) => {
    const some = take(keysBelow(context.draft, table, ns), max);
    for (const key of some) remove(context, stored<T>(context.draft, key)!);
    return some.length;
  };

const removeConfigs: Remover = (context, ns, max) => {
  const some = take(keysBelow(context.draft, 'config', ns), max);
  for (const key of some) {
    context.draft.del(key);
    noteDeletion(context, 'config', ns, key.split('\u0000')[2]!);
  }
  const references = take(keysBelow(context.draft, 'config-ref', ns), max - some.length);
  for (const key of references) context.draft.del(key);
  return some.length + references.length;
};

/** In this order no object is left whose links lead to something removed before it. */
const REMOVERS: readonly Remover[] = [
  remover<Token>('token', removeToken),
  (context, ns, max) => {
    const some = take(keysBelow(context.draft, 'rule', ns), max);
    for (const key of some) removeRule(context, ns, lastPart(key));
    return some.length;
  },
  remover<AuthMethod>('method', removeMethod),
  remover<Role>('role', removeRole),
  remover<Policy>('policy', removePolicy),
  removeConfigs,
];
