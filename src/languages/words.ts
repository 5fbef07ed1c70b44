/** What was expected of a value, and what it is, in words for people. */
import type { Description } from './field-types.js';

/** What each type expects. */
export const EXPECTED: Readonly<Record<Description['is'], string>> = {
  text: 'a string',
  whole: 'a whole number',
  fraction: 'a number',
  boolean: 'true or false',
  time: 'a time such as "2030-01-31T12:00:00Z"',
  duration: 'a duration such as "1h30m" or a whole number of nanoseconds',
  list: 'a list',
  links: 'a list',
  map: 'an object of strings',
  object: 'an object',
  free: 'an object',
  any: 'a value',
  foreign: 'null',
};

/** Returns what a value is: `a list`, `a string`. */
export function kindInWords(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
