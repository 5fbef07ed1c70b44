/**
 * Lists of config entries. They can hold a hundred thousand entries, so they are made in slices of the loop's time, over a
 * frozen view.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Authorizer } from '../acl/types.js';
import { reject } from '../errors.js';
import { COMMON_SHAPE, shapeOf } from '../kinds/schema.js';
import { KINDS, type Kind } from '../kinds/types.js';
import { BudgetError, compileExpression, EVALUATION_BUDGET } from '../languages/bexpr.js';
import { keys } from '../state/keys.js';
import { listIndex } from '../state/lists.js';
import { keyOf, type View } from '../state/types.js';
import { denialOf, homeOf, nameIn, shownTo } from './config.js';
import type { Caller, ReadOptions, ReadOutcome, Service } from './types.js';

export interface ConfigListQuery {
  readonly ns: string;
  /** Undefined: all kinds. */
  readonly kind: Kind | undefined;
  readonly filter: string | undefined;
}

/** Longest piece of work between two turns of the loop, in milliseconds. */
const SLICE_MS = 5;
/** Entries between two looks at the clock. */
const ENTRIES_PER_LOOK = 64;

/** The entries a caller may read, as JSON texts, ordered by kind, then by lower-cased name. Throws ApiError. */
export async function listConfig(
  service: Service,
  caller: Caller,
  options: ReadOptions,
  query: ConfigListQuery,
): Promise<ReadOutcome<readonly string[]>> {
  const matches = compileFilter(query);
  const outcome = await service.read(caller, options, ({ view }) => position(view, query));
  const view = service.pin();
  try {
    const lister = new Lister(view, service.authorize(caller), matches);
    for (const kind of kindsOf(query)) await lister.add(kind, homeOf(kind, query.ns));
    const { texts: value, filtered } = lister;
    return { ...outcome, value, filtered, index: Math.max(1, position(view, query).index) };
  } finally {
    view.close();
  }
}

const kindsOf = ({ kind }: ConfigListQuery): readonly Kind[] =>
  kind === undefined ? KINDS : [kind];

/** Index of a list, and what to wait on. */
function position(view: View, query: ConfigListQuery) {
  const places = kindsOf(query).map((kind) => [homeOf(kind, query.ns), kind] as const);
  return {
    value: undefined,
    index: Math.max(...places.map(([ns, kind]) => listIndex(view, 'config', ns, kind))),
    keys: places.map(([ns, kind]) => keys.index('config', ns, kind)),
  };
}

type Matches = (text: string) => boolean;

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

class Lister {
  readonly texts: string[] = [];
  filtered = false;
  readonly #view: View;
  readonly #authorizer: Authorizer;
  readonly #matches: Matches | undefined;
  #until = performance.now() + SLICE_MS;

  constructor(view: View, authorizer: Authorizer, matches: Matches | undefined) {
    this.#view = view;
    this.#authorizer = authorizer;
    this.#matches = matches;
  }

  /** Adds the entries of a kind. */
  async add(kind: Kind, ns: string): Promise<void> {
    const prefix = keyOf('config', ns, kind, '');
    const shown = shownTo(this.#authorizer, kind, ns);
    let last: string | undefined;
    do {
      const from: string | undefined = last;
      last = undefined;
      let count = 0;
      for (const key of this.#view.keys(prefix, from)) {
        this.#addText(this.#view.get(key)!, kind, ns, shown);
        count += 1;
        if (count % ENTRIES_PER_LOOK === 0 && performance.now() > this.#until) {
          last = key;
          break;
        }
      }
      if (last !== undefined) {
        await nextTurn();
        this.#until = performance.now() + SLICE_MS;
      }
    } while (last !== undefined);
  }

  /** What may not be read is left out before the filter sees it. */
  #addText(text: string, kind: Kind, ns: string, shown: (text: string) => string): void {
    if (denialOf(this.#authorizer, 'list', { kind, name: nameIn(text) }, ns) !== undefined) {
      this.filtered = true;
      return;
    }
    const answer = shown(text);
    if (this.#matches === undefined || this.#matches(answer)) this.texts.push(answer);
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
