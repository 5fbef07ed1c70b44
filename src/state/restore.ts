/**
 * Replaces the whole state by a snapshot. Its records come through the log in parts, which are set
 * aside. The last command replaces everything by them at once, so each member does it at the same
 * index or not at all. It works in slices, because a large state in one turn of the event loop
 * would delay heartbeats. What belongs to this cluster's own log (the machine's record, remembered
 * requests) stays.
 */
import { type Refusal, refusal } from '../errors.js';
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

/**
 * One part of a snapshot; `part` counts from 0, and part 0 drops what another restore left behind.
 */
export interface RestoreAdd extends Command {
  readonly type: 'restore.add';
  readonly id: string;
  readonly part: number;
  readonly records: readonly StateRecord[];
}

/** Replaces the state by the parts, of which there must be `parts`. */
export interface RestoreCommit extends Command {
  readonly type: 'restore.commit';
  readonly id: string;
  readonly parts: number;
}

/** Drops the parts of a restore that was given up. */
export interface RestoreAbort extends Command {
  readonly type: 'restore.abort';
  readonly id: string;
}

const PARTS = 'restore';
/** Records worked on in one turn of the event loop: a few milliseconds. */
export const SLICE_RECORDS = 500;
/** Characters of records after which a slice ends: some records are large. */
const SLICE_CHARS = 2 ** 18;
/** Tables that a snapshot neither holds nor replaces. */
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
/** Changes with every restore, so that each held query is answered. */
export const RESTORE_FACT = keys.fact('restore');

/**
 * Returns the index of the last restore, 0 for none. Everything may have changed then, so no answer
 * after it has a lower index than before it.
 */
export const restoredAt = (view: View): number =>
  stored<{ Index: number }>(view, RESTORE_FACT)?.Index ?? 0;

const partKey = (id: string, part: number): string =>
  keyOf(PARTS, id, String(part).padStart(9, '0'));

/** Returns the ids of the restores in progress, with the number of their parts. */
export function restoreParts(view: View): Map<string, number> {
  const parts = new Map<string, number>();
  for (const key of keysBelow(view, PARTS)) {
    const id = key.split('\u0000', 2)[1]!;
    parts.set(id, (parts.get(id) ?? 0) + 1);
  }
  return parts;
}

const tableOf = (key: string): string => key.split('\u0000', 1)[0]!;

/** Whether a record of a snapshot is part of what is restored. */
export const isRestored = (key: string): boolean => !OWN_TABLES.has(tableOf(key));

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
    const why = `The restore holds ${found.length} of its ${parts} parts: another one took its place`;
    return refused(refusal('conflict', why));
  }
  const slices = (view: View) => restoredRecords(view, found, index);
  return { ok: true, value: 'true', state: { slices, changed: [RESTORE_FACT] } };
};

/** Yields the records that stay when the rest of the state is replaced, some at a time. */
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
 * Yields the records of the parts as they are stored at `index`, some at a time. Returns a refusal
 * if one cannot be read.
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
 * holds indexes that this log has not reached; a later change needs a greater one, or blocking
 * queries would miss it. Indexes of lists are always replaced, because what lists show may have
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
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

export const RESTORE_HANDLERS = {
  'restore.add': addRestore,
  'restore.commit': commitRestore,
  'restore.abort': abortRestore,
};
