import type { GrammarOptions } from './syntax.js';

type Operator = 'equal' | 'in' | 'matches' | 'empty';
/** Where a part of an expression stands in the text: from `at` up to `end`. */
interface Placed {
  readonly at: number;
  readonly end: number;
}
/** A test of one selector. `word` is the operator as it is written, with single spaces. */
export interface Match extends Placed {
  readonly type: 'match';
  readonly path: readonly string[];
  readonly op: Operator;
  readonly negated: boolean;
  readonly word: string;
  readonly value: string;
}
/** A parsed expression. */
export type Expression =
  | Match
  | (Placed & { readonly type: 'not'; readonly term: Expression })
  | (Placed & { readonly type: 'and' | 'or'; readonly terms: readonly Expression[] });

export function parse(text: string, options: GrammarOptions): Expression;
