import type { ListPlan } from '../../src/service/list-rendering.js';
import { Links } from '../../src/service/reading.js';
import type { View } from '../../src/state/types.js';

/** All items of a list at once. */
export function listItems(view: View, { candidates, render }: ListPlan): string[] {
  const links = new Links(view);
  return candidates.flatMap((candidate) => render(view, candidate, links) ?? []);
}
