/**
 * Links to policies and roles. They are stored by ID. What they show of the linked object is a
 * record of its own (`policyLink`, `roleLink`), which changes on rename and delete only. Blocking
 * queries whose answers show links watch it.
 */
import { isUuid } from '../acl/names.js';
import { type Refusal, refusal } from '../errors.js';
import { bodyOf, given, items, type Type, text } from '../languages/fields.js';
import { keys } from './keys.js';
import { keysBelow, noteChange, stored } from './lists.js';
import type { ApplyContext, View } from './types.js';

/** A link as a client sends it. */
export interface LinkInput {
  readonly ID?: string;
  readonly Name?: string;
}
/** A link as it is stored. */
export interface Link {
  readonly ID: string;
}
/** What a link shows. Without Name the object was deleted, and the link shows nothing. */
export interface LinkFact {
  readonly Name?: string;
  readonly Index: number;
}

/** What links lead to. */
export type LinkTarget = 'policy' | 'role';

const sentLinks = items(bodyOf({ ID: given(text()), Name: given(text()) }));
/** A list of links, sent by ID or by name, stored by ID. */
export const links = (to: LinkTarget): Type<readonly Link[], readonly LinkInput[]> => ({
  description: { is: 'links', to },
  zero: () => [],
  isEmpty: (value) => value.length === 0,
  decode: sentLinks.decode,
});

const factKey = (target: LinkTarget, id: string): string =>
  target === 'policy' ? keys.policyLink(id) : keys.roleLink(id);

/** Returns what links to an object show; undefined if there never was one. */
export const linkFact = (view: View, target: LinkTarget, id: string): LinkFact | undefined =>
  stored<LinkFact>(view, factKey(target, id));

/** The key whose change changes what links to the object show. */
export const linkKey = factKey;

/** A linked object. Objects of its namespace link it, and namespaces themselves. */
interface Linked {
  readonly target: LinkTarget;
  readonly ns: string;
  readonly id: string;
}

/** Records the name of an object that was created or renamed. */
export function nameLink(context: ApplyContext, linked: Linked, name: string): void {
  const fact: LinkFact = { Name: name, Index: context.index };
  context.draft.put(factKey(linked.target, linked.id), JSON.stringify(fact));
  noteHolders(context, linked);
}

/** Records that an object was deleted: what still links it shows nothing. */
export function removeLinked(context: ApplyContext, linked: Linked): void {
  const fact: LinkFact = { Index: context.index };
  context.draft.put(factKey(linked.target, linked.id), JSON.stringify(fact));
  noteHolders(context, linked);
  dropUnused(context, linked.target, linked.id);
}

/** Notes that lists of what links an object have changed. */
function noteHolders(context: ApplyContext, { target, ns, id }: Linked): void {
  const isLinkedBy = (holder: string, ...where: string[]): boolean =>
    take(keysBelow(context.draft, `${holder}-by-${target}`, id, ...where), 1).length > 0;
  if (isLinkedBy('role', ns)) noteChange(context, 'role', ns);
  if (isLinkedBy('token', ns)) noteChange(context, 'token', ns);
  // All namespaces are listed there.
  if (isLinkedBy('namespace')) noteChange(context, 'namespace', 'default');
}

/** Resolves links to IDs of the namespace. Drops repeats; the first position counts. */
export function resolveLinks(
  view: View,
  target: LinkTarget,
  ns: string,
  links: readonly LinkInput[],
): { ids: string[] } | { problem: Refusal } {
  const ids = new Set<string>();
  for (const [position, link] of links.entries()) {
    const found = resolveLink(view, target, ns, link);
    if (typeof found !== 'string') {
      const field = target === 'policy' ? 'Policies' : 'Roles';
      return { problem: { ...found, pointer: `/${field}/${position}` } };
    }
    ids.add(found);
  }
  return { ids: [...ids] };
}

function resolveLink(
  view: View,
  target: LinkTarget,
  ns: string,
  { ID: id = '', Name: name = '' }: LinkInput,
): string | Refusal {
  if (id === '') {
    const byName = target === 'policy' ? keys.policyName(ns, name) : keys.roleName(ns, name);
    const what = `No such ACL ${target} with name ${JSON.stringify(name)}`;
    return view.get(byName) ?? refusal('unknown_reference', what);
  }
  if (!isUuid(id)) return refusal('invalid', `${target} ID: UUID must be 36 characters`);
  const key = target === 'policy' ? keys.policy : keys.role;
  if (view.get(key(ns, id.toLowerCase())) !== undefined) return id.toLowerCase();
  // Clients match on both wordings: that of links by name, and that of links by ID.
  const what = `No such ACL ${target} with ID ${JSON.stringify(id)}: No such ${target} with ID: ${id}`;
  return refusal('unknown_reference', what);
}

/** The keys that note the holders of links to an object, by its target and the holder's table. */
const HOLDER_KEYS: Readonly<Record<LinkTarget, Readonly<Record<string, HolderKey>>>> = {
  policy: {
    role: keys.roleByPolicy,
    token: keys.tokenByPolicy,
    namespace: (targetId, _ns, name) => keys.namespaceByPolicy(targetId, name),
  },
  role: {
    token: keys.tokenByRole,
    namespace: (targetId, _ns, name) => keys.namespaceByRole(targetId, name),
  },
};
/** Returns the key that notes a holder of a link to an ID, by the holder's namespace and ID. */
export type HolderKey = (targetId: string, ns: string, id: string) => string;

/** Returns the keys for holders of links. Throws if objects of the table cannot hold such links. */
export function holderKeyOf(holder: string, target: LinkTarget): HolderKey {
  const key = HOLDER_KEYS[target][holder];
  if (key === undefined) throw new Error(`no key notes links of a ${holder} to a ${target}`);
  return key;
}

/** Forgets a deleted object if nothing links it any more. */
export function dropUnused({ draft }: ApplyContext, target: LinkTarget, id: string): void {
  if (linkFact(draft, target, id)?.Name !== undefined) return;
  const used = Object.keys(HOLDER_KEYS[target]).some(
    (holder) => take(keysBelow(draft, `${holder}-by-${target}`, id), 1).length > 0,
  );
  if (!used) draft.del(factKey(target, id));
}

/** Returns at most `count` items. */
export function take<T>(items: Iterable<T>, count: number): T[] {
  const taken: T[] = [];
  if (count <= 0) return taken;
  for (const item of items) {
    taken.push(item);
    if (taken.length >= count) break;
  }
  return taken;
}
