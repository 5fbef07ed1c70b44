import type { GrammarOptions } from './syntax.js';

/** A parsed template. `at` is an offset in the text. */
export type Template =
  | { readonly type: 'join'; readonly parts: readonly Template[] }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'integer' | 'float'; readonly text: string; readonly at: number }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'variable' | 'call' | 'element'; readonly name: string; readonly at: number }
  | {
      readonly type: 'unary';
      readonly op: '!' | '-';
      readonly operand: Template;
      readonly at: number;
    }
  | {
      readonly type: 'binary';
      readonly op: string;
      readonly left: Template;
      readonly right: Template;
      readonly at: number;
    }
  | {
      readonly type: 'choice';
      readonly condition: Template;
      readonly then: Template;
      readonly else: Template;
      readonly at: number;
    };

export function parse(text: string, options: GrammarOptions): Template;
