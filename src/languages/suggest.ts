/** "Did you mean": suggests the known word closest to a mistyped one. */
import { closest, distance } from 'fastest-levenshtein';

/**
 * Maximum length of a word that gets a suggestion: comparing longer ones is slow, and none is a
 * typo.
 */
const WORD_MAX = 64;

/** Returns the known word that is closest to a mistyped one; undefined if none is close. */
export function nearestOf(word: string, known: readonly string[]): string | undefined {
  if (word.length > WORD_MAX || known.length === 0) return undefined;
  const lower = word.toLowerCase();
  const nearest = closest(
    lower,
    known.map((one) => one.toLowerCase()),
  );
  // Two swapped letters count as two changes.
  const changesMax = nearest.length < 4 ? 1 : Math.max(2, Math.floor(nearest.length / 3));
  if (distance(lower, nearest) > changesMax) return undefined;
  // Of words that differ in case alone, the one that is spelled like the given one.
  return closest(
    word,
    known.filter((one) => one.toLowerCase() === nearest),
  );
}

/** Returns `; did you mean "service"?`, or the empty text if no known word is close. */
export function didYouMean(word: string, known: readonly string[]): string {
  const nearest = nearestOf(word, known);
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
}

/** Returns the number of changes by which two short words differ, without regard to case. */
export const changesBetween = (one: string, other: string): number =>
  distance(one.toLowerCase(), other.toLowerCase());
