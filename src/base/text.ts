/** Small functions on text. */

/** Compares texts by their code units, for sorting. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Compares texts by their code points, which is the order of their bytes in UTF-8. */
export function compareCodePoints(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1);
}

/** Whether a text is Unicode: one with half a surrogate pair equals no name of a request. */
export const isText = (text: string): boolean => !/\p{Surrogate}/u.test(text);

/** Returns a text with its ASCII letters in lower case. Other letters stay as they are. */
export const lowerAscii = (text: string): string =>
  text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Returns a text in double quotes, as errors show it. */
export const quoted = (text: string): string => JSON.stringify(text);

/** Returns a number of a date or a time with two digits. */
export const two = (value: number): string => String(value).padStart(2, '0');
