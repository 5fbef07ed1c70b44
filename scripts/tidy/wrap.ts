/** Wraps the prose of documents. Tables, code, headings, pictures and links stay as they are. */
import type { Finding } from './findings.js';
import { WIDTH_MAX } from './habits.js';

/** Documents that a script writes. */
const GENERATED = /^Written by `npm run docs`/m;
/** Lines that stay as they are: tables, headings, comments, pictures. */
const FIXED = /^\s*(?:\||#|<!--|\[?!\[)|^---$/;
/** The mark of an item of a list, or of a quote, with the space around it. */
const MARK = /^\s*(?:(?:[-*]|\d+\.) +|> )/;
/** A word that would begin a list, a heading, a quote or a table if it began a line. */
const BEGINS = /^(?:[-+*]|#+|\d+[.)])$|^[>|]/;
/** Pieces of text that no line break may divide: code, and what has no white space. */
const PIECE = /(?:`[^`]*`|\S)+/g;

/** Returns the text with its prose in lines of at most `width` characters. */
export function wrapped(text: string, width: number): string {
  if (GENERATED.test(text)) return text;
  const lines: string[] = [];
  let paragraph: string[] = [];
  let fence: string | undefined;
  const flush = (): void => {
    if (paragraph.length > 0) lines.push(...fill(paragraph, width));
    paragraph = [];
  };
  for (const line of text.split('\n')) {
    const [, marks] = /^\s*(```+)/.exec(line) ?? [];
    const isCode = /^ {4}/.test(line) && paragraph.length === 0;
    if (marks === undefined && fence === undefined && !isCode && !FIXED.test(line) && line !== '') {
      if (isNewParagraph(line, paragraph)) flush();
      paragraph.push(line);
      continue;
    }
    flush();
    lines.push(line);
    if (marks !== undefined) fence = fence === undefined ? marks : undefined;
  }
  flush();
  return lines.join('\n');
}

/** Whether a line does not continue the paragraph before it. A quote continues with its mark. */
const isNewParagraph = (line: string, paragraph: readonly string[]): boolean =>
  MARK.test(line) && !(line.startsWith('> ') && paragraph[0]?.startsWith('> ') === true);

/** Returns the lines of one paragraph, of which the first one may have a mark. */
function fill(paragraph: readonly string[], width: number): string[] {
  const first = MARK.exec(paragraph[0]!)?.[0] ?? /^\s*/.exec(paragraph[0]!)![0];
  const quote = first === '> ';
  const rest = quote ? first : ' '.repeat(first.length);
  const text = paragraph.map((line) => (quote ? line.slice(2) : line)).join('\n');
  const pieces = (quote ? text : text.slice(first.length)).match(PIECE) ?? [];
  const lines: string[] = [];
  let line = first;
  for (const piece of pieces.map((each) => each.replaceAll(/\s*\n\s*/g, ' '))) {
    const isEmpty = line === first || line === rest;
    if (!isEmpty && line.length + 1 + piece.length > width && !BEGINS.test(piece)) {
      lines.push(line);
      line = rest + piece;
    } else line += isEmpty ? piece : ` ${piece}`;
  }
  return [...lines, line];
}

/** Returns a finding if a document is not wrapped. */
export function unwrapped(path: string, text: string): Finding[] {
  const after = wrapped(text, WIDTH_MAX).split('\n');
  const line = text.split('\n').findIndex((each, index) => each !== after[index]);
  if (line === -1) return [];
  const message = 'not wrapped: npm run format';
  return [{ rule: 'wrap', at: `${path}:${line + 1}`, bucket: path, message }];
}
