/** What the three languages share: syntax errors with their position, and escapes in texts. */

/** Why a text was refused, and where. Lines and columns count from 1, columns in UTF-16 units. */
export interface Problem {
  readonly message: string;
  readonly line: number;
  readonly column: number;
  /** Set if the grammar has no rule for the text, not if a rule forbids what it means. */
  readonly isSyntax?: true;
}

/** The outcome of parsing a text. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: Problem };

export interface GrammarOptions {
  /** Maximum nesting depth. The parsers recurse. */
  readonly depthMax: number;
  /** joinEscaped. */
  readonly join: (parts: readonly (string | number)[]) => string;
}
/** A generated parser. */
export type Grammar<T> = (text: string, options: GrammarOptions) => T;

interface Expectation {
  readonly type: 'literal' | 'class' | 'any' | 'end' | 'other';
  readonly text?: string;
  readonly description?: string;
}
interface GrammarError extends Error {
  readonly location: { readonly start: { readonly line: number; readonly column: number } };
  readonly expected: readonly Expectation[] | null;
  readonly found: string | null;
}

/** Maximum number of alternatives that an error lists. An error with more lists none. */
const EXPECTED_SHOWN_MAX = 8;

/** Runs a generated parser and turns its syntax error into a problem. */
export function runGrammar<T>(
  grammar: Grammar<T>,
  text: string,
  limits: { lengthMax: number; depthMax: number },
): Parsed<T> {
  if (text.length > limits.lengthMax) {
    const message = `it is ${text.length} characters long, at most ${limits.lengthMax} are allowed`;
    return { ok: false, problem: { message, line: 1, column: 1 } };
  }
  try {
    return { ok: true, value: grammar(text, { depthMax: limits.depthMax, join: joinEscaped }) };
  } catch (error) {
    if (!isGrammarError(error)) throw error;
    const { line, column } = error.location.start;
    const problem = { message: sentence(error), line, column };
    return {
      ok: false,
      problem: error.expected === null ? problem : { ...problem, isSyntax: true },
    };
  }
}

const isGrammarError = (error: unknown): error is GrammarError =>
  error instanceof Error && 'location' in error && 'expected' in error;

function sentence(error: GrammarError): string {
  if (error.expected === null) return error.message;
  const names = [...new Set(error.expected.map(nameOf))].filter((name) => name !== '').sort();
  const found = error.found === null ? 'the end of the text' : JSON.stringify(error.found);
  if (names.length === 0 || names.length > EXPECTED_SHOWN_MAX) return `unexpected ${found}`;
  const last = names.pop();
  return `expected ${names.length > 0 ? `${names.join(', ')} or ` : ''}${last} but found ${found}`;
}

/** Names an alternative. Bare character classes are left out: rules that matter have a name. */
function nameOf(expectation: Expectation): string {
  if (expectation.type === 'literal') return JSON.stringify(expectation.text);
  if (expectation.type === 'other') return expectation.description ?? '';
  return expectation.type === 'end' ? 'the end of the text' : '';
}

/** Returns the line and column of an offset. */
export function positionAt(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const lastBreak = before.lastIndexOf('\n');
  return { line: before.split('\n').length, column: offset - lastBreak };
}

/** Returns a function from offsets to lines and columns, for many look-ups in one text. */
export function placesIn(text: string): (offset: number) => { line: number; column: number } {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - starts[low]! + 1 };
  };
}

/**
 * Joins the parts of a quoted text. A number is one byte of UTF-8 from an escape: the two escapes
 * of "\xc3\xa9" form one "é". Bytes that are not valid UTF-8 become lone surrogates. No name in a
 * request contains one, so such a text equals no name.
 */
export function joinEscaped(parts: readonly (string | number)[]): string {
  let text = '';
  let bytes: number[] = [];
  for (const part of parts) {
    if (typeof part === 'number') {
      bytes.push(part);
      continue;
    }
    if (bytes.length > 0) text += decode(bytes);
    bytes = [];
    text += part;
  }
  return bytes.length > 0 ? text + decode(bytes) : text;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(bytes: readonly number[]): string {
  try {
    return utf8.decode(Uint8Array.from(bytes));
  } catch {
    return String.fromCharCode(...bytes.map((byte) => (byte < 0x80 ? byte : 0xdc00 + byte)));
  }
}
