/**
 * The surface of policy rules: text in block or JSON form to one tree. What the names mean is
 * decided in acl/rules.ts.
 */
import { parse } from './policy-rules.peggy.js';
import { type Parsed, runGrammar } from './syntax.js';

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

/** Some fifteen hundred blocks: parsing them holds a node up for less than a heartbeat. */
const RULES_LENGTH_MAX = 64 * 1024;
/** Rules need four levels, namespaces one more. */
const DEPTH_MAX = 32;

/** Parses the text of a policy. */
export function parseRulesText(text: string): Parsed<RulesTree> {
  const source = text.replaceAll('\r\n', '\n');
  const parsed = runGrammar(parse, source, { lengthMax: RULES_LENGTH_MAX, depthMax: DEPTH_MAX });
  return parsed.ok ? { ok: true, value: { ...parsed.value, source } } : parsed;
}
