/** Reading the rings: their lines in either direction, and the time of an index. */
import { recordOf } from '../machine-record.js';
import { keyOf, type View } from '../types.js';
import {
  chunkIndex,
  chunkKey,
  chunkOf,
  type Line,
  lineOf,
  type Place,
  placeOfLine,
  RINGS,
  type Ring,
} from './records.js';
import { resumedAt } from './settings.js';

/** Indexes by which the search for an earlier chunk begins. */
const STEP = 64;

/** Returns the last key of a ring below a bound; undefined if there is none. */
function chunkBefore(view: View, ring: Ring, bound: string, index: number): string | undefined {
  for (let step = STEP; ; step *= 2) {
    const from = Math.max(0, index - step);
    let found: string | undefined;
    for (const key of view.keys(keyOf(ring, ''), chunkKey(ring, from))) {
      if (key >= bound) break;
      found = key;
    }
    if (found !== undefined || from === 0) return found;
  }
}

/** Returns the key of the last chunk that begins at or before an index; undefined if none does. */
export const lastChunk = (view: View, ring: Ring, index: number): string | undefined =>
  chunkBefore(view, ring, chunkKey(ring, index + 1), index);

/** Yields the lines of a ring after an index, oldest first: none from before a time without. */
export function* linesAfter(view: View, ring: Ring, index: number): Iterable<Line> {
  const from = Math.max(index, resumedAt(view, ring));
  for (const text of chunksAfter(view, ring, from)) {
    for (const written of chunkOf(text).lines) {
      const line = lineOf(written);
      if (line.index > from) yield line;
    }
  }
}

/** Yields the texts of the chunks of a ring that may have lines after an index, oldest first. */
export function* chunksAfter(view: View, ring: Ring, index: number): Iterable<string> {
  const first = lastChunk(view, ring, index);
  if (first !== undefined) yield view.get(first)!;
  for (const key of view.keys(keyOf(ring, ''), first ?? '')) yield view.get(key)!;
}

/** Yields the lines of a ring up to an index, newest first: none from before a time without. */
export function* linesUpTo(view: View, ring: Ring, index: number): Iterable<Line> {
  const from = resumedAt(view, ring);
  let key = lastChunk(view, ring, index);
  while (key !== undefined) {
    for (const written of [...chunkOf(view.get(key)!).lines].reverse()) {
      const line = lineOf(written);
      if (line.index <= from) return;
      if (line.index <= index) yield line;
    }
    key = chunkBefore(view, ring, key, chunkIndex(key));
  }
}

/** Yields the lines of some rings in one order. */
export function* merged<T extends Line>(
  some: readonly Iterable<T>[],
  isNewestFirst: boolean,
): Iterable<T> {
  const sources = some.map((lines) => lines[Symbol.iterator]());
  const heads = sources.map((source) => source.next());
  for (;;) {
    let best = -1;
    for (const [at, head] of heads.entries()) {
      if (head.done === true) continue;
      const other = best < 0 ? undefined : (heads[best]!.value as T);
      if (other === undefined || isBefore(head.value, other) !== isNewestFirst) best = at;
    }
    if (best < 0) return;
    yield heads[best]!.value as T;
    heads[best] = sources[best]!.next();
  }
}

const isBefore = (a: Line, b: Line): boolean =>
  a.index < b.index || (a.index === b.index && a.position < b.position);

/** Returns the lines of one entry, in order. */
export function linesAt(view: View, index: number, rings: readonly Ring[] = RINGS): Line[] {
  // The other lines of a chunk are not parsed: every audit record looks up one entry.
  const head = `[${index},`;
  const lines: Line[] = [];
  for (const ring of rings) {
    for (const text of chunksAfter(view, ring, index - 1)) {
      const written = chunkOf(text).lines;
      for (const line of written) if (line.startsWith(head)) lines.push(lineOf(line));
      if (Number.parseInt(written.at(-1)?.slice(1) ?? '', 10) > index) break;
    }
  }
  return lines.sort((a, b) => a.position - b.position);
}

/** Chunks in which the change after an entry is looked for. */
const NEAR_CHUNKS = 4;

/**
 * Returns the text that an object had after an entry, if a change soon after it superseded that:
 * the line of that change has it. Undefined if none did.
 */
export function supersededSoon(view: View, place: Place, index: number): string | undefined {
  const superseding = new RegExp(`^\\[\\d+,\\d+,${index},`);
  let chunks = 0;
  for (const chunk of chunksAfter(view, 'change', index)) {
    for (const text of chunkOf(chunk).lines) {
      if (!superseding.test(text)) continue;
      const line = lineOf(text);
      const { type, ns, id } = placeOfLine(line);
      if (type === place.type && ns === place.ns && id === place.id) return line.content;
    }
    chunks += 1;
    if (chunks === NEAR_CHUNKS) return undefined;
  }
  return undefined;
}

/** Returns the line of an object in an entry; undefined if it has none. */
export function lineAt(view: View, place: Place, index: number): Line | undefined {
  for (const ring of place.type === 'token' ? RINGS : (['change'] as const)) {
    const line = lineIn(view, ring, place, index);
    if (line !== undefined) return line;
  }
  return undefined;
}

function lineIn(view: View, ring: Ring, place: Place, index: number): Line | undefined {
  let key = lastChunk(view, ring, index);
  while (key !== undefined) {
    const line = lineOfChunk(view.get(key)!, place, index);
    // The lines of an entry may begin in the chunk before.
    if (line !== undefined || chunkIndex(key) < index) return line;
    key = chunkBefore(view, ring, key, index);
  }
  return undefined;
}

/** Finds a line by its text: to parse all lines of an entry with many would take longer. */
function lineOfChunk(text: string, place: Place, index: number): Line | undefined {
  const id = JSON.stringify(place.id);
  // A line has names as they are spelled, a key in lower case.
  const isNamed = place.type === 'config' || place.type === 'auth-method';
  const mayHave = (part: string): boolean =>
    part.includes(id) || (isNamed && part.toLowerCase().includes(id));
  if (!mayHave(text)) return undefined;
  const start = `\n[${index},`;
  for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, at + 1)) {
    const written = text.slice(at + 1, text.indexOf('\n', at + 1));
    if (!mayHave(written)) continue;
    const line = lineOf(written);
    const { type, ns, id: own } = placeOfLine(line);
    if (type === place.type && own === place.id && ns === place.ns) return line;
  }
  return undefined;
}

/** Returns the oldest line of a ring; undefined if it has none. */
export function oldestLine(view: View, ring: Ring): Line | undefined {
  for (const line of linesAfter(view, ring, -1)) return line;
  return undefined;
}

/** Returns the time of the newest line of a ring up to an index, in milliseconds; 0 for none. */
function newestMs(view: View, ring: Ring, index: number): number {
  const key = lastChunk(view, ring, index);
  if (key === undefined) return 0;
  const { sinceMs, lines } = chunkOf(view.get(key)!);
  let newest = sinceMs;
  for (const written of lines) {
    const line = lineOf(written);
    if (line.index <= index) newest = Math.max(newest, line.timeMs ?? 0);
  }
  return newest;
}

/** Returns the time of an index: the greatest of all lines up to it, in ms; 0 for none. */
export const timeOfIndex = (view: View, index: number): number =>
  Math.max(...RINGS.map((ring) => newestMs(view, ring, index)));

/** Returns the greatest index whose time is not after `ms`; 0 if there is none. */
export function indexOfTime(view: View, ms: number): number {
  let [low, high] = [0, recordOf(view)?.index ?? 0];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (timeOfIndex(view, middle) <= ms) low = middle;
    else high = middle - 1;
  }
  return timeOfIndex(view, low) === 0 ? 0 : low;
}
