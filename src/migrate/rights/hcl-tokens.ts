/** Cuts a text into tokens as the parser of the source does (HCL 1, both forms). */
import { joinEscaped } from '../../languages/syntax.js';

/** The text cannot be read. */
export class Unreadable extends Error {}

const SPACE = String.raw`[ \t\n\r]+`;
const NUMBER = String.raw`-?(?:0[xX][0-9a-fA-F]+|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)|\.[0-9]+`;
const COMMENT = String.raw`#[^\n]*|//[^\n]*|/\*[^]*?\*/`;
const NAME = String.raw`[\p{L}_][\p{L}\p{Nd}_.\-]*`;
const WORD = String.raw`[\p{L}_][\p{L}\p{Nd}_\-]*`;
const BLOCK_TOKEN = new RegExp(
  `(?<skip>${SPACE}|${COMMENT})|(?<name>${NAME})|(?<number>${NUMBER})|(?<mark>[{}[\\],=])`,
  'uy',
);
const JSON_TOKEN = new RegExp(
  `(?<skip>${SPACE})|(?<name>${WORD})|(?<number>${NUMBER})|(?<mark>[{}[\\],:.])`,
  'uy',
);
const HEREDOC = /<<(-?)([\p{L}\p{Nd}_]+)\n/uy;
const ESCAPE = /\\(?:[abfnrtv\\"]|[0-7]{3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})/y;

/** A part of a text, and its offsets. */
export interface Token {
  /** A mark is its own type. */
  readonly type: string;
  readonly text: string | undefined;
  readonly from: number;
  readonly to: number;
}

/** Cuts a text into tokens, with one that may be looked at before it is taken. */
export class Tokens {
  last: Token = { type: 'end', text: '', from: 0, to: 0 };
  readonly #text: string;
  readonly #json: boolean;
  #ahead: Token | undefined;

  constructor(text: string, json: boolean) {
    this.#text = text;
    this.#json = json;
  }

  peek(): Token {
    this.#ahead ??= this.#scan(this.last.to);
    return this.#ahead;
  }

  take(): Token {
    this.last = this.peek();
    this.#ahead = undefined;
    return this.last;
  }

  #scan(start: number): Token {
    const pattern = this.#json ? JSON_TOKEN : BLOCK_TOKEN;
    let from = start;
    for (;;) {
      if (from >= this.#text.length) return { type: 'end', text: '', from, to: from };
      if (this.#text[from] === '"') return this.#quoted(from);
      if (this.#text[from] === '<' && !this.#json) return this.#heredoc(from);
      pattern.lastIndex = from;
      const found = pattern.exec(this.#text);
      if (found === null) throw new Unreadable('an illegal character');
      const { skip, name, number, mark } = found.groups as Record<string, string | undefined>;
      const to = pattern.lastIndex;
      if (skip !== undefined) from = to;
      else if (number !== undefined) return this.#number(number, from, to);
      else return { type: mark ?? this.#nameType(name!), text: name, from, to };
    }
  }

  #nameType(name: string): string {
    if (name === 'true' || name === 'false') return 'other';
    if (!this.#json) return 'name';
    if (name !== 'null') throw new Unreadable('an illegal word');
    return 'null';
  }

  #number(text: string, from: number, to: number): Token {
    const isOdd = this.#json ? /^-?0\d/.test(text) : /^-?0\d\d*[89]\d*$/.test(text);
    const isCut = /[eE]/.test(this.#text[to] ?? '') && !/[eExX]/.test(text);
    if (isOdd || isCut) throw new Unreadable('an illegal number');
    const isWhole = /^-?(?:\d+|0x.*)$/i.test(text);
    return { type: isWhole ? 'text' : 'other', text, from, to };
  }

  /** In the block form, nothing ends a text between `${` and its `}`. */
  #quoted(from: number): Token {
    const text = this.#text;
    let braces = 0;
    let at = from + 1;
    for (; at < text.length; at += 1) {
      const char = text[at];
      if (char === '"' && (braces === 0 || this.#json)) break;
      if (char === '\n' && (braces === 0 || this.#json)) at = text.length;
      else if (char === '\\') {
        ESCAPE.lastIndex = at;
        if (!ESCAPE.test(text)) throw new Unreadable('an illegal escape');
        at = ESCAPE.lastIndex - 1;
      } else if (braces === 0 && char === '$' && text[at + 1] === '{') {
        braces = 1;
        at += 1;
      } else if (braces > 0 && char === '{') braces += 1;
      else if (braces > 0 && char === '}') braces -= 1;
    }
    if (at >= text.length) throw new Unreadable('a text without its end');
    const inner = unquoted(text.slice(from + 1, at), this.#json);
    return { type: 'string', text: inner, from, to: at + 1 };
  }

  /** Lines up to one that is the word. With `-`, that line must be longer than the word. */
  #heredoc(from: number): Token {
    HEREDOC.lastIndex = from;
    const [head, dash, word] = HEREDOC.exec(this.#text) ?? [];
    if (head === undefined) throw new Unreadable('an illegal here-document');
    const begin = from + head.length;
    for (let at = begin; ; ) {
      const end = this.#text.indexOf('\n', at);
      if (end < 0) throw new Unreadable('a here-document without its end');
      const line = this.#text.slice(at, end);
      const [, indent, found] = /^([ \t\n\v\f\r]*)(.*?)\r*$/.exec(line) ?? [];
      if (found === word && (dash === '' || line.length > word!.length)) {
        const text = this.#text.slice(begin, at) + (dash === '' ? indent : '');
        return { type: 'text', text, from, to: end + 1 };
      }
      at = end + 1;
    }
  }
}

/** Decodes what stands between quotes; undefined if it has escapes of no character. */
function unquoted(raw: string, json: boolean): string | undefined {
  const parts: (string | number)[] = [];
  for (let at = 0; at < raw.length; ) {
    const verbatim = json ? -1 : raw.indexOf('${', at);
    const mark = raw.indexOf('\\', at);
    const next = Math.min(...[verbatim, mark].filter((each) => each >= 0), raw.length);
    if (next > at) parts.push(raw.slice(at, next));
    at = next;
    if (next === verbatim) {
      at = endOfBraces(raw, next + 1);
      parts.push(raw.slice(next, at));
    } else if (next === mark) {
      ESCAPE.lastIndex = next;
      const part = escaped(ESCAPE.exec(raw)![0], json);
      if (part === undefined) return undefined;
      parts.push(part);
      at = ESCAPE.lastIndex;
    }
  }
  return joinEscaped(parts);
}

function endOfBraces(raw: string, from: number): number {
  let depth = 0;
  for (let at = from; at < raw.length; at += 1) {
    if (raw[at] === '{') depth += 1;
    if (raw[at] === '}') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return raw.length;
}

const SHORT: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** Returns an escaped character, or a byte as a number. */
function escaped(mark: string, json: boolean): string | number | undefined {
  const kind = mark[1]!;
  if (/[0-7]/.test(kind)) {
    const byte = Number.parseInt(mark.slice(1), 8);
    return byte > 0xff ? undefined : byte;
  }
  if (!/[xuU]/.test(kind)) return SHORT[kind] ?? kind;
  const code = Number.parseInt(mark.slice(2), 16);
  if (kind === 'x') return code;
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  if (code > 0x10ffff || (isSurrogate && json)) return undefined;
  return isSurrogate ? '\ufffd' : String.fromCodePoint(code);
}
