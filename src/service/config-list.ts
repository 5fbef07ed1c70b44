/**
 * Lists of config entries. They can hold a hundred thousand entries, so they are made in slices of
 * the loop's time, over a frozen view.
 */
import { createHash, type Hash } from 'node:crypto';
import type { Authorizer } from '../acl/types.js';
import { reject } from '../errors.js';
import { definitionOf, KINDS } from '../kinds/definitions.js';
import { COMMON_SHAPE, shapeOf } from '../kinds/schema.js';
import type { Kind } from '../kinds/types.js';
import { BudgetError, compileExpression, EVALUATION_BUDGET } from '../languages/bexpr.js';
import { keys } from '../state/keys.js';
import { listIndex } from '../state/lists.js';
import { RESTORE_FACT, restoredAt } from '../state/restore.js';
import { keyOf, type View } from '../state/types.js';
import { homeOf, listRight, nameIn, shownTo } from './config.js';
import { type Made, readList } from './held-lists.js';
import type { ListPlan } from './lists.js';
import { isHidden, modifyIndexOf } from './reading.js';
import { Slice } from './turns.js';
import type { Caller, ReadOptions, ReadOutcome, Service } from './types.js';

export interface ConfigListQuery {
  readonly ns: string;
  /** Undefined: all kinds. */
  readonly kind: Kind | undefined;
  readonly filter: string | undefined;
}

/**
 * A list as one JSON text that is kept for others to come, as the JSON texts of its entries or, if these are long, as what
 * is needed to make them while they are read.
 */
export type ConfigList =
  | { readonly whole: string }
  | { readonly texts: readonly string[] }
  | { readonly plan: ListPlan };

/**
 * Lists are kept up to this many characters in all: the usual ones, not those that fill the memory.
 */
const KEPT_LENGTH_MAX = 8 * 1024 * 1024;

/** Characters of a list that is held in memory while a client reads it. */
const HELD_LENGTH_MAX = KEPT_LENGTH_MAX / 4;

/** The whole list of a kind, as those see it who may read every entry. */
interface Kept {
  /** What the list was made from: it is the same as long as this is. */
  readonly stamp: string;
  readonly whole: string;
  readonly readers: WeakSet<Authorizer>;
}

/** Makes lists, and keeps those that are asked for again before anything in them changes. */
export class ConfigLists {
  readonly #service: Service;
  readonly #kept = new Map<string, Kept>();
  #keptLength = 0;

  constructor(service: Service) {
    this.#service = service;
  }

  /** The entries a caller may read, ordered by kind, then by lower-cased name. Throws ApiError. */
  async list(
    caller: Caller,
    options: ReadOptions,
    query: ConfigListQuery,
  ): Promise<ReadOutcome<ConfigList>> {
    const request = { caller, query, matches: compileFilter(query) };
    return readList(options, (how, withDigest) => this.#make(request, how, withDigest));
  }

  /** One list. The digest is of one that is not all there is. */
  async #make(
    { caller, query, matches }: ListRequest,
    options: ReadOptions,
    withDigest: boolean,
  ): Promise<Made<ReadOutcome<ConfigList>>> {
    const service = this.#service;
    const outcome = await service.read(caller, options, ({ view, authorizer }) => ({
      ...position(view, placesOf(query, authorizer)),
      value: this.#known(view, authorizer, query),
    }));
    const { value: whole } = outcome;
    if (whole !== undefined) return { outcome: { ...outcome, value: { whole } } };
    const view = service.pin();
    try {
      const authorizer = service.authorize(caller);
      const lister = new Lister(view, authorizer, matches, withDigest);
      const places = placesOf(query, authorizer);
      for (const place of places) await lister.add(place);
      const { texts, filtered } = lister;
      const digest = filtered || matches !== undefined ? lister.digest : undefined;
      const index = Math.max(1, position(view, places).index, restoredAt(view));
      if (texts === undefined) {
        const plan = { candidates: lister.keys, render: renderer(authorizer, matches, index) };
        return { outcome: { ...outcome, value: { plan }, filtered, index }, digest };
      }
      const isWhole = !filtered && places.length > 0;
      const kept = isWhole ? this.#keep(view, authorizer, query, texts) : undefined;
      const value = kept === undefined ? { texts } : { whole: kept };
      return { outcome: { ...outcome, value, filtered, index }, digest };
    } finally {
      view.close();
    }
  }

  #known(view: View, authorizer: Authorizer, query: ConfigListQuery): string | undefined {
    const key = keptKey(query);
    const kept = key === undefined ? undefined : this.#kept.get(key);
    if (kept === undefined || !kept.readers.has(authorizer)) return undefined;
    return kept.stamp === stampOf(view, query) ? kept.whole : undefined;
  }

  /**
   * Keeps the list of a reader from whom nothing was hidden; gives it as one text.
   */
  #keep(
    view: View,
    authorizer: Authorizer,
    query: ConfigListQuery,
    texts: readonly string[],
  ): string | undefined {
    const key = keptKey(query);
    if (key === undefined) return undefined;
    const stamp = stampOf(view, query);
    const before = this.#kept.get(key);
    if (before?.stamp === stamp) {
      before.readers.add(authorizer);
      return before.whole;
    }
    this.#drop(key);
    const whole = `[${texts.join(',')}]`;
    this.#kept.set(key, { stamp, whole, readers: new WeakSet([authorizer]) });
    this.#keptLength += whole.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#keptLength <= KEPT_LENGTH_MAX) break;
      this.#drop(oldest);
    }
    return whole;
  }

  #drop(key: string): void {
    this.#keptLength -= this.#kept.get(key)?.whole.length ?? 0;
    this.#kept.delete(key);
  }
}

/**
 * What a list is kept under; undefined for those that differ from reader to reader or are rarely
 * asked for.
 */
function keptKey({ ns, kind, filter }: ConfigListQuery): string | undefined {
  if (kind === undefined || filter !== undefined) return undefined;
  if (definitionOf(kind).secrets.length > 0) return undefined;
  return keyOf(homeOf(kind, ns), kind);
}

/** A restored snapshot may give an index that was seen before to another list. */
const stampOf = (view: View, query: ConfigListQuery): string =>
  `${position(view, allPlaces(query)).index} ${view.get(RESTORE_FACT) ?? ''}`;

/** The entries of a kind in a namespace. */
interface Place {
  readonly kind: Kind;
  readonly ns: string;
}

const allPlaces = ({ kind, ns }: ConfigListQuery): readonly Place[] =>
  (kind === undefined ? KINDS : [kind]).map((each) => ({ kind: each, ns: homeOf(each, ns) }));

/** What a list is made of for a caller. */
const placesOf = (query: ConfigListQuery, authorizer: Authorizer): readonly Place[] =>
  allPlaces(query).filter(({ ns }) => !isHidden(authorizer, ns));

/** Index of a list, and what to wait on. */
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
  readonly matches: Matches | undefined;
}

/** The filter of a list; throws 400. */
function compileFilter({ kind, filter }: ConfigListQuery): Matches | undefined {
  if (filter === undefined) return undefined;
  const shape = kind === undefined ? COMMON_SHAPE : shapeOf(kind);
  const compiled = compileExpression(filter, shape);
  if (!compiled.ok) {
    const { line, column, message } = compiled.problem;
    const why = /^(un)?expected /.test(message) ? `no match found, ${message}` : message;
    reject('invalid', `Failed to create boolean expression evaluator: ${line}:${column}: ${why}`);
  }
  const budget = { left: EVALUATION_BUDGET };
  return (text) => {
    try {
      return compiled.evaluate(JSON.parse(text), budget);
    } catch (error) {
      if (!(error instanceof BudgetError)) throw error;
      return reject('invalid', `The filter cannot be evaluated: ${error.message}`);
    }
  };
}

/** Makes the entries of a long list from their keys, over a view that may be newer than the list. */
function renderer(
  authorizer: Authorizer,
  matches: Matches | undefined,
  madeAt: number,
): ListPlan['render'] {
  return (view, key) => {
    const text = view.get(key);
    if (text === undefined) return undefined;
    const isNewer = matches !== undefined && modifyIndexOf(text) > madeAt;
    if (isNewer && !matches(text)) return undefined;
    const [, ns, kind] = key.split('\u0000') as [string, string, Kind];
    return shownTo(authorizer, kind, ns)(text);
  };
}

class Lister {
  /** The entries; undefined once they are long. */
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

  /** What tells this list from others; undefined when it was not asked for. To be read once, at the end. */
  get digest(): string | undefined {
    return this.#hash?.update(String(this.filtered)).digest('base64');
  }

  /** Adds the entries of a kind. What may not be read is left out before the filter sees it. */
  async add({ kind, ns }: Place): Promise<void> {
    const prefix = keyOf('config', ns, kind, '');
    const mayRead = listRight(this.#authorizer, kind, ns);
    const shown = shownTo(this.#authorizer, kind, ns);
    let last: string | undefined;
    do {
      const from: string | undefined = last;
      last = undefined;
      for (const key of this.#view.keys(prefix, from)) {
        const text = this.#view.get(key)!;
        if (mayRead(nameIn(text))) this.#add(key, shown(text));
        else this.filtered = true;
        if (this.#slice.isOver) {
          last = key;
          break;
        }
      }
      if (last !== undefined) await this.#slice.renew();
    } while (last !== undefined);
  }

  #add(key: string, text: string): void {
    if (this.#matches !== undefined && !this.#matches(text)) return;
    this.#length += text.length + 1;
    if (this.#length > HELD_LENGTH_MAX) this.texts = undefined;
    this.texts?.push(text);
    this.keys.push(key);
    // no JSON text holds a line break
    this.#hash?.update(text).update('\n');
  }
}

/** Bytes of one piece of a long answer, more or less. */
const PIECE_LENGTH = 64 * 1024;

/** The list as JSON in pieces. */
export function* listPieces(texts: readonly string[]): Iterable<string> {
  let piece = '[';
  for (const [i, text] of texts.entries()) {
    piece += i === 0 ? text : `,${text}`;
    if (piece.length >= PIECE_LENGTH) {
      yield piece;
      piece = '';
    }
  }
  yield `${piece}]`;
}
