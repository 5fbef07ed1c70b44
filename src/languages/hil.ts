/**
 * Interpolated names such as `web-${value.team}`. The ASCII letters of variables are lower-cased
 * and literal text keeps its case. Letters of other scripts stay as they are, so that none becomes
 * a letter that names may contain. Operators do not short-circuit: an error in any operand fails
 * the whole text, so a template that passes its check when it is stored evaluates at login.
 */
import { lowerAscii } from '../base/text.js';
import { parse, type Template } from './hil.peggy.js';
import { booleanOf, floatOf, integerOf } from './numbers.js';
import { didYouMean } from './suggest.js';
import { type Parsed, positionAt, runGrammar } from './syntax.js';

/** A text, a signed 64-bit integer, a float or a boolean. */
type Value = string | bigint | number | boolean;
type Type = 'text' | 'integer' | 'float' | 'boolean';

/** Maximum number of characters of a template: far more than a name needs. */
const LENGTH_MAX = 4 * 1024;
/** Maximum nesting depth of a template: far more than a name needs. */
const DEPTH_MAX = 32;
/**
 * Maximum number of characters of a result. Names are far shorter; a template may repeat a long
 * claim.
 */
const RESULT_LENGTH_MAX = 64 * 1024;

/** Evaluates a template with the given variables. Returns a text without `${` unchanged. */
export function interpolate(text: string, variables: ReadonlyMap<string, string>): Parsed<string> {
  if (!text.includes('${')) return { ok: true, value: text };
  const parsed = runGrammar(parse, text, { lengthMax: LENGTH_MAX, depthMax: DEPTH_MAX });
  if (!parsed.ok) {
    const message = `parse error: ${parsed.problem.message}`;
    return { ok: false, problem: { ...parsed.problem, message } };
  }
  try {
    return { ok: true, value: asText(evaluate(parsed.value, variables)) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { ok: false, problem: { message: error.message, ...positionAt(text, error.at) } };
  }
}

export interface TemplateParts {
  readonly literals: readonly string[];
  /** The variables, with their offsets. */
  readonly variables: readonly { readonly name: string; readonly at: number }[];
}

/** Returns what a template is made of; nothing if it has no `${` or cannot be parsed. */
export function partsOf(text: string): TemplateParts {
  const literals: string[] = [];
  const variables: { name: string; at: number }[] = [];
  if (!text.includes('${')) return { literals, variables };
  const parsed = runGrammar(parse, text, { lengthMax: LENGTH_MAX, depthMax: DEPTH_MAX });
  if (!parsed.ok) return { literals, variables };
  const template = parsed.value;
  for (const part of template.type === 'join' ? template.parts : [template]) {
    if (part.type === 'text') literals.push(part.text);
  }
  const pending: unknown[] = [template];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    const { type, name, at } = node as Extract<Template, { readonly name: string }>;
    if (type === 'variable') variables.push({ name, at });
    pending.push(...Object.values(node));
  }
  return { literals, variables: variables.sort((a, b) => a.at - b.at) };
}

/** Evaluation failed at an offset. Never leaves this file. */
class Fault extends Error {
  at: number;
  constructor(message: string, at = 0) {
    super(message);
    this.at = at;
  }
}

function evaluate(node: Template, variables: ReadonlyMap<string, string>): Value {
  switch (node.type) {
    case 'join':
      return join(node.parts.map((part) => evaluate(part, variables)));
    case 'text':
      return node.text;
    case 'boolean':
      return node.value;
    case 'integer':
      return known(
        integerOf(node.text.replace(/^0+(?=\d)/, ''), true, 64),
        node,
        'an integer of 64 bits',
      );
    case 'float':
      return known(floatOf(node.text), node, 'a number');
    case 'variable':
      return variable(node.name, node.at, variables);
    case 'call':
      throw new Fault(`unknown function called: ${node.name}: no functions are supported`, node.at);
    case 'element':
      throw new Fault(`invalid index operation: ${node.name} is not a list or map`, node.at);
    case 'unary':
      return placed(node.at, () => {
        const operand = evaluate(node.operand, variables);
        return node.op === '!' ? equal(false, operand) : arithmetic('-', 0n, operand);
      });
    case 'binary':
      return placed(node.at, () =>
        operate(node.op, evaluate(node.left, variables), evaluate(node.right, variables)),
      );
    case 'choice':
      return placed(node.at, () =>
        choose(
          convert(evaluate(node.condition, variables), 'boolean') as boolean,
          evaluate(node.then, variables),
          evaluate(node.else, variables),
        ),
      );
  }
}

/** Adds the offset of an operation to a fault of its operands that has none. */
function placed(at: number, compute: () => Value): Value {
  try {
    return compute();
  } catch (error) {
    if (error instanceof Fault && error.at === 0) error.at = at;
    throw error;
  }
}

function join(parts: readonly Value[]): string {
  const text = parts.map(asText).join('');
  if (text.length > RESULT_LENGTH_MAX) {
    throw new Fault(`the result is longer than ${RESULT_LENGTH_MAX} characters`);
  }
  return text;
}

function known<T>(value: T | undefined, node: { text: string; at: number }, wanted: string): T {
  if (value === undefined) throw new Fault(`parse error: ${node.text} is not ${wanted}`, node.at);
  return value;
}

/** Hundreds of templates are evaluated with the variables of one identity, which may be long. */
const lowered = new WeakMap<ReadonlyMap<string, string>, ReadonlyMap<string, string>>();

function inLowerCase(variables: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const known = lowered.get(variables);
  if (known !== undefined) return known;
  const made = new Map([...variables].map(([name, text]) => [name, lowerAscii(text)]));
  lowered.set(variables, made);
  return made;
}

function variable(name: string, at: number, variables: ReadonlyMap<string, string>): string {
  const value = inLowerCase(variables).get(name);
  if (value !== undefined) return value;
  const hint = didYouMean(name, [...variables.keys()]);
  throw new Fault(`unknown variable accessed: ${name}${hint}`, at);
}

function operate(op: string, left: Value, right: Value): Value {
  switch (op) {
    case '||':
    case '&&': {
      const a = convert(left, 'boolean');
      const b = convert(right, 'boolean');
      return op === '||' ? a || b : a && b;
    }
    case '==':
      return equal(left, right);
    case '!=':
      return !equal(left, right);
    case '<':
    case '<=':
    case '>':
    case '>=':
      return ordered(op, left, right);
    default:
      return arithmetic(op, left, right);
  }
}

const typeOf = (value: Value): Type => {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'bigint') return 'integer';
  return typeof value === 'number' ? 'float' : 'boolean';
};

/** Converts between text and any type, and between integer and float. Throws otherwise. */
function convert(value: Value, to: Type): Value {
  const from = typeOf(value);
  if (from === to) return value;
  let result: Value | undefined;
  if (to === 'text') result = asText(value);
  else if (typeof value === 'string') result = fromText(value, to);
  else if (to === 'float' && typeof value === 'bigint') result = Number(value);
  else if (to === 'integer' && typeof value === 'number') {
    result = Number.isFinite(value) ? BigInt.asIntN(64, BigInt(Math.trunc(value))) : undefined;
  }
  if (result !== undefined) return result;
  throw new Fault(`${from} ${JSON.stringify(asText(value))} is not usable as ${to}`);
}

function fromText(text: string, to: Type): Value | undefined {
  if (to === 'integer') return integerOf(text, true, 64);
  return to === 'float' ? floatOf(text) : booleanOf(text);
}

/** Returns the type to which arithmetic converts both operands. */
function numeric(left: Value, right: Value): 'integer' | 'float' {
  for (const value of [left, right]) {
    if (typeof value === 'boolean') throw new Fault('expected a number, not a boolean');
  }
  return typeof left === 'number' || typeof right === 'number' ? 'float' : 'integer';
}

function arithmetic(op: string, left: Value, right: Value): Value {
  if (numeric(left, right) === 'float') {
    return floatArithmetic(op, convert(left, 'float') as number, convert(right, 'float') as number);
  }
  const a = convert(left, 'integer') as bigint;
  const b = convert(right, 'integer') as bigint;
  if ((op === '/' || op === '%') && b === 0n) throw new Fault('divide by zero');
  return BigInt.asIntN(64, integerArithmetic(op, a, b));
}

function integerArithmetic(op: string, a: bigint, b: bigint): bigint {
  if (op === '+') return a + b;
  if (op === '-') return a - b;
  if (op === '*') return a * b;
  return op === '/' ? a / b : a % b;
}

function floatArithmetic(op: string, a: number, b: number): number {
  if (op === '+') return a + b;
  if (op === '-') return a - b;
  if (op === '*') return a * b;
  if (op === '/') return a / b;
  throw new Fault('the operator % needs integers');
}

/** Compares in the type of the left operand. */
const equal = (left: Value, right: Value): boolean => left === convert(right, typeOf(left));

function ordered(op: string, left: Value, right: Value): boolean {
  const type = numeric(left, right);
  const a = convert(left, type);
  const b = convert(right, type);
  if (op === '<') return a < b;
  if (op === '<=') return a <= b;
  return op === '>' ? a > b : a >= b;
}

function choose(condition: boolean, left: Value, right: Value): Value {
  const a = typeOf(left);
  const b = typeOf(right);
  const type = a === 'text' ? b : a;
  const values = [convert(left, type), convert(right, type)] as const;
  return condition ? values[0] : values[1];
}

function asText(value: Value): string {
  if (typeof value !== 'number') return String(value);
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return Object.is(value, -0) ? '-0' : String(value);
  const sign = power < 0 ? '-' : '+';
  return `${digits}e${sign}${String(Math.abs(power)).padStart(2, '0')}`;
}
