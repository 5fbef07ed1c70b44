/**
 * JSON text with the place of every value. It reads texts that are not finished as far as they go:
 * help is wanted while somebody types.
 */

/** A range of a text, in characters from its beginning. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** A value in a text. */
export type JsonNode = ObjectNode | ArrayNode | ScalarNode;

/** An object, also one without its closing brace. */
export interface ObjectNode extends Range {
  readonly is: 'object';
  readonly members: readonly Member[];
}

/** A list. */
export interface ArrayNode extends Range {
  readonly is: 'array';
  readonly items: readonly JsonNode[];
}

/** A text, a number, true, false, null, or a word that is none of these: undefined. */
export interface ScalarNode extends Range {
  readonly is: 'scalar';
  readonly value: string | number | boolean | null | undefined;
}

/** A member of an object. It ends where the next one may begin. */
export interface Member extends Range {
  readonly name: string;
  readonly key: Range;
  /** Where its colon is; undefined if it is not typed yet. */
  readonly colon: number | undefined;
  readonly value: JsonNode | undefined;
}

/** What keeps a text from being JSON. */
export interface SyntaxFault extends Range {
  readonly code: 'comma' | 'colon' | 'value' | 'unclosed' | 'word' | 'text' | 'rest' | 'twice';
  readonly word: string;
}

/** A text that was read. */
export interface JsonText {
  readonly root: JsonNode | undefined;
  readonly faults: readonly SyntaxFault[];
}

/** Objects and lists in each other, beyond which a text is not read: the server takes fewer. */
const DEPTH_MAX = 200;
const SPACE = /[ \t\r\n]*/y;
const TEXT = /"[^"\\\n]*(?:\\.[^"\\\n]*)*"?/y;
const WORD = /[^ \t\r\n,:[\]{}"]+/y;

/** Reads a text. */
export function readJson(text: string): JsonText {
  const reader = new Reader(text);
  const root = reader.value(0);
  reader.end();
  return { root, faults: reader.faults };
}

class Reader {
  readonly faults: SyntaxFault[] = [];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads a value; undefined if there is none. */
  value(depth: number): JsonNode | undefined {
    const next = this.#peek();
    if (depth <= DEPTH_MAX && next === '{') return this.#object(depth);
    if (depth <= DEPTH_MAX && next === '[') return this.#array(depth);
    return next === '"' ? this.#string() : this.#word();
  }

  /** Notes what stands behind the value. */
  end(): void {
    if (this.#peek() !== '') this.#fault('rest', this.#at, this.#text.length);
  }

  #object(depth: number): ObjectNode {
    const members: Member[] = [];
    const range = this.#bracketed('}', () => {
      const member = this.#member(depth);
      if (members.some(({ name }) => name === member.name))
        this.#fault('twice', member.key.from, member.key.to);
      members.push(member);
    });
    return { is: 'object', ...range, members };
  }

  /** Reads items with commas between them, up to the closing bracket. */
  #bracketed(close: '}' | ']', item: () => void): { readonly from: number; readonly to: number } {
    const other = close === '}' ? ']' : '}';
    const from = this.#at++;
    let isEmpty = true;
    let isDue = false;
    for (;;) {
      const next = this.#peek();
      if (next === '' || next === other) {
        this.#fault('unclosed', from, from + 1);
        return { from, to: this.#at };
      }
      if (next === close) {
        if (!isEmpty && !isDue) this.#fault('comma', this.#at, this.#at + 1);
        return { from, to: ++this.#at };
      }
      if (next === ',') {
        if (!isDue) this.#fault('comma', this.#at, this.#at + 1);
        this.#at += 1;
        isDue = false;
        continue;
      }
      if (isDue) this.#fault('comma', this.#at, this.#at + 1);
      item();
      isEmpty = false;
      isDue = true;
    }
  }

  #member(depth: number): Member {
    const from = this.#at;
    const key = this.#peek() === '"' ? this.#string() : (this.#word() ?? this.#skip());
    if (typeof key.value !== 'string') this.#fault('text', key.from, key.to);
    const name = typeof key.value === 'string' ? key.value : this.#text.slice(key.from, key.to);
    if (this.#peek() !== ':') {
      this.#fault('colon', key.from, key.to);
      return { name, key, from, to: this.#at, colon: undefined, value: undefined };
    }
    const colon = this.#at++;
    const value = this.value(depth + 1);
    if (value === undefined) this.#fault('value', colon, colon + 1);
    this.#peek();
    return { name, key, from, to: this.#at, colon, value };
  }

  #array(depth: number): ArrayNode {
    const items: JsonNode[] = [];
    const range = this.#bracketed(']', () => {
      items.push(this.value(depth + 1) ?? this.#skip());
    });
    return { is: 'array', ...range, items };
  }

  #string(): ScalarNode {
    const from = this.#at;
    const token = this.#match(TEXT);
    try {
      return { is: 'scalar', from, to: this.#at, value: JSON.parse(token) as string };
    } catch {
      this.#fault('text', from, this.#at);
      return { is: 'scalar', from, to: this.#at, value: token.replace(/^"|"$/g, '') };
    }
  }

  /** Reads a number, true, false or null. */
  #word(): ScalarNode | undefined {
    const from = this.#at;
    const token = this.#match(WORD);
    if (token === '') return undefined;
    try {
      const value = JSON.parse(token) as number | boolean | null;
      return { is: 'scalar', from, to: this.#at, value };
    } catch {
      this.#fault('word', from, this.#at);
      return { is: 'scalar', from, to: this.#at, value: undefined };
    }
  }

  /** Passes over a character that can begin nothing. */
  #skip(): ScalarNode {
    const from = this.#at++;
    this.#fault('word', from, this.#at);
    return { is: 'scalar', from, to: this.#at, value: undefined };
  }

  /** Returns the next character that is no space; '' at the end. */
  #peek(): string {
    this.#match(SPACE);
    return this.#text.charAt(this.#at);
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const token = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += token.length;
    return token;
  }

  #fault(code: SyntaxFault['code'], from: number, to: number): void {
    this.faults.push({ code, from, to, word: this.#text.slice(from, Math.min(to, from + 40)) });
  }
}

/** What the caret stands in. */
export interface Spot extends Range {
  /** The names and positions that lead to the value, or to the object of the name. */
  readonly path: readonly string[];
  /** Whether a name of a member or a value is typed there. `from` and `to` are its text. */
  readonly is: 'name' | 'value';
  /** The object whose member is typed. */
  readonly object?: ObjectNode;
  /** Whether the member has its colon already. */
  readonly hasColon?: boolean;
}

const EMPTY = (at: number): Range => ({ from: at, to: at });
const holds = ({ from, to }: Range, at: number): boolean => from <= at && at <= to;
const isInside = ({ from, to }: Range, at: number): boolean => from < at && at < to;

/** Returns what the caret stands in, at `at` characters; undefined outside of the value. */
export function spotAt(
  { root }: JsonText,
  at: number,
  end: number,
  path: readonly string[] = [],
): Spot | undefined {
  return root === undefined ? { path, is: 'value', ...EMPTY(at) } : spotIn(root, at, end, path);
}

function spotIn(
  node: JsonNode,
  at: number,
  end: number,
  path: readonly string[],
): Spot | undefined {
  if (node.is === 'scalar')
    return holds(node, at) ? { path, is: 'value', from: node.from, to: node.to } : undefined;
  // What is not closed goes on to the end of the text.
  const isOpen = node.to >= end;
  if (!isInside(node, at) && !(isOpen && at > node.from)) return undefined;
  if (node.is === 'array') {
    const nth = node.items.findIndex(({ to }) => at <= to);
    const item = node.items[nth];
    const step = String(nth < 0 ? node.items.length : nth);
    const found = item && at >= item.from ? spotIn(item, at, end, [...path, step]) : undefined;
    return found ?? (item && holds(item, at) ? undefined : gap([...path, step], at));
  }
  const member = node.members.find(({ from, to }) => from <= at && at <= to);
  if (member === undefined)
    return { path, is: 'name', object: node, hasColon: false, ...EMPTY(at) };
  const { key, colon, value, name } = member;
  if (holds(key, at)) {
    const { from, to } = key;
    return { path, is: 'name', object: node, hasColon: colon !== undefined, from, to };
  }
  if (colon === undefined || at <= colon) return undefined;
  if (value === undefined) return gap([...path, name], at);
  if (at < value.from) return undefined;
  const found = spotIn(value, at, end, [...path, name]);
  if (found !== undefined || at <= value.to) return found;
  return { path, is: 'name', object: node, hasColon: false, ...EMPTY(at) };
}

const gap = (path: readonly string[], at: number): Spot => ({ path, is: 'value', ...EMPTY(at) });

/** Returns the range of the value at a path, or of the nearest value around it. */
export function rangeOf(node: JsonNode, path: readonly string[]): Range {
  const [step, ...rest] = path;
  if (step === undefined || node.is === 'scalar') return node;
  const next =
    node.is === 'array'
      ? node.items[Number(step)]
      : node.members.find(({ name }) => name === step)?.value;
  if (next === undefined) return node;
  return rangeOf(next, rest);
}
