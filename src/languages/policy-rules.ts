/** The syntax of policy rules, in block and JSON form. acl/rules.ts interprets the tree. */
import { parse } from './policy-rules.peggy.js';
import { type Parsed, runGrammar } from './syntax.js';

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

/** The parsed text of a policy. */
export interface RulesTree {
  readonly body: Body;
  readonly json: boolean;
  /** The text to which offsets refer, with CRLF replaced by LF. */
  readonly source: string;
}

/**
 * Maximum number of characters: about 1,500 blocks, which parse in less than a heartbeat interval.
 */
const RULES_LENGTH_MAX = 64 * 1024;
/** Maximum nesting depth. Rules need four levels, and a namespace block one more. */
const DEPTH_MAX = 32;

/** Returns the text of a policy as it is parsed, to which the offsets of its tree refer. */
export const sourceOf = (text: string): string => text.replaceAll('\r\n', '\n');

/** Parses the text of a policy. */
export function parseRulesText(text: string): Parsed<RulesTree> {
  const source = sourceOf(text);
  const parsed = runGrammar(parse, source, { lengthMax: RULES_LENGTH_MAX, depthMax: DEPTH_MAX });
  return parsed.ok ? { ok: true, value: { ...parsed.value, source } } : parsed;
}
