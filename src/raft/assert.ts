/**
 * Throws if an invariant is broken, which stops the process: continuing could lose an acknowledged
 * write. The message contains `facts`, so that it alone shows what disagreed: numbers and names,
 * never content. Enabled in production, in the layers above too.
 */
export function invariant(
  condition: boolean,
  what: string,
  facts: Readonly<Record<string, unknown>>,
): asserts condition {
  if (condition) return;
  const shown = Object.entries(facts).map(([name, value]) => `${name} ${String(value)}`);
  throw new Error(`invariant broken: ${what} (${shown.join(', ')})`);
}
