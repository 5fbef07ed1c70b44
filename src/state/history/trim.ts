/** Dropping what the bounds of the history no longer allow, oldest first and a little at a time. */
import { take } from '../links.js';
import { keysBelow } from '../lists.js';
import { TYPES } from '../refs.js';
import { type ApplyContext, type Command, type Handler, keyOf, type View } from '../types.js';
import { Ledger } from './ledger.js';
import {
  type Chunk,
  chunkIndex,
  chunkOf,
  chunkText,
  type Head,
  headOf,
  headText,
  type Line,
  lineOf,
  newestKey,
  type Place,
  RINGS,
  type Ring,
  VERSION,
  versionAt,
  versionKey,
  versionsOf,
} from './records.js';
import { floorsOf, type HistoryBounds, historyBounds, maxAgeMs } from './settings.js';

/** Records that one entry drops. A line may take a version with it. */
const TRIMMED_MAX = 200;
/** Keys of versions that one entry compares with lower bounds. */
const SWEPT_MAX = 2000;

/** Drops what is too old or too much. Its time decides. Answers whether more is due. */
export interface HistoryTrim extends Command {
  readonly type: 'history.trim';
  readonly nowMs: number;
}

/** Drops the oldest lines, and the versions that they superseded, as long as there are too many. */
export function trimBytes(
  ledger: Ledger,
  bounds: HistoryBounds,
  budget = { left: TRIMMED_MAX },
): void {
  const { floors } = ledger;
  while (floors.LoginBytes > bounds.LoginBytes) {
    if (!dropOldest(ledger, 'login-change', budget)) break;
  }
  while (floors.Bytes > bounds.Bytes) {
    const ring = olderRing(ledger);
    if (ring === undefined || !dropOldest(ledger, ring, budget)) break;
  }
}

function olderRing({ draft }: Ledger): Ring | undefined {
  const [change, login] = RINGS.map((ring) => take(keysBelow(draft, ring), 1)[0]);
  if (change === undefined || login === undefined) {
    return change === undefined ? (login === undefined ? undefined : 'login-change') : 'change';
  }
  return chunkIndex(change) <= chunkIndex(login) ? 'change' : 'login-change';
}

/**
 * Drops the lines of the oldest chunk of a ring, or those from before a time. Returns whether there
 * may be more.
 */
function dropOldest(
  ledger: Ledger,
  ring: Ring,
  budget: { left: number },
  beforeMs = Number.POSITIVE_INFINITY,
): boolean {
  const [key] = take(keysBelow(ledger.draft, ring), 1);
  if (key === undefined) return false;
  const text = ledger.draft.get(key)!;
  const chunk = chunkOf(text);
  const { lines } = chunk;
  if (budget.left < 2 * lines.length) return false;
  const due = dueLines(chunk, beforeMs);
  if (due.length === 0) return false;
  for (const line of due) forgetLine(ledger, ring, line);
  budget.left -= 2 * due.length;
  ledger.drop(key, text);
  const rest = lines.slice(due.length);
  if (rest.length === 0) return true;
  const sinceMs = Math.max(chunk.sinceMs, ...due.map(({ timeMs }) => timeMs ?? 0));
  ledger.put(key, chunkText({ sinceMs, lines: rest }));
  return false;
}

/** Returns the first lines of a chunk that are from before a time, in milliseconds. */
function dueLines({ sinceMs, lines }: Chunk, beforeMs: number): Line[] {
  const due: Line[] = [];
  let ms = sinceMs;
  for (const written of lines) {
    const line = lineOf(written);
    // A line without a time is as old as the one before it.
    ms = line.timeMs ?? ms;
    if (beforeMs !== Number.POSITIVE_INFINITY && (ms === 0 || ms >= beforeMs)) break;
    due.push(line);
  }
  return due;
}

/** Drops what goes with a line: the version that it superseded, or the trace of a deletion. */
function forgetLine(ledger: Ledger, ring: Ring, line: Line): void {
  const { index, type, ns, id, operation, was } = line;
  if (ring === 'login-change' && operation !== 'create') ledger.forget(index - 1, 'Logins');
  if (type === '' || type === 'login-tokens') return;
  const place: Place = { type, ns, id: id.toLowerCase() };
  if (was > 0) {
    const key = versionKey(place, was);
    const text = ledger.draft.get(key);
    if (text !== undefined) ledger.drop(key, text);
    ledger.forget(index - 1);
  }
  if (operation === 'create' || operation === 'update') return;
  const newest = ledger.draft.get(newestKey(place));
  const version = newest === undefined ? undefined : headOf(newest);
  if (version?.content === 'null' && version.index === index)
    ledger.drop(newestKey(place), newest!);
}

/**
 * Drops the oldest versions of an object beyond a number of them. Returns whether it could drop all
 * of these now.
 */
export function trimVersions(
  ledger: Ledger,
  place: Place,
  newest: Head,
  most: number,
  budget = { left: 8 },
): boolean {
  const { draft } = ledger;
  const head = newestKey(place);
  let { count, oldest } = newest;
  let isCounted = false;
  let isDone = true;
  while (count > Math.max(most, 1)) {
    const key = versionKey(place, oldest);
    const text = draft.get(key);
    if (text === undefined) {
      // The oldest ones went with their lines.
      if (isCounted) break;
      isCounted = true;
      const all = [...draft.keys(versionsOf(place))];
      count = all.length;
      oldest = versionAt(all[0]!).index || newest.index;
      continue;
    }
    if (budget.left <= 0) isDone = false;
    if (!isDone) break;
    budget.left -= 1;
    oldest = dropVersion(ledger, key, text);
    count -= 1;
  }
  if (count !== newest.count) draft.put(head, headText({ ...newest, count, oldest }));
  if (isDone && most === 0) ledger.drop(head, draft.get(head)!);
  return isDone;
}

/** Drops a version that another one followed. Returns the index of that one. */
function dropVersion(ledger: Ledger, key: string, text: string): number {
  const { next } = headOf(text);
  ledger.drop(key, text);
  ledger.forget(next - 1);
  return next;
}

/** Drops what is due. */
export const trimHistory: Handler<HistoryTrim> = ({ draft }, { nowMs }) => {
  const floors = floorsOf(draft);
  if (floors === undefined) return { ok: true, value: 'false' };
  const ledger = new Ledger(draft, { ...floors });
  const bounds = historyBounds(draft);
  const budget = { left: TRIMMED_MAX };
  trimBytes(ledger, bounds, budget);
  const age = maxAgeMs(bounds);
  for (const ring of age === undefined ? [] : RINGS) {
    while (dropOldest(ledger, ring, budget, nowMs - age!)) {}
  }
  sweep(ledger, bounds, budget);
  ledger.close();
  return { ok: true, value: String(trimDue(draft, nowMs)) };
};

/** Compares some more objects with bounds of versions that fell. */
function sweep(ledger: Ledger, bounds: HistoryBounds, budget: { left: number }): void {
  const { draft, floors } = ledger;
  if (floors.Sweep === undefined) return;
  const some = take(draft.keys(keyOf(VERSION, ''), floors.Sweep), SWEPT_MAX);
  for (const key of some) {
    const at = versionAt(key);
    const most = bounds.Bytes === 0 ? 0 : bounds.VersionsPerObject;
    if (at.index === 0) {
      const newest = headOf(draft.get(key)!);
      if (!trimVersions(ledger, at, newest, most, budget)) return;
    } else if (most === 0) {
      // The newest one went when the object was written since.
      if (budget.left <= 0) return;
      budget.left -= 1;
      dropVersion(ledger, key, draft.get(key)!);
    }
    floors.Sweep = key;
  }
  if (some.length < SWEPT_MAX) delete floors.Sweep;
}

/** Whether something is to be dropped that no other entry drops. */
export function trimDue(view: View, nowMs: number): boolean {
  const floors = floorsOf(view);
  if (floors === undefined) return false;
  const bounds = historyBounds(view);
  const { Bytes, LoginBytes, Sweep } = floors;
  if (Sweep !== undefined) return true;
  const age = maxAgeMs(bounds);
  const first = RINGS.flatMap((ring) => take(keysBelow(view, ring), 1));
  const hasLogins = first.at(-1)?.startsWith('login-change') === true;
  if (LoginBytes > bounds.LoginBytes && hasLogins) return true;
  if (Bytes > bounds.Bytes && first.length > 0) return true;
  if (age === undefined) return false;
  return first.some((key) => dueLines(chunkOf(view.get(key)!), nowMs - age).length > 0);
}

/** Drops up to `max` versions of what is in a namespace that is emptied. Returns how many. */
export function dropVersionsIn({ draft }: ApplyContext, ns: string, max: number): number {
  const floors = floorsOf(draft);
  if (floors === undefined) return 0;
  const ledger = new Ledger(draft, { ...floors });
  let left = max;
  for (const type of Object.values(TYPES)) {
    if (type === 'namespace') continue;
    for (const key of take(keysBelow(draft, VERSION, type, ns), left)) {
      ledger.drop(key, draft.get(key)!);
      left -= 1;
    }
  }
  ledger.close();
  return max - left;
}
