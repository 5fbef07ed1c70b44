/** Cuts what explanations show: claims, names and texts may be as long as a body. */

/** Characters of a text. Most names are shorter. */
const TEXT_MAX = 256;
/** Characters of a sentence, which may quote several texts. */
export const SENTENCE_MAX = 2_000;
/** Items of a list. */
const SHOWN_ITEMS_MAX = 100;

/** What may be the beginning of a SecretID. Whole ones are hidden, and parts could not be. */
const PART_OF_UUID = /[0-9a-f-]{1,36}$/i;

/** Returns a text, or its beginning and an ellipsis. */
export const cut = (text: string, max = TEXT_MAX): string =>
  text.length > max ? `${text.slice(0, max).replace(PART_OF_UUID, '')}…` : text;

/** Hides secrets in a text. Must be done before the text is cut. */
export type Hide = (text: string) => string;

/** Returns a value without what is too long: texts are cut, and lists end in how many more. */
export function shortened(value: unknown, hide: Hide): unknown {
  if (typeof value === 'string') return cut(hide(value));
  if (!Array.isArray(value)) return value;
  const more = value.length - SHOWN_ITEMS_MAX;
  const items = value.slice(0, SHOWN_ITEMS_MAX).map((item) => shortened(item, hide));
  return more > 0 ? [...items, `… ${more} more`] : items;
}
