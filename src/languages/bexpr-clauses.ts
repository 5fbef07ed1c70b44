/** Explains why an expression holds for data or does not: the result of each of its parts. */
import { type Budget, compileMatch, type Shape } from './bexpr.js';
import type { Expression, Match } from './bexpr.peggy.js';
import { cut, type Hide, shortened } from './shown-values.js';

/** A part of an expression with its result, as answers show it. Long texts and lists are cut. */
export type Clause =
  | {
      readonly Type: 'match';
      readonly Text: string;
      readonly Field: string;
      readonly Operator: string;
      /** Null for `is empty` and `is not empty`. */
      readonly Value: string | null;
      /** The value or list that is tested, the keys of a map; null if it is missing. */
      readonly Actual: unknown;
      readonly Missing: boolean;
      readonly Result: boolean;
    }
  | {
      readonly Type: 'and' | 'or' | 'not';
      readonly Text: string;
      readonly Terms: readonly Clause[];
      readonly Result: boolean;
    };

/** An expression that compiles, its text, the shape that it was compiled for, and the data. */
export interface Explained {
  readonly text: string;
  readonly expression: Expression;
  readonly shape: Shape;
  readonly data: unknown;
  /** Hides secrets in the texts of the answer. */
  readonly hide: Hide;
}

/**
 * Evaluates every part of an expression, also those that evaluation skips. Throws BudgetError when
 * the budget is exhausted.
 */
export function clauseOf(explained: Explained, budget: Budget): Clause {
  const { text, expression, hide } = explained;
  const Text = cut(hide(text.slice(expression.at, expression.end)));
  if (expression.type === 'match') return matchClause(explained, expression, Text, budget);
  const terms = expression.type === 'not' ? [expression.term] : expression.terms;
  const Terms = terms.map((term) => clauseOf({ ...explained, expression: term }, budget));
  const results = Terms.map(({ Result }) => Result);
  const Result =
    expression.type === 'not'
      ? !results[0]
      : expression.type === 'and'
        ? results.every(Boolean)
        : results.some(Boolean);
  return { Type: expression.type, Text, Terms, Result };
}

function matchClause(
  { shape, data, hide }: Explained,
  match: Match,
  Text: string,
  budget: Budget,
): Clause {
  const { path, op, word, value } = match;
  const found = valueAt(data, path);
  return {
    Type: 'match',
    Text,
    Field: path.join('.'),
    Operator: word,
    Value: op === 'empty' ? null : cut(hide(value)),
    Actual: found === undefined ? null : shownValue(found, hide),
    Missing: found === undefined,
    Result: compileMatch(match, shape)(data, budget),
  };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function valueAt(data: unknown, path: readonly string[]): unknown {
  let found = data;
  for (const part of path) {
    if (!isObject(found) || !Object.hasOwn(found, part)) return undefined;
    found = found[part];
  }
  return found;
}

const shownValue = (value: unknown, hide: Hide): unknown =>
  shortened(isObject(value) && !Array.isArray(value) ? Object.keys(value) : value, hide);
