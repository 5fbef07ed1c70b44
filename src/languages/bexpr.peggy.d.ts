import type { Expression } from './bexpr.js';
import type { GrammarOptions } from './syntax.js';

export function parse(text: string, options: GrammarOptions): Expression;
