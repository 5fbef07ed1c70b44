/**
 * The records of history (beyond.md 3.1), which are kept short: their members have places, not
 * names.
 *
 *     change·<index>·<n>     the time of the newest line of earlier chunks, then a line for each
 *     login-change·…         change, up to 64 of them; the key is that of the first line
 *     version·<type>·<ns>·<id>·<index>   what is known of a version, and below it the object as
 *                                        it was until another version followed
 *     version·<type>·<ns>·<id>·ffff…     the newest version, without a copy of the object: that
 *                                        is the present one, or the object is deleted
 */
import type { Author } from '../author.js';
import { tableOf } from '../checksum.js';
import { keys, type Table } from '../keys.js';
import { type ObjectType, TYPES, tableOfType } from '../refs.js';
import { type Command, keyOf } from '../types.js';

/** The rings: one of changes, and one of tokens that logins make. Also their tables. */
export const RINGS = ['change', 'login-change'] as const;
export type Ring = (typeof RINGS)[number];
/** The table of versions. */
export const VERSION = 'version';
/** Lines of a full chunk: each commit writes the last chunk anew, so a chunk is small. */
export const CHUNK_LINES = 64;

const NUL = '\u0000';
/** Keys sort by an index in this form. */
const hex = (index: number): string => index.toString(16).padStart(16, '0');
const NEWEST = 'f'.repeat(16);

/** Which object a record is about. `id` is that of the key: names are in lower case. */
export interface Place {
  readonly type: ObjectType;
  readonly ns: string;
  readonly id: string;
}

/** The first part of the keys of an object's versions. */
export const versionsOf = ({ type, ns, id }: Place): string => keyOf(VERSION, type, ns, id, '');
/** The key of a version that another one followed. */
export const versionKey = (place: Place, index: number): string => versionsOf(place) + hex(index);
/** The key of the newest version. */
export const newestKey = (place: Place): string => versionsOf(place) + NEWEST;
/** The key of a chunk whose first line is at an index and a position; the chunks from an index. */
export const chunkKey = (ring: Ring, index: number, position?: number): string =>
  position === undefined
    ? keyOf(ring, hex(index))
    : keyOf(ring, hex(index), position.toString(16).padStart(4, '0'));
/** Returns the index at which the first line of a chunk was, at the latest. */
export const chunkIndex = (key: string): number => Number.parseInt(key.split('\u0000')[1]!, 16);

/** Returns the object of a key; undefined for a record that is no object. */
export function placeOf(key: string): Place | undefined {
  const type = (TYPES as Readonly<Record<string, ObjectType>>)[tableOf(key)];
  if (type === undefined) return undefined;
  const at = key.indexOf(NUL);
  if (type === 'namespace') return { type, ns: 'default', id: key.slice(at + 1) };
  const end = key.indexOf(NUL, at + 1);
  const id = key.slice(end + 1);
  return { type, ns: key.slice(at + 1, end), id: type === 'config' ? id.replace(NUL, '/') : id };
}

/** Returns the key of an object. */
export function objectKeyOf({ type, ns, id }: Place): string {
  const table = tableOfType(type) as Table;
  if (table === 'namespace') return keys.namespace(id);
  if (table !== 'config') return keyOf(table, ns, id);
  const at = id.indexOf('/');
  return keyOf(table, ns, id.slice(0, at), id.slice(at + 1));
}

/** Returns the object and the index of a version's key; 0 for the newest one. */
export function versionAt(key: string): Place & { readonly index: number } {
  const [, type, ns, id, index] = key.split('\u0000') as [
    string,
    ObjectType,
    string,
    string,
    string,
  ];
  return { type, ns, id, index: index === NEWEST ? 0 : Number.parseInt(index, 16) };
}

type Written = readonly [string, string, string?, string?, string?];

function written(author: Author | null): Written | null {
  if (author === null) return null;
  const { AccessorID, Description, Identity: of } = author;
  return of === undefined
    ? [AccessorID, Description]
    : [AccessorID, Description, of.AuthMethod, of.Namespace, of.Subject];
}

function authorOf(text: Written | null): Author | null {
  if (text === null) return null;
  const [AccessorID, Description, AuthMethod, Namespace = '', Subject = ''] = text;
  if (AuthMethod === undefined) return { AccessorID, Description };
  return { AccessorID, Description, Identity: { AuthMethod, Namespace, Subject } };
}

/** What happened, who did it, when and why. */
export interface Deed {
  /** `create`, `update`, `delete`, `undo`, `restore`, `import`; `unknown` from before it. */
  readonly operation: string;
  /** Milliseconds since the epoch; null if it is not known. */
  readonly timeMs: number | null;
  readonly author: Author | null;
  readonly reason: string;
}

/** Returns what a command does. */
export function deedOf({ author, time, reason = '' }: Command, operation: string): Deed {
  const timeMs = time === undefined ? null : Date.parse(time);
  return { operation, timeMs, author: author ?? null, reason };
}

/** Returns what happened as text, which lines and versions contain. */
export const deedText = ({ operation, timeMs, author, reason }: Deed): string =>
  JSON.stringify([operation, timeMs, written(author), reason]);

function deedIn([operation, timeMs, author, reason]: readonly unknown[]): Deed {
  const by = authorOf(author as Written | null);
  return { operation, timeMs, author: by, reason } as Deed;
}

/** A line of a ring. */
export interface Line extends Deed {
  readonly index: number;
  /** Its place among the lines of the index, in both rings together, from 0. */
  readonly position: number;
  /** `login-tokens` for many tokens at once, `` for a restore. */
  readonly type: ObjectType | 'login-tokens' | '';
  readonly ns: string;
  readonly id: string;
  readonly name: string;
  /** The index of the version that this change superseded; 0 if there is none. */
  readonly was: number;
  /** How many tokens, of `login-tokens`; of the end of a login's token, what it granted. */
  readonly more?: number | object | undefined;
}

/** Returns a line as text. `deed` is what `deedText` makes of it. */
export function lineText(line: Omit<Line, keyof Deed>, deed: string): string {
  const { index, position, type, ns, id, name, was, more } = line;
  const all = [type, ns, id, name];
  const about = JSON.stringify(more === undefined ? all : [...all, more]);
  return `[${index},${position},${was},${deed},${about.slice(1)}`;
}

/** Returns what `lineText` made a text of. */
export function lineOf(text: string): Line {
  const [index, position, was, deed, type, ns, id, name, more] = JSON.parse(text);
  const line = { ...deedIn(deed), index, position, was, type, ns, id, name };
  return more === undefined ? line : { ...line, more };
}

/** A chunk of a ring. */
export interface Chunk {
  /** The time of the newest line of all earlier chunks, in milliseconds; 0 for none. */
  readonly sinceMs: number;
  readonly lines: readonly string[];
}

/** Returns the text of a chunk. */
export const chunkText = ({ sinceMs, lines }: Chunk): string =>
  `${sinceMs}\n${lines.map((line) => `${line}\n`).join('')}`;

/** Returns the chunk of a text. */
export function chunkOf(text: string): Chunk {
  const lines = text.split('\n');
  return { sinceMs: Number(lines[0]), lines: lines.slice(1, -1) };
}

/** A version, but for what happened, which is in the form of `deedText`. */
export interface Head {
  /** The index of the version before; 0 if there was none or it is not kept. */
  readonly was: number;
  /** The index of the version that followed; 0 for the newest one. */
  readonly next: number;
  /** Of the newest version alone: its index, the number of versions, the index of the oldest. */
  readonly index: number;
  readonly count: number;
  readonly oldest: number;
  readonly deed: string;
  /** The object as it was, as JSON; `null` if it was deleted. Absent: it is the present one. */
  readonly content: string | undefined;
}

/** A version. */
export type Version = Omit<Head, 'deed'> & Deed;

/** Returns a version as text. */
export function headText({ was, next, index, count, oldest, deed, content }: Head): string {
  const numbers = next > 0 ? `${was} ${next}` : `${was} 0 ${index} ${count} ${oldest}`;
  return content === undefined ? `${numbers}\n${deed}` : `${numbers}\n${deed}\n${content}`;
}

/** Returns what `headText` made a text of. */
export function headOf(text: string): Head {
  const first = text.indexOf('\n');
  const second = text.indexOf('\n', first + 1);
  const numbers = text.slice(0, first).split(' ');
  const [was, next, index = 0, count = 0, oldest = 0] = numbers.map(Number) as [number, number];
  const deed = second < 0 ? text.slice(first + 1) : text.slice(first + 1, second);
  const content = second < 0 ? undefined : text.slice(second + 1);
  return { was, next, index, count, oldest, deed, content };
}

/** Returns a version of a text. */
export function versionOf(text: string): Version {
  const { deed, ...head } = headOf(text);
  return { ...deedIn(JSON.parse(deed)), ...head };
}

/** Returns the bytes of a record that count for the bounds: lines, and contents of versions. */
export function countedBytes(key: string, text: string): number {
  const table = tableOf(key);
  if (table === VERSION) return Buffer.byteLength(headOf(text).content ?? '');
  return (RINGS as readonly string[]).includes(table) ? Buffer.byteLength(text) : 0;
}

/** Returns why a record of an archive is none of the history; undefined if it is one. */
export function historyProblem(key: string, text: string): string | undefined {
  const parts = key.split('\u0000');
  const isKey = parts.slice(1).every((part) => part !== '') && /^[0-9a-f]+$/.test(parts.at(-1)!);
  try {
    if (parts[0] === VERSION) {
      const { operation, was, index, next, count, oldest, content } = versionOf(text);
      const isPlace = parts.length === 5 && tableOfType(parts[1]!) !== undefined;
      const isNewest = parts[4] === NEWEST;
      const numbers = isNewest ? [index, count, oldest] : [next];
      const isWhole =
        Number.isSafeInteger(was) && numbers.every((one) => Number.isSafeInteger(one) && one > 0);
      const hasContent = isNewest ? (content ?? 'null') === 'null' : content !== undefined;
      const isObject = content === undefined || typeof JSON.parse(content) === 'object';
      const is =
        isKey && isPlace && isWhole && hasContent && isObject && typeof operation === 'string';
      return is ? undefined : 'a version is not in stored form';
    }
    const lines = chunkOf(text).lines.map(lineOf);
    const isLine = ({ index, position, operation, ns, id, name }: Line): boolean =>
      Number.isSafeInteger(index) &&
      Number.isSafeInteger(position) &&
      [operation, ns, id, name].every((one) => typeof one === 'string');
    const first = lines[0];
    const isChunk = isKey && parts.length === 3 && first !== undefined && lines.every(isLine);
    return isChunk ? undefined : 'a line is not in stored form';
  } catch {
    return 'a record cannot be read';
  }
}
