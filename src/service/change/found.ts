/** Finds objects of any type by their paths: `/<type>/<id>` (beyond.md 0.2). */
import { isUuid } from '../../acl/names.js';
import type { Authorizer } from '../../acl/types.js';
import type { ShownObject } from '../../api/endpoints/change.js';
import { refuseIf, reject } from '../../base/errors.js';
import type { EntryId } from '../../kinds/types.js';
import { cut } from '../../languages/shown-values.js';
import { didYouMean } from '../../languages/suggest.js';
import { keys, type Table } from '../../state/keys.js';
import { stored } from '../../state/lists.js';
import { DEFAULT_NAMESPACE, type StoredObject } from '../../state/object.js';
import { OBJECTS } from '../../state/objects.js';
import { type ObjectPlace, ownershipOf } from '../../state/owners.js';
import { refOf, TYPES, tableOfType } from '../../state/refs.js';
import { isAlive, type Token, tokenByAccessor } from '../../state/tokens.js';
import type { View } from '../../state/types.js';
import { isHidden, mustBeUuid, mustRead } from '../common/reading.js';
import type { ReadContext } from '../common/types.js';
import { kindOf } from '../config/config-entries.js';
import { denialOf, homeOf } from '../config/entry-rights.js';

/** An object as it is stored, with what names it. */
export interface FoundObject extends ObjectPlace {
  readonly object: StoredObject & Readonly<Record<string, unknown>>;
  readonly name: string;
  readonly ref: string;
  /** Who it belongs to; empty if it belongs to nobody. */
  readonly owner: string;
  /** What names a binding rule to its owner. */
  readonly handle: string | undefined;
}

/** Returns the table of a type. Throws ApiError 400. */
export function mustBeType(type: string): Table {
  const types = Object.values(TYPES);
  const what = `Unknown type ${JSON.stringify(type.slice(0, 64))}${didYouMean(type, types)}`;
  const hint = `known types: ${types.join(', ')}`;
  return tableOfType(type) ?? reject('invalid', what, { hint });
}

/** Returns what the id of a config entry names. Throws ApiError 400. */
export function entryIdOf(id: string): EntryId {
  const at = id.indexOf('/');
  if (at < 0)
    reject('invalid', 'A config entry is named by its kind and name: config/<kind>/<name>');
  return { kind: kindOf(id.slice(0, at)), name: id.slice(at + 1) };
}

function keyOfObject({ table, ns, id }: ObjectPlace): string {
  if (table !== 'config') return OBJECTS[table].key(ns, id);
  const { kind, name } = entryIdOf(id);
  return keys.config(ns, kind, name);
}

/** Whether a caller may read an object. Names of entries count as they are stored. */
export function mayReadObject(authorizer: Authorizer, { table, ns, id }: ObjectPlace): boolean {
  if (table === 'namespace') return authorizer.allowed('namespace', 'read', id);
  if (table !== 'config') return authorizer.allowed('acl', 'read', undefined, ns);
  return denialOf(authorizer, 'get', entryIdOf(id), ns) === undefined;
}

/** Whether an object that a caller may not read must not even be counted as left out. */
export const isUnseen = (authorizer: Authorizer, { table, ns, id }: ObjectPlace): boolean =>
  isHidden(authorizer, table === 'namespace' ? id : ns);

/** Returns an object of the state; undefined if there is none. */
export function objectAt(view: View, { table, ns, id }: ObjectPlace): FoundObject | undefined {
  const object = stored<FoundObject['object']>(view, keyOfObject({ table, ns, id }));
  if (object === undefined) return undefined;
  const { Owner: owner = '', Handle: handle } = ownershipOf(view, { table, ns, id }) ?? {};
  const named = { token: object['Description'], rule: handle ?? id } as const;
  const name = String(table === 'token' || table === 'rule' ? named[table] : object.Name);
  const kind = String(object['Kind']);
  const spelled = table === 'config' ? `${kind}/${name}` : (object[idMember(table)] as string);
  const refName = table === 'token' || table === 'config' ? spelled : name;
  const ref = refOf(TYPES[table], ns, refName);
  return { table, ns, id: spelled, object, name, ref, owner, handle };
}

const idMember = (table: Exclude<Table, 'config'>) => OBJECTS[table].identity;

/**
 * Returns the object of a path; undefined if there is none. Throws ApiError 403 if the caller may
 * not read it, and 400 for what cannot be one.
 */
export function findObject(
  { view, authorizer }: ReadContext,
  { table, ns, id }: ObjectPlace,
  nowMs: number,
): FoundObject | undefined {
  if (table === 'namespace') {
    refuseIf(authorizer.denial('namespace', 'read', id));
    return objectAt(view, { table, ns: DEFAULT_NAMESPACE, id });
  }
  if (table === 'config') {
    const entry = entryIdOf(id);
    const home = homeOf(entry.kind, ns);
    refuseIf(denialOf(authorizer, 'get', entry, home));
    const found = objectAt(view, { table, ns: home, id });
    // Rules name services exactly, and entries are found in any letter case.
    return found !== undefined && mayReadObject(authorizer, found) ? found : undefined;
  }
  if (table === 'token') {
    const token = isUuid(id) ? tokenByAccessor(view, id.toLowerCase()) : undefined;
    const isReadable =
      token !== undefined && authorizer.allowed('acl', 'read', undefined, token.Namespace);
    if (!isReadable) mustRead(authorizer, ns);
    const at = { table, ns: token?.Namespace ?? ns, id: uuidOf(table, id) };
    return isReadable && isAlive(view, token, nowMs) ? objectAt(view, at) : undefined;
  }
  mustRead(authorizer, ns);
  return objectAt(view, { table, ns, id: table === 'method' ? id : uuidOf(table, id) });
}

const uuidOf = (table: Exclude<Table, 'config'>, id: string): string =>
  mustBeUuid(id, OBJECTS[table].idLabel);

/** Returns an object as it is shown among others. */
export const shownObject = ({ table, ns, id, name }: FoundObject): ShownObject => ({
  Type: TYPES[table],
  ID: id,
  Name: cut(name),
  Namespace: ns,
});

/** Whether an object counts: a token that awaits its removal does not. */
export const counts = (view: View, { table, object }: FoundObject, nowMs: number): boolean =>
  table !== 'token' || isAlive(view, object as unknown as Token, nowMs);
