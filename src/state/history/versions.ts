/**
 * The versions of an object: a chain of lines, newest first.
 *
 *     the object   {…,"ModifyIndex":57}
 *     line of 57   update, superseded 40, which was {…}
 *     line of 40   update, superseded 12, which was {…}
 *     line of 12   create
 */
import { modifyIndexOf } from '../lists.js';
import type { View } from '../types.js';
import { lineAt } from './lines.js';
import {
  type Deed,
  deedOfText,
  type Line,
  objectKeyOf,
  type Place,
  traceKey,
  traceOf,
} from './records.js';

/** A version of an object. */
export interface Version {
  readonly index: number;
  /** What made it. Absent: the line is not kept, or the version is older than the history. */
  readonly line: Line | undefined;
  /** The object, as JSON; undefined if it was deleted, or while early versions are looked for. */
  readonly text: string | undefined;
}

/** Returns the version that is in force since an object was changed last, at an index. */
export function versionSince(
  view: View,
  place: Place,
  at: number,
  text: string | undefined,
): Version {
  const line = lineAt(view, place, at);
  const isOfServer = line !== undefined && line.count === 0 && line.was > 0;
  if (!isOfServer) return { index: at, line, text };
  return { index: line.was, line: lineAt(view, place, line.was), text };
}

/** Returns the newest version of an object; undefined if nothing is known of the object. */
export function newestVersion(
  view: View,
  place: Place,
  present = view.get(objectKeyOf(place)),
): Version | undefined {
  const at =
    present === undefined ? traceOf(view.get(traceKey(place))).gone : modifyIndexOf(present);
  return at === 0 ? undefined : versionSince(view, place, at, present);
}

/** Returns the version before another, or an earlier one at or after `from` that a mark tells. */
export function versionBefore(
  view: View,
  place: Place,
  { line }: Version,
  from = Number.POSITIVE_INFINITY,
): Version | undefined {
  if (line === undefined || line.was <= 0) return undefined;
  const { was, mark, content } = line;
  if (mark < from) return { index: was, line: lineAt(view, place, was), text: content };
  return { index: mark, line: lineAt(view, place, mark), text: undefined };
}

/** Yields the versions of an object before an index, newest first. */
export function* versionsOf(
  view: View,
  place: Place,
  before = Number.POSITIVE_INFINITY,
): Iterable<Version> {
  let version = newestVersion(view, place);
  while (version !== undefined) {
    if (version.index < before) yield version;
    version = versionBefore(view, place, version, before);
  }
}

/** Returns the number of a version in the chain of its object. */
export const numberOf = ({ line }: Version): number => line?.count || 1;

/** What is known of a version from before the history. */
const UNKNOWN: Deed = { operation: 'unknown', timeMs: null, author: null, reason: '' };

/** Returns what made a version. */
export function deedOfVersion(view: View, place: Place, { index, line }: Version): Deed {
  if (line !== undefined) return line;
  const { made, deed } = traceOf(view.get(traceKey(place)));
  return made === index ? deedOfText(deed) : UNKNOWN;
}
