/** What the reads of all ACL objects share: rights, ids, indexes, names of links. */
import { isUuid } from '../../acl/names.js';
import type { Authorizer } from '../../acl/types.js';
import { refuseIf, reject } from '../../base/errors.js';
import { nearestOf } from '../../languages/suggest.js';
import { keys, type ListTable, type Table } from '../../state/keys.js';
import { raisedTo } from '../../state/levels.js';
import { type Link, type LinkFact, type LinkTarget, linkKey } from '../../state/links.js';
import { deletedIndex, keysBelow, lastPart, stored } from '../../state/lists.js';
import { recordOf } from '../../state/machine-record.js';
import { SEEN_LEVEL } from '../../state/namespaces.js';
import { DEFAULT_NAMESPACE } from '../../state/object.js';
import type { Answer, View } from '../../state/types.js';
import type { ReadBy, ReadContext, ReadOutcome, Service } from './types.js';

export { modifyIndexOf } from '../../state/lists.js';

/** Throws ApiError 403 unless the caller may read ACL objects of the namespace. */
export function mustRead(authorizer: Authorizer, ns: string): void {
  refuseIf(authorizer.denial('acl', 'read', undefined, ns));
}

/** Marks the refusal of a value that is not a UUID. */
export const NO_UUID = { about: { kind: 'id' } } as const;

/** Returns the UUID of a path or parameter in lower case. Throws ApiError 400. */
export function mustBeUuid(id: string, what: string): string {
  if (isUuid(id)) return id.toLowerCase();
  const shown = JSON.stringify(id.slice(0, 64));
  const why = `${what}: UUID must be 36 characters, in hexadecimal with four hyphens, not ${shown}`;
  return reject('invalid', why, NO_UUID);
}

export { HIDDEN } from '../../state/put-form.js';

/**
 * Reads an object by the name in `nameKey`. `read` reads it by id. A blocking query watches the
 * name too.
 */
export function readNamed(
  view: View,
  nameKey: string,
  { table, ns }: { readonly table: Table; readonly ns: string },
  read: (id: string) => Answer<string | undefined>,
): Answer<string | undefined> {
  const id = view.get(nameKey);
  if (id === undefined) {
    return { value: undefined, index: deletedIndex(view, table, ns), keys: [nameKey] };
  }
  const answer = read(id);
  return { ...answer, keys: [nameKey, ...answer.keys] };
}

/** Looks up the names of links, and collects the keys that they were read from. */
export class Links {
  readonly #view: View;
  readonly #facts = new Map<string, LinkFact | undefined>();

  constructor(view: View) {
    this.#view = view;
  }

  /** Returns links with their present names, without those to deleted objects. */
  named(target: LinkTarget, links: readonly Link[] = []): { ID: string; Name: string }[] {
    return links.flatMap(({ ID }) => {
      const name = this.#fact(linkKey(target, ID))?.Name;
      return name === undefined ? [] : [{ ID, Name: name }];
    });
  }

  /** The newest index of the names that were returned; 0 for none. */
  get index(): number {
    return Math.max(0, ...[...this.#facts.values()].map((fact) => fact?.Index ?? 0));
  }

  /** The keys of the names that were returned. */
  get keys(): string[] {
    return [...this.#facts.keys()];
  }

  #fact(key: string): LinkFact | undefined {
    if (!this.#facts.has(key)) this.#facts.set(key, stored<LinkFact>(this.#view, key));
    return this.#facts.get(key);
  }
}

/**
 * Whether a namespace is hidden from a caller who has no right in it. Neither it nor its changes
 * are shown. Operators see every namespace.
 */
export const isHidden = (authorizer: Authorizer, ns: string): boolean =>
  ns !== DEFAULT_NAMESPACE && !authorizer.anyIn(ns) && !authorizer.allowed('operator', 'read');

interface ListPlaces {
  /** As it was asked for: a namespace, or `*`. */
  readonly ns: string;
  /** Those that the list shows. */
  readonly shown: readonly string[];
  /** Whether the caller may read the objects of a namespace, which need not exist. */
  readonly mayRead: (ns: string) => boolean;
}

/**
 * Returns the namespaces that a list of `ns` (or `*`) shows to a caller, and whether others are
 * left out. Throws ApiError 403 if there is none.
 */
export function listedNamespaces(
  view: View,
  authorizer: Authorizer,
  ns: string,
): ListPlaces & { readonly filtered: boolean } {
  const mayRead = (name: string): boolean => authorizer.allowed('acl', 'read', undefined, name);
  if (ns !== '*') {
    mustRead(authorizer, ns);
    return { ns, shown: [ns], mayRead, filtered: false };
  }
  const all = [...keysBelow(view, 'namespace')].map(lastPart);
  const shown = all.filter(mayRead);
  if (shown.length === 0) mustRead(authorizer, DEFAULT_NAMESPACE);
  const others = all.filter((name) => !shown.includes(name));
  return { ns, shown, mayRead, filtered: others.some((name) => !isHidden(authorizer, name)) };
}

/**
 * Returns the index of a list over some namespaces, and the keys that a blocking query watches.
 * `mayRead` tells which namespaces the caller may read: the index of a list of all (`*`) counts
 * those that are deleted, and no others.
 */
export function listPosition(
  view: View,
  table: ListTable,
  { ns, shown, mayRead }: ListPlaces,
): { index: number; keys: string[] } {
  const places = shown.map((name) => keys.index(table, name));
  const indexOf = (key: string): number => Number(view.get(key) ?? 0);
  if (ns !== '*') return { index: Math.max(0, ...places.map(indexOf)), keys: places };
  const namespaces = keys.index('namespace', DEFAULT_NAMESPACE);
  const seen = [...keysBelow(view, 'index', table)].filter((key) => mayRead(lastPart(key)));
  const since = raisedTo(view, SEEN_LEVEL) ?? indexOf(namespaces);
  return {
    index: Math.max(since, ...[...places, ...seen].map(indexOf)),
    // A namespace that is created later may have objects of the table.
    keys: [...places, namespaces],
  };
}

/**
 * Reads what follows from the whole state, and so has the index of the state. Nothing waits for a
 * change of it.
 */
export const readState = <T>(
  service: Service,
  { caller, options }: ReadBy,
  find: (context: ReadContext) => T,
): Promise<ReadOutcome<T>> =>
  service.read(caller, options, (context) => ({
    value: find(context),
    index: stateIndex(context.view),
    keys: [],
  }));

/** The index in the last text of the machine's record: it takes as long to parse as a decision. */
let known: { readonly text: string | undefined; readonly index: number } = {
  text: undefined,
  index: 1,
};

/** Returns the index of the state. */
export function stateIndex(view: View): number {
  const text = view.get(keys.machine);
  if (text !== known.text) known = { text, index: recordOf(view)?.index ?? 1 };
  return known.index;
}

/** Maps the value of an answer, if there is one. */
export async function made<T extends object | string, V>(
  outcome: ReadOutcome<T | undefined>,
  make: (found: T) => Promise<V>,
): Promise<ReadOutcome<V | undefined>> {
  const { value } = outcome;
  return { ...outcome, value: value === undefined ? undefined : await make(value) };
}

/** Names that are compared from each of two places: a 404 stays as cheap as a short list. */
const COMPARED_MAX = 100;

/**
 * Returns the key of the object whose name is closest to one that does not exist; undefined if none
 * is close. `prefix` is that of the keys that end with names in lower case. At most 100 names that
 * begin with the first half of the name are compared, and 100 that begin with its first letter.
 * Names that `mayRead` refuses do not count.
 */
export function nearestKey(
  view: View,
  prefix: string,
  name: string,
  mayRead: (name: string) => boolean = () => true,
): string | undefined {
  const wanted = name.toLowerCase();
  const found = new Map<string, string>();
  for (const shared of new Set([Math.floor(wanted.length / 2), 1])) {
    let left = COMPARED_MAX;
    for (const key of view.keys(prefix + wanted.slice(0, shared))) {
      left -= 1;
      if (left < 0) break;
      const known = lastPart(key);
      if (!found.has(known) && mayRead(known)) found.set(known, key);
    }
  }
  const nearest = nearestOf(wanted, [...found.keys()]);
  return nearest === undefined ? undefined : found.get(nearest);
}
