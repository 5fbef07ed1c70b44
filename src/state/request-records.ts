/**
 * The records of remembered results, which are in log order. A record is a page: it has a line for
 * each of many results, and takes new ones until it is full. Only at level 1, where a cluster is
 * until its first leader has raised the level, is each result a record of its own:
 *
 *     request NUL 7                       ["a",7,"true"]
 *                                         ["b",9,null,{"code":"conflict","message":"…"}]
 *                                         ["c",10,["role","default","2f6a…"]]
 *     request NUL 11                      ["past 3 role …",11,"{…}"]
 *     request NUL 11 NUL 1                ["past 5 role …",11,"{…}"]   entry 11 has filled a page
 *     request NUL 7 NUL 38 NUL a          {"ok":true,"value":"true","index":7}
 *
 * A result that is the text of an object which the command has written is remembered as the key of
 * that object, in its parts (from level 3 on; see requests.ts).
 *
 * What a page holds depends on the results alone, not on how entries were grouped when they were
 * applied: members compare it.
 */
import type { Refusal } from '../base/errors.js';
import type { Index } from '../raft/types.js';
import { keyOf, type Result } from './types.js';

const NUL = '\u0000';

/** A result as it is remembered. `object` is the key of the object that was answered. */
export type Remembered = Result | { readonly index: Index; readonly object: string };

/** A result as an array: id, index, value, object or null, and the refusal if there is one. */
type Line = readonly [
  id: string,
  index: Index,
  value: string | readonly string[] | null,
  refused?: Refusal,
];

/**
 * Returns the index of the first result of a record; of a page, which it is of those that begin
 * there, from 0; and the id of another record.
 */
export function requestKeyOf(key: string): {
  readonly index: Index;
  readonly page: number;
  readonly id?: string;
} {
  const [, index, page = '0', id] = key.split(NUL);
  const at = { index: Number.parseInt(index!, 16), page: 0 };
  return id === undefined ? { ...at, page: Number.parseInt(page, 16) } : { ...at, id };
}

function lineFor(id: string, result: Remembered): Line {
  const { index } = result;
  if ('object' in result) return [id, index, result.object.split(NUL)];
  return result.ok ? [id, index, result.value ?? null] : [id, index, null, result.refusal];
}

/** Returns the line of a page for a result. JSON text has no line feed in it. */
export const lineOf = (id: string, result: Remembered): string =>
  `${JSON.stringify(lineFor(id, result))}\n`;

/** Returns the ids of the results of a record, and the index of the last one. */
export function requestsOf(
  key: string,
  text: string,
): { readonly ids: string[]; readonly last: Index } {
  const { id, index } = requestKeyOf(key);
  if (id !== undefined) return { ids: [id], last: index };
  const lines = text.slice(0, -1).split('\n');
  return { ids: lines.map(idOf), last: (JSON.parse(lines.at(-1)!) as Line)[1] };
}

/** Returns the id of a line. Parses only unusual ones: a start reads tens of thousands. */
function idOf(line: string): string {
  const id = line.slice(2, line.indexOf('"', 2));
  return id.includes('\\') ? (JSON.parse(line) as Line)[0] : id;
}

/** Returns a result of a record; undefined if it does not have it. */
export function resultIn(key: string, text: string, id: string): Remembered | undefined {
  const line = linesOf(key, text).find((each) => each[0] === id);
  if (line === undefined) return undefined;
  const [, index, value, refused] = line;
  if (refused !== undefined) return { ok: false, index, refusal: refused };
  if (value === null) return { ok: true, index };
  return typeof value === 'string'
    ? { ok: true, index, value }
    : { index, object: keyOf(...value) };
}

/**
 * Splits a record: `before` is the number of results up to an index, `last` the index of the last
 * of them, and `rest` the page without them.
 */
export function splitRecord(
  key: string,
  text: string,
  upTo: Index,
): { readonly before: number; readonly last: Index; readonly rest: string } {
  const lines = linesOf(key, text);
  const first = lines.findIndex(([, index]) => index > upTo);
  const before = first < 0 ? lines.length : first;
  const rest = lines.slice(before).map((line) => `${JSON.stringify(line)}\n`);
  return { before, last: lines[before - 1]?.[1] ?? 0, rest: rest.join('') };
}

function linesOf(key: string, text: string): readonly Line[] {
  const { id } = requestKeyOf(key);
  if (id !== undefined) return [lineFor(id, JSON.parse(text) as Result)];
  return JSON.parse(`[${text.slice(0, -1).replaceAll('\n', ',')}]`) as Line[];
}
