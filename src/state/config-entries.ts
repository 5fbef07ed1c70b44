/** The config entries of one namespace, as the rules between entries read them. */
import type { Change } from '../kinds/conflicts.js';
import { definitionOf, isClusterWide, isKind } from '../kinds/definitions.js';
import type { ConfigEntry, EntryId, EntryLookup, Kind } from '../kinds/types.js';
import { configGroup } from './groups.js';
import { keys } from './keys.js';
import { keysBelow, lastPart } from './lists.js';
import { keyOf, type View } from './types.js';

/**
 * Looks up entries in a view, and parses each once. It does not see later changes. Most clusters
 * have entries of few kinds, and the rules look for many: a kind without entries is looked up once.
 */
export class Entries implements EntryLookup {
  readonly #view: View;
  readonly #ns: string;
  /** What was looked up, by kind and lower-case name; undefined for a kind without entries. */
  readonly #known = new Map<Kind, Map<string, ConfigEntry | undefined> | undefined>();
  #naming: Map<string, readonly EntryId[]> | undefined;

  /** What `changed` wrote is in the view already, and is not parsed again. */
  constructor(view: View, ns: string, changed: Iterable<Change> = []) {
    this.#view = view;
    this.#ns = ns;
    for (const { kind, name, after } of changed) {
      if (after === undefined || definitionOf(kind).hasStatus) continue;
      const known = this.#known.get(kind);
      if (known === undefined) this.#known.set(kind, new Map([[name.toLowerCase(), after]]));
      else known.set(name.toLowerCase(), after);
    }
  }

  get(kind: Kind, name: string): ConfigEntry | undefined {
    return this.#at(kind, name.toLowerCase());
  }

  *list(kind: Kind): Iterable<ConfigEntry> {
    for (const key of keysBelow(this.#view, 'config', this.#ns, kind)) {
      const entry = this.#at(kind, lastPart(key));
      if (entry !== undefined) yield entry;
    }
  }

  naming(target: string): Iterable<EntryId> {
    if (this.#view.mayHave?.('config-ref') === false) return [];
    this.#naming ??= new Map();
    let found = this.#naming.get(target);
    if (found === undefined) {
      found = [...this.#find(target)];
      this.#naming.set(target, found);
    }
    return found;
  }

  *#find(target: string): Iterable<EntryId> {
    const prefix = keyOf('config-ref', this.#ns, target, '');
    for (const key of this.#view.keys(prefix)) {
      const [kind = '', name = ''] = key.slice(prefix.length).split('\u0000');
      if (isKind(kind)) yield { kind, name };
    }
  }

  #at(kind: Kind, name: string): ConfigEntry | undefined {
    const ns = isClusterWide(kind) ? 'default' : this.#ns;
    let known = this.#known.get(kind);
    if (known === undefined) {
      if (this.#known.has(kind)) return undefined;
      const isEmpty = this.#view.mayHave?.(configGroup(ns, kind)) === false;
      if (!isEmpty) known = new Map();
      this.#known.set(kind, known);
      if (known === undefined) return undefined;
    }
    let entry = known.get(name);
    if (entry === undefined && !known.has(name)) {
      const text = this.#view.get(keys.config(ns, kind, name));
      entry = text === undefined ? undefined : (JSON.parse(text) as ConfigEntry);
      known.set(name, entry);
    }
    return entry;
  }
}

/** Returns the names of all namespaces, ascending. */
export function allNamespaces(view: View): string[] {
  return [...keysBelow(view, 'namespace')].map(lastPart);
}

/** Returns the Name of a stored entry. Entries begin with Kind and Name, so no more is parsed. */
export function nameIn(text: string): string {
  const start = text.indexOf(MARK) + MARK.length;
  let end = text.indexOf('"', start);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  const raw = text.slice(start, end);
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
}
const MARK = ',"Name":"';

/** Whether the quote at `end` is preceded by an odd number of backslashes. */
function isEscaped(text: string, end: number): boolean {
  let count = 0;
  while (text[end - 1 - count] === '\\') count += 1;
  return count % 2 === 1;
}
