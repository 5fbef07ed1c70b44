/** Work on many rules, in steps between which a caller may do something else. */

/** Yields after each step, and returns the result. */
export type Steps<T> = Generator<void, T>;

/** Rules of one step: some tenths of a millisecond. */
const RULES_PER_STEP = 1_000;

/** Whether a step ends with the rule of this number. */
export const endsStep = (count: number): boolean => count % RULES_PER_STEP === 0;

/** Does all steps at once. */
export function atOnce<T>(steps: Iterator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Returns the first items by an order, in order. Between steps it holds at most twice as many. */
export function* least<T>(
  items: Iterable<T>,
  max: number,
  order: (a: T, b: T) => number,
): Steps<readonly T[]> {
  let kept: T[] = [];
  for (const item of items) {
    kept.push(item);
    if (kept.length < 2 * max) continue;
    kept = kept.sort(order).slice(0, max);
    yield;
  }
  return kept.sort(order).slice(0, max);
}

/**
 * Returns the items by an order, that of their text if there is none. Each step sorts some, or
 * merges two sorted lists.
 */
export function* sorted<T>(
  items: readonly T[],
  order?: (a: T, b: T) => number,
): Steps<readonly T[]> {
  const lists: T[][] = [];
  for (let at = 0; at < items.length; at += RULES_PER_STEP) {
    lists.push(items.slice(at, at + RULES_PER_STEP).sort(order));
    yield;
  }
  while (lists.length > 1) {
    const [one = [], other = []] = lists.splice(0, 2);
    // sort merges lists that are sorted already
    lists.push([...one, ...other].sort(order));
    yield;
  }
  return lists[0] ?? [];
}
