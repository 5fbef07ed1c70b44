/** Which gateways and routes have a status that changes of entries may alter. */
import type { Change } from './conflicts.js';
import { parentsOf } from './references.js';
import { target } from './targets.js';
import {
  CERTIFICATE_KINDS,
  type ConfigEntry,
  type EntryId,
  type EntryLookup,
  type Kind,
} from './types.js';

const isRoute = (kind: Kind): boolean => kind === 'http-route' || kind === 'tcp-route';

/** A change, and the services whose chains it may alter (affectedServices). */
export interface Affecting {
  readonly change: Change;
  readonly affected: ReadonlyMap<string, string>;
}

/** Returns the gateways and routes whose status changes may alter. */
export function reached(
  changes: readonly Affecting[],
  lookup: EntryLookup,
): { gateways: ReadonlySet<string>; routes: readonly EntryId[] } {
  const reach = new Reach(lookup);
  for (const { change, affected } of changes) {
    reach.byChange(change);
    for (const service of affected.values()) reach.byService(service);
  }
  return { gateways: reach.gateways ?? NO_GATEWAYS, routes: [...(reach.routes?.values() ?? [])] };
}

const NO_GATEWAYS: ReadonlySet<string> = new Set();

class Reach {
  /** Undefined for none, as of most changes; `routes` too. */
  gateways: Set<string> | undefined;
  routes: Map<string, EntryId> | undefined;
  readonly #lookup: EntryLookup;

  constructor(lookup: EntryLookup) {
    this.#lookup = lookup;
  }

  byChange(change: Change): void {
    const { kind, name, before, after } = change;
    if (kind === 'api-gateway') this.#addGateway(name);
    // Only the existence of certificates and providers counts.
    const comesOrGoes = before === undefined || after === undefined;
    if (CERTIFICATE_KINDS.includes(kind) && comesOrGoes) {
      for (const id of this.#lookup.naming(target.certificate(kind, name))) {
        this.#addGateway(id.name);
      }
    }
    const namers =
      kind === 'jwt-provider' && comesOrGoes ? this.#lookup.naming(target.provider(name)) : [];
    for (const id of namers) {
      if (id.kind === 'api-gateway') this.#addGateway(id.name);
      if (isRoute(id.kind)) this.#addBound(id);
    }
    if (isRoute(kind)) {
      this.#addRoute(change);
      for (const entry of [before, after]) this.#addParents(entry);
    }
  }

  byService(service: string): void {
    for (const id of this.#lookup.naming(target.service(service))) {
      if (isRoute(id.kind)) this.#addBound(id);
    }
  }

  #addRoute({ kind, name }: EntryId): void {
    this.routes ??= new Map();
    this.routes.set(`${kind} ${name.toLowerCase()}`, { kind, name });
  }

  #addGateway(name: string): void {
    this.gateways ??= new Set();
    this.gateways.add(name.toLowerCase());
    for (const id of this.#lookup.naming(target.gateway(name))) this.#addRoute(id);
  }

  #addParents(entry: ConfigEntry | undefined): void {
    for (const { Name } of entry === undefined ? [] : parentsOf(entry)) {
      this.gateways ??= new Set();
      this.gateways.add(Name.toLowerCase());
    }
  }

  /** Adds a route and the gateways that it may be bound to. */
  #addBound(id: EntryId): void {
    this.#addRoute(id);
    this.#addParents(this.#lookup.get(id.kind, id.name));
  }
}
