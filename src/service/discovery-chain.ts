/** The use case that shows a compiled discovery chain. */
import { deniedAsStored } from '../acl/denial.js';
import type { Authorizer } from '../acl/types.js';
import { reject } from '../errors.js';
import type { ChainEntries } from '../kinds/chain.js';
import { chainGraph } from '../kinds/chain-graph.js';
import type { ConfigEntry, Kind } from '../kinds/types.js';
import { keys } from '../state/keys.js';
import { deletedIndex } from '../state/lists.js';
import type { View } from '../state/types.js';
import { readList } from './blocking-lists.js';
import { homeOf } from './config-entries.js';
import { modifyIndexOf } from './reading.js';
import type { Caller, ReadContext, ReadOptions, ReadOutcome, Service } from './types.js';

/** Which chain is asked for. */
export interface ChainQuery {
  readonly service: string;
  readonly ns: string;
  readonly datacenter: string;
}

/**
 * Reads the chain of a service as JSON text. A blocking query waits until the chain has changed: a
 * change of an entry that leaves the chain as it is does not count. Throws ApiError.
 */
export function readChain(
  service: Service,
  caller: Caller,
  options: ReadOptions,
  query: ChainQuery,
): Promise<ReadOutcome<string>> {
  return readList(options, async (how) => {
    const outcome = await service.read(caller, how, (context) => compiled(context, query));
    return { outcome, digest: outcome.value };
  });
}

function compiled({ view, authorizer }: ReadContext, { service, ns, datacenter }: ChainQuery) {
  mustReadService(authorizer, service, ns);
  const entries = new ReadEntries(view, ns);
  const outcome = chainGraph(entries, service, { namespace: ns, datacenter });
  if (!outcome.ok) return reject('conflict', outcome.fault);
  // Names of entries match in any letter case, but rules name services exactly.
  mustReadService(authorizer, outcome.graph.ServiceName, ns, service);
  const value = JSON.stringify({ Chain: outcome.graph });
  return { value, index: entries.index, keys: entries.keys };
}

/** Throws ApiError 403, which names what was `sent`. */
function mustReadService(
  authorizer: Authorizer,
  service: string,
  ns: string,
  sent = service,
): void {
  const why = authorizer.denial('service', 'read', service, ns);
  if (why === undefined) return;
  reject('permission_denied', sent === service ? why : deniedAsStored(why, sent));
}

/** Reads the entries of a chain, and notes what was looked up. */
class ReadEntries implements ChainEntries {
  /** The newest index of what was looked up. */
  index = 0;
  readonly #view: View;
  readonly #ns: string;
  readonly #found = new Map<string, ConfigEntry | undefined>();

  constructor(view: View, ns: string) {
    this.#view = view;
    this.#ns = ns;
  }

  /** The keys that were looked up. */
  get keys(): string[] {
    return [...this.#found.keys()];
  }

  get(kind: Kind, name: string): ConfigEntry | undefined {
    const ns = homeOf(kind, this.#ns);
    const key = keys.config(ns, kind, name);
    if (this.#found.has(key)) return this.#found.get(key);
    const text = this.#view.get(key);
    const entry = text === undefined ? undefined : (JSON.parse(text) as ConfigEntry);
    const index =
      text === undefined ? deletedIndex(this.#view, 'config', ns, kind) : modifyIndexOf(text);
    this.index = Math.max(this.index, index);
    this.#found.set(key, entry);
    return entry;
  }
}
