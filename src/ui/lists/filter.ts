/** What is typed into the field "Filter", as the parameters of a list. */

/** What makes a text an expression of the filter language. */
const OPERATOR = /==|!=|\s(?:in|contains|matches)\s|\sis\s+(?:not\s+)?empty\b/;

/** The parameters that narrow a list. */
export interface Narrowing {
  readonly filter?: string;
  readonly search?: string;
}

/** Returns the parameters for an expression, or for words that items must have. */
export function narrowing(typed: string): Narrowing {
  const text = typed.trim();
  if (text === '') return {};
  return OPERATOR.test(text) ? { filter: text } : { search: text };
}

/** Whether a text has all words that were typed, in any letter case. */
export const hasWords = (text: string, typed: string): boolean =>
  typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.toLowerCase().includes(word));
