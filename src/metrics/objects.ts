/** Counts the objects of the API in a state. */
import { KINDS } from '../kinds/types.js';
import { kindOf } from '../state/groups.js';
import type { Table } from '../state/keys.js';

/** Names of the ACL objects in metrics, and the tables that hold them. */
const TYPES: readonly (readonly [type: string, table: Table])[] = [
  ['policy', 'policy'],
  ['role', 'role'],
  ['token', 'token'],
  ['auth-method', 'method'],
  ['binding-rule', 'rule'],
  ['namespace', 'namespace'],
];

/**
 * Returns the number of ACL objects by type, and of config entries by kind. `counts` has the number
 * of records by group.
 */
export function objectCounts(counts: ReadonlyMap<string, number>) {
  const byType = new Map(TYPES.map(([type, table]) => [type, counts.get(table) ?? 0]));
  const byKind = new Map<string, number>(KINDS.map((kind) => [kind, 0]));
  for (const [group, count] of counts) {
    const kind = kindOf(group);
    if (kind !== undefined) byKind.set(kind, (byKind.get(kind) ?? 0) + count);
  }
  return { byType, byKind };
}
