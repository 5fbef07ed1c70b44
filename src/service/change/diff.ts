/** How two forms of an object differ, by JSON pointer (beyond.md 2.5). */
import type { Difference } from '../../api/endpoints/shapes.js';
import { isObject } from '../../languages/fields.js';
import { pointerOf } from '../../languages/pointers.js';
import type { Table } from '../../state/keys.js';
import { type Body, HIDDEN, hideSecrets, secretsOf } from '../../state/put-form.js';

export type { Difference } from '../../api/endpoints/shapes.js';

/** Bytes of a value that a difference shows. */
const VALUE_BYTES_MAX = 4096;

const NOTHING: Body = {};

/**
 * Returns how an object changes. `before` and `after` are its forms (state/put-form.ts), undefined
 * where it does not exist. Hides secrets; those that are given in clear text and differ are edited.
 */
export function differences(
  table: Table,
  before: Body = NOTHING,
  after: Body = NOTHING,
): Difference[] {
  const found: Difference[] = [];
  compareObjects(hideSecrets(table, before), hideSecrets(table, after), [], found);
  const known = new Map(secretsOf(table, before).map(({ id, value }) => [id, value]));
  for (const { id, path, value } of secretsOf(table, after)) {
    if (!known.has(id) || known.get(id) === value) continue;
    found.push({ Type: 'Edited', Path: pointerOf(path), Old: HIDDEN, New: HIDDEN });
  }
  return found;
}

type Path = readonly string[];

function compare(before: unknown, after: unknown, path: Path, found: Difference[]): void {
  if (isObject(before) && isObject(after)) compareObjects(before, after, path, found);
  else if (Array.isArray(before) && Array.isArray(after)) {
    const [past, present] = byName(before, after) ?? [{ ...before }, { ...after }];
    compareObjects(past, present, path, found);
  } else if (before !== after) found.push(difference(path, { Old: before, New: after }));
}

function compareObjects(before: Body, after: Body, path: Path, found: Difference[]): void {
  for (const name of Object.keys(before)) {
    const [old, now] = [before[name], after[name]];
    if (!Object.hasOwn(after, name)) found.push(difference([...path, name], { Old: old }));
    else if (old !== now) compare(old, now, [...path, name], found);
  }
  for (const name of Object.keys(after)) {
    if (!Object.hasOwn(before, name)) found.push(difference([...path, name], { New: after[name] }));
  }
}

/**
 * Returns two lists of objects by the names of these. Undefined if an object has no name, a name
 * stands twice, or common names changed places: the order may matter.
 */
function byName(before: readonly unknown[], after: readonly unknown[]): [Body, Body] | undefined {
  const [past, present] = [named(before), named(after)];
  if (past === undefined || present === undefined) return undefined;
  const kept = [...past.keys()].filter((name) => present.has(name));
  const common = [...present.keys()].filter((name) => past.has(name));
  const isInOrder = common.every((name, at) => name === kept[at]);
  return isInOrder ? [Object.fromEntries(past), Object.fromEntries(present)] : undefined;
}

/** The members that name an object of a list; the first that it has counts. */
const NAMING = ['Name', 'ServiceName', 'NodeName', 'TemplateName'];

function named(items: readonly unknown[]): Map<string, unknown> | undefined {
  const names = new Map<string, unknown>();
  for (const item of items) {
    const member = isObject(item) && NAMING.find((name) => Object.hasOwn(item, name));
    const name = isObject(item) && member ? item[member] : undefined;
    if (typeof name !== 'string' || name === '' || names.has(name)) return undefined;
    names.set(name, item);
  }
  return names;
}

function difference(path: Path, values: Pick<Difference, 'Old' | 'New'>): Difference {
  const Path = pointerOf(path);
  const Type = !('Old' in values) ? 'Added' : 'New' in values ? 'Edited' : 'Deleted';
  const found: { -readonly [K in keyof Difference]: Difference[K] } = { Type, Path };
  for (const name of ['Old', 'New'] as const) {
    if (!(name in values)) continue;
    const { value, isCut } = shortened(values[name]);
    found[name] = value;
    if (isCut) found.Cut = true;
  }
  return found;
}

/** Returns a value, or the beginning of a long one: of its text, or of its JSON. */
function shortened(value: unknown): { readonly value: unknown; readonly isCut: boolean } {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.length * 3 <= VALUE_BYTES_MAX) return { value, isCut: false };
  const bytes = Buffer.from(text);
  if (bytes.length <= VALUE_BYTES_MAX) return { value, isCut: false };
  // A character that was cut in two is left out.
  const whole = new TextDecoder().decode(bytes.subarray(0, VALUE_BYTES_MAX), { stream: true });
  return { value: whole, isCut: true };
}
