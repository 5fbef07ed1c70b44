/** Cuts what explanations show: claims, names and texts may be as long as a body. */

/** Characters of a text. The names of objects are shorter. */
const TEXT_MAX = 256;
/** Items of a list. */
const ITEMS_MAX = 100;

/** Characters of a sentence, which may quote several texts. */
export const SENTENCE_MAX = 2_000;

/** Returns a text, or its beginning and an ellipsis. */
export const cut = (text: string, max = TEXT_MAX): string =>
  text.length > max ? `${text.slice(0, max)}…` : text;

/** Returns a value without what is too long: texts are cut, and lists end in how many more. */
export function shortened(value: unknown): unknown {
  if (typeof value === 'string') return cut(value);
  if (!Array.isArray(value)) return value;
  const more = value.length - ITEMS_MAX;
  const items = value.slice(0, ITEMS_MAX).map((item) => shortened(item));
  return more > 0 ? [...items, `… ${more} more`] : items;
}
