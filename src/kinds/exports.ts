/** Which services the entry `exported-services` exports to peers. */
import { CHAIN_KINDS } from './chain.js';
import type { ExportedServices } from './exported-services.js';
import type { EntryLookup } from './types.js';

/** The services that are exported to peers. */
export class Exports {
  readonly #names = new Map<string, string>();

  constructor(entry: ExportedServices | undefined) {
    for (const { Name: name, Consumers: consumers } of entry?.Services ?? []) {
      if (consumers?.some(({ Peer }) => Peer !== undefined)) {
        this.#names.set(name.toLowerCase(), name);
      }
    }
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
