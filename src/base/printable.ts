/** Text of strangers on a terminal. */

/**
 * Characters that move the cursor or change the terminal (C0, C1), change the direction of writing,
 * or end a line.
 */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const ALL = new RegExp(CONTROL.source, 'g');

const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Whether a text holds a control character. */
export const hasControls = (text: string): boolean => CONTROL.test(text);

/** Returns a text as one line: blanks for line ends, escapes for other control characters. */
export const oneLine = (text: string): string =>
  text.replace(/\s*\r?\n\s*|\t/g, ' ').replace(ALL, escaped);

/** Returns a text of several lines without control characters other than line ends and tabs. */
export const lines = (text: string): string =>
  text.replace(ALL, (character) => (/[\n\t]/.test(character) ? character : escaped(character)));
