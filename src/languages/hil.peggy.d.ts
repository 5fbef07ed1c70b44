import type { Template } from './hil.js';
import type { GrammarOptions } from './syntax.js';

export function parse(text: string, options: GrammarOptions): Template;
