/** Filters that entries hold for others to use. */
import { parse } from '../languages/bexpr.peggy.js';
import { runGrammar } from '../languages/syntax.js';

const LIMITS = { lengthMax: 8 * 1024, depthMax: 64 };

/**
 * Why a filter over service instances does not parse; undefined when it does. What it selects is
 * not known here.
 */
export function filterFault(expression: string): string | undefined {
  const parsed = runGrammar(parse, expression, LIMITS);
  if (parsed.ok) return undefined;
  const { line, column, message } = parsed.problem;
  return `line ${line}, column ${column}: ${message}`;
}
