/**
 * JSON text with the place of every value, from the syntax tree of the editor's own parser. It
 * reads texts that are not finished as far as they go: help is wanted while somebody types.
 */
import { jsonLanguage } from '@codemirror/lang-json';

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

/** Objects and lists in each other that are looked at: the server takes fewer. */
const DEPTH_MAX = 200;

type SyntaxNode = ReturnType<typeof jsonLanguage.parser.parse>['topNode'];

/** Reads a text. */
export function readJson(text: string): JsonText {
  const reader = new Reader(text);
  const top = jsonLanguage.parser.parse(text).topNode;
  const first = top.firstChild;
  const root = first === null || first.from === first.to ? undefined : reader.value(first, 0);
  top.cursor().iterate((at) => {
    if (at.type.isError) reader.judge(at.node);
  });
  return { root, faults: reader.faults };
}

/** The nodes below one. */
function* below({ firstChild }: SyntaxNode): Iterable<SyntaxNode> {
  for (let node = firstChild; node !== null; node = node.nextSibling) yield node;
}
/** Whether the parser has passed over characters that can begin nothing. */
const isSkipped = ({ type, from, to, firstChild }: SyntaxNode): boolean =>
  type.isError && from < to && firstChild === null;

class Reader {
  readonly faults: SyntaxFault[] = [];
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  value(node: SyntaxNode, depth: number): JsonNode {
    const { name, from, to } = node;
    if (name === 'Object' && depth <= DEPTH_MAX)
      return { is: 'object', from, to, members: this.#members(node, depth) };
    if (name === 'Array' && depth <= DEPTH_MAX) {
      const items = [...below(node)].filter((each) => /^[A-Z]/.test(each.name) || isSkipped(each));
      return { is: 'array', from, to, items: items.map((each) => this.value(each, depth + 1)) };
    }
    return { is: 'scalar', from, to, value: scalarOf(this.#text.slice(from, to)) };
  }

  #members(object: SyntaxNode, depth: number): Member[] {
    const members: Member[] = [];
    for (const node of below(object)) {
      if (node.name !== 'Property' && !isSkipped(node)) continue;
      const [named, colon, value] = below(node);
      // A name without quotes stands before a member that has none.
      const key = (named?.from === named?.to ? members.pop()?.key : named) ?? node;
      const range = { from: key.from, to: key.to };
      const name = String(scalarOf(this.#text.slice(key.from, key.to)) ?? this.#word(range));
      if (members.some((other) => other.name === name)) this.#fault('twice', range);
      members.push({
        name,
        key: range,
        from: range.from,
        to: node.to,
        colon: colon?.name === ':' ? colon.from : undefined,
        value:
          value === undefined || value.from === value.to ? undefined : this.value(value, depth + 1),
      });
    }
    return members;
  }

  /** Notes what is wrong at a node where the parser found an error and went on. */
  judge(node: SyntaxNode): void {
    const { parent, prevSibling: before, nextSibling: after, from, to } = node;
    if (parent === null || parent.name === 'PropertyName') return;
    const isIn = (name: string): boolean => parent.name === name;
    if (isSkipped(node)) {
      const isText = isIn('Object') || this.#text[from] === '"';
      this.#fault(isText ? 'text' : 'word', { from, to });
    } else if (isIn('Property')) {
      if (before?.name === ':') this.#fault('value', before);
      else this.#fault('colon', before ?? parent);
    } else if (isIn('JsonText') || before === null) {
      const rest = { from: after?.from ?? from, to: this.#text.length };
      if (this.#text.trim() !== '') this.#fault('rest', before === null ? { ...rest, from } : rest);
    } else if (/^[\]}]$/.test(node.firstChild?.name ?? '') || (after === null && from === to)) {
      this.#fault('unclosed', { from: parent.from, to: parent.from + 1 });
    } else {
      const at = from < to ? from : (after?.from ?? from);
      const isPart = /[\w.+-]/.test(this.#text[at - 1] ?? '');
      if (isPart) this.#fault('word', { from: at, to });
      else this.#fault('comma', { from: at, to: at + 1 });
    }
  }

  #word({ from, to }: Range): string {
    return this.#text.slice(from, Math.min(to, from + 40));
  }

  #fault(code: SyntaxFault['code'], { from, to }: Range): void {
    this.faults.push({ code, from, to, word: this.#word({ from, to }) });
  }
}

/** Returns the value of a word, or what was typed of a text; undefined for any other word. */
function scalarOf(word: string): ScalarNode['value'] {
  try {
    return JSON.parse(word) as string | number | boolean | null;
  } catch {
    return word.startsWith('"') ? word.replace(/^"|"$/g, '') : undefined;
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
