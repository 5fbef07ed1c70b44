/** Which config entries name an entry, in rules between entries, as intentions or as exports. */
import { CHAIN_KINDS } from '../kinds/chain.js';
import { ofKind } from '../kinds/entry-types.js';
import { target } from '../kinds/targets.js';
import type { ConfigEntry, EntryId, Kind } from '../kinds/types.js';
import { allNamespaces, Entries } from './config-entries.js';
import { keys } from './keys.js';
import type { ObjectPlace } from './owners.js';
import type { View } from './types.js';

/** The kinds of entries about one service. */
export const OF_SERVICE: readonly Kind[] = ['service-defaults', ...CHAIN_KINDS];

/** Returns the services that an entry exports. */
export const exportedBy = (entry: ConfigEntry | undefined): readonly string[] =>
  (ofKind('exported-services', entry)?.Services ?? []).map(({ Name }) => Name);

/** Finds the entries that name others. It reads exports once, and does not see later changes. */
export class EntryUsers {
  readonly #view: View;
  /** The exported services by namespace, in lower case. */
  readonly #exported = new Map<string, ReadonlySet<string>>();

  constructor(view: View) {
    this.#view = view;
  }

  /** Yields the entries that name an entry, its intentions and its exports. They exist. */
  *of(ns: string, { kind, name }: EntryId): Iterable<ObjectPlace> {
    const isCertificate = kind === 'file-system-certificate' || kind === 'inline-certificate';
    if (kind === 'jwt-provider') {
      for (const each of allNamespaces(this.#view))
        yield* this.#naming(each, target.provider(name));
    }
    if (kind === 'api-gateway') yield* this.#naming(ns, target.gateway(name));
    if (isCertificate) yield* this.#naming(ns, target.certificate(kind, name));
    if (!OF_SERVICE.includes(kind)) return;
    yield* this.#naming(ns, target.service(name));
    const intentions = new Entries(this.#view, ns).get('service-intentions', name);
    if (intentions !== undefined) yield place(ns, 'service-intentions', intentions.Name);
    if (this.#exportedIn(ns).has(name.toLowerCase())) yield place(ns, ...EXPORTS);
  }

  *#naming(ns: string, named: string): Iterable<ObjectPlace> {
    for (const { kind, name } of new Entries(this.#view, ns).naming(named)) {
      // A namespace that is being deleted loses its entries before their references.
      if (this.#view.get(keys.config(ns, kind, name)) !== undefined) yield place(ns, kind, name);
    }
  }

  #exportedIn(ns: string): ReadonlySet<string> {
    let found = this.#exported.get(ns);
    if (found === undefined) {
      const exports = new Entries(this.#view, ns).get(...EXPORTS);
      found = new Set(exportedBy(exports).map((name) => name.toLowerCase()));
      this.#exported.set(ns, found);
    }
    return found;
  }
}

/** The one entry of its kind. */
const EXPORTS = ['exported-services', 'default'] as const;

const place = (ns: string, kind: Kind, name: string): ObjectPlace => ({
  table: 'config',
  ns,
  id: `${kind}/${name}`,
});
