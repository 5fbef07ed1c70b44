/** "Did you mean": the known word nearest to a mistyped one. */
import { closest, distance } from 'fastest-levenshtein';

/** A word longer than this is not a slip of the finger, and comparing it takes time. */
const WORD_MAX = 64;

/** `; did you mean "service"?`, or nothing when no known word is near. */
export function didYouMean(word: string, known: readonly string[]): string {
  if (word.length > WORD_MAX || known.length === 0) return '';
  const lower = word.toLowerCase();
  const nearest = closest(lower, known);
  // two letters swapped count as two changes
  const changesMax = nearest.length < 4 ? 1 : Math.max(2, Math.floor(nearest.length / 3));
  return distance(lower, nearest.toLowerCase()) <= changesMax ? `; did you mean "${nearest}"?` : '';
}
