/**
 * The surface of policy rules: text in block or JSON form to one tree. What the names mean is
 * decided in acl/rules.ts. Read by hand, not by a generated parser: rules are the one language
 * whose texts are long, and a parse must not hold a node up.
 *
 *     body   = { item [","] }
 *     item   = key "=" value | key { key } object
 *     key    = name | string
 *     object = "{" body "}"
 *     list   = "[" [ value { "," value } [","] ] "]"
 *     value  = string | object | number | boolean | list | here-document
 *
 * White space and comments (`#`, `//`, and slash-star) stand between any two of these. A text that
 * begins with `{` is JSON, read leniently about a comma too many and a brace too few at the end.
 */
import { joinEscaped, type Parsed, positionAt } from './syntax.js';

export interface Key {
  readonly text: string;
  /** As it is spelled, quotes and escapes included: two arguments are the same only if this is. */
  readonly raw: string;
  readonly at: number;
}
/** `key = value` (assigned, one key), or `key key … { … }`. */
export interface Item {
  readonly keys: readonly Key[];
  readonly value: Value;
  readonly assigned: boolean;
}
export type Body = readonly Item[];
/** `at` is the offset of the value in the normalised text. */
export type Value =
  | {
      readonly type: 'text' | 'number' | 'boolean' | 'null';
      readonly text: string;
      readonly at: number;
    }
  | { readonly type: 'object'; readonly items: Body; readonly at: number }
  | { readonly type: 'list'; readonly items: readonly Value[]; readonly at: number };

export interface RulesTree {
  readonly body: Body;
  readonly json: boolean;
  /** The text that offsets refer to: carriage returns before line feeds are left out. */
  readonly source: string;
}

/** Some three thousand blocks, which a node reads in some hundredths of a second. */
export const RULES_LENGTH_MAX = 128 * 1024;
/** Rules need four levels, namespaces one more. */
const DEPTH_MAX = 32;
/** More names than two mean nothing. */
const KEYS_MAX = 4;

/** Parses the text of a policy. */
export function parseRulesText(text: string): Parsed<RulesTree> {
  const source = text.replaceAll('\r\n', '\n');
  if (source.length > RULES_LENGTH_MAX) {
    const message = `it is ${source.length} characters long, at most ${RULES_LENGTH_MAX} are allowed`;
    return { ok: false, problem: { message, line: 1, column: 1 } };
  }
  try {
    return { ok: true, value: { ...new Reader(source).read(), source } };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { ok: false, problem: { message: error.message, ...positionAt(source, error.at) } };
  }
}

/** What ends a parse; never leaves this file. */
class Fault extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

const NAME = /(?!(?:true|false)(?![\p{L}\p{N}_.-]))[\p{L}_][\p{L}\p{N}_.-]*/uy;
const WORD = /(?:true|false|null)(?![\p{L}\p{N}_.-])/uy;
const NUMBER = /-?(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\p{L}\p{N}_.-])/uy;
const JSON_NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\p{L}\p{N}_.-])/uy;
const HERE = /<<-?([\p{L}\p{N}_.-]+)\n/uy;
const BLANKS = /[ \t\n\r]*/y;
/** Text up to a quote, an escape, a dollar sign or the end of the line. */
const PLAIN = /[^"\\$\n]*/y;
const ESCAPE =
  /([abfnrtv\\"])|([0-3][0-7]{2})|x([0-9a-fA-F]{2})|u((?![dD][89a-fA-F])[0-9a-fA-F]{4})|U(00(?!00[dD][89a-fA-F])(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4})/y;
const LETTERS: Readonly<Record<string, string>> = {
  ...{ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
  ...{ '\\': '\\', '"': '"' },
};

class Reader {
  private at = 0;
  private depth = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  read(): { body: Body; json: boolean } {
    const nul = this.text.indexOf('\0');
    if (nul >= 0) throw new Fault('the character U+0000 is not allowed', nul);
    this.match(BLANKS);
    if (this.next() === '{') return { body: this.json(), json: true };
    this.blanks();
    const body = this.body();
    if (this.at < this.text.length) this.expected('a name, a quoted text or the end of the text');
    return { body, json: false };
  }

  // ---- block form

  /** Items up to something that begins none. */
  private body(): Body {
    const items: Item[] = [];
    for (;;) {
      const key = this.key();
      if (key === undefined) return items;
      items.push(this.item(key));
      if (this.take(',')) this.blanks();
    }
  }

  private item(first: Key): Item {
    if (this.take('=')) {
      this.blanks();
      return { keys: [first], value: this.value(), assigned: true };
    }
    const keys = [first];
    while (this.next() !== '{') {
      const key = keys.length < KEYS_MAX ? this.key() : undefined;
      if (key === undefined) return this.expected(this.afterKeys(keys.length));
      keys.push(key);
    }
    return { keys, value: this.object(), assigned: false };
  }

  private afterKeys(count: number): string {
    if (count === 1) return '"=", a block, a name or a quoted text';
    return count < KEYS_MAX ? 'a block, a name or a quoted text' : 'a block';
  }

  private key(): Key | undefined {
    const { at } = this;
    if (this.next() === '"') {
      const text = this.string();
      const raw = this.text.slice(at, this.at);
      this.blanks();
      return { text, raw, at };
    }
    const raw = this.match(NAME);
    if (raw === undefined) return undefined;
    this.blanks();
    return { text: raw, raw, at };
  }

  private object(): Value {
    const { at } = this;
    this.enter();
    this.blanks();
    const items = this.body();
    if (!this.take('}')) this.expected('"}", a name or a quoted text');
    this.depth--;
    this.blanks();
    return { type: 'object', items, at };
  }

  private value(): Value {
    const next = this.next();
    if (next === '{') return this.object();
    if (next === '[') return this.list();
    const value = next === '<' ? this.hereDocument() : this.scalar(NUMBER, false);
    this.blanks();
    return value;
  }

  private list(): Value {
    const { at } = this;
    this.enter();
    this.blanks();
    const items: Value[] = [];
    while (!this.take(']')) {
      items.push(this.value());
      if (this.take(',')) this.blanks();
      else if (this.next() !== ']') this.expected('"," or "]"');
    }
    this.depth--;
    this.blanks();
    return { type: 'list', items, at };
  }

  /** `<<WORD`, lines as they are, and a line of the word alone. */
  private hereDocument(): Value {
    const { at } = this;
    HERE.lastIndex = at;
    const [mark = '', word = ''] = HERE.exec(this.text) ?? [];
    if (mark === '') return this.expected('a value, or a here-document such as <<END');
    this.at += mark.length;
    const begin = this.at;
    for (;;) {
      const start = this.at;
      const end = this.text.indexOf('\n', start);
      if (end < 0) throw new Fault(`the here-document has no closing line ${quoted(word)}`, at);
      this.at = end + 1;
      if (this.text.slice(start, end).trimStart() === word)
        return { type: 'text', text: this.text.slice(begin, start), at };
    }
  }

  // ---- JSON form

  private json(): Body {
    const value = this.jsonObject();
    // what follows is ignored unless it looks like rules, which would have no effect
    const rest = this.text.slice(this.at).search(/[{=:]/);
    if (rest >= 0) {
      this.at += rest;
      this.expected('the end of the text');
    }
    return value.items;
  }

  private jsonObject(): Value & { readonly type: 'object' } {
    const { at } = this;
    this.enter();
    this.match(BLANKS);
    const items: Item[] = [];
    while (this.next() === '"') {
      items.push(this.member());
      if (!this.take(',')) break;
      this.match(BLANKS);
    }
    if (!this.take('}') && this.at < this.text.length)
      this.expected(items.length === 0 ? '"}" or a quoted text' : '"," or "}"');
    this.depth--;
    this.match(BLANKS);
    return { type: 'object', items, at };
  }

  private member(): Item {
    const { at } = this;
    const text = this.string();
    const raw = this.text.slice(at, this.at);
    this.match(BLANKS);
    if (!this.take(':')) this.expected('":"');
    this.match(BLANKS);
    return { keys: [{ text, raw, at }], value: this.jsonValue(), assigned: true };
  }

  private jsonValue(): Value {
    const next = this.next();
    if (next === '{') return this.jsonObject();
    if (next === '[') return this.jsonList();
    const value = this.scalar(JSON_NUMBER, true);
    this.match(BLANKS);
    return value;
  }

  private jsonList(): Value {
    const { at } = this;
    this.enter();
    this.match(BLANKS);
    const items: Value[] = [];
    while (!this.take(']')) {
      items.push(this.jsonValue());
      if (this.take(',')) this.match(BLANKS);
    }
    this.depth--;
    this.match(BLANKS);
    return { type: 'list', items, at };
  }

  // ---- both forms

  private scalar(numbers: RegExp, nulls: boolean): Value {
    const { at } = this;
    if (this.next() === '"') return { type: 'text', text: this.string(), at };
    const number = this.match(numbers);
    if (number !== undefined) return { type: 'number', text: number, at };
    const text = this.match(WORD);
    if (text === 'null' && nulls) return { type: 'null', text, at };
    if (text !== undefined && text !== 'null') return { type: 'boolean', text, at };
    this.at = at;
    return this.expected('a block, a boolean, a list, a number or a quoted text');
  }

  /** A quoted text; what stands between `${` and its brace is kept as it is. */
  private string(): string {
    const { at } = this;
    this.at++;
    const parts: (string | number)[] = [];
    for (;;) {
      const plain = this.match(PLAIN) as string;
      if (plain !== '') parts.push(plain);
      const next = this.next();
      if (next === '"') {
        this.at++;
        return parts.length === 1 && plain !== '' ? plain : joinEscaped(parts);
      }
      if (next === '\\') parts.push(this.escape());
      else if (next === '$') parts.push(this.dollar(at));
      else throw new Fault('the quoted text has no closing quote on its line', at);
    }
  }

  private dollar(string: number): string {
    const { at, text } = this;
    this.at++;
    if (this.next() !== '{') return '$';
    let open = 0;
    do {
      const char = text[this.at++];
      if (char === '{') open++;
      else if (char === '}') open--;
      else if (char === undefined)
        throw new Fault('the quoted text has a ${ without its closing brace', string);
    } while (open > 0);
    return text.slice(at, this.at);
  }

  /** One escape: a character, or a number that is one byte of UTF-8. */
  private escape(): string | number {
    this.at++;
    ESCAPE.lastIndex = this.at;
    const [all, letter, octal, hex, short, long] = ESCAPE.exec(this.text) ?? [];
    if (all === undefined) return this.expected('an escape such as \\n, \\" or \\u0041');
    this.at += all.length;
    if (letter !== undefined) return LETTERS[letter] as string;
    if (octal !== undefined) return Number.parseInt(octal, 8);
    if (hex !== undefined) return Number.parseInt(hex, 16);
    return String.fromCodePoint(Number.parseInt(short ?? long ?? '', 16));
  }

  private enter(): void {
    if (++this.depth > DEPTH_MAX)
      throw new Fault(`nested deeper than ${DEPTH_MAX} levels`, this.at);
    this.at++;
  }

  /** White space and comments. */
  private blanks(): void {
    for (;;) {
      this.match(BLANKS);
      const two = this.text.slice(this.at, this.at + 2);
      if (two.startsWith('#') || two === '//') {
        const end = this.text.indexOf('\n', this.at);
        this.at = end < 0 ? this.text.length : end;
      } else if (two === '/*') {
        const end = this.text.indexOf('*/', this.at + 2);
        if (end < 0) throw new Fault('the comment has no end', this.at);
        this.at = end + 2;
      } else return;
    }
  }

  private next(): string {
    return this.text.charAt(this.at);
  }

  private take(char: string): boolean {
    if (this.text.charAt(this.at) !== char) return false;
    this.at++;
    return true;
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found === null) return undefined;
    this.at = pattern.lastIndex;
    return found[0];
  }

  private expected(what: string): never {
    const point = this.text.codePointAt(this.at);
    const found = point === undefined ? 'the end of the text' : quoted(String.fromCodePoint(point));
    throw new Fault(`expected ${what} but found ${found}`, this.at);
  }
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 80));
