/**
 * Filter and selector expressions such as `Meta.team == "web" and Name not in ["a"]`. An expression
 * is parsed, checked against the declared shape of the data, and compiled to a function. Evaluation
 * takes bounded time on any data: regular expressions run in linear time and spend a budget.
 */
import { RE2JS, RE2JSSyntaxException } from 're2js';
import { type Expression, type Match, parse } from './bexpr.peggy.js';
import { booleanOf, durationNs, floatOf, integerOf } from './numbers.js';
import { searcher } from './search.js';
import { nearestOf } from './suggest.js';
import { type Problem, positionAt, runGrammar } from './syntax.js';

type IntegerKind =
  | 'int'
  | 'int8'
  | 'int16'
  | 'int32'
  | 'int64'
  | 'uint'
  | 'uint8'
  | 'uint16'
  | 'uint32'
  | 'uint64';

/**
 * The declared type of data. An absent member of a struct counts as the zero value of its type. No
 * test holds of a null pointer, nor of what is behind it.
 */
export type Shape =
  | { readonly kind: 'string' | 'bool' | 'float32' | 'float64' | IntegerKind }
  | { readonly kind: 'list'; readonly of: Shape }
  | { readonly kind: 'map'; readonly key: string; readonly of: Shape }
  | { readonly kind: 'struct'; readonly fields: Readonly<Record<string, Shape>> }
  | { readonly kind: 'pointer'; readonly to: Shape }
  | { readonly kind: 'any (not filterable)' };

/**
 * The work that evaluation may still do: one unit for each test, and more for expensive ones. A
 * regular expression costs its instructions times the characters it matches. The tests of one
 * request share a budget.
 */
export interface Budget {
  left: number;
}
/** The budget of a request: enough for any real list, and about 0.1 s of work at most. */
export const EVALUATION_BUDGET = 20_000_000;
/** Thrown when a budget is exhausted. A selector then does not match; a filter is refused. */
export class BudgetError extends Error {}

/** Tests data. Throws BudgetError when the budget is exhausted. */
export type Evaluator = (data: unknown, budget?: Budget) => boolean;
/** The outcome of a compilation. */
export type Compiled =
  | { readonly ok: true; readonly evaluate: Evaluator; readonly expression: Expression }
  | { readonly ok: false; readonly problem: Problem };

/** Maximum number of characters of an expression, which bounds the time to parse it. */
const LENGTH_MAX = 8 * 1024;
/** Maximum nesting depth of an expression. The parser recurses. */
const DEPTH_MAX = 64;
/** Maximum number of characters of all regular expressions of an expression together. */
const REGEX_LENGTH_MAX = 512;
/**
 * Maximum number of characters of these regular expressions once their repetitions are expanded,
 * which bounds the time to compile them: `(a{99}){9}` is short and expands to 891 characters.
 */
const REGEX_SIZE_MAX = 5_000;

/** Compiles an expression for data of a shape. The text must not be empty. */
export function compileExpression(text: string, shape: Shape): Compiled {
  const parsed = runGrammar(parse, text, { lengthMax: LENGTH_MAX, depthMax: DEPTH_MAX });
  if (!parsed.ok) return parsed;
  try {
    boundRegexes(parsed.value, { length: 0, size: 0 });
    const evaluate = compileNode(parsed.value, shape);
    return {
      ok: true,
      expression: parsed.value,
      evaluate: (data, budget = { left: EVALUATION_BUDGET }) => evaluate(data, budget),
    };
  } catch (error) {
    if (!(error instanceof CheckError)) throw error;
    return { ok: false, problem: { message: error.message, ...positionAt(text, error.at) } };
  }
}

/** The expression does not fit the shape. Never leaves this file. */
class CheckError extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

type Node = (data: unknown, budget: Budget) => boolean;

function compileNode(node: Expression, shape: Shape): Node {
  if (node.type === 'match') return compileMatch(node, shape);
  if (node.type === 'not') {
    const inner = compileNode(node.term, shape);
    return (data, budget) => !inner(data, budget);
  }
  const terms = node.terms.map((term) => compileNode(term, shape));
  return node.type === 'and'
    ? (data, budget) => terms.every((term) => term(data, budget))
    : (data, budget) => terms.some((term) => term(data, budget));
}

/** Compiles the test of one selector, with the checks of `compileExpression`. */
export function compileMatch(match: Match, shape: Shape): Node {
  if (shape.kind === 'map' && shape.of.kind === 'any (not filterable)') {
    throw new CheckError('the data has no fields that can be filtered', match.at);
  }
  return descend(match, shape, 0);
}

function descend(match: Match, shape: Shape, depth: number): Node {
  const missing = ifMissing(match);
  if (shape.kind === 'pointer') {
    const inner = descend(match, shape.to, depth);
    return (data, budget) => data !== null && data !== undefined && inner(data, budget);
  }
  const part = match.path[depth];
  if (part === undefined) return leaf(match, shape);
  if (shape.kind === 'list' && isRecord(shape.of)) {
    const inner = descend(match, shape.of, depth);
    return (data, budget) => Array.isArray(data) && data.some((element) => inner(element, budget));
  }
  if (shape.kind === 'map' && shape.key === 'string') {
    const inner = descend(match, shape.of, depth + 1);
    return (data, budget) => (hasOwn(data, part) ? inner(data[part], budget) : missing);
  }
  if (shape.kind === 'struct') {
    const field = Object.hasOwn(shape.fields, part) ? shape.fields[part] : undefined;
    if (field !== undefined && field.kind !== 'any (not filterable)') {
      const inner = descend(match, field, depth + 1);
      return (data, budget) => inner(hasOwn(data, part) ? data[part] : undefined, budget);
    }
  }
  const before = match.path.slice(0, depth);
  const selector = (name: string): string => [...before, name].join('.');
  const near = shape.kind === 'struct' ? nearestOf(part, selectable(shape.fields)) : undefined;
  const hint = near === undefined ? '' : `; did you mean "${selector(near)}"?`;
  throw new CheckError(`Selector ${shown(selector(part))} is not valid${hint}`, match.at);
}

const selectable = (fields: Readonly<Record<string, Shape>>): string[] =>
  Object.keys(fields).filter((name) => fields[name]!.kind !== 'any (not filterable)');

const isRecord = (shape: Shape): boolean =>
  shape.kind === 'struct' || (shape.kind === 'pointer' && shape.to.kind === 'struct');
const hasOwn = (data: unknown, key: string): data is Record<string, unknown> =>
  typeof data === 'object' && data !== null && Object.hasOwn(data, key);

/** The result of a test of a missing key or value. Both `matches` and `not matches` hold. */
export const ifMissing = ({ op, negated }: Match): boolean =>
  op === 'matches' || (op === 'empty' ? !negated : negated);

/** Compiles the test at the end of a selector. */
function leaf(match: Match, shape: Shape): Node {
  const positive = leafTest(match, shape);
  if (positive === undefined) {
    const selector = match.path.join('.');
    throw new CheckError(
      `Invalid match operator "${operatorName(match)}" for selector ${shown(selector)}`,
      match.at,
    );
  }
  return (data, budget) => {
    spend(budget, 1);
    return positive(data, budget) !== match.negated;
  };
}

function spend(budget: Budget, work: number): void {
  budget.left -= work;
  if (budget.left < 0) throw new BudgetError('the expression takes too long on this data');
}

function leafTest(match: Match, shape: Shape): Node | undefined {
  const { op, value } = match;
  switch (shape.kind) {
    case 'string':
      if (op === 'equal') return (data) => (data ?? '') === value;
      if (op === 'in') return partTest(value);
      return op === 'matches' ? regexTest(match) : undefined;
    case 'list':
      if (op === 'empty') return (data) => !Array.isArray(data) || data.length === 0;
      if (op !== 'in' || !isScalar(shape.of)) return undefined;
      return elementTest(scalarTest(match, shape.of));
    case 'map':
      if (op === 'empty')
        return (data) => data === null || data === undefined || Object.keys(data).length === 0;
      return op === 'in' && shape.key === 'string' ? (data) => hasOwn(data, value) : undefined;
    case 'struct':
    case 'pointer':
    case 'any (not filterable)':
      return undefined;
    default:
      return op === 'equal' ? scalarTest(match, shape) : undefined;
  }
}

/** Characters that a search for a substring may scan for one unit of the budget. */
const SEARCHED_AT_ONCE = 4;

function partTest(value: string): Node {
  const holds = searcher(value);
  return (data, budget) => {
    const text = String(data ?? '');
    spend(budget, text.length / SEARCHED_AT_ONCE);
    return holds(text);
  };
}

const elementTest =
  (same: Node): Node =>
  (data, budget) => {
    if (!Array.isArray(data)) return false;
    spend(budget, data.length);
    return data.some((element) => same(element, budget));
  };

const isScalar = ({ kind }: Shape): boolean =>
  !['list', 'map', 'struct', 'pointer', 'any (not filterable)'].includes(kind);

/**
 * Compiles an equality test. Converts the value of the expression once, to the type of the data.
 */
function scalarTest(match: Match, shape: Shape): Node {
  const { value } = match;
  const { kind } = shape;
  if (kind === 'string') return (data) => (data ?? '') === value;
  if (kind === 'bool') {
    const wanted = converted(booleanOf(value), 'a boolean such as true', match);
    return (data) => (data ?? false) === wanted;
  }
  if (kind === 'float32' || kind === 'float64') {
    const bits = kind === 'float32' ? 32 : 64;
    const wanted = converted(floatOf(value, bits), 'a number', match);
    return (data) => Number(data ?? 0) === wanted;
  }
  const unsigned = kind.startsWith('u');
  const bits = Number(/\d+$/.exec(kind)?.[0] ?? 64);
  const range = `${unsigned ? 'an unsigned' : 'a signed'} integer of ${bits} bits`;
  const wanted = converted(integerOf(value, !unsigned, bits), range, match);
  const small = Number(wanted);
  return (data) => {
    if (typeof data === 'number')
      return Number.isSafeInteger(data) ? data === small : integer(data) === wanted;
    return integer(data) === wanted;
  };
}

/** Returns the integer in data, which may be a duration as text. */
function integer(data: unknown): bigint | undefined {
  if (data === undefined || data === null) return 0n;
  if (typeof data === 'bigint') return data;
  if (typeof data === 'number') return Number.isInteger(data) ? BigInt(data) : undefined;
  return typeof data === 'string' ? (data === '' ? 0n : durationNs(data)) : undefined;
}

function converted<T>(value: T | undefined, wanted: string, match: Match): T {
  if (value !== undefined) return value;
  throw new CheckError(
    `Failed to coerce value ${shown(match.value)} for selector ${shown(match.path.join('.'))}: not ${wanted}`,
    match.at,
  );
}

function regexTest(match: Match): Node {
  const pattern = compileRegex(match);
  const size = pattern.programSize();
  return (data, budget) => {
    const text = String(data ?? '');
    spend(budget, size * (text.length + 1));
    return pattern.matcher(text).find();
  };
}

const regexFault = ({ value, at }: Match, why: string): CheckError =>
  new CheckError(`Failed to compile regular expression ${shown(value)}: ${why}`, at);

function compileRegex(match: Match): RE2JS {
  try {
    return RE2JS.compile(match.value);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    throw regexFault(match, error.message);
  }
}

/** Refuses regular expressions that are slow to compile, before it compiles any. */
function boundRegexes(node: Expression, sum: { length: number; size: number }): void {
  if (node.type !== 'match') {
    for (const term of node.type === 'not' ? [node.term] : node.terms) boundRegexes(term, sum);
    return;
  }
  if (node.op !== 'matches') return;
  sum.length += node.value.length;
  if (sum.length > REGEX_LENGTH_MAX) {
    const why = `the regular expressions are longer than ${REGEX_LENGTH_MAX} characters`;
    throw regexFault(node, why);
  }
  sum.size += expandedSize(node.value);
  if (sum.size > REGEX_SIZE_MAX)
    throw regexFault(node, 'it is too large once its repetitions are expanded');
}

/** Counts the characters and classes of a regular expression with its repetitions expanded. */
function expandedSize(regex: string): number {
  const groups = [0];
  let last = 0;
  const add = (size: number): void => {
    groups.push((groups.pop() as number) + size);
  };
  const tokens =
    /\\Q[\s\S]*?(?:\\E|$)|\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[\s\S]/g;
  for (const [token, low, high] of regex.matchAll(tokens)) {
    if (token === '(') groups.push(0);
    else if (token === ')' && groups.length > 1) {
      last = groups.pop() as number;
      add(last);
    } else if (low === undefined) {
      last = 1;
      add(token.startsWith('\\Q') ? token.length : 1);
    } else {
      const times = Math.max(1, Number(low), Number(high ?? 0));
      add(last * (times - 1));
      last *= times;
    }
  }
  return groups.reduce((sum, size) => sum + size, 0);
}

const OPERATOR_NAMES: Readonly<Record<Match['op'], string>> = {
  equal: 'Equal',
  in: 'In',
  matches: 'Matches',
  empty: 'Is Empty',
};
function operatorName({ op, negated }: Match): string {
  if (!negated) return OPERATOR_NAMES[op];
  return op === 'empty' ? 'Is Not Empty' : `Not ${OPERATOR_NAMES[op]}`;
}

/**
 * Maximum number of characters of a word that an error quotes: enough to find it, too few to echo a
 * text.
 */
const SHOWN_MAX = 80;
/** Quotes a word of the expression for an error. */
const shown = (text: string): string =>
  JSON.stringify(text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text);
