/** What an object was after an entry that changed it. */
import { supersededSoon } from '../../state/history/lines.js';
import { objectAt } from '../../state/history/past.js';
import type { RecentLine } from '../../state/history/recent.js';
import { type Line, objectKeyOf, type Place, placeOfLine } from '../../state/history/records.js';
import { modifyIndexOf } from '../../state/lists.js';
import type { View } from '../../state/types.js';

/**
 * Returns the text of the object of a line after its change; undefined if it did not exist. Throws
 * NotKnown.
 */
export const textAfterLine = (view: View, line: Line | RecentLine): string | undefined =>
  'after' in line ? (line.after ?? undefined) : textAfter(view, placeOfLine(line), line.index);

/** Looks at what is newest first: little has mostly happened since. */
function textAfter(view: View, place: Place, index: number): string | undefined {
  const present = view.get(objectKeyOf(place));
  const isNewest = present !== undefined && modifyIndexOf(present) === index;
  if (isNewest) return present;
  return supersededSoon(view, place, index) ?? objectAt(view, place, index).text;
}
