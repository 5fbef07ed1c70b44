/** What differs between two answers of the API, for `watch`. */

/** A change of one object. */
export interface Change {
  readonly ref: string;
  readonly what: 'created' | 'changed' | 'deleted';
  /** The object as it is now; as it was if it is deleted. */
  readonly value: unknown;
  /** The members that differ, a line each. */
  readonly members: readonly string[];
}

/** Members that change with every write and say nothing else. */
const SILENT = new Set(['CreateIndex', 'ModifyIndex', 'Hash']);

/** Returns the changes between two sets of objects by their Refs, in the order of the Refs. */
export function changesBetween(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): Change[] {
  const refs = [...new Set([...before.keys(), ...after.keys()])].sort();
  return refs.flatMap((ref): Change[] => {
    const was = before.get(ref);
    const is = after.get(ref);
    if (JSON.stringify(was) === JSON.stringify(is)) return [];
    const what = was === undefined ? 'created' : is === undefined ? 'deleted' : 'changed';
    const members = what === 'deleted' ? [] : memberChanges(was, is);
    return [{ ref, what, value: is ?? was, members }];
  });
}

/** Returns a line for each member that differs: `Protocol: "http" → "grpc"`. */
export function memberChanges(before: unknown, after: unknown): string[] {
  const was = leavesOf(before);
  const is = leavesOf(after);
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((path) => {
    const [old, now] = [was.get(path), is.get(path)];
    if (old === now || SILENT.has(path)) return [];
    if (old === undefined) return [`${path}: ${now}`];
    return [`${path}: ${old} → ${now ?? 'none'}`];
  });
}

/** Returns the values in a JSON value, as JSON by their paths: `Routes[0].Match.Path`. */
function leavesOf(value: unknown, path = '', found = new Map<string, string>()) {
  if (typeof value !== 'object' || value === null) {
    if (value !== undefined) found.set(path, JSON.stringify(value));
  } else if (Array.isArray(value)) {
    value.forEach((item, at) => {
      leavesOf(item, `${path}[${at}]`, found);
    });
  } else
    for (const [name, item] of Object.entries(value))
      leavesOf(item, path === '' ? name : `${path}.${name}`, found);
  return found;
}
