/** What every table has: a list index that follows its changes, and the index of its last deletion. */
import { type Refusal, refusal } from '../errors.js';
import { keys, type Table } from './keys.js';
import { type ApplyContext, keyOf, type View } from './types.js';

/** An object was created or changed: its list is a new one. */
export function noteChange(context: ApplyContext, table: Table, ns: string, kind?: string): void {
  context.draft.put(keys.index(table, ns, kind), String(context.index));
}

/** An object went away, or the name under which it was read did. */
export function noteDeletion(context: ApplyContext, table: Table, ns: string, kind?: string): void {
  noteChange(context, table, ns, kind);
  context.draft.put(keys.deleted(table, ns, kind), String(context.index));
}

/** Index of a list; 0 when nothing was ever in it. */
export const listIndex = (view: View, table: Table, ns: string, kind?: string): number =>
  Number(view.get(keys.index(table, ns, kind)) ?? 0);

/** What a missing object answers with: the last deletion of its table. */
export const deletedIndex = (view: View, table: Table, ns: string, kind?: string): number =>
  Number(view.get(keys.deleted(table, ns, kind)) ?? 0);

/** Parses a stored object. */
export function stored<T>(view: View, key: string): T | undefined {
  const text = view.get(key);
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

/** Keys of a table below the given parts, for instance all policies of a namespace. */
export const keysBelow = (view: View, ...parts: string[]): Iterable<string> =>
  view.keys(keyOf(...parts, ''));

/** The last part of a key. */
export const lastPart = (key: string): string => key.slice(key.lastIndexOf('\u0000') + 1);

/** The outcome of a handler that refuses. */
export const refused = (why: Refusal): { readonly ok: false; readonly refusal: Refusal } => ({
  ok: false,
  refusal: why,
});

/** Why nothing may be written into a namespace, if so. Every handler that creates or changes an object asks. */
export function namespaceProblem(view: View, ns: string): Refusal | undefined {
  const namespace = stored<{ DeletedAt?: string }>(view, keys.namespace(ns));
  if (namespace === undefined) {
    return refusal('unknown_reference', `Namespace ${JSON.stringify(ns)} does not exist`);
  }
  if (namespace.DeletedAt !== undefined) {
    return refusal('conflict', `Namespace ${JSON.stringify(ns)} is being deleted`);
  }
  return undefined;
}
