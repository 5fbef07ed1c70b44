/** Going back: what is planned and applied for it. */

import { read } from '../api/client.js';
import { historyPath, type VersionContent } from '../api/history.js';
import { applySet, type ChangeSet, planSet, planUndo, undo } from '../api/sets.js';
import { configRight } from '../config/type.js';
import { namespaceRight } from '../objects/linking.js';
import type { Need } from '../parts/rights.js';
import type { Act } from '../plan/review.js';

/** Types whose objects have an ID that a set may name, and the member that holds it. */
const IDS: Readonly<Record<string, string>> = {
  policy: 'ID',
  role: 'ID',
  'binding-rule': 'ID',
  token: 'AccessorID',
};

/** Returns the right to change an object. */
export function needOf(type: string, id: readonly string[], ns?: string): Need {
  if (type === 'namespace') return namespaceRight(id);
  return type === 'config'
    ? { ns, ...configRight(id[0], id.slice(1).join('/')) }
    : { right: 'acl:write', ns };
}

/** Undoes all that an entry has changed. */
export const undoing = (index: number): Act => ({
  plan: (signal) => planUndo(index, signal),
  apply: (plan, reason, signal) => undo(index, plan, reason, signal),
});

/** Makes an object again what it was by an earlier version. */
export function goingBack(type: string, id: readonly string[], version: number): Act {
  let set: ChangeSet = {};
  return {
    async plan(signal) {
      const query = { version: String(version) };
      const how = { signal, query };
      const { Object: was } = await read<VersionContent>(historyPath(type, id), how);
      const key = IDS[type];
      const again = { ...was, ...(key !== undefined && { [key]: id[0] }) };
      set = { Objects: [{ Type: type, Object: again }] };
      return planSet(set, signal);
    },
    apply: (plan, reason, signal) => applySet(set, plan, reason, signal),
  };
}
