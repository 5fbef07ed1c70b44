/**
 * Reads a text as the parser of the source does (HCL 1, both forms): more leniently than
 * languages/policy-rules.ts, and with what that parser makes of faults. The JSON form ends where a
 * comma is missing; what follows is not read.
 */
import { type Token, Tokens, Unreadable } from './hcl-tokens.js';

/** A value. `text` is undefined if it has escapes at which the source fails once it is used. */
export type HclValue =
  | { readonly is: 'text'; readonly text: string | undefined }
  | { readonly is: 'other' }
  | { readonly is: 'object'; readonly items: readonly HclItem[] }
  | { readonly is: 'list'; readonly items: readonly HclValue[] };

/** An item with the offsets between which it stands. Those of the JSON form are of no use. */
export interface HclItem {
  readonly keys: readonly (string | undefined)[];
  readonly value: HclValue;
  readonly from: number;
  readonly to: number;
}

/** A fault of the JSON form that the object around it swallows if it is found at its brace. */
class Misfit extends Unreadable {}

/** Nesting that is read. Rules need four levels. */
const DEPTH_MAX = 500;

abstract class Parser {
  protected readonly tokens: Tokens;
  #depth = 0;

  constructor(tokens: Tokens) {
    this.tokens = tokens;
  }

  protected nested<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) throw new Unreadable('nested too deep');
    try {
      return read();
    } finally {
      this.#depth -= 1;
    }
  }

  /** Returns a value that is one token; undefined if the token is another. */
  protected literal({ type, text }: Token): HclValue | undefined {
    if (type === 'string' || type === 'text') return { is: 'text', text };
    if (type === 'null') return { is: 'text', text: '' };
    return type === 'other' ? { is: 'other' } : undefined;
  }
}

class BlockParser extends Parser {
  /** Reads items. At the end of the text, an item without its value is dropped. */
  items(isInner: boolean): HclItem[] {
    const items: HclItem[] = [];
    for (;;) {
      if (isInner && this.tokens.peek().type === '}') return items;
      const item = this.#item();
      if (item === undefined) return items;
      items.push(item);
      if (this.tokens.peek().type === ',') this.tokens.take();
    }
  }

  #item(): HclItem | undefined {
    const keys: (string | undefined)[] = [];
    const { from } = this.tokens.peek();
    for (;;) {
      const { type, text } = this.tokens.take();
      if (type === 'name' || type === 'string') {
        keys.push(text);
        continue;
      }
      if (type === 'end' && keys.length === 0) return undefined;
      const isRead = type === '{' ? keys.length > 0 : type === '=' && keys.length === 1;
      if (!isRead) throw new Unreadable('no item');
      const value = type === '{' ? this.#object() : this.#value();
      return value && { keys, value, from, to: this.tokens.last.to };
    }
  }

  #object(): HclValue {
    const items = this.nested(() => this.items(true));
    if (this.tokens.take().type !== '}') throw new Unreadable('a block without its end');
    return { is: 'object', items };
  }

  #value(): HclValue | undefined {
    const token = this.tokens.take();
    if (token.type === 'end') return undefined;
    if (token.type === '{') return this.#object();
    if (token.type === '[') return this.nested(() => this.#list());
    const value = this.literal(token);
    if (value === undefined) throw new Unreadable('no value');
    return value;
  }

  #list(): HclValue {
    const items: HclValue[] = [];
    let needsComma = false;
    for (;;) {
      const token = this.tokens.take();
      if (token.type === ']') return { is: 'list', items };
      if (token.type === ',') {
        needsComma = false;
        continue;
      }
      if (needsComma) throw new Unreadable('no comma');
      if (token.type === '[') {
        items.push(this.nested(() => this.#list()));
        continue;
      }
      const value = token.type === '{' ? this.#object() : this.literal(token);
      if (value === undefined) throw new Unreadable('no value');
      items.push(value);
      needsComma = true;
    }
  }
}

class JsonParser extends Parser {
  root(): HclItem[] {
    if (this.tokens.take().type !== '{') throw new Unreadable('no object');
    return this.#items();
  }

  /** Reads the items of an object. What follows an item and is no comma ends the object. */
  #items(): HclItem[] {
    const items: HclItem[] = [];
    try {
      do {
        const item = this.#item();
        if (item === undefined) return items;
        items.push(item);
      } while (this.tokens.take().type === ',');
    } catch (error) {
      if (!(error instanceof Misfit) || this.tokens.last.type !== '}') throw error;
    }
    return items;
  }

  #item(): HclItem | undefined {
    const keys: (string | undefined)[] = [];
    for (;;) {
      const { type, text } = this.tokens.take();
      if (type === 'end') return undefined;
      if (type === 'string') keys.push(text);
      else if (type !== ':' || keys.length === 0) throw new Misfit('no key');
      else break;
    }
    const value = this.#value();
    return value && { keys, value, from: 0, to: 0 };
  }

  #value(): HclValue | undefined {
    const token = this.tokens.take();
    if (token.type === 'end') return undefined;
    if (token.type === '{') return this.nested(() => ({ is: 'object', items: this.#items() }));
    if (token.type === '[') return this.nested(() => this.#list());
    const value = this.literal(token);
    if (value === undefined) throw new Misfit('no value');
    return value;
  }

  /** Skips Booleans and brackets of inner lists. */
  #list(): HclValue {
    const items: HclValue[] = [];
    for (;;) {
      const token = this.tokens.take();
      if (token.type === ']') return { is: 'list', items };
      if (token.type === '{') {
        items.push(this.nested(() => ({ is: 'object', items: this.#items() })));
      } else if (token.type === 'null' || token.type === 'end') throw new Misfit('no value');
      else if (token.type !== ',' && token.type !== '[') {
        const value = this.literal(token);
        if (value === undefined) throw new Misfit('no value');
        const isBoolean = value.is === 'other' && /^[tf]/.test(token.text!);
        if (!isBoolean) items.push(value);
      }
    }
  }
}

/** `{"a": {"b": {…}}}` is a block with two keys if an object has objects alone. */
function flattened(items: readonly HclItem[]): HclItem[] {
  return items.flatMap((item) => {
    const { keys, value } = item;
    if (value.is === 'object' && value.items.length > 0) {
      if (value.items.every((inner) => inner.value.is === 'object')) {
        return flattened(
          value.items.map((inner) => ({
            ...item,
            keys: [...keys, ...inner.keys],
            value: inner.value,
          })),
        );
      }
      return [{ ...item, value: { is: 'object' as const, items: flattened(value.items) } }];
    }
    if (value.is === 'list' && value.items.length > 0) {
      if (value.items.every(({ is }) => is === 'object')) {
        return flattened(value.items.map((inner) => ({ ...item, value: inner })));
      }
    }
    return [item];
  });
}

/** Whether the source takes a text for its JSON form. */
export const isJsonForm = (text: string): boolean => /^\s*\{/.test(text);

/** Reads a text, in which line ends are LF. Throws Unreadable. */
export function readHcl(text: string): readonly HclItem[] {
  if (!isJsonForm(text)) {
    if (/[\0\ue123]/.test(text)) throw new Unreadable('an illegal character');
    return new BlockParser(new Tokens(text, false)).items(false);
  }
  const [read = ''] = text.split('\0', 1);
  return flattened(new JsonParser(new Tokens(read, true)).root());
}
