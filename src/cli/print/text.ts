/** Text of the server on a terminal. */
import { two } from '../../base/text.js';

export { hasControls, lines, oneLine } from '../../base/printable.js';

const plural = (noun: string): string =>
  /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;

/** Returns a count with its noun, such as `1 day` or `2 days`. */
export const counted = (count: number, noun: string): string =>
  `${count} ${count === 1 ? noun : plural(noun)}`;

/**
 * Returns a time of the API in local time with its offset, `2026-03-01 14:05:09 +02:00`; an empty
 * text for the API's zero time.
 */
export function localTime(text: string | undefined): string {
  if (text === undefined || text === '' || text.startsWith('0001-01-01')) return '';
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return text;
  const east = -time.getTimezoneOffset();
  const minutes = Math.abs(east);
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  const offset = `${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`;
  return `${date} ${clock} ${east < 0 ? '-' : '+'}${offset}`;
}
