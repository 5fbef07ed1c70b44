/** Small functions on text. */

/** Compares texts by their code units, for sorting. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Returns a number of a date or a time with two digits. */
export const two = (value: number): string => String(value).padStart(2, '0');
