/** What an entry changed, from its lines in the history (beyond.md 5.2). */
import { type Difference, differences } from '../service/change/diff.js';
import { textAfter } from '../service/history/after.js';
import { linesAt } from '../state/history/lines.js';
import { NotKnown } from '../state/history/past.js';
import { type Line, placeOfLine } from '../state/history/records.js';
import { putForm } from '../state/put-form.js';
import { tableOfType } from '../state/refs.js';
import type { View } from '../state/types.js';

/** An object that changed, as a record shows it. */
export interface ChangedObject {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly action: string;
  /** The index of the version before; 0 if there was none. */
  readonly before: number;
  readonly after: number;
  readonly changes?: readonly Change[];
  /** Of many tokens at once. */
  readonly count?: number;
}

interface Change {
  readonly type: Difference['Type'];
  readonly path: string;
  readonly old?: unknown;
  readonly new?: unknown;
}

/** Objects of a record, and bytes of all of them together. */
const OBJECTS_MAX = 50;
const OBJECTS_BYTES = 8 * 1024;

/** Returns the objects that an entry changed, and whether some are left out. */
export function changedObjects(
  view: View,
  index: number,
  withChanges: boolean,
): { readonly objects: readonly ChangedObject[]; readonly truncated: boolean } {
  const objects: ChangedObject[] = [];
  let left = OBJECTS_BYTES;
  for (const line of linesAt(view, index)) {
    if (objects.length === OBJECTS_MAX) return { objects, truncated: true };
    const whole = changedObject(view, line, withChanges);
    left -= JSON.stringify(whole).length;
    if (left >= 0) {
      objects.push(whole);
      continue;
    }
    const { changes, ...short } = whole;
    left += JSON.stringify(changes ?? '').length;
    if (left >= 0) objects.push(short);
    return { objects, truncated: true };
  }
  return { objects, truncated: false };
}

function changedObject(view: View, line: Line, withChanges: boolean): ChangedObject {
  const { index, type, id, name, ns, operation, was, content, more } = line;
  const head = {
    type: type === '' ? 'state' : type,
    id,
    name,
    namespace: ns || 'default',
    action: operation,
    before: Math.max(0, was),
    after: operation === 'delete' ? 0 : index,
  };
  if (type === '' || type === 'login-tokens')
    return { ...head, ...(typeof more === 'number' && { count: more }) };
  if (!withChanges) return head;
  const changes = changesOf(view, line, content);
  return changes === undefined ? head : { ...head, changes };
}

/** Returns how an object changed; undefined if that is not known any more. */
function changesOf(view: View, line: Line, before: string | undefined): Change[] | undefined {
  const place = placeOfLine(line);
  const table = tableOfType(place.type);
  if (table === undefined) return undefined;
  const form = (text: string | undefined): Readonly<Record<string, unknown>> | undefined =>
    text === undefined
      ? undefined
      : putForm(view, table, JSON.parse(text) as object, { ids: true });
  try {
    const after = textAfter(view, place, line.index);
    return differences(table, form(before), form(after)).map(({ Type, Path, Old, New }) => ({
      type: Type,
      path: Path,
      ...(Old !== undefined && { old: Old }),
      ...(New !== undefined && { new: New }),
    }));
  } catch (error) {
    if (error instanceof NotKnown) return undefined;
    throw error;
  }
}
