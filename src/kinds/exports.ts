/** Which services the entry `exported-services` exports to peers. */
import { CHAIN_KINDS } from './chain.js';
import type { ExportedServices } from './exported-services.js';
import type { EntryLookup } from './types.js';

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** The services that are exported to peers. */
export class Exports {
  #names = NO_NAMES;

  constructor(entry: ExportedServices | undefined) {
    if (entry === undefined) return;
    const names = new Map<string, string>();
    for (const { Name: name, Consumers: consumers } of entry.Services ?? []) {
      if (consumers?.some(({ Peer }) => Peer !== undefined)) names.set(name.toLowerCase(), name);
    }
    this.#names = names;
  }

  has(service: string): boolean {
    return this.#names.has(service.toLowerCase()) || this.#names.has('*');
  }

  /** Yields the services listed, and for a wildcard all services with chain entries. */
  *names(lookup: EntryLookup): Iterable<string> {
    for (const [name, spelling] of this.#names) if (name !== '*') yield spelling;
    if (!this.#names.has('*')) return;
    for (const kind of CHAIN_KINDS) for (const { Name: name } of lookup.list(kind)) yield name;
  }
}
