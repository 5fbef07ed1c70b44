/**
 * Tables of a terminal: columns without lines, as kubectl and gh print them. The width of a text is
 * measured by fast-string-truncated-width. The libraries that draw whole tables take seconds for
 * 20,000 rows; a list of tokens can have more.
 */
import { styleText } from 'node:util';
import widthOf from 'fast-string-truncated-width';
import { oneLine } from './text.js';

/** How a cell is painted where colours are wanted. */
export type Paint = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';

/** A cell: its text, or a text with a paint. */
export type Cell = string | { readonly text: string; readonly paint: Paint };

/** How a table is drawn. */
export interface TableStyle {
  /** Columns of the terminal; undefined if no line is cut. */
  readonly width: number | undefined;
  readonly colour: boolean;
}

const GAP = '  ';
/** The narrowest that a column is made to fit a terminal. */
const COLUMN_MIN = 6;

const textOf = (cell: Cell): string => oneLine(typeof cell === 'string' ? cell : cell.text);
const columnsOf = (text: string): number => widthOf(text).width;

/** Returns a text in a paint. The caller knows whether the stream takes colours. */
export const painted = (text: string, paint: Paint | undefined, colour: boolean): string =>
  colour && paint !== undefined ? styleText(paint, text, { validateStream: false }) : text;

/**
 * Returns the widths of columns that fit a terminal: the widest ones are made narrower, none below
 * a minimum.
 */
export function fitted(widths: readonly number[], width: number | undefined): number[] {
  const fit = [...widths];
  if (width === undefined) return fit;
  const gaps = GAP.length * Math.max(0, fit.length - 1);
  for (let over = fit.reduce((sum, one) => sum + one, gaps) - width; over > 0; over -= 1) {
    const widest = fit.indexOf(Math.max(...fit));
    if (fit[widest]! <= COLUMN_MIN) break;
    fit[widest]! -= 1;
  }
  return fit;
}

/** Returns the beginning of a text that fits a column, with an ellipsis where it is cut. */
function cut(text: string, width: number): string {
  if (columnsOf(text) <= width) return text;
  let shown = '';
  let left = width - 1;
  for (const character of text) {
    left -= columnsOf(character);
    if (left < 0) break;
    shown += character;
  }
  return `${shown}…`;
}

/** Returns a table as text, a line each row. */
export function renderTable(
  heads: readonly string[],
  rows: readonly (readonly Cell[])[],
  { width, colour }: TableStyle,
): string {
  const texts = rows.map((row) => row.map(textOf));
  const widths = heads.map((head) => columnsOf(head));
  for (const row of texts)
    row.forEach((text, at) => {
      widths[at] = Math.max(widths[at]!, columnsOf(text));
    });
  const fit = fitted(widths, width);
  const line = (cells: readonly string[], paints: readonly (Paint | undefined)[]): string => {
    const shown = cells.map((cell, at) => {
      const text = width === undefined ? cell : cut(cell, fit[at]!);
      const blanks = at === cells.length - 1 ? 0 : Math.max(0, fit[at]! - columnsOf(text));
      return painted(text, paints[at], colour) + ' '.repeat(blanks);
    });
    return shown.join(GAP).trimEnd();
  };
  const head = line(
    heads,
    heads.map(() => 'bold' as const),
  );
  const body = rows.map((row, at) =>
    line(
      texts[at]!,
      row.map((cell) => (typeof cell === 'string' ? undefined : cell.paint)),
    ),
  );
  return [head, ...body].map((one) => `${one}\n`).join('');
}

/** A line of an object: its label, and its value or values. */
export type Field = readonly [label: string, value: Cell | readonly Cell[]];

/** Returns an object as lines `label  value`. Empty values are left out, no line is cut. */
export function renderFields(fields: readonly Field[], colour: boolean): string {
  const shown = fields
    .map(([label, value]) => [label, [value].flat() as Cell[]] as const)
    .map(([label, cells]) => [label, cells.filter((cell) => textOf(cell) !== '')] as const)
    .filter(([, cells]) => cells.length > 0);
  const indent = Math.max(0, ...shown.map(([label]) => columnsOf(label))) + GAP.length;
  return shown
    .flatMap(([label, cells]) =>
      cells.map((cell, at) => {
        const head = at === 0 ? label : '';
        const paint = typeof cell === 'string' ? undefined : cell.paint;
        const blanks = ' '.repeat(indent - columnsOf(head));
        return `${painted(head, 'bold', colour)}${blanks}${painted(textOf(cell), paint, colour)}\n`;
      }),
    )
    .join('');
}
