/** Dropping what the bounds of the history no longer allow, oldest first and a little at a time. */
import { take } from '../links.js';
import { keysBelow } from '../lists.js';
import { TYPES } from '../refs.js';
import {
  type ApplyContext,
  type Command,
  type Handler,
  keyOf,
  type StateRecord,
  type View,
} from '../types.js';
import { Ledger } from './ledger.js';
import {
  CHUNK_LINES,
  type Chunk,
  chunkIndex,
  chunkOf,
  chunkText,
  deedText,
  hasContent,
  type Line,
  lineOf,
  lineText,
  NO_TRACE,
  NOT_KEPT,
  objectKeyOf,
  placeOfLine,
  RINGS,
  type Ring,
  traceKey,
  traceOf,
  VERSION,
} from './records.js';
import { type Floors, floorsOf, type HistoryBounds, historyBounds, maxAgeMs } from './settings.js';
import { newestVersion, numberOf } from './versions.js';

/** Records that one entry drops. A line may take a version with it. */
const TRIMMED_MAX = 200;
/** Lines that one entry compares with the bound on the number of versions. */
const SWEPT_MAX = 400;
/** All lines are compared once this part of the bytes may be beyond that number. */
const EXCESS_SHARE = 16;
/** They are not compared for fewer bytes than these. */
const EXCESS_MIN_BYTES = 65_536;

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
  const parts = { bounds, budget };
  while (floors.LoginBytes > bounds.LoginBytes) {
    if (!dropOldest(ledger, 'login-change', parts)) break;
  }
  while (floors.Bytes > bounds.Bytes) {
    const ring = olderRing(ledger);
    if (ring === undefined || !dropOldest(ledger, ring, parts)) break;
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
  { bounds, budget }: { readonly bounds: HistoryBounds; readonly budget: { left: number } },
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
  for (const line of due) forgetLine(ledger, ring, line, bounds.Bytes > 0);
  budget.left -= 2 * due.length;
  const rest = lines.slice(due.length);
  if (rest.length === 0) {
    ledger.drop(key, text);
    return true;
  }
  const sinceMs = Math.max(chunk.sinceMs, ...due.map(({ timeMs }) => timeMs ?? 0));
  ledger.replace(key, text, chunkText({ sinceMs, lines: rest }));
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

/**
 * Drops what goes with a line: the version that it superseded, or the trace of a deletion. What
 * made a version that is still there stays in its trace, if `keepsDeeds`.
 */
function forgetLine(ledger: Ledger, ring: Ring, line: Line, keepsDeeds: boolean): void {
  const { index, type, operation } = line;
  if (ring === 'login-change' && operation !== 'create') ledger.forget(index - 1, 'Logins');
  if (type === '' || type === 'login-tokens') return;
  ledger.dropped(index);
  if (line.was > 0) ledger.forget(index - 1);
  if (line.count === 0) return;
  const place = placeOfLine(line);
  const { draft } = ledger;
  const trace = traceOf(draft.get(traceKey(place)));
  if (trace.gone === index) ledger.trace(place, NO_TRACE);
  else if (keepsDeeds && (trace.gone > 0 || draft.get(objectKeyOf(place)) !== undefined))
    ledger.trace(place, { ...trace, made: index, deed: deedText(line) });
}

/** Drops what is due. */
export const trimHistory: Handler<HistoryTrim> = ({ draft }, { nowMs }) => {
  const floors = floorsOf(draft);
  if (floors === undefined) return { ok: true, value: 'false' };
  const bounds = historyBounds(draft);
  const { Excess, ...others } = floors;
  const begins = hasExcess(floors, bounds) && floors.Sweep === undefined;
  const ledger = new Ledger(draft, begins ? { ...others, Sweep: '' } : { ...floors });
  const budget = { left: TRIMMED_MAX };
  trimBytes(ledger, bounds, budget);
  const age = maxAgeMs(bounds);
  for (const ring of age === undefined ? [] : RINGS) {
    while (dropOldest(ledger, ring, { bounds, budget }, nowMs - age!)) {}
  }
  sweep(ledger, bounds, budget);
  ledger.close();
  return { ok: true, value: String(trimDue(draft, nowMs)) };
};

/** Whether so much is kept beyond the number of versions that a sweep is worth its work. */
const hasExcess = ({ Excess = 0 }: Floors, { Bytes }: HistoryBounds): boolean =>
  Excess > Math.max(EXCESS_MIN_BYTES, Bytes / EXCESS_SHARE);

/** Compares some more lines with the bound on the number of versions. */
function sweep(ledger: Ledger, bounds: HistoryBounds, budget: { left: number }): void {
  const { draft, floors } = ledger;
  if (floors.Sweep === undefined) return;
  const most = bounds.Bytes === 0 ? 0 : bounds.VersionsPerObject;
  let looked = 0;
  for (const table of bounds.Bytes === 0 ? [...RINGS, VERSION] : RINGS) {
    // The cursor may be in another table.
    const records = draft.keys(keyOf(table, ''), floors.Sweep);
    for (const key of take(records, SWEPT_MAX)) {
      if (looked >= SWEPT_MAX || budget.left < CHUNK_LINES) return;
      const text = draft.get(key)!;
      if (table !== VERSION && hasContent(text))
        looked += sweepChunk(ledger, [key, text], most, budget);
      else looked += 1;
      if (table === VERSION) draft.del(key);
      floors.Sweep = key;
    }
  }
  delete floors.Sweep;
}

/** Drops the contents of a chunk that are beyond the number of versions. Returns its lines. */
function sweepChunk(
  ledger: Ledger,
  [key, text]: StateRecord,
  most: number,
  budget: { left: number },
): number {
  const { sinceMs, lines } = chunkOf(text);
  const kept = lines.map((written) => {
    if (!hasContent(written)) return written;
    const line = lineOf(written);
    const newest = newestVersion(ledger.draft, placeOfLine(line));
    const number = line.count - 1;
    if (most > 0 && newest !== undefined && numberOf(newest) - number < most) return written;
    budget.left -= 1;
    ledger.dropped(line.index);
    ledger.forget(line.index - 1);
    const link = { was: NOT_KEPT, count: line.count, mark: 0 };
    return lineText(line, line, link, deedText(line));
  });
  ledger.replace(key, text, chunkText({ sinceMs, lines: kept }));
  return lines.length;
}

/** Whether something is to be dropped that no other entry drops. */
export function trimDue(view: View, nowMs: number): boolean {
  const floors = floorsOf(view);
  if (floors === undefined) return false;
  const bounds = historyBounds(view);
  const { Bytes, LoginBytes, Sweep } = floors;
  if (Sweep !== undefined || hasExcess(floors, bounds)) return true;
  const age = maxAgeMs(bounds);
  const first = RINGS.flatMap((ring) => take(keysBelow(view, ring), 1));
  const hasLogins = first.at(-1)?.startsWith('login-change') === true;
  if (LoginBytes > bounds.LoginBytes && hasLogins) return true;
  if (Bytes > bounds.Bytes && first.length > 0) return true;
  if (age === undefined) return false;
  return first.some((key) => dueLines(chunkOf(view.get(key)!), nowMs - age).length > 0);
}

/** Drops up to `max` traces of what is in a namespace that is emptied. Returns how many. */
export function dropTracesIn({ draft }: ApplyContext, ns: string, max: number): number {
  let left = max;
  for (const type of Object.values(TYPES)) {
    if (type === 'namespace') continue;
    for (const key of take(keysBelow(draft, VERSION, type, ns), left)) {
      draft.del(key);
      left -= 1;
    }
  }
  return max - left;
}
