/** Who may call whom, by the intentions of a namespace. */

/** What is read of an entry of the kind service-intentions. */
export interface Intentions {
  readonly Name: string;
  readonly Sources?: readonly Source[] | null;
}

interface Source {
  readonly Name: string;
  readonly Namespace?: string;
  readonly Peer?: string;
  readonly Action?: string;
  readonly Permissions?: readonly unknown[] | null;
  /** How specific the source is: the server computes it. */
  readonly Precedence?: number;
}

/** What is decided about connections of one service to another. */
export interface Decision {
  /** `requests`: permissions decide about each request. */
  readonly is: 'allow' | 'deny' | 'requests';
  /** The entry and the source that decide; undefined for the default. */
  readonly by?: { readonly entry: string; readonly source: string };
}

/** Any service. */
export const ANY = '*';

/** The intentions of a namespace, ready for questions. */
export class Rules {
  readonly #byEntry = new Map<string, ReadonlyMap<string, Source>>();
  readonly #isAllowed: boolean;
  /** The services that entries are about, and those that sources name; `*` is among them. */
  readonly destinations: readonly string[];
  readonly sources: readonly string[];

  /** `isAllowed`: what holds where no intention decides. */
  constructor(entries: readonly Intentions[], isAllowed: boolean) {
    this.#isAllowed = isAllowed;
    const sources = new Set<string>();
    for (const { Name, Sources } of entries) {
      const byName = new Map((Sources ?? []).map((source) => [nameOf(source), source]));
      this.#byEntry.set(Name, byName);
      for (const name of byName.keys()) sources.add(name);
    }
    this.destinations = sorted(this.#byEntry.keys());
    this.sources = sorted(sources);
  }

  /** Decides about connections. The exact destination comes before `*`, then the exact source. */
  decide(source: string, destination: string): Decision {
    // Any service is any one of the same peer.
    const anyone = ANY + (/ \(.*\)$/.exec(source)?.[0] ?? '');
    for (const entry of [destination, ANY])
      for (const from of [source, anyone]) {
        const found = this.#byEntry.get(entry)?.get(from);
        if (found === undefined) continue;
        const by = { entry, source: from };
        if ((found.Permissions ?? []).length > 0) return { is: 'requests', by };
        return { is: found.Action === 'allow' ? 'allow' : 'deny', by };
      }
    return { is: this.#isAllowed ? 'allow' : 'deny' };
  }
}

/** Sources of other namespaces and of peers are told apart. */
const nameOf = ({ Name, Namespace, Peer }: Source): string =>
  Peer ? `${Name} (${Peer})` : Namespace && Namespace !== 'default' ? `${Namespace}/${Name}` : Name;

/** By name; `*` comes last. */
const sorted = (names: Iterable<string>): readonly string[] =>
  [...new Set(names)].sort((a, b) => (a === ANY ? 1 : b === ANY ? -1 : a < b ? -1 : a > b ? 1 : 0));
