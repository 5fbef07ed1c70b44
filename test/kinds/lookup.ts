/** Config entries of one namespace in memory. */
import { targetsOf } from '../../src/kinds/references.js';
import type { ConfigEntry, EntryId, EntryLookup } from '../../src/kinds/types.js';

export function lookupOf(entries: readonly ConfigEntry[]): EntryLookup {
  const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
  return {
    get: (kind, name) => entries.find((one) => one.Kind === kind && same(one.Name, name)),
    list: (kind) => entries.filter((one) => one.Kind === kind),
    naming: (target): EntryId[] =>
      entries
        .filter((one) => targetsOf(one).has(target))
        .map((one) => ({ kind: one.Kind, name: one.Name })),
  };
}
