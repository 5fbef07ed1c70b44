/** The use case that shows a compiled discovery chain. */

import { hash } from 'node:crypto';
import type { Authorizer } from '../../acl/types.js';
import { refuseIf, reject } from '../../base/errors.js';
import type { ChainEntries } from '../../kinds/chain.js';
import { chainGraph, type Graphed } from '../../kinds/chain-graph.js';
import type { ConfigEntry, Kind } from '../../kinds/types.js';
import { keys as stateKeys } from '../../state/keys.js';
import { deletedIndex, listIndex } from '../../state/lists.js';
import { RESTORE_FACT } from '../../state/restore.js';
import type { View } from '../../state/types.js';
import { inSlices } from '../common/event-loop.js';
import { modifyIndexOf } from '../common/reading.js';
import type { Caller, ReadOptions, ReadOutcome, Service } from '../common/types.js';
import { WeightedCache } from '../common/weighted-cache.js';
import { homeOf } from './entry-rights.js';

/** Which chain is asked for. */
export interface ChainQuery {
  readonly service: string;
  readonly ns: string;
  readonly datacenter: string;
}

/** A compiled chain, or why it cannot be compiled. */
interface Chain {
  /** The service as its entries spell it. */
  readonly service: string;
  readonly text: string;
  readonly digest: string;
  readonly fault: string | undefined;
  readonly lookups: Lookups;
}

interface Compilation {
  /** Of two compilations, the later one has the greater number. */
  readonly number: number;
  readonly chain: Promise<Chain>;
}

/** Bytes of all cached chains: enough for the chains of a cluster that are asked for often. */
const CACHED_BYTES_MAX = 8 * 1024 * 1024;
/** Bytes that a key takes in memory, approximately. */
const KEY_BYTES = 200;

/** Compiles each chain once for all its readers, until one of its entries changes. */
export class Chains {
  readonly #service: Service;
  readonly #cached = new WeightedCache<Chain>(CACHED_BYTES_MAX);
  readonly #compiling = new Map<string, Compilation>();
  #begun = 0;

  constructor(service: Service) {
    this.#service = service;
  }

  /**
   * Reads the chain of a service as JSON text. A blocking query waits until the chain has changed:
   * a change of an entry that leaves the chain as it is does not count. Throws ApiError.
   */
  read(caller: Caller, options: ReadOptions, query: ChainQuery): Promise<ReadOutcome<string>> {
    let compiled: Chain | undefined;
    let last = options.index;
    let begun: number | undefined;
    return this.#service.read(caller, options, ({ view, authorizer }) => {
      mustReadService(authorizer, query.service, query.ns);
      // If its entries have changed since, the compiled chain is still an answer, but not one to
      // cache.
      const isAnswer = options.index === 0 || (compiled?.lookups.index ?? 0) > last;
      const chain = this.#present(view, query) ?? (isAnswer ? compiled : undefined);
      compiled = undefined;
      if (chain === undefined) {
        begun ??= this.#begun;
        const pending = this.#compile(query, begun).then((made) => {
          compiled = made;
          // what changes from now on is not in it
          if (made !== undefined) begun = undefined;
        });
        return { value: '', index: 0, keys: [], pending };
      }
      if (chain.fault !== undefined) reject('conflict', chain.fault);
      // Names of entries match in any letter case, but rules name services exactly.
      mustReadService(authorizer, chain.service, query.ns, query.service);
      const { index, keys } = chain.lookups;
      last = Math.max(last, index);
      return { value: chain.text, index, keys, digest: () => chain.digest };
    });
  }

  /** Returns the cached chain if no entry of it has changed. */
  #present(view: View, query: ChainQuery): Chain | undefined {
    const cached = this.#cached.get(cacheKey(query));
    return cached?.lookups.areCurrent(view) === true ? cached : undefined;
  }

  /**
   * Compiles a chain in the present state, once for all who ask for it meanwhile. If one runs that
   * is not later than number `begun`, waits for it and returns undefined: its state may be older
   * than the reader's barrier.
   */
  async #compile(query: ChainQuery, begun: number): Promise<Chain | undefined> {
    const key = cacheKey(query);
    const running = this.#compiling.get(key);
    if (running !== undefined) {
      const chain = await running.chain;
      return running.number > begun ? chain : undefined;
    }
    this.#begun += 1;
    const chain = this.#compiled(query).finally(() => this.#compiling.delete(key));
    this.#compiling.set(key, { number: this.#begun, chain });
    return chain;
  }

  async #compiled(query: ChainQuery): Promise<Chain> {
    const view = this.#service.pin();
    try {
      const compiled = await inSlices(compile(view, query), 'chain');
      const before = this.#cached.get(cacheKey(query));
      // readers of equal chains share one text
      const chain =
        before?.digest === compiled.digest ? { ...compiled, text: before.text } : compiled;
      const weight = chain.text.length + chain.lookups.keys.length * KEY_BYTES;
      this.#cached.set(cacheKey(query), chain, weight);
      return chain;
    } finally {
      view.close();
    }
  }
}

const cacheKey = ({ ns, service }: ChainQuery): string => JSON.stringify([ns, service]);

/** The kinds of entries that a chain is compiled from. */
const KINDS: readonly Kind[] = [
  'service-router',
  'service-splitter',
  'service-resolver',
  'service-defaults',
  'proxy-defaults',
];

/** The index of the last change of any entry of a kind. */
const listedAt = (view: View, ns: string, kind: Kind): number =>
  listIndex(view, 'config', homeOf(kind, ns), kind);

/** Throws ApiError 403, which names what was `sent`. */
function mustReadService(
  authorizer: Authorizer,
  service: string,
  ns: string,
  sent = service,
): void {
  const named = sent === service ? service : { stored: service, sent };
  refuseIf(authorizer.denial('service', 'read', named, ns));
}

/** Compiles a chain in steps of bounded work. */
function* compile(view: View, query: ChainQuery): Generator<void, Chain> {
  const { service, ns: namespace, datacenter } = query;
  const entries = new EntriesInSteps(view, namespace);
  let graphed: Graphed | undefined;
  while (graphed === undefined) {
    graphed = entries.read(() => chainGraph(entries, service, { namespace, datacenter }));
    yield;
  }
  const { lookups } = entries;
  if (!graphed.ok) return { service, text: '', digest: '', fault: graphed.fault, lookups };
  const { graph } = graphed;
  const text = JSON.stringify({ Chain: graph });
  yield;
  const digest = hash('sha256', text, 'base64');
  return { service: graph.ServiceName, text, digest, fault: undefined, lookups };
}

/** Characters of entries that are parsed in one step. */
const STEP_LENGTH = 256 * 1024;
/** The cost of a lookup, as the number of characters parsed in the same time. */
const LOOKUP_LENGTH = 128;

/** Ends a step. Never leaves this file. */
class StepOver extends Error {}

/**
 * Reads the entries of a chain, and notes what was looked up. A chain may lead through thousands of
 * entries, so a step reads some of them. The next one begins again, with those at hand.
 */
class EntriesInSteps implements ChainEntries {
  readonly lookups: Lookups;
  readonly #view: View;
  readonly #found = new Map<Kind, Map<string, ConfigEntry | undefined>>();
  #left = 0;

  constructor(view: View, ns: string) {
    this.#view = view;
    this.lookups = new Lookups(view, ns);
    for (const kind of KINDS) this.#found.set(kind, new Map());
  }

  /** Runs `work`, which reads entries. Returns undefined if it has to be run again. */
  read<T>(work: () => T): T | undefined {
    this.#left = STEP_LENGTH;
    try {
      return work();
    } catch (error) {
      if (error instanceof StepOver) return undefined;
      throw error;
    }
  }

  get(kind: Kind, name: string): ConfigEntry | undefined {
    const found = this.#found.get(kind)!;
    const lower = name.toLowerCase();
    const entry = found.get(lower);
    if (entry !== undefined || found.has(lower)) return entry;
    if (this.#left <= 0) throw new StepOver();
    const text = this.lookups.look(this.#view, kind, lower);
    this.#left -= LOOKUP_LENGTH + (text?.length ?? 0);
    const parsed = text === undefined ? undefined : (JSON.parse(text) as ConfigEntry);
    found.set(lower, parsed);
    return parsed;
  }
}

/** What was looked up of one kind. */
interface OfKind {
  readonly ns: string;
  /** The index of the last change of the kind at which the entries were known to be these. */
  listedAt: number;
  /** Whether an entry was looked up that does not exist. */
  lacks: boolean;
  /** The ModifyIndex by key; 0 for an entry that does not exist. */
  readonly indexes: Map<string, number>;
}

/** The entries that a chain was compiled from, by key and index. */
class Lookups {
  /** The newest index of what was looked up. */
  index = 0;
  readonly #restored: string | undefined;
  readonly #kinds = new Map<Kind, OfKind>();
  #keys: readonly string[] | undefined;

  constructor(view: View, namespace: string) {
    this.#restored = view.get(RESTORE_FACT);
    for (const kind of KINDS) {
      const ns = homeOf(kind, namespace);
      const at = listedAt(view, namespace, kind);
      this.#kinds.set(kind, { ns, listedAt: at, lacks: false, indexes: new Map() });
    }
  }

  /** The keys that were looked up. Read once all are. */
  get keys(): readonly string[] {
    this.#keys ??= [...this.#kinds.values()].flatMap(({ indexes }) => [...indexes.keys()]);
    return this.#keys;
  }

  /** Returns the text of an entry, and notes that it was looked up. */
  look(view: View, kind: Kind, name: string): string | undefined {
    const found = this.#kinds.get(kind)!;
    const key = stateKeys.config(found.ns, kind, name);
    const text = view.get(key);
    const index = text === undefined ? 0 : modifyIndexOf(text);
    found.indexes.set(key, index);
    this.index = Math.max(this.index, index);
    if (text === undefined) this.#lacks(view, kind, found);
    return text;
  }

  /** Whether the entries are the same in a later state. */
  areCurrent(view: View): boolean {
    if (view.get(RESTORE_FACT) !== this.#restored) return false;
    for (const [kind, found] of this.#kinds) {
      const now = listIndex(view, 'config', found.ns, kind);
      if (now === found.listedAt) continue;
      for (const [key, index] of found.indexes) {
        const text = view.get(key);
        if ((text === undefined ? 0 : modifyIndexOf(text)) !== index) return false;
      }
      found.listedAt = now;
      if (found.lacks) this.#lacks(view, kind, found);
    }
    return true;
  }

  /** An entry that does not exist has the index of the last deletion of any. */
  #lacks(view: View, kind: Kind, found: OfKind): void {
    found.lacks = true;
    this.index = Math.max(this.index, deletedIndex(view, 'config', found.ns, kind));
  }
}
