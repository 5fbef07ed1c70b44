/** Text of the server on a terminal. */

/** Control characters, which would move the cursor or change the terminal; and bidi overrides. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Returns a text as one line: blanks for line ends, escapes for other control characters. */
export const oneLine = (text: string): string =>
  text.replace(/\s*\r?\n\s*|\t/g, ' ').replace(CONTROL, escaped);

/** Returns a text of several lines without control characters other than line ends and tabs. */
export const lines = (text: string): string =>
  text.replace(CONTROL, (character) => (/[\n\t]/.test(character) ? character : escaped(character)));

/** Returns a count with its noun, such as `1 day` or `2 days`. */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

const two = (value: number): string => String(Math.trunc(Math.abs(value))).padStart(2, '0');

/**
 * Returns a time of the API in local time with its offset, `2026-03-01 14:05:09 +02:00`; an empty
 * text for the API's zero time.
 */
export function localTime(text: string | undefined): string {
  if (text === undefined || text === '' || text.startsWith('0001-01-01')) return '';
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return text;
  const east = -time.getTimezoneOffset();
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  return `${date} ${clock} ${east < 0 ? '-' : '+'}${two(east / 60)}:${two(east % 60)}`;
}
