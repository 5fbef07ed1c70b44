/**
 * Lists of config entries. A list can have a hundred thousand entries, so it is built over a frozen
 * view, in slices of the event loop's time.
 */
import { createHash, type Hash } from 'node:crypto';
import type { Authorizer } from '../../acl/types.js';
import { reject } from '../../base/errors.js';
import { named } from '../../base/works.js';
import { definitionOf } from '../../kinds/definitions.js';
import { COMMON_SHAPE, shapeOf } from '../../kinds/schema.js';
import { KINDS, type Kind } from '../../kinds/types.js';
import { BudgetError, compileExpression, EVALUATION_BUDGET } from '../../languages/bexpr.js';
import { escapeHtml } from '../../languages/json.js';
import { keys } from '../../state/keys.js';
import { listIndex } from '../../state/lists.js';
import { RESTORE_FACT, restoredAt } from '../../state/restore.js';
import { keyOf, type View } from '../../state/types.js';
import { Slice } from '../common/event-loop.js';
import { isHidden, modifyIndexOf } from '../common/reading.js';
import type { Caller, ReadOptions, ReadOutcome, Service } from '../common/types.js';
import { type ListRead, readList } from '../reads/blocking-lists.js';
import type { ListPlan } from '../reads/list-rendering.js';
import { homeOf, listRight, nameIn, shownTo } from './config-entries.js';

/** Which config entries a list has. */
export interface ConfigListQuery {
  readonly ns: string;
  /** Undefined for all kinds. */
  readonly kind: Kind | undefined;
  /** A filter expression (bexpr). */
  readonly filter: string | undefined;
}

/**
 * A list in one of three forms: the bytes of its JSON text, which requests for the same list share,
 * escaped for HTML and with a newline at the end; the JSON texts of its entries; or, if these are
 * long, a plan to render them while the client reads.
 */
export type ConfigList =
  | { readonly whole: Uint8Array }
  | { readonly texts: readonly string[] }
  | { readonly plan: ListPlan };

/** Bytes of all cached lists: enough for usual lists, without filling the memory. */
const CACHED_LENGTH_MAX = 8 * 1024 * 1024;

/** Characters of a list that stays in memory while a client reads it. A longer one is rendered. */
const HELD_LENGTH_MAX = CACHED_LENGTH_MAX / 4;

/** The whole list of a kind, as callers see it who may read every entry. */
interface CachedList {
  /** The list is current while this equals `stampOf` of the present state. */
  readonly stamp: string;
  readonly whole: Uint8Array;
  /** The authorizers that are known to read every entry. */
  readonly readers: WeakSet<Authorizer>;
}

/** Builds lists of config entries, and caches whole lists until an entry in them changes. */
export class ConfigLists {
  readonly #service: Service;
  readonly #cached = new Map<string, CachedList>();
  #cachedLength = 0;

  constructor(service: Service) {
    this.#service = service;
  }

  /** Lists what a caller may read, ordered by kind, then by lower-cased name. Throws ApiError. */
  async list(
    caller: Caller,
    options: ReadOptions,
    query: ConfigListQuery,
  ): Promise<ReadOutcome<ConfigList>> {
    const request = { caller, query, filter: compileFilter(query) };
    return readList(options, (how, withDigest) => this.#build(request, how, withDigest));
  }

  /** Builds one list. Only a list that may leave out entries gets a digest. */
  async #build(
    { caller, query, filter }: ListRequest,
    options: ReadOptions,
    withDigest: boolean,
  ): Promise<ListRead<ReadOutcome<ConfigList>>> {
    const service = this.#service;
    const outcome = await service.read(caller, options, ({ view, authorizer }) => ({
      ...position(view, placesOf(query, authorizer)),
      value: this.#find(view, authorizer, query),
    }));
    const { value: whole } = outcome;
    if (whole !== undefined) return { outcome: { ...outcome, value: { whole } } };
    const view = service.pin();
    const matches = filter?.();
    try {
      const authorizer = await service.authorize(caller);
      const builder = new ListBuilder(view, authorizer, matches, withDigest);
      const places = placesOf(query, authorizer);
      for (const place of places) await builder.add(place);
      const { texts, filtered } = builder;
      const digest = filtered || matches !== undefined ? builder.digest : undefined;
      const index = Math.max(1, position(view, places).index, restoredAt(view));
      if (texts === undefined) {
        const plan = planOf(builder.keys, authorizer, filter, index);
        return { outcome: { ...outcome, value: { plan }, filtered, index }, digest };
      }
      const isWhole = !filtered && places.length > 0;
      const cached = isWhole ? this.#keep(view, authorizer, query, texts) : undefined;
      const value = cached === undefined ? { texts } : { whole: cached };
      return { outcome: { ...outcome, value, filtered, index }, digest };
    } finally {
      view.close();
    }
  }

  #find(view: View, authorizer: Authorizer, query: ConfigListQuery): Uint8Array | undefined {
    const key = cacheKey(query);
    const cached = key === undefined ? undefined : this.#cached.get(key);
    if (cached === undefined || !cached.readers.has(authorizer)) return undefined;
    return cached.stamp === stampOf(view, query) ? cached.whole : undefined;
  }

  /** Caches the list of a reader from whom nothing was hidden. Returns its bytes. */
  #keep(
    view: View,
    authorizer: Authorizer,
    query: ConfigListQuery,
    texts: readonly string[],
  ): Uint8Array | undefined {
    const key = cacheKey(query);
    if (key === undefined) return undefined;
    const stamp = stampOf(view, query);
    const before = this.#cached.get(key);
    if (before?.stamp === stamp) {
      before.readers.add(authorizer);
      return before.whole;
    }
    this.#drop(key);
    const whole = Buffer.from(escapeHtml(`[${texts.join(',')}]\n`));
    this.#cached.set(key, { stamp, whole, readers: new WeakSet([authorizer]) });
    this.#cachedLength += whole.length;
    for (const oldest of this.#cached.keys()) {
      if (this.#cachedLength <= CACHED_LENGTH_MAX) break;
      this.#drop(oldest);
    }
    return whole;
  }

  #drop(key: string): void {
    this.#cachedLength -= this.#cached.get(key)?.whole.length ?? 0;
    this.#cached.delete(key);
  }
}

/**
 * Returns the cache key of a list; undefined for a list that differs from reader to reader or is
 * rarely requested.
 */
function cacheKey({ ns, kind, filter }: ConfigListQuery): string | undefined {
  if (kind === undefined || filter !== undefined) return undefined;
  if (definitionOf(kind).secrets.length > 0) return undefined;
  return keyOf(homeOf(kind, ns), kind);
}

/**
 * Identifies the content of a list. It names the last restore too, because a restored snapshot can
 * have another list at the same index.
 */
const stampOf = (view: View, query: ConfigListQuery): string =>
  `${position(view, allPlaces(query)).index} ${view.get(RESTORE_FACT) ?? ''}`;

/** The entries of a kind in a namespace. */
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

type Matches = (text: string) => boolean;

interface ListRequest {
  readonly caller: Caller;
  readonly query: ConfigListQuery;
  readonly filter: (() => Matches) | undefined;
}

/**
 * Compiles the filter of a list, if there is one. A blocking query builds its list again and again:
 * each call of the result returns a filter with a budget of its own. Throws ApiError `invalid`.
 */
function compileFilter({ kind, filter }: ConfigListQuery): (() => Matches) | undefined {
  if (filter === undefined) return undefined;
  const shape = kind === undefined ? COMMON_SHAPE : shapeOf(kind);
  const compiled = compileExpression(filter, shape);
  if (!compiled.ok) {
    const { line, column, message } = compiled.problem;
    const why = /^(un)?expected /.test(message) ? `no match found, ${message}` : message;
    reject('invalid', `Failed to create boolean expression evaluator: ${line}:${column}: ${why}`);
  }
  return () => {
    const budget = { left: EVALUATION_BUDGET };
    return (text) => {
      try {
        return compiled.evaluate(JSON.parse(text), budget);
      } catch (error) {
        if (!(error instanceof BudgetError)) throw error;
        return reject('invalid', `The filter cannot be evaluated: ${error.message}`);
      }
    };
  };
}

/**
 * Returns the plan of a long list. The view that it is rendered from may be newer than the list, so
 * entries that have changed since are filtered again.
 */
function planOf(
  candidates: readonly string[],
  authorizer: Authorizer,
  filter: (() => Matches) | undefined,
  builtAt: number,
): ListPlan {
  return {
    candidates,
    render(view, key) {
      const text = view.get(key);
      if (text === undefined) return undefined;
      const [, ns, kind] = key.split('\u0000') as [string, string, Kind];
      return shownTo(authorizer, kind, ns)(text);
    },
    filter:
      filter &&
      (() => {
        const matches = filter();
        return (view, key) => {
          const text = view.get(key);
          return text !== undefined && (modifyIndexOf(text) <= builtAt || matches(text));
        };
      }),
  };
}

/** Collects the entries of a list, kind by kind. */
class ListBuilder {
  /** The texts of the entries; undefined once they are too long to stay in memory. */
  texts: string[] | undefined = [];
  readonly keys: string[] = [];
  #length = 0;
  filtered = false;
  readonly #view: View;
  readonly #authorizer: Authorizer;
  readonly #matches: Matches | undefined;
  readonly #hash: Hash | undefined;
  readonly #slice = new Slice();

  constructor(
    view: View,
    authorizer: Authorizer,
    matches: Matches | undefined,
    withDigest: boolean,
  ) {
    this.#view = view;
    this.#authorizer = authorizer;
    this.#matches = matches;
    if (withDigest) this.#hash = createHash('sha256');
  }

  /** The digest of the list, if one was requested. May be read only once, at the end. */
  get digest(): string | undefined {
    return this.#hash?.update(String(this.filtered)).digest('base64');
  }

  /** Adds the entries of a kind. Leaves out what the caller may not read before it filters. */
  async add({ kind, ns }: Place): Promise<void> {
    const prefix = keyOf('config', ns, kind, '');
    const mayRead = listRight(this.#authorizer, kind, ns);
    const shown = shownTo(this.#authorizer, kind, ns);
    let last: string | undefined;
    do {
      const from: string | undefined = last;
      last = undefined;
      named('list', () => {
        for (const key of this.#view.keys(prefix, from)) {
          const text = this.#view.get(key)!;
          if (mayRead(nameIn(text))) this.#add(key, shown(text));
          else this.filtered = true;
          if (!this.#slice.isOver) continue;
          last = key;
          return;
        }
      });
      if (last !== undefined) await this.#slice.renew();
    } while (last !== undefined);
  }

  #add(key: string, text: string): void {
    if (this.#matches !== undefined && !this.#matches(text)) return;
    this.#length += text.length + 1;
    if (this.#length > HELD_LENGTH_MAX) this.texts = undefined;
    this.texts?.push(text);
    this.keys.push(key);
    // A line break separates the entries: no compact JSON text contains one.
    this.#hash?.update(text).update('\n');
  }
}

/** Approximate characters of one piece of a long answer. */
const PIECE_LENGTH = 64 * 1024;

/** Yields the JSON text of a list in pieces, with a newline at the end. */
export function* listPieces(texts: readonly string[]): Iterable<string> {
  let piece = '[';
  for (const [i, text] of texts.entries()) {
    piece += i === 0 ? text : `,${text}`;
    if (piece.length >= PIECE_LENGTH) {
      yield piece;
      piece = '';
    }
  }
  yield `${piece}]\n`;
}
