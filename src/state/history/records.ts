/**
 * The records of the history (beyond.md 3.1), which are kept short: their members have places, not
 * names.
 *
 *     change·<index>·<n>     the time of the newest line of earlier chunks, then a line for each
 *     login-change·…         change, up to 64 of them; the key is that of the first line
 *     version·<type>·<ns>·<id>   what no line tells of an object: see Trace
 *
 * The line of a change has the object as it was before, so that a write adds to the last chunk and
 * to nothing else. The versions of an object are a chain: its ModifyIndex leads to the line of the
 * newest one, and each line to the one before.
 */
import type { Author } from '../author.js';
import { tableOf } from '../checksum.js';
import { keys, type Table } from '../keys.js';
import { type ObjectType, refOf, TYPES, tableOfType } from '../refs.js';
import { type Command, keyOf } from '../types.js';

/** The rings: one of changes, and one of tokens that logins make. Also their tables. */
export const RINGS = ['change', 'login-change'] as const;
export type Ring = (typeof RINGS)[number];
/** The table of versions. */
export const VERSION = 'version';
/** Lines of a full chunk: each commit writes the last chunk anew, so a chunk is small. */
export const CHUNK_LINES = 64;

const NUL = '\u0000';
/** Separates a line from the content: JSON text has none in it. */
const TAB = '\t';
/** Keys sort by an index in this form. */
const hex = (index: number): string => index.toString(16).padStart(16, '0');

/** Which object a record is about. `id` is that of the key: names are in lower case. */
export interface Place {
  readonly type: ObjectType;
  readonly ns: string;
  readonly id: string;
}

/** The key of what no line tells of an object. */
export const traceKey = ({ type, ns, id }: Place): string => keyOf(VERSION, type, ns, id);
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

/** Returns the object of the key of a trace. */
export function placeOfTrace(key: string): Place {
  const [, type, ns, id] = key.split(NUL) as [string, ObjectType, string, string];
  return { type, ns, id };
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
  const ms = Date.parse(time ?? '');
  // Another member may have sent any text.
  const timeMs = Number.isNaN(ms) ? null : ms;
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
  /**
   * The index of the version that this change superseded; 0 if there was none, NOT_KEPT if that is
   * not kept. Of a change that only the server made, the index of the version that it leaves.
   */
  readonly was: number;
  /** The number of the version that this change made, from 1; 0 if it made none. */
  readonly count: number;
  /** The index of the last earlier version whose number is a multiple of MARK_EVERY; or 0. */
  readonly mark: number;
  /** The object as the superseded version had it, as JSON. Absent: that was a deletion. */
  readonly content?: string | undefined;
  /**
   * How many tokens, of `login-tokens`; of the end of a login's token, what it granted; of the
   * deletion of another object, its Ownership.
   */
  readonly more?: number | object | undefined;
}

/** A line, and the ring that it is in. */
export interface RingLine extends Line {
  readonly ring: Ring;
}

/** Returns the Ref of the object of a line, by the name that it had then; '' of a restore. */
export function refOfLine({ type, ns, id, name }: Line): string {
  if (type === '') return '';
  if (type === 'login-tokens') return `${type}/${id}`;
  return refOf(type, ns, type === 'token' || type === 'config' ? id : name);
}

/** What `was` is where the superseded version is not kept. */
export const NOT_KEPT = -1;
/** Versions from one mark to the next: who looks for an early version skips as many. */
export const MARK_EVERY = 16;

/** What a line is about. */
export type About = Pick<Line, 'type' | 'ns' | 'id' | 'name' | 'more'>;
/** What a line says of the versions of its object. */
export type Link = Pick<Line, 'was' | 'count' | 'mark' | 'content'>;

/** Returns a line as text. `deed` is what `deedText` makes of it. */
export function lineText(
  { index, position }: Pick<Line, 'index' | 'position'>,
  { type, ns, id, name, more }: About,
  { was, count, mark, content }: Link,
  deed: string,
): string {
  const all = [type, ns, id, name];
  const about = JSON.stringify(more === undefined ? all : [...all, more]);
  const text = `[${index},${position},${was},${count},${mark},${deed},${about.slice(1)}`;
  return content === undefined ? text : `${text}${TAB}${content}`;
}

/** Returns what `lineText` made a text of. */
export function lineOf(text: string): Line {
  const end = text.indexOf(TAB);
  const head = JSON.parse(end < 0 ? text : text.slice(0, end));
  const [index, position, was, count, mark, deed, type, ns, id, name, more] = head;
  const line = { ...deedIn(deed), index, position, was, count, mark, type, ns, id, name };
  const content = end < 0 ? undefined : text.slice(end + 1);
  return {
    ...line,
    ...(more !== undefined && { more }),
    ...(content !== undefined && { content }),
  };
}

/** Whether a line has the content of an object. */
export const hasContent = (text: string): boolean => text.includes(TAB);

/** Returns the object of a line. */
export const placeOfLine = ({ type, ns, id }: Line): Place => ({
  type: type as ObjectType,
  ns,
  id: id.toLowerCase(),
});

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

/** What no line tells of an object. */
export interface Trace {
  /** The index at which the object was deleted; 0 if it is there. */
  readonly gone: number;
  /** The index of the version whose line was dropped last, and what happened then; 0 for none. */
  readonly made: number;
  readonly deed: string;
}

/** What is known of an object of which there is no trace. */
export const NO_TRACE: Trace = { gone: 0, made: 0, deed: '' };

/** Returns a trace as text; undefined if it tells nothing. */
export const traceText = ({ gone, made, deed }: Trace): string | undefined =>
  gone === 0 && made === 0 ? undefined : `${gone} ${made}\n${deed}`;

/** Returns what `traceText` made a text of. */
export function traceOf(text: string | undefined): Trace {
  if (text === undefined) return NO_TRACE;
  const end = text.indexOf('\n');
  const [gone, made] = text.slice(0, end).split(' ').map(Number) as [number, number];
  return { gone, made, deed: text.slice(end + 1) };
}

/** Returns what happened, of a text that `deedText` returned. */
export const deedOfText = (text: string): Deed => deedIn(JSON.parse(text));

/** Returns the bytes of a record that count for the bounds: those of lines. */
export const countedBytes = (key: string, text: string): number =>
  (RINGS as readonly string[]).includes(tableOf(key)) ? Buffer.byteLength(text) : 0;

/** Returns why a record of an archive is none of the history; undefined if it is one. */
export function historyProblem(key: string, text: string): string | undefined {
  const parts = key.split(NUL);
  try {
    if (parts[0] === VERSION) {
      const isPlace = parts.length === 4 && tableOfType(parts[1]!) !== undefined;
      return isPlace && isTrace(traceOf(text)) ? undefined : 'a version is not in stored form';
    }
    const isKey = parts.length === 3 && parts.slice(1).every((part) => /^[0-9a-f]+$/.test(part));
    const lines = chunkOf(text).lines.map(lineOf);
    const isChunk = isKey && lines.length > 0 && lines.every(isLine);
    return isChunk ? undefined : 'a line is not in stored form';
  } catch {
    return 'a record cannot be read';
  }
}

function isTrace({ gone, made, deed }: Trace): boolean {
  const isWhole = [gone, made].every((one) => Number.isSafeInteger(one) && one >= 0);
  if (!isWhole || gone + made === 0) return false;
  return made === 0 ? deed === '' : typeof deedOfText(deed).operation === 'string';
}

const isLine = ({ content, ...line }: Line): boolean =>
  [line.index, line.position, line.was, line.count, line.mark].every(Number.isSafeInteger) &&
  [line.operation, line.ns, line.id, line.name].every((one) => typeof one === 'string') &&
  (content === undefined || typeof JSON.parse(content) === 'object');
