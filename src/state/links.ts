/**
 * Links to policies and roles. An object stores only the IDs. What a link shows of its target is a
 * separate record (`policyLink`, `roleLink`), which changes only when the target is renamed or
 * deleted. Blocking queries whose answers show links watch it:
 *
 *     role NUL default NUL <role>   →  {…,"Policies":[{"ID":"<policy>"}],…}
 *     policy-link NUL <policy>      →  {"Name":"read-web","Index":17}
 */
import { isUuid } from '../acl/names.js';
import { type Refusal, refusal } from '../base/errors.js';
import { bodyOf, ifSent, items, type Type, text } from '../languages/fields.js';
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
/** What a link shows. Name is absent once the target is deleted; the link then shows nothing. */
export interface LinkFact {
  readonly Name?: string;
  readonly Index: number;
}

/** The table of a link's target. */
export type LinkTarget = 'policy' | 'role';

const sentLink = bodyOf({
  ID: ifSent('The ID of the object.', text()),
  Name: ifSent('The name of the object. Not needed in a link with an ID.', text()),
});
const sentLinks = items(sentLink);
/** Returns the type of a list of links, sent by ID or by name and stored by ID. */
export const links = (to: LinkTarget): Type<readonly Link[], readonly LinkInput[]> => ({
  description: { is: 'links', to, of: sentLink },
  zero: () => [],
  isEmpty: (value) => value.length === 0,
  decode: sentLinks.decode,
});

const factKey = (target: LinkTarget, id: string): string =>
  target === 'policy' ? keys.policyLink(id) : keys.roleLink(id);

/** Returns what links to an object show; undefined if the object never existed. */
export const linkFact = (view: View, target: LinkTarget, id: string): LinkFact | undefined =>
  stored<LinkFact>(view, factKey(target, id));

/** Returns the key of the record that links to the object show. */
export const linkKey = factKey;

/** A linked object. Objects of its namespace and namespaces may link to it. */
interface Linked {
  readonly target: LinkTarget;
  readonly ns: string;
  readonly id: string;
}

/** Records the name of an object that was created or renamed. */
export function nameLink(context: ApplyContext, linked: Linked, name: string): void {
  const fact: LinkFact = { Name: name, Index: context.index };
  const key = factKey(linked.target, linked.id);
  // Nothing links to an object that was never there.
  const isNew = context.draft.get(key) === undefined;
  context.draft.put(key, JSON.stringify(fact));
  if (!isNew) noteHolders(context, linked);
}

/** Records that an object was deleted, so that links to it show nothing. */
export function removeLinked(context: ApplyContext, linked: Linked): void {
  const fact: LinkFact = { Index: context.index };
  context.draft.put(factKey(linked.target, linked.id), JSON.stringify(fact));
  noteHolders(context, linked);
  dropUnused(context, linked.target, linked.id);
}

/** Updates the indexes of the lists whose objects link to an object. */
function noteHolders(context: ApplyContext, { target, ns, id }: Linked): void {
  const { draft } = context;
  if (isLinkedBy(draft, 'role', target, id, ns)) noteChange(context, 'role', ns);
  if (isLinkedBy(draft, 'token', target, id, ns)) noteChange(context, 'token', ns);
  // Namespaces are listed in the default namespace.
  if (isLinkedBy(draft, 'namespace', target, id)) noteChange(context, 'namespace', 'default');
}

/** Whether an object of a table links to a target. */
function isLinkedBy(view: View, holder: string, target: LinkTarget, ...where: string[]): boolean {
  const table = `${holder}-by-${target}`;
  if (view.mayHave?.(table) === false) return false;
  return take(keysBelow(view, table, ...where), 1).length > 0;
}

/**
 * Resolves links to IDs of objects in the namespace. Drops duplicates: the first position counts.
 * Returns a refusal, with a pointer to the link, for the first link without a target.
 */
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
    const named = view.get(
      target === 'policy' ? keys.policyName(ns, name) : keys.roleName(ns, name),
    );
    if (named !== undefined) return named;
    const what = `No such ACL ${target} with name ${JSON.stringify(name)}`;
    return refusal('unknown_reference', what);
  }
  if (!isUuid(id)) return refusal('invalid', `${target} ID: UUID must be 36 characters`);
  const key = target === 'policy' ? keys.policy : keys.role;
  if (view.get(key(ns, id.toLowerCase())) !== undefined) return id.toLowerCase();
  // Clients match on both sentences, that about links by name and that about links by ID.
  const quoted = JSON.stringify(id);
  const what = `No such ACL ${target} with ID ${quoted}: No such ${target} with ID: ${id}`;
  return refusal('unknown_reference', what);
}

/** The keys of the records of who links to a target, by target and the table of the holder. */
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
/** Returns the key of the record that an object (`ns`, `id`) links to a target. */
export type HolderKey = (targetId: string, ns: string, id: string) => string;

/** Returns the key function of a table. Throws Error if its objects cannot link to the target. */
export function holderKeyOf(holder: string, target: LinkTarget): HolderKey {
  const key = HOLDER_KEYS[target][holder];
  if (key === undefined) throw new Error(`no key notes links of a ${holder} to a ${target}`);
  return key;
}

/** Deletes the record of what links to a deleted object show, once nothing links to it. */
export function dropUnused({ draft }: ApplyContext, target: LinkTarget, id: string): void {
  if (linkFact(draft, target, id)?.Name !== undefined) return;
  const used = Object.keys(HOLDER_KEYS[target]).some((holder) =>
    isLinkedBy(draft, holder, target, id),
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
