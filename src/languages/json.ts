/**
 * JSON as strict as RFC 8259 permits. `JSON.parse` builds the value. The reader below walks the
 * same text to refuse what `JSON.parse` accepts (duplicate keys, `__proto__`, numbers out of range,
 * lone surrogates, deep nesting) and to report where an error is and what was expected.
 */
import { type Parsed, positionAt } from './syntax.js';

/**
 * Maximum number of values in a body. Each takes a few microseconds to parse, decode and serialise.
 * The largest entry that the limits on lists allow has fewer.
 */
export const VALUES_MAX = 30_000;

/** Maximum number of values in the body of a set, which has many objects. */
export const SET_VALUES_MAX = 1_000_000;

/**
 * Maximum nesting depth of a body. No object of the API needs more; code that walks bodies
 * recurses.
 */
const DEPTH_MAX = 64;

class JsonError extends Error {
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERALS = ['true', 'false', 'null'];
/** Members of an object up to which a list of their names is searched faster than a set. */
const FEW_NAMES = 8;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Stands for the end of the text among codes of characters. */
const END = -1;

/** Describes the character at an offset for a message. */
function found(text: string, at: number): string {
  const point = text.codePointAt(at);
  if (point === undefined) return 'EOF';
  if (point === 0x2f) return '"/" (JSON has no comments)';
  if (point === 0x27) return '"\'" (JSON strings use double quotes)';
  if (point === 0xfeff) return 'a byte-order mark (send UTF-8 without one)';
  return JSON.stringify(String.fromCodePoint(point));
}

/** Checks one JSON text. Throws JsonError at the first error. */
class Reader {
  #at = 0;
  #values = 0;
  readonly #text: string;
  readonly #valuesMax: number;
  /** Where numbers begin and end that are too large to be exact as a number. */
  readonly large: (readonly [start: number, end: number])[] = [];
  constructor(text: string, valuesMax: number) {
    this.#text = text;
    this.#valuesMax = valuesMax;
  }

  check(): void {
    this.#value(0);
    this.#blanks();
    if (this.#at < this.#text.length) {
      const what = found(this.#text, this.#at);
      throw this.#fault(
        `unexpected ${what} after the end of the JSON value, where the body should end`,
      );
    }
  }

  #fault(message: string, at = this.#at): JsonError {
    return new JsonError(at, message);
  }

  #expected(what: string): JsonError {
    return this.#fault(`unexpected ${found(this.#text, this.#at)}, expected ${what}`);
  }

  #blanks(): number {
    const text = this.#text;
    let at = this.#at;
    for (;;) {
      // beyond the end it would be NaN, for which V8 compiles slower code
      const code = at < text.length ? text.charCodeAt(at) : END;
      // the commonest first: every blank is at most a space
      if (code > 0x20 || (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09)) {
        this.#at = at;
        return code;
      }
      at++;
    }
  }

  /** `member`: of the object whose member the value is; undefined for others. */
  #value(depth: number, member?: string): void {
    const code = this.#blanks();
    if (++this.#values > this.#valuesMax)
      throw this.#fault(`the body has more than ${this.#valuesMax} values`);
    if (depth > DEPTH_MAX) throw this.#fault(`nested deeper than ${DEPTH_MAX} levels`);
    if (code === 0x7b) this.#object(depth);
    else if (code === 0x5b) this.#array(depth);
    else if (code === QUOTE) this.#string();
    else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) this.#number();
    else {
      const literal = LITERALS.find((word) => this.#text.startsWith(word, this.#at));
      if (literal === undefined) {
        const inList = depth === 0 ? '' : ' in the list';
        const after = member === undefined ? inList : ` for ${JSON.stringify(member)}`;
        throw this.#expected(`a value${after}`);
      }
      this.#at += literal.length;
    }
  }

  #object(depth: number): void {
    this.#at++;
    if (this.#blanks() === 0x7d) {
      this.#at++;
      return;
    }
    const few: string[] = [];
    let many: Set<string> | undefined;
    for (;;) {
      if (this.#blanks() !== QUOTE) throw this.#expected('a field name in double quotes');
      const start = this.#at;
      const name = this.#string();
      if (many === undefined ? few.includes(name) : many.has(name))
        throw this.#fault(`the field ${JSON.stringify(name)} appears twice in one object`, start);
      if (name === '__proto__')
        throw this.#fault('unknown field "__proto__": that name is not allowed', start);
      if (many !== undefined) many.add(name);
      else if (few.push(name) > FEW_NAMES) many = new Set(few);
      if (this.#blanks() !== 0x3a) throw this.#expected('":" after the field name');
      this.#at++;
      this.#value(depth + 1, name);
      const code = this.#blanks();
      if (code !== 0x2c && code !== 0x7d) throw this.#expected('"," or "}" after the value');
      this.#at++;
      if (code === 0x7d) return;
    }
  }

  #array(depth: number): void {
    this.#at++;
    if (this.#blanks() === 0x5d) {
      this.#at++;
      return;
    }
    for (;;) {
      this.#value(depth + 1);
      const code = this.#blanks();
      if (code !== 0x2c && code !== 0x5d) throw this.#expected('"," or "]" after the value');
      this.#at++;
      if (code === 0x5d) return;
    }
  }

  #string(): string {
    const text = this.#text;
    const start = this.#at;
    let escaped = false;
    let at = start + 1;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      // most characters are lower-case letters
      if (code > BACKSLASH) continue;
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        escaped = true;
        at++;
      } else if (code < 0x20)
        throw this.#fault(
          'a control character inside a string must be escaped, as \\n or \\u0009',
          at,
        );
    }
    if (at >= text.length) throw this.#fault('the string has no closing double quote', at);
    this.#at = at;
    this.#at++;
    if (!escaped) return this.#text.slice(start + 1, this.#at - 1);
    try {
      const value = JSON.parse(this.#text.slice(start, this.#at)) as string;
      if (!/\p{Surrogate}/u.test(value)) return value;
    } catch {
      throw this.#fault('the string has an escape that JSON does not know', start);
    }
    throw this.#fault('the string has a lone surrogate, which is not a character', start);
  }

  #number(): void {
    NUMBER.lastIndex = this.#at;
    const match = NUMBER.exec(this.#text);
    if (match === null) throw this.#fault('a minus sign without a number');
    const size = Math.abs(Number(match[0]));
    if (size === Number.POSITIVE_INFINITY)
      throw this.#fault(`the number ${match[0].slice(0, 40)} is out of range`);
    const start = this.#at;
    this.#at += match[0].length;
    if (size > Number.MAX_SAFE_INTEGER) this.large.push([start, this.#at]);
    // Report "01" and "1." as bad numbers rather than as a missing comma.
    if (/[\d.]/.test(this.#text.charAt(this.#at)))
      throw this.#fault('a number that is not valid JSON');
  }
}

/** Parses a JSON text of at most so many values. */
export function parseStrictJson(text: string, valuesMax = VALUES_MAX): Parsed<unknown> {
  return parse(text, valuesMax, () => JSON.parse(text));
}

/**
 * Parses a JSON text that was UTF-8 as `parseStrictJson` does, but keeps every digit of a number
 * above 2^53: its integer part is a bigint.
 */
export function parseExactJson(text: string): Parsed<unknown> {
  return parse(text, VALUES_MAX, ({ large }) => {
    if (large.length === 0) return JSON.parse(text);
    let marked = '';
    let done = 0;
    for (const [start, end] of large) {
      marked += `${text.slice(done, start)}"${MARK}${text.slice(start, end)}"`;
      done = end;
    }
    return JSON.parse(marked + text.slice(done), (_, value: unknown) =>
      typeof value === 'string' && value.startsWith(MARK) ? integerPart(value.slice(1)) : value,
    );
  });
}

/** Stands before a number in quotes: the reader accepts no string with a lone surrogate. */
const MARK = '\ud800';

/** Returns the integer part of a JSON number above 2^53. */
function integerPart(number: string): bigint {
  const parts = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number)!;
  const [, whole = '', fraction = '', exponent = '0'] = parts;
  const length = whole.length + Number(exponent);
  return BigInt((whole + fraction).padEnd(length, '0').slice(0, length));
}

function parse(
  text: string,
  valuesMax: number,
  build: (reader: Reader) => unknown,
): Parsed<unknown> {
  try {
    const reader = new Reader(text, valuesMax);
    reader.check();
    return { ok: true, value: build(reader) };
  } catch (error) {
    if (error instanceof JsonError)
      return { ok: false, problem: { message: error.message, ...positionAt(text, error.at) } };
    // What the reader accepts should always parse. If it does not, the client still gets an error.
    if (!(error instanceof SyntaxError)) throw error;
    return { ok: false, problem: { message: 'it is not JSON', line: 1, column: 1 } };
  }
}

const HTML: Record<string, string> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' };

/** Escapes `<`, `>` and `&` in JSON text, so that it does no harm if it is shown as HTML. */
export function escapeHtml(text: string): string {
  // three searches are faster than one regular expression, and text rarely holds any of them
  if (!text.includes('<') && !text.includes('>') && !text.includes('&')) return text;
  return text.replace(/[<>&]/g, (char) => HTML[char]!);
}
