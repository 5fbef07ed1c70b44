/** The config entries of one namespace, as the rules between entries read them. */
import { isClusterWide, isKind } from '../kinds/definitions.js';
import type { ConfigEntry, EntryId, EntryLookup, Kind } from '../kinds/types.js';
import { keys } from './keys.js';
import { keysBelow, lastPart, mayHave } from './lists.js';
import { keyOf, type View } from './types.js';

/** Looks up entries in a view, and parses each once. It does not see later changes. */
export class Entries implements EntryLookup {
  readonly #view: View;
  readonly #ns: string;
  readonly #parsed = new Map<string, ConfigEntry | undefined>();
  readonly #naming = new Map<string, readonly EntryId[]>();
  /** Kinds without entries: most clusters have entries of few kinds, and rules look for many. */
  readonly #absent = new Set<Kind>();

  constructor(view: View, ns: string) {
    this.#view = view;
    this.#ns = ns;
  }

  get(kind: Kind, name: string): ConfigEntry | undefined {
    if (this.#absent.has(kind)) return undefined;
    const ns = isClusterWide(kind) ? 'default' : this.#ns;
    if (!mayHave(this.#view, 'config', ns, kind)) {
      this.#absent.add(kind);
      return undefined;
    }
    return this.#at(keys.config(ns, kind, name));
  }

  *list(kind: Kind): Iterable<ConfigEntry> {
    for (const key of keysBelow(this.#view, 'config', this.#ns, kind)) {
      const entry = this.#at(key);
      if (entry !== undefined) yield entry;
    }
  }

  naming(target: string): Iterable<EntryId> {
    let found = this.#naming.get(target);
    if (found === undefined) {
      found = [...this.#find(target)];
      this.#naming.set(target, found);
    }
    return found;
  }

  *#find(target: string): Iterable<EntryId> {
    const prefix = keyOf('config-ref', this.#ns, target, '');
    if (this.#view.mayHave?.(prefix) === false) return;
    for (const key of this.#view.keys(prefix)) {
      const [kind = '', name = ''] = key.slice(prefix.length).split('\u0000');
      if (isKind(kind)) yield { kind, name };
    }
  }

  #at(key: string): ConfigEntry | undefined {
    if (this.#parsed.has(key)) return this.#parsed.get(key);
    const text = this.#view.get(key);
    const entry = text === undefined ? undefined : (JSON.parse(text) as ConfigEntry);
    this.#parsed.set(key, entry);
    return entry;
  }
}

/** Returns the names of all namespaces, ascending. */
export function allNamespaces(view: View): string[] {
  return [...keysBelow(view, 'namespace')].map(lastPart);
}
