/** Turns what is typed into the field "Filter" into an expression for `?filter=`. */

/** What makes a text an expression of its own. */
const OPERATOR = /==|!=|\s(?:in|contains|matches)\s|\sis\s+(?:not\s+)?empty\b/;

/** Returns a text of the filter language. */
const quoted = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\x22')}"`;

/**
 * Returns the expression; undefined if nothing was typed. A text that is no expression is looked
 * for in the given members. Letter case counts, as in the API.
 */
export function filterOf(typed: string, members: readonly string[]): string | undefined {
  const text = typed.trim();
  if (text === '') return undefined;
  if (OPERATOR.test(text)) return text;
  return members.map((member) => `${quoted(text)} in ${member}`).join(' or ');
}
