/** What is typed into forms over JSON before it says what is meant. */
import { useState } from 'preact/hooks';

/**
 * Shows what is typed for as long as it means what is stored: `12.` means 12, and an empty line is
 * no item of a list yet. Once something else is stored, that is shown.
 */
export function useTyped<T>(
  stored: T,
  meaningOf: (typed: T) => unknown,
): readonly [shown: T, setTyped: (typed: T) => void] {
  const [typed, setTyped] = useState(stored);
  const isMeant = JSON.stringify(meaningOf(typed)) === JSON.stringify(meaningOf(stored));
  return [isMeant ? typed : stored, setTyped];
}

/** Returns whether another row has the name of this one. */
export const isNamedTwice = (
  rows: readonly (readonly [name: string, value: unknown])[],
  nth: number,
): boolean => rows.some(([name], other) => other !== nth && name === rows[nth]![0]);
