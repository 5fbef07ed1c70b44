/**
 * Whose set an object is in (beyond.md 2.5). The record stands beside the object and goes with it:
 *
 *     owner NUL policy NUL default NUL 2f6a…        →  {"Owner":"gitops/a"}
 *     owner NUL binding-rule NUL default NUL 9c1d…  →  {"Owner":"gitops/a","Handle":"ci-web"}
 *     rule-handle NUL default NUL ci-web            →  9c1d…
 */
import { keys, type Table } from './keys.js';
import { stored } from './lists.js';
import { TYPES } from './refs.js';
import type { ApplyContext, View } from './types.js';

/** Who owns an object. Binding rules have no name, so that sets know them by a handle. */
export interface Ownership {
  /** Empty: no owner. */
  readonly Owner: string;
  readonly Handle?: string;
}

/** An object by its table, the namespace under which it is listed, and the last part of its key. */
export interface ObjectPlace {
  readonly table: Table;
  readonly ns: string;
  /** Of a config entry: `<kind>/<name>`. */
  readonly id: string;
}

/** Returns the key of the record of an object's owner. */
export const ownerKey = ({ table, ns, id }: ObjectPlace): string =>
  keys.owner(TYPES[table], ns, id);

/** Returns who owns an object; undefined if nobody does. */
export const ownershipOf = (view: View, place: ObjectPlace): Ownership | undefined =>
  view.mayHave?.('owner') === false ? undefined : stored<Ownership>(view, ownerKey(place));

/** Records who owns an object. */
export function putOwnership({ draft }: ApplyContext, place: ObjectPlace, owner: Ownership): void {
  const before = ownershipOf(draft, place);
  if (before?.Handle !== undefined && before.Handle !== owner.Handle) {
    dropHandle({ draft }, place, before.Handle);
  }
  draft.put(ownerKey(place), JSON.stringify(owner));
  if (owner.Handle !== undefined) draft.put(keys.ruleHandle(place.ns, owner.Handle), place.id);
}

/** Forgets the owner of an object that is removed. */
export function forgetOwnership(context: Pick<ApplyContext, 'draft'>, place: ObjectPlace): void {
  const before = ownershipOf(context.draft, place);
  if (before === undefined) return;
  context.draft.del(ownerKey(place));
  if (before.Handle !== undefined) dropHandle(context, place, before.Handle);
}

/** Another rule may have taken the handle in the same entry. */
function dropHandle({ draft }: Pick<ApplyContext, 'draft'>, place: ObjectPlace, handle: string) {
  const key = keys.ruleHandle(place.ns, handle);
  if (draft.get(key) === place.id) draft.del(key);
}
