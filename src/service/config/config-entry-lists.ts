/** Lists of config entries. Whole ones are cached until an entry in them changes. */
import type { Authorizer } from '../../acl/types.js';
import { definitionOf } from '../../kinds/definitions.js';
import { COMMON_SHAPE, shapeOf } from '../../kinds/schema.js';
import { KINDS, type Kind } from '../../kinds/types.js';
import { escapeHtml } from '../../languages/json.js';
import { nameIn } from '../../state/config-entries.js';
import { keys } from '../../state/keys.js';
import { keysBelow, listIndex } from '../../state/lists.js';
import { RESTORE_FACT } from '../../state/restore.js';
import { keyOf, type View } from '../../state/types.js';
import { type Matches, matcherOf, searching } from '../common/filters.js';
import { isHidden } from '../common/reading.js';
import type { ReadUseCase, Service } from '../common/types.js';
import { WeightedCache } from '../common/weighted-cache.js';
import { withPage } from '../reads/list-pages.js';
import { type ListPlan, lazy, type PageQuery } from '../reads/list-plan.js';
import { digestOf, heldList } from '../reads/list-rendering.js';
import { homeOf, listRight } from './entry-rights.js';
import { shownTo } from './shown-entries.js';

/** Which config entries a list has. */
export interface ConfigListQuery {
  readonly ns: string;
  /** Undefined for all kinds. */
  readonly kind: Kind | undefined;
  readonly filter: string | undefined;
  /** Words that an entry must contain. */
  readonly search: string | undefined;
  /** Undefined for the whole list. */
  readonly page: PageQuery | undefined;
  /** Whether it is sent indented, and thus not as it is cached. */
  readonly isPretty: boolean;
}

/** Bytes of all cached lists: enough for usual lists, without filling the memory. */
const CACHED_LENGTH_MAX = 8 * 1024 * 1024;

/** Characters of a list that stays in memory while a client reads it. A longer one is rendered. */
const HELD_LENGTH_MAX = CACHED_LENGTH_MAX / 4;

/** Longer lists are streamed, so that they are never one string in memory. */
const HELD_ITEMS_MAX = 1_000;

/** Cached lists may have any number of entries. */
const CACHED = { items: Number.POSITIVE_INFINITY, length: HELD_LENGTH_MAX };

/** The whole list of a kind, as callers see it who may read every entry. */
interface CachedList {
  /** The list is current while this equals `stampOf` of the present state. */
  readonly stamp: string;
  readonly whole: Uint8Array;
  /** The authorizers that are known to read every entry. */
  readonly readers: WeakSet<Authorizer>;
}

/** Lists config entries, and caches whole lists. */
export class ConfigLists {
  readonly #service: Service;
  readonly #cached = new WeightedCache<CachedList>(CACHED_LENGTH_MAX);

  constructor(service: Service) {
    this.#service = service;
  }

  /**
   * Lists what a caller may read, ordered by kind, then by lower-cased name: the bytes of a cached
   * list, escaped for HTML and with a newline at the end, or else a plan. Throws ApiError.
   */
  list(query: ConfigListQuery): ReadUseCase<ListPlan | Uint8Array> {
    const filter = compileFilter(query);
    const key = cacheKey(query);
    return ({ view, authorizer }) => {
      const places = placesOf(query, authorizer);
      const at = position(view, places);
      const cached = key === undefined ? undefined : this.#cached.get(key);
      if (cached?.readers.has(authorizer) && cached.stamp === stampOf(view, query)) {
        return { ...at, value: cached.whole };
      }
      const whole: ListPlan = {
        ...itemsOf(authorizer, places, filter),
        candidates: lazy(() =>
          places.flatMap(({ ns, kind }) => [...keysBelow(view, 'config', ns, kind)]),
        ),
        filtersByText: filter === undefined,
        namedByParts: query.kind === undefined ? 2 : 1,
        held: { items: HELD_ITEMS_MAX, length: HELD_LENGTH_MAX },
        asksForAll: filter === undefined,
        ...(key !== undefined &&
          places.length > 0 && {
            shared: async (of, shown) => {
              const stamp = stampOf(of, query);
              return (
                this.#find(key, stamp, authorizer) ??
                this.#keep(key, stamp, authorizer, await heldList(of, shown, CACHED))
              );
            },
          }),
      };
      const { page } = query;
      const plan = page === undefined ? whole : withPage(whole, page, authorizer, at.index);
      return { ...at, value: plan, digest: () => digestOf(this.#service, plan) };
    };
  }

  /** Returns the bytes of a cached list, which the caller may read whole. */
  #find(key: string, stamp: string, reader: Authorizer): Uint8Array | undefined {
    const cached = this.#cached.get(key);
    if (cached?.stamp !== stamp) return undefined;
    cached.readers.add(reader);
    return cached.whole;
  }

  #keep(
    key: string,
    stamp: string,
    reader: Authorizer,
    texts: readonly string[] | undefined,
  ): Uint8Array | undefined {
    if (texts === undefined) return undefined;
    const found = this.#find(key, stamp, reader);
    if (found !== undefined) return found;
    const whole = Buffer.from(escapeHtml(`[${texts.join(',')}]\n`));
    this.#cached.set(key, { stamp, whole, readers: new WeakSet([reader]) }, whole.length);
    return whole;
  }
}

/**
 * Returns the cache key of a list; undefined for a list that differs from reader to reader or is
 * rarely requested.
 */
function cacheKey(query: ConfigListQuery): string | undefined {
  const { ns, kind, filter, search, page, isPretty } = query;
  if (kind === undefined || page !== undefined || isPretty) return undefined;
  if (filter !== undefined || search !== undefined) return undefined;
  if (definitionOf(kind).secrets.length > 0) return undefined;
  return keyOf(homeOf(kind, ns), kind);
}

/**
 * Identifies the content of a list. It names the last restore too, because a restored snapshot can
 * have another list at the same index.
 */
const stampOf = (view: View, query: ConfigListQuery): string =>
  `${position(view, allPlaces(query)).index} ${view.get(RESTORE_FACT) ?? ''}`;

interface Place {
  readonly kind: Kind;
  readonly ns: string;
}

const allPlaces = ({ kind, ns }: ConfigListQuery): readonly Place[] =>
  (kind === undefined ? KINDS : [kind]).map((each) => ({ kind: each, ns: homeOf(each, ns) }));

/** Returns the places that a caller may see in a list. */
const placesOf = (query: ConfigListQuery, authorizer: Authorizer): readonly Place[] =>
  allPlaces(query).filter(({ ns }) => !isHidden(authorizer, ns));

/** Returns the index of a list, and the keys that a blocking query watches. */
function position(
  view: View,
  places: readonly Place[],
): { readonly index: number; readonly keys: readonly string[] } {
  return {
    index: Math.max(0, ...places.map(({ ns, kind }) => listIndex(view, 'config', ns, kind))),
    keys: places.map(({ ns, kind }) => keys.index('config', ns, kind)),
  };
}

/** Compiles the filter of a list, if there is one. Throws ApiError `invalid`. */
function compileFilter(query: ConfigListQuery): (() => Matches) | undefined {
  const { kind, search } = query;
  const secrets = (kind === undefined ? KINDS : [kind]).flatMap((of) => definitionOf(of).secrets);
  return searching(expressionOf(query), search, secrets);
}

function expressionOf({ kind, filter }: ConfigListQuery): (() => Matches) | undefined {
  if (filter === undefined) return undefined;
  return matcherOf(filter, kind === undefined ? COMMON_SHAPE : shapeOf(kind), {
    invalid({ message, line, column, isSyntax }) {
      const why = isSyntax === true ? `no match found, ${message}` : message;
      return `Failed to create boolean expression evaluator: ${line}:${column}: ${why}`;
    },
    tooLong: (message) => `The filter cannot be evaluated: ${message}`,
  });
}

/** How entries are shown to a caller. What may not be read is left out before it is filtered. */
function itemsOf(
  authorizer: Authorizer,
  places: readonly Place[],
  begin: (() => Matches) | undefined,
): Pick<ListPlan, 'render' | 'filter'> {
  const rights = places.map(({ kind, ns }) => ({
    prefix: keyOf('config', ns, kind, ''),
    mayRead: listRight(authorizer, kind, ns),
    shown: shownTo(authorizer, kind, ns),
  }));
  let last = rights[0]!;
  // entries of a kind follow one another
  const rightsTo = (key: string): typeof last => {
    if (!key.startsWith(last.prefix)) last = rights.find(({ prefix }) => key.startsWith(prefix))!;
    return last;
  };
  return {
    render(view, key) {
      const text = view.get(key);
      return text === undefined ? undefined : rightsTo(key).shown(text);
    },
    filter: () => {
      const matches = begin?.();
      return (view, key) => {
        const text = view.get(key);
        if (text === undefined) return false;
        const { mayRead, shown } = rightsTo(key);
        if (!mayRead(nameIn(text))) return 'hidden';
        return matches === undefined || matches(JSON.parse(shown(text)));
      };
    },
  };
}
