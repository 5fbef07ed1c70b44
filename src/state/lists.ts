/** The indexes of a table: of its last change and of its last deletion. Helpers for handlers. */
import { OWN, type Refusal, refusal } from '../base/errors.js';
import { keys, type ListTable, type Table } from './keys.js';
import { type ApplyContext, keyOf, type View } from './types.js';

/** Records that an object was created or changed, and with it the list of its table. */
export function noteChange(
  context: ApplyContext,
  table: ListTable,
  ns: string,
  kind?: string,
): void {
  context.draft.put(keys.index(table, ns, kind), String(context.index));
}

/** Records that an object, or a name by which it was read, was removed. */
export function noteDeletion(context: ApplyContext, table: Table, ns: string, kind?: string): void {
  noteChange(context, table, ns, kind);
  context.draft.put(keys.deleted(table, ns, kind), String(context.index));
}

/** Returns the index of a list; 0 if it never contained an object. */
export const listIndex = (view: View, table: Table, ns: string, kind?: string): number =>
  Number(view.get(keys.index(table, ns, kind)) ?? 0);

/** Returns the index of a 404: that of the last deletion from the table, 0 if there was none. */
export const deletedIndex = (view: View, table: Table, ns: string, kind?: string): number =>
  Number(view.get(keys.deleted(table, ns, kind)) ?? 0);

/** Returns a stored object; undefined if there is none. */
export function stored<T>(view: View, key: string): T | undefined {
  const text = view.get(key);
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

/**
 * Returns the ModifyIndex of a stored object without parsing it. No later member can contain its
 * name.
 */
export const modifyIndexOf = (text: string): number => numberAfter(text, '"ModifyIndex":');

/** Returns the CreateIndex of an object's text. */
export const createIndexOf = (text: string): number => numberAfter(text, '"CreateIndex":');

function numberAfter(text: string, mark: string): number {
  const at = text.lastIndexOf(mark) + mark.length;
  return Number.parseInt(text.slice(at, at + 16), 10);
}

/** Returns the keys of a table below the given parts, such as all policies of a namespace. */
export const keysBelow = (view: View, ...parts: string[]): Iterable<string> =>
  view.keys(keyOf(...parts, ''));

/** Returns the last part of a key. */
export const lastPart = (key: string): string => key.slice(key.lastIndexOf('\u0000') + 1);

/** Returns the outcome of a handler that refuses. */
export const refused = (why: Refusal): { readonly ok: false; readonly refusal: Refusal } => ({
  ok: false,
  refusal: why,
});

/**
 * Returns why nothing may be written into a namespace, or undefined. Every handler that creates or
 * changes an object calls it.
 */
export function namespaceProblem(view: View, ns: string): Refusal | undefined {
  const text = view.get(keys.namespace(ns));
  if (text === undefined) {
    return refusal('unknown_reference', `Namespace ${JSON.stringify(ns)} does not exist`);
  }
  // Every write asks, so a namespace that is not being deleted is not parsed.
  if (!text.includes('"DeletedAt"')) return undefined;
  if ((JSON.parse(text) as { DeletedAt?: string }).DeletedAt !== undefined) {
    return refusal('conflict', `Namespace ${JSON.stringify(ns)} is being deleted`, OWN);
  }
  return undefined;
}
