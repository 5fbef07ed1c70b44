/** Filters over service instances that entries hold. The server stores and does not run them. */
import { parse } from '../languages/bexpr.peggy.js';
import { runGrammar } from '../languages/syntax.js';

const LIMITS = { lengthMax: 8 * 1024, depthMax: 64 };

/**
 * Returns the syntax error of a filter, or undefined. Selectors are not checked: the fields of
 * service instances are not known here.
 */
export function filterFault(expression: string): string | undefined {
  const parsed = runGrammar(parse, expression, LIMITS);
  if (parsed.ok) return undefined;
  const { line, column, message } = parsed.problem;
  return `line ${line}, column ${column}: ${message}`;
}
