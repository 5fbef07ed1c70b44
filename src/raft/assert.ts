/**
 * Stops the process when an invariant is broken: going on could lose an acknowledged write. `facts`
 * are printed, so that the message alone tells what disagreed. Stays on in production.
 */
export function invariant(
  condition: boolean,
  what: string,
  facts: Readonly<Record<string, unknown>>,
): asserts condition {
  if (condition) return;
  const shown = Object.entries(facts).map(([name, value]) => `${name} ${String(value)}`);
  throw new Error(`raft invariant broken: ${what} (${shown.join(', ')})`);
}
