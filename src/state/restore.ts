/**
 * The restore of a snapshot archive, which replaces the whole state. The records go through the log
 * in parts, which are stored in a table of their own. The last command replaces the state by them,
 * so every member does it at the same index or not at all:
 *
 *     restore.add 0, restore.add 1, … restore.add n-1, restore.commit (or restore.abort)
 *
 * The replacement works in slices, because a large state in one turn of the event loop would delay
 * heartbeats. What belongs to this cluster's own log (the machine's record, remembered requests)
 * stays.
 */

import { type Refusal, refusal } from '../base/errors.js';
import { isObject } from '../languages/fields.js';
import { JOIN_TOKENS_FACT } from './join-tokens.js';
import { keys } from './keys.js';
import { LEVEL_KEY } from './levels.js';
import { keysBelow, refused, stored } from './lists.js';
import { OBJECTS } from './objects.js';
import { FORGOTTEN_FACT } from './requests.js';
import {
  type Command,
  type Draft,
  type Handler,
  keyOf,
  type StateRecord,
  type View,
} from './types.js';

/** Stores one part of a snapshot, counted from 0. Part 0 drops the parts of any other restore. */
export interface RestoreAdd extends Command {
  readonly type: 'restore.add';
  readonly id: string;
  readonly part: number;
  readonly records: readonly StateRecord[];
}

/** Replaces the state by the stored parts. Refused unless there are `parts` of them. */
export interface RestoreCommit extends Command {
  readonly type: 'restore.commit';
  readonly id: string;
  readonly parts: number;
}

/** Drops the parts of an aborted restore. */
export interface RestoreAbort extends Command {
  readonly type: 'restore.abort';
  readonly id: string;
}

const PARTS = 'restore';
/** Records processed in one turn of the event loop, which takes a few milliseconds. */
export const SLICE_RECORDS = 500;
/** Characters of records after which a slice ends, because some records are large. */
const SLICE_CHARS = 2 ** 18;
/** Tables that a snapshot neither contains nor replaces. */
const KEPT_TABLES = ['request', 'local'];
const OWN_TABLES = new Set([keys.machine, LEVEL_KEY, ...KEPT_TABLES, PARTS]);
/** Tables whose values are JSON objects with indexes. */
const OBJECT_TABLES = new Set([
  ...Object.values(OBJECTS).flatMap(({ table, linkedAs }) =>
    linkedAs === undefined ? [table] : [table, `${linkedAs}-link`],
  ),
  'config',
  'fact',
]);
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
    const id = key.split('\u0000', 2)[1]!;
    parts.set(id, (parts.get(id) ?? 0) + 1);
  }
  return parts;
}

const tableOf = (key: string): string => key.split('\u0000', 1)[0]!;

/** Whether a restore takes a record of a snapshot. */
export const isRestored = (key: string): boolean => !OWN_TABLES.has(tableOf(key));

/**
 * Whether archives hold a record, and a node proposes it for a restore: join tokens end with the
 * state that they belong to, because one that was used must not come back unused.
 */
export const isArchived = (key: string): boolean => key !== JOIN_TOKENS_FACT;

const addRestore: Handler<RestoreAdd> = ({ draft }, { id, part, records }) => {
  if (part === 0) dropParts(draft);
  draft.put(partKey(id, part), JSON.stringify(records));
  return { ok: true };
};

const abortRestore: Handler<RestoreAbort> = ({ draft }, { id }) => {
  for (const key of keysBelow(draft, PARTS, id)) draft.del(key);
  return { ok: true };
};

const commitRestore: Handler<RestoreCommit> = ({ draft, index }, { id, parts }) => {
  const found = [...keysBelow(draft, PARTS, id)];
  if (found.length !== parts) {
    const what = `The restore holds ${found.length} of its ${parts} parts`;
    return refused(refusal('conflict', `${what}: another one took its place`));
  }
  const slices = (view: View) => restoredRecords(view, found, index);
  return { ok: true, value: 'true', state: { slices, changed: [RESTORE_FACT] } };
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
    const records = JSON.parse(view.get(part)!) as RestoreAdd['records'];
    for (let at = 0; at < records.length; at += SLICE_RECORDS) {
      const slice: StateRecord[] = [];
      for (const [key, value] of records.slice(at, at + SLICE_RECORDS)) {
        if (!isRestored(key) || key === RESTORE_FACT || key === FORGOTTEN_FACT) continue;
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

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The handlers of the commands of a restore. */
export const RESTORE_HANDLERS = {
  'restore.add': addRestore,
  'restore.commit': commitRestore,
  'restore.abort': abortRestore,
};
