/** The parameter `filter` of lists: expressions over the fields that an item shows. */
import { reject } from '../../base/errors.js';
import {
  BudgetError,
  compileExpression,
  EVALUATION_BUDGET,
  type Shape,
} from '../../languages/bexpr.js';
import { structOf } from '../../languages/filter-shape.js';
import type { Problem } from '../../languages/syntax.js';
import type { ObjectTable } from '../../state/object.js';
import { OBJECTS } from '../../state/objects.js';

/** Items of lists that take a `filter`. */
export type Filterable = ObjectTable | 'member';
/** Whether a list shows an item. */
export type Matches = (object: object) => boolean;
/**
 * Compiles a filter for the items of a list. Each call of the result begins to filter, with a
 * budget of its own. Returns undefined if the request has no filter. Throws ApiError 400.
 */
export type FilterOf = (table: Filterable) => (() => Matches) | undefined;

const string: Shape = { kind: 'string' };
const whole: Shape = { kind: 'int' };

const MEMBER: Shape = {
  kind: 'struct',
  fields: {
    Name: string,
    Addr: string,
    Port: whole,
    Tags: { kind: 'map', key: 'string', of: string },
    Status: whole,
    ProtocolMin: whole,
    ProtocolMax: whole,
    ProtocolCur: whole,
    DelegateMin: whole,
    DelegateMax: whole,
    DelegateCur: whole,
  },
};

const shapes = new Map<Filterable, Shape>([['member', MEMBER]]);

/**
 * Returns the shape of list items. Secrets cannot be filtered by: callers who may not see them
 * could guess them piece by piece.
 */
function shapeOf(table: Filterable): Shape {
  let shape = shapes.get(table);
  if (shape === undefined) {
    const { fields, unlisted, secrets } = OBJECTS[table as ObjectTable];
    shape = structOf(fields, { pointers: false, without: [...unlisted, ...secrets] });
    shapes.set(table, shape);
  }
  return shape;
}

/**
 * Returns the filter of a request: an expression, and words that the texts of an item must contain
 * in any letter case.
 */
export const filterOf =
  (expression: string | undefined, search?: string): FilterOf =>
  (table) => {
    const begin =
      expression === undefined
        ? undefined
        : matcherOf(expression, shapeOf(table), {
            invalid: ({ message, line, column }) =>
              `Invalid filter: ${message} at ${line}:${column}`,
            tooLong: () => 'Invalid filter: it takes too much work on this list',
          });
    const hidden = table === 'member' ? [] : OBJECTS[table].secrets;
    return searching(begin, search, hidden);
  };

/**
 * Adds a search to a filter: each word must stand in a text of the item, or at the start of an ID.
 * Hashes are not searched, which contain every short word. Nor are secrets: whoever may not see
 * them could guess them piece by piece.
 */
export function searching(
  begin: (() => Matches) | undefined,
  search: string | undefined,
  secrets: readonly string[],
): (() => Matches) | undefined {
  if (search === undefined) return begin;
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const hidden = new Set([...secrets, 'Hash']);
  return () => {
    const matches = begin?.();
    return (object) => {
      const texts = textsIn(object, hidden);
      const has = (word: string): boolean =>
        texts.some(({ name, text }) =>
          name.endsWith('ID') ? text.startsWith(word) : text.includes(word),
        );
      return words.every(has) && (matches?.(object) ?? true);
    };
  };
}

interface NamedText {
  /** The member that has the text; that of the list, if a list has it. */
  readonly name: string;
  /** In lower case. */
  readonly text: string;
}

/** Returns the texts of an item, without those of some members. */
function textsIn(
  value: unknown,
  without: ReadonlySet<string>,
  name = '',
  found: NamedText[] = [],
): NamedText[] {
  if (typeof value === 'string') found.push({ name, text: value.toLowerCase() });
  else if (Array.isArray(value)) for (const each of value) textsIn(each, without, name, found);
  else if (typeof value === 'object' && value !== null)
    for (const [member, each] of Object.entries(value))
      if (!without.has(member)) textsIn(each, without, member, found);
  return found;
}

interface FilterWords {
  invalid(problem: Problem): string;
  tooLong(message: string): string;
}

/** Compiles a filter for items of a shape. Throws ApiError 400. */
export function matcherOf(expression: string, shape: Shape, words: FilterWords): () => Matches {
  const compiled = compileExpression(expression, shape);
  if (!compiled.ok) reject('invalid', words.invalid(compiled.problem));
  return () => {
    const budget = { left: EVALUATION_BUDGET };
    return (object) => {
      try {
        return compiled.evaluate(object, budget);
      } catch (error) {
        if (!(error instanceof BudgetError)) throw error;
        return reject('invalid', words.tooLong(error.message));
      }
    };
  };
}
