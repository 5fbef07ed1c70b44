import type { Body } from './policy-rules.js';
import type { GrammarOptions } from './syntax.js';

export function parse(text: string, options: GrammarOptions): { body: Body; json: boolean };
