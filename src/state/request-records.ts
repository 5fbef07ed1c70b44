/**
 * The records of remembered results, which are in log order. From level 2 on a record is a page: it
 * has a line for each of many results, and takes new ones until it is full. Below level 2 each
 * result is a record of its own:
 *
 *     request NUL 7            ["a",7,"true"]
 *                              ["b",9,null,{"code":"conflict","message":"…"}]
 *     request NUL 7 NUL 38 NUL a          {"ok":true,"value":"true","index":7}
 *
 * What a page holds depends on the results alone, not on how entries were grouped when they were
 * applied: members compare it.
 */
import type { Refusal } from '../base/errors.js';
import type { Index } from '../raft/types.js';
import type { Result } from './types.js';

/** The level from which on results are stored in pages. */
export const PAGES_LEVEL = 2;

const NUL = '\u0000';

/** A page as JSON: id, index, value or null, and the refusal if there is one. */
type Line = readonly [id: string, index: Index, value: string | null, refused?: Refusal];

/** What the key of a record says. */
export interface RequestKey {
  /** The index of its first result. */
  readonly index: Index;
  /** The only request of the record; undefined for a page. */
  readonly single: { readonly id: string; readonly size: number } | undefined;
}

/** Reads the key of a record. `split` would double the time that a start takes for all of them. */
export function requestKeyOf(key: string): RequestKey {
  const at = key.indexOf(NUL) + 1;
  const size = key.indexOf(NUL, at) + 1;
  if (size === 0) return { index: Number.parseInt(key.slice(at), 16), single: undefined };
  const id = key.indexOf(NUL, size) + 1;
  return {
    index: Number.parseInt(key.slice(at, size - 1), 16),
    single: { id: key.slice(id), size: Number(key.slice(size, id - 1)) },
  };
}

/** Returns the line of a page for a result. JSON text has no line feed in it. */
export function lineOf(id: string, result: Result): string {
  const { index } = result;
  const line: Line = result.ok
    ? [id, index, result.value ?? null]
    : [id, index, null, result.refusal];
  return `${JSON.stringify(line)}\n`;
}

/** Returns the ids of the results of a page, and the index of the last one. */
export function requestsOf(page: string): { readonly ids: string[]; readonly last: Index } {
  const lines = page.slice(0, -1).split('\n');
  return { ids: lines.map(idOf), last: (JSON.parse(lines.at(-1)!) as Line)[1] };
}

/** Returns the id of a line. Parses only unusual ones: a start reads tens of thousands. */
function idOf(line: string): string {
  const id = line.slice(2, line.indexOf('"', 2));
  return id.includes('\\') ? (JSON.parse(line) as Line)[0] : id;
}

/** Returns a result of a page; undefined if it does not have it. */
export function resultIn(page: string, id: string): Result | undefined {
  const line = linesOf(page).find((each) => each[0] === id);
  if (line === undefined) return undefined;
  const [, index, value, refused] = line;
  if (refused !== undefined) return { ok: false, index, refusal: refused };
  return value === null ? { ok: true, index } : { ok: true, index, value };
}

/**
 * Splits a page: `before` is the number of results up to an index, `last` the index of the last of
 * them, and `rest` the page without them.
 */
export function splitPage(
  page: string,
  upTo: Index,
): { readonly before: number; readonly last: Index; readonly rest: string } {
  const lines = linesOf(page);
  const first = lines.findIndex(([, index]) => index > upTo);
  const before = first < 0 ? lines.length : first;
  const rest = lines.slice(before).map((line) => `${JSON.stringify(line)}\n`);
  return { before, last: lines[before - 1]?.[1] ?? 0, rest: rest.join('') };
}

const linesOf = (page: string): readonly Line[] =>
  JSON.parse(`[${page.slice(0, -1).replaceAll('\n', ',')}]`) as Line[];
