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

/** The items of `GET /v1/agent/members`. */
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

/** Returns the filter of a request. */
export const filterOf =
  (expression: string | undefined): FilterOf =>
  (table) =>
    expression === undefined
      ? undefined
      : matcherOf(expression, shapeOf(table), {
          invalid: ({ message, line, column }) => `Invalid filter: ${message} at ${line}:${column}`,
          tooLong: () => 'Invalid filter: it takes too much work on this list',
        });

/** The refusals of a filter. */
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
