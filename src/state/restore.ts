/**
 * The restore of a snapshot archive, which replaces the whole state. The records go through the log
 * in parts. The last command replaces the state by them, so every member does it at the same index
 * or not at all:
 *
 *     restore.add 0, restore.add 1, … restore.add n-1, restore.commit (or restore.abort)
 *
 * From level 3 on, a part holds bytes. Its records go straight below NEXT, in the form in which the
 * new state has them, and a record of the restore counts them and has their checksums:
 *
 *     restore.add      →   restore·<id> {"Parts":2,"Records":731,"Sums":{…}}
 *                          next·role·default·2f6a…  {"ID":"2f6a…",…}
 *     restore.commit   →   role·default·2f6a…       {"ID":"2f6a…",…}   the store only switches
 *     restore.abort    →   (nothing)
 *
 * Older logs hold parts of records as JSON. These are stored as they are, and the last command
 * reads them, in slices, because a large state in one turn of the event loop would delay
 * heartbeats. What belongs to this cluster's own log (the machine's record, remembered requests)
 * stays.
 */
import { inflateRawSync } from 'node:zlib';

import { type Refusal, refusal } from '../base/errors.js';
import { isObject } from '../languages/fields.js';
import { Checksums, tableOf } from './checksum.js';
import { countedBytes, RINGS, VERSION } from './history/records.js';
import { restoredHistory, withinHistory } from './history/restored.js';
import { FLOOR_FACT, isKept } from './history/settings.js';
import { IDENTITY_BLOCK } from './identity-blocks.js';
import { JOIN_TOKENS_FACT } from './join-tokens.js';
import { keys, NEXT } from './keys.js';
import { LEVEL_KEY } from './levels.js';
import { keysBelow, refused, stored } from './lists.js';
import { OBJECTS } from './objects.js';
import { OIDC_USED } from './oidc.js';
import { readRecord } from './record-bytes.js';
import { FORGOTTEN_FACT } from './request-forget.js';
import {
  type Command,
  type Draft,
  type Handler,
  keyOf,
  type StateRecord,
  type View,
} from './types.js';

/**
 * Stores one part of a snapshot, counted from 0. Part 0 drops the parts of any other restore. Below
 * level 3 it has `records`, otherwise `bytes`: in base64, the DEFLATE of records (record-bytes.ts)
 * whose indexes this log has reached.
 */
export interface RestoreAdd extends Command {
  readonly type: 'restore.add';
  readonly id: string;
  readonly part: number;
  readonly records?: readonly StateRecord[];
  readonly bytes?: string;
}

/**
 * Replaces the state by the stored parts. Refused unless there are `parts` of them and, from level
 * 3 on, `records` records in them.
 */
export interface RestoreCommit extends Command {
  readonly type: 'restore.commit';
  readonly id: string;
  readonly parts: number;
  readonly records?: number;
}

/** Drops the parts of an aborted restore. */
export interface RestoreAbort extends Command {
  readonly type: 'restore.abort';
  readonly id: string;
}

/** What is stored of a restore whose parts hold bytes. */
interface Progress {
  readonly Parts: number;
  readonly Records: number;
  readonly Sums: Readonly<Record<string, string>>;
  /** What the history in them counts, see Floors. */
  readonly Bytes: number;
  readonly LoginBytes: number;
}

const PARTS = 'restore';
/** Bytes to which a part may inflate: more than its proposer sends with the longest record. */
const PART_BYTES_MAX = 96 * 2 ** 20;
/** Records processed in one turn of the event loop, which takes a few milliseconds. */
export const SLICE_RECORDS = 500;
/** Characters of records after which a slice ends, because some records are large. */
const SLICE_CHARS = 2 ** 18;
/** Tables that a snapshot neither contains nor replaces. */
const KEPT_TABLES = ['request', 'local', OIDC_USED];
const OWN_TABLES = new Set([keys.machine, LEVEL_KEY, ...KEPT_TABLES, PARTS, tableOf(NEXT)]);
/** Tables whose values are JSON objects with indexes. */
const OBJECT_TABLES = new Set([
  ...Object.values(OBJECTS).flatMap(({ table, linkedAs }) =>
    linkedAs === undefined ? [table] : [table, `${linkedAs}-link`],
  ),
  'config',
  'fact',
  IDENTITY_BLOCK,
]);
const HISTORY_TABLES: ReadonlySet<string> = new Set([VERSION, ...RINGS]);
/** A record that every restore changes, so that every blocking query is answered. */
export const RESTORE_FACT = keys.fact('restore');

/**
 * Returns the index of the last restore, 0 if there was none. Every record may have changed then,
 * so no later answer has a lower index.
 */
export const restoredAt = (view: View): number =>
  stored<{ Index: number }>(view, RESTORE_FACT)?.Index ?? 0;

const partKey = (id: string, part: number): string =>
  keyOf(PARTS, id, String(part).padStart(9, '0'));

/** Returns the number of stored parts, by the id of the restore. */
export function restoreParts(view: View): Map<string, number> {
  const parts = new Map<string, number>();
  for (const key of keysBelow(view, PARTS)) {
    const [, id, part] = key.split('\u0000') as [string, string, string?];
    const found = part === undefined ? stored<Progress>(view, key)!.Parts : 1;
    parts.set(id, (parts.get(id) ?? 0) + found);
  }
  return parts;
}

/** Whether a restore takes a record of a snapshot. */
export const isRestored = (key: string): boolean => !OWN_TABLES.has(tableOf(key));

/** Whether a record of a snapshot becomes part of the new state. */
export const isTaken = (key: string): boolean =>
  isRestored(key) && key !== RESTORE_FACT && key !== FORGOTTEN_FACT && key !== FLOOR_FACT;

/**
 * Whether archives hold a record, and a node proposes it for a restore: join tokens end with the
 * state that they belong to, because one that was used must not come back unused.
 */
export const isArchived = (key: string): boolean =>
  key !== JOIN_TOKENS_FACT && !key.startsWith(NEXT);

const addRestore: Handler<RestoreAdd> = ({ draft }, { id, part, records, bytes }) => {
  if (bytes !== undefined) return addBytes(draft, id, part, bytes);
  if (part === 0) dropParts(draft);
  draft.put(partKey(id, part), JSON.stringify(records));
  return { ok: true };
};

/** Adds the records of a part to the next state, and to the record of the restore. */
function addBytes(
  draft: Draft,
  id: string,
  part: number,
  bytes: string,
): ReturnType<Handler<RestoreAdd>> {
  const key = keyOf(PARTS, id);
  const before = part === 0 ? NO_PROGRESS : stored<Progress>(draft, key);
  if (before === undefined) return refused(refusal('conflict', REPLACED));
  const records = recordsIn(bytes);
  if (records === undefined)
    return refused(refusal('invalid', 'A part of the snapshot cannot be read'));
  if (part === 0) dropParts(draft);
  const sums = Checksums.from(before.Sums);
  let { Bytes, LoginBytes } = before;
  for (const [own, value] of records) {
    sums.change(own, undefined, value);
    const bytes = countedBytes(own, value);
    Bytes += bytes;
    if (tableOf(own) === 'login-change') LoginBytes += bytes;
  }
  const progress: Progress = {
    Parts: before.Parts + 1,
    Records: before.Records + records.length,
    Sums: sums.toJSON(),
    Bytes,
    LoginBytes,
  };
  draft.put(key, JSON.stringify(progress));
  return { ok: true, next: { replaces: part === 0, records } };
}

const NO_PROGRESS: Progress = { Parts: 0, Records: 0, Sums: {}, Bytes: 0, LoginBytes: 0 };
const REPLACED = 'The restore was aborted, or another one took its place';

/** Returns the records of a part that the new state takes; undefined if it cannot be read. */
function recordsIn(bytes: string): StateRecord[] | undefined {
  const records: StateRecord[] = [];
  try {
    const options = { maxOutputLength: PART_BYTES_MAX };
    const all = inflateRawSync(Buffer.from(bytes, 'base64'), options);
    for (let at = 0; at < all.length; ) {
      const found = readRecord(all, at);
      if (found.record === undefined) return undefined;
      if (isTaken(found.record[0])) records.push(found.record);
      at = found.end;
    }
  } catch {
    return undefined;
  }
  return records;
}

const abortRestore: Handler<RestoreAbort> = ({ draft }, { id }) => {
  const key = keyOf(PARTS, id);
  const isNext = draft.get(key) !== undefined;
  draft.del(key);
  for (const part of keysBelow(draft, PARTS, id)) draft.del(part);
  return { ok: true, ...(isNext && { next: { replaces: true, records: [] } }) };
};

const commitRestore: Handler<RestoreCommit> = ({ draft, index }, command) => {
  const { id, parts, records } = command;
  const changed = isKept(draft) ? [RESTORE_FACT, FLOOR_FACT] : [RESTORE_FACT];
  const fact: StateRecord = [RESTORE_FACT, JSON.stringify({ Index: index })];
  if (records !== undefined) {
    const progress = stored<Progress>(draft, keyOf(PARTS, id));
    if (progress?.Parts !== parts || progress.Records !== records)
      return refused(refusal('conflict', REPLACED));
    const history = isKept(draft) ? restoredHistory(index, command, progress) : [];
    const slices = function* (): Generator<readonly StateRecord[], undefined> {
      yield [fact, ...history];
    };
    return { ok: true, value: 'true', state: { slices, changed, nextSums: progress.Sums } };
  }
  const found = [...keysBelow(draft, PARTS, id)];
  if (found.length !== parts) {
    const what = `The restore holds ${found.length} of its ${parts} parts`;
    return refused(refusal('conflict', `${what}: another one took its place`));
  }
  const slices = (view: View) => restoredRecords(view, found, index);
  return { ok: true, value: 'true', state: { slices, changed } };
};

/** Yields, in slices, the records that stay when the rest of the state is replaced. */
export function* keptRecords(view: View): Generator<readonly StateRecord[]> {
  const level = view.get(LEVEL_KEY);
  if (level !== undefined) yield [[LEVEL_KEY, level]];
  for (const table of KEPT_TABLES) {
    let after: string | undefined;
    for (;;) {
      const slice: StateRecord[] = [];
      let size = 0;
      for (const key of view.keys(keyOf(table, ''), after)) {
        const value = view.get(key)!;
        slice.push([key, value]);
        size += key.length + value.length;
        if (slice.length >= SLICE_RECORDS || size >= SLICE_CHARS) break;
      }
      if (slice.length === 0) break;
      yield slice;
      after = slice.at(-1)![0];
    }
  }
}

/**
 * Yields, in slices, the records of the parts as a restore at `index` stores them. Returns a
 * refusal if one of them cannot be read.
 */
function* restoredRecords(
  view: View,
  parts: readonly string[],
  index: number,
): Generator<readonly StateRecord[], Refusal | undefined> {
  for (const part of parts) {
    const records = JSON.parse(view.get(part)!) as StateRecord[];
    for (let at = 0; at < records.length; at += SLICE_RECORDS) {
      const slice: StateRecord[] = [];
      for (const [key, value] of records.slice(at, at + SLICE_RECORDS)) {
        if (!isTaken(key)) continue;
        const own = withinLog(key, value, index);
        if (own === undefined) {
          const table = JSON.stringify(tableOf(key));
          const why = `The snapshot holds a record of the table ${table} that cannot be read`;
          return refusal('invalid', why);
        }
        slice.push([key, own]);
      }
      yield slice;
    }
  }
  yield [[RESTORE_FACT, JSON.stringify({ Index: index })]];
  return undefined;
}

function dropParts(draft: Draft): void {
  for (const key of keysBelow(draft, PARTS)) draft.del(key);
}

/**
 * Lowers the indexes of a record to that of the restore. A snapshot of a cluster with a longer log
 * contains indexes that this log has not reached. Later changes need greater ones, otherwise
 * blocking queries would miss them. Indexes of lists are always replaced, because any list may have
 * changed. Returns undefined for an object that cannot be read.
 */
function withinLog(key: string, value: string, index: number): string | undefined {
  const table = tableOf(key);
  if (table === 'index') return String(index);
  if (table === 'deleted') return String(Math.min(Number(value), index));
  if (!OBJECT_TABLES.has(table)) return value;
  const object = objectOf(value);
  if (object === undefined) return undefined;
  let changed = false;
  for (const field of ['CreateIndex', 'ModifyIndex', 'Index']) {
    if (typeof object[field] === 'number' && object[field] > index) {
      object[field] = index;
      changed = true;
    }
  }
  return changed ? JSON.stringify(object) : value;
}

/**
 * Returns a verified record as a restore proposes it, with the indexes of `withinLog`; undefined
 * for a record of the history of indexes that this log has not reached.
 */
export function proposedRecord([key, value]: StateRecord, index: number): StateRecord | undefined {
  if (HISTORY_TABLES.has(tableOf(key))) return withinHistory([key, value], index);
  return [key, lowered(value, index) ?? withinLog(key, value, index) ?? value];
}

/** The same for the text of an object with its two indexes; undefined if that has to be parsed. */
function lowered(value: string, index: number): string | undefined {
  let text = value;
  for (const mark of ['"CreateIndex":', '"ModifyIndex":']) {
    const at = text.indexOf(mark) + mark.length;
    // What is there only once is the member of the object, not of something in it.
    if (at < mark.length || text.includes(mark, at)) return undefined;
    const number = Number.parseInt(text.slice(at, at + 20), 10);
    if (number > index) text = `${text.slice(0, at)}${index}${text.slice(at + `${number}`.length)}`;
  }
  return text;
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export const RESTORE_HANDLERS = {
  'restore.add': addRestore,
  'restore.commit': commitRestore,
  'restore.abort': abortRestore,
};
