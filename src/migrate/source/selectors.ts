/** Selectors over claims that no mapping of the method makes, mended (moving-in.md 4.2). */
import { type IdentityShape, selectorProblem, unmapped } from '../../acl/binding.js';
import { compileExpression, ifMissing } from '../../languages/bexpr.js';
import type { Expression } from '../../languages/bexpr.peggy.js';

/**
 * Returns a selector that matches the same identities without a test of such claims: each of them
 * has one outcome at the source. Empty: all identities match; `never`: none does. Undefined if this
 * server takes the selector as it is, or refuses it for another reason.
 */
export function mendSelector(
  selector: string,
  shape: IdentityShape,
): { readonly text: string } | 'never' | undefined {
  if (selector === '') return undefined;
  const compiled = compileExpression(selector, shape.selectable);
  if (!compiled.ok || unmapped(compiled.expression, shape) === undefined) return undefined;
  const rest = without(compiled.expression, selector, shape);
  if (rest === false) return 'never';
  const text = rest === true ? '' : rest;
  return text === '' || selectorProblem(text, shape) === undefined ? { text } : undefined;
}

/** Returns an expression as text, or its outcome if that is always the same. */
function without(expression: Expression, selector: string, shape: IdentityShape): string | boolean {
  if (expression.type === 'match') {
    if (unmapped(expression, shape) !== undefined) return ifMissing(expression);
    return selector.slice(expression.at, expression.end);
  }
  if (expression.type === 'not') {
    const term = without(expression.term, selector, shape);
    return typeof term === 'boolean' ? !term : `not (${term})`;
  }
  const isOr = expression.type === 'or';
  const left: string[] = [];
  for (const one of expression.terms) {
    const term = without(one, selector, shape);
    if (term === isOr) return isOr;
    if (typeof term !== 'string') continue;
    left.push(one.type === 'match' ? term : `(${term})`);
  }
  return left.length === 0 ? !isOr : left.join(` ${expression.type} `);
}
