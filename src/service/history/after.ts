/** What an object was after an entry that changed it. */
import { supersededSoon } from '../../state/history/lines.js';
import { objectAt } from '../../state/history/past.js';
import { objectKeyOf, type Place } from '../../state/history/records.js';
import { modifyIndexOf } from '../../state/lists.js';
import type { View } from '../../state/types.js';

/**
 * Returns the text of an object after an entry that changed it; undefined if it did not exist.
 * Little has mostly happened since. Throws NotKnown.
 */
export function textAfter(view: View, place: Place, index: number): string | undefined {
  const present = view.get(objectKeyOf(place));
  const isNewest = present !== undefined && modifyIndexOf(present) === index;
  if (isNewest) return present;
  return supersededSoon(view, place, index) ?? objectAt(view, place, index).text;
}
