import type { GrammarOptions } from './syntax.js';

/** A key or block label. `at` is its offset. */
export interface Key {
  readonly text: string;
  /** The text as written, with quotes and escapes. Two arguments are equal if this is equal. */
  readonly raw: string;
  readonly at: number;
}
/** `key = value` (assigned, with one key) or `key key … { … }`. */
export interface Item {
  readonly keys: readonly Key[];
  readonly value: Value;
  readonly assigned: boolean;
}
/** The items of a text or of a block, in order. */
export type Body = readonly Item[];
/** A value. `at` is its offset in the `source` of the tree. */
export type Value =
  | {
      readonly type: 'text' | 'number' | 'boolean' | 'null';
      readonly text: string;
      readonly at: number;
    }
  | { readonly type: 'object'; readonly items: Body; readonly at: number }
  | { readonly type: 'list'; readonly items: readonly Value[]; readonly at: number };

export function parse(text: string, options: GrammarOptions): { body: Body; json: boolean };
