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

/** The head of a column, and what happens to it on a terminal that is too narrow. */
export interface Head {
  readonly head: string;
  /** Whether a cell makes no sense without its end, as an address or an ID: it is never cut. */
  readonly isWhole?: true;
  /** Whether the column is left out before others are made much narrower. */
  readonly isMinor?: true;
}

/** How a table is drawn. */
export interface TableStyle {
  /** Columns of the terminal; undefined if no line is cut. */
  readonly width: number | undefined;
  readonly colour: boolean;
}

const GAP = '  ';
/** The narrowest that a column is made to fit a terminal. */
const COLUMN_MIN = 6;
/** Minor columns are left out rather than that another one is made narrower than this. */
const COLUMN_USEFUL = 12;

const textOf = (cell: Cell): string => oneLine(typeof cell === 'string' ? cell : cell.text);
const columnsOf = (text: string): number => widthOf(text).width;

/** Returns a text in a paint. The caller knows whether the stream takes colours. */
export const painted = (text: string, paint: Paint | undefined, colour: boolean): string =>
  colour && paint !== undefined ? styleText(paint, text, { validateStream: false }) : text;

/** A column that is drawn: its place in the rows, and its width. */
interface Drawn {
  readonly at: number;
  readonly width: number;
}

const total = (widths: readonly number[]): number =>
  widths.reduce((sum, one) => sum + one, GAP.length * Math.max(0, widths.length - 1));

/**
 * Returns the columns that fit a terminal. Those without any text are left out first, then minor
 * ones, the last first. Then the widest ones are made narrower, none below a minimum.
 */
export function fitted(
  heads: readonly Head[],
  { full, isEmpty }: { readonly full: readonly number[]; readonly isEmpty: readonly boolean[] },
  width: number | undefined,
): readonly Drawn[] {
  let shown = heads.map((_, at) => at);
  const useful = (at: number): number =>
    heads[at]!.isWhole ? full[at]! : Math.min(full[at]!, COLUMN_USEFUL);
  if (width !== undefined && total(full) > width) {
    shown = shown.filter((at) => !isEmpty[at]);
    for (const minor of shown.filter((at) => heads[at]!.isMinor).reverse())
      if (total(shown.map(useful)) > width) shown = shown.filter((at) => at !== minor);
  }
  const fit = shown.map((at) => ({ at, width: full[at]! }));
  const cuttable = fit.filter(({ at }) => heads[at]!.isWhole !== true);
  const over = total(fit.map((one) => one.width)) - (width ?? Number.POSITIVE_INFINITY);
  for (let cuts = 0; cuts < over; cuts += 1) {
    const widest = Math.max(COLUMN_MIN, ...cuttable.map((one) => one.width));
    const one = cuttable.find((column) => column.width === widest);
    if (one === undefined || widest === COLUMN_MIN) break;
    one.width -= 1;
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
  given: readonly (string | Head)[],
  rows: readonly (readonly Cell[])[],
  { width, colour }: TableStyle,
): string {
  const heads = given.map((head): Head => (typeof head === 'string' ? { head } : head));
  const texts = rows.map((row) => row.map(textOf));
  const full = heads.map(({ head }, at) =>
    texts.reduce((most, row) => Math.max(most, columnsOf(row[at]!)), columnsOf(head)),
  );
  const isEmpty = heads.map((_, at) => texts.every((row) => row[at] === ''));
  const drawn = fitted(heads, { full, isEmpty }, width);
  const line = (cells: readonly string[], paintOf: (at: number) => Paint | undefined): string => {
    const shown = drawn.map(({ at, width: most }, position) => {
      const text = cut(cells[at]!, most);
      const blanks = position === drawn.length - 1 ? 0 : most - columnsOf(text);
      return painted(text, paintOf(at), colour) + ' '.repeat(blanks);
    });
    return `${shown.join(GAP).trimEnd()}\n`;
  };
  const names = heads.map(({ head }) => head);
  const body = rows.map((row, number) =>
    line(texts[number]!, (at) => {
      const cell = row[at]!;
      return typeof cell === 'string' ? undefined : cell.paint;
    }),
  );
  return [line(names, () => 'bold'), ...body].join('');
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
