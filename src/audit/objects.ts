/** What an entry changed, from its lines in the history (beyond.md 5.2). */
import { type Difference, differences } from '../service/change/diff.js';
import { textAfterLine } from '../service/history/after.js';
import { linesAt } from '../state/history/lines.js';
import { NotKnown } from '../state/history/past.js';
import type { RecentLines } from '../state/history/recent.js';
import { type Line, placeOfLine } from '../state/history/records.js';
import { type Body, putForm } from '../state/put-form.js';
import { tableOfType } from '../state/refs.js';
import type { View } from '../state/types.js';

/** An object that changed, as a record shows it. */
export interface ChangedObject {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly action: string;
  /** The index of the version before; 0 if there was none. Absent: it is not kept. */
  readonly before?: number;
  readonly after: number;
  readonly changes?: readonly Change[];
  /** Of many tokens at once. */
  readonly count?: number;
}

interface Change {
  readonly type: Difference['Type'];
  readonly path: string;
  readonly old: unknown;
  readonly new: unknown;
}

/** Objects of a record, and bytes of all of them together. */
const OBJECTS_MAX = 50;
const OBJECTS_BYTES = 8 * 1024;

/** Returns the objects that an entry changed, as JSON, and whether some are left out. */
export function changedObjects(
  { view, recent }: { readonly view: View; readonly recent: RecentLines },
  index: number,
  withChanges: boolean,
): { readonly objects: readonly string[]; readonly truncated: boolean } {
  const objects: string[] = [];
  let left = OBJECTS_BYTES;
  for (const line of recent.at(index) ?? linesAt(view, index)) {
    if (objects.length === OBJECTS_MAX) return { objects, truncated: true };
    const whole = changedObject(view, line, withChanges);
    const text = JSON.stringify(whole);
    left -= text.length;
    if (left >= 0) {
      objects.push(text);
      continue;
    }
    const { changes, ...short } = whole;
    left += JSON.stringify(changes ?? '').length;
    if (left >= 0) objects.push(JSON.stringify(short));
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
    ...(isKept(line) && { before: was }),
    after: operation === 'delete' ? 0 : index,
  };
  if (type === '' || type === 'login-tokens')
    return { ...head, ...(typeof more === 'number' && { count: more }) };
  if (!withChanges || head.before === undefined) return head;
  const changes = changesOf(view, line, content);
  return changes === undefined ? head : { ...head, changes };
}

/**
 * Whether it is known which version was before a change. None is kept before the end of a login's
 * token, before an object gets another owner, and beyond the bounds of the history.
 */
const isKept = ({ was, count, operation, more }: Line): boolean =>
  was > 0 || (was === 0 && (count > 0 || (typeof more !== 'object' && operation !== 'update')));

/** Returns how an object changed; undefined if that is not known any more. */
function changesOf(view: View, line: Line, before: string | undefined): Change[] | undefined {
  const table = tableOfType(placeOfLine(line).type);
  if (table === undefined) return undefined;
  const form = (object: Body | undefined): Body | undefined =>
    object && putForm(view, table, object, { ids: true });
  try {
    const [past, present] = unlike(parsed(before), parsed(textAfterLine(view, line)));
    // members that are undefined are not in the record
    return differences(table, form(past), form(present)).map(({ Type, Path, Old, New }) => ({
      type: Type,
      path: Path,
      old: Old,
      new: New,
    }));
  } catch (error) {
    if (error instanceof NotKnown) return undefined;
    throw error;
  }
}

const parsed = (text: string | undefined): Body | undefined =>
  text === undefined ? undefined : JSON.parse(text);

/** Returns two objects without the members that are alike: what they send of these is alike too. */
function unlike(before: Body | undefined, after: Body | undefined): (Body | undefined)[] {
  if (before === undefined || after === undefined) return [before, after];
  const past: Record<string, unknown> = {};
  const present: Record<string, unknown> = {};
  for (const name of Object.keys(before)) {
    const isBoth = Object.hasOwn(after, name);
    if (name !== 'Kind' && isBoth && isAlike(before[name], after[name])) continue;
    past[name] = before[name];
    if (isBoth) present[name] = after[name];
  }
  for (const name of Object.keys(after))
    if (!Object.hasOwn(before, name)) present[name] = after[name];
  return [past, present];
}

/** Whether two values of JSON are the same. To compare texts of them would take longer. */
function isAlike(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [past, present] = [a as Body, b as Body];
  const names = Object.keys(past);
  if (names.length !== Object.keys(present).length) return false;
  return names.every((name) => Object.hasOwn(present, name) && isAlike(past[name], present[name]));
}
