/** What two people typed into one object, as one form. */
import type { Field, Form } from './fields.js';

/**
 * Returns a form with what `mine` changed of `before`, and all else as `theirs` has it. Where both
 * changed a field, or a member of a JSON object, mine stays.
 */
export function mergeForms(fields: readonly Field[], before: Form, mine: Form, theirs: Form): Form {
  const merge = ({ key, control }: Field): string => {
    const [old = '', own = '', other = ''] = [before[key], mine[key], theirs[key]];
    if (own === old) return other;
    return (control.type === 'json' ? mergeJson(old, own, other) : undefined) ?? own;
  };
  return Object.fromEntries(fields.map((field) => [field.key, merge(field)]));
}

/** Merges JSON objects by member; undefined if one of the texts is something else. */
function mergeJson(...texts: readonly [before: string, mine: string, theirs: string]) {
  const objects = texts.map(objectOf);
  if (objects.includes(undefined)) return undefined;
  const [before, mine, theirs] = objects as [Members, Members, Members];
  const merged = new Map(theirs);
  for (const member of new Set([...before.keys(), ...mine.keys()])) {
    const own = mine.get(member);
    if (JSON.stringify(own) === JSON.stringify(before.get(member))) continue;
    if (own === undefined) merged.delete(member);
    else merged.set(member, own);
  }
  return JSON.stringify(Object.fromEntries(merged), null, 2);
}

type Members = ReadonlyMap<string, unknown>;

function objectOf(text: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? new Map(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}
