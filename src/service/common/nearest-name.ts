/** "Did you mean" for names of stored objects. */
import { nearestOf } from '../../languages/suggest.js';
import { lastPart } from '../../state/lists.js';
import type { View } from '../../state/types.js';

/** Names that are compared from each of two places: a 404 stays as cheap as a short list. */
const COMPARED_MAX = 100;

/**
 * Returns the key of the object whose name is closest to one that does not exist; undefined if none
 * is close. `prefix` is that of the keys that end with names in lower case. At most 100 names that
 * begin with the first half of the name are compared, and 100 that begin with its first letter.
 * Names that `mayRead` refuses do not count.
 */
export function nearestKey(
  view: View,
  prefix: string,
  name: string,
  mayRead: (name: string) => boolean = () => true,
): string | undefined {
  const wanted = name.toLowerCase();
  const found = new Map<string, string>();
  for (const shared of new Set([Math.floor(wanted.length / 2), 1])) {
    let left = COMPARED_MAX;
    for (const key of view.keys(prefix + wanted.slice(0, shared))) {
      left -= 1;
      if (left < 0) break;
      const known = lastPart(key);
      if (!found.has(known) && mayRead(known)) found.set(known, key);
    }
  }
  const nearest = nearestOf(wanted, [...found.keys()]);
  return nearest === undefined ? undefined : found.get(nearest);
}
