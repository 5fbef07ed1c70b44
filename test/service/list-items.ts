import { Links } from '../../src/service/common/reading.js';
import type { ListPlan } from '../../src/service/reads/list-plan.js';
import type { View } from '../../src/state/types.js';

/** All items of a list at once. */
export function listItems(view: View, { candidates, render, filter }: ListPlan): string[] {
  const links = new Links(view);
  const shows = filter?.();
  const shown = candidates().filter((candidate) => shows?.(view, candidate, links) ?? true);
  return shown.flatMap((candidate) => render(view, candidate, links) ?? []);
}
