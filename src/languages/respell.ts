/**
 * Brings the names of the members of a body to those of its declaration, before it is decoded:
 * names in another letter case for clients that send them (`http.fieldNames`), second spellings for
 * patches, which are merged by name. Keys of maps and of free objects are data, and stay.
 */
import type { Description, Fields } from './field-types.js';

/** How names are brought to those of a declaration. */
export interface Respelling {
  /** Whether letter case does not matter. */
  readonly anyCase: boolean;
  /** Whether every name may be in lower case, as those of config entries. */
  readonly lowerCase: boolean;
  /** Refuses a member that is given in two spellings. `path` leads to its object. */
  twice(path: readonly (string | number)[], one: string, other: string): never;
}

/** Clients of other editions send it with any object. */
const EVERYWHERE = ['Partition'];

/** The names of an object's members by spelling, and by spelling in lower case; null: several. */
interface Names {
  readonly exact: ReadonlyMap<string, string>;
  /** Members without a second spelling, by their names in lower case. */
  readonly lower: ReadonlyMap<string, string>;
  readonly folded: ReadonlyMap<string, string | null>;
}

const NAMES = new WeakMap<Fields, Names>();

function namesOf(fields: Fields): Names {
  const known = NAMES.get(fields);
  if (known !== undefined) return known;
  const exact = new Map<string, string>();
  const lower = new Map<string, string>();
  const folded = new Map<string, string | null>();
  const add = (name: string, spelling: string, to = exact): void => {
    if (!exact.has(spelling)) to.set(spelling, name);
    const small = spelling.toLowerCase();
    folded.set(small, (folded.get(small) ?? name) === name ? name : null);
  };
  for (const name of [...Object.keys(fields), ...EVERYWHERE]) add(name, name);
  for (const [name, { spellings }] of Object.entries(fields)) {
    if (spellings === undefined) add(name, name.toLowerCase(), lower);
    for (const spelling of spellings ?? []) add(name, spelling);
  }
  const names = { exact, lower, folded };
  NAMES.set(fields, names);
  return names;
}

/** Returns the name that a key stands for; the key itself if it stands for none, or for several. */
function nameOf({ exact, lower, folded }: Names, key: string, how: Respelling): string {
  const listed = exact.get(key) ?? (how.lowerCase ? lower.get(key) : undefined);
  return listed ?? (how.anyCase ? folded.get(key.toLowerCase()) : undefined) ?? key;
}

/** What a refusal says of a name that differs from a known one in letter case alone. */
export const CASE_HINT = 'the setting http.fieldNames "anyCase" takes names in any letter case';

/** Returns a body (parsed JSON) with the names of its declaration. */
export function respelled(
  input: unknown,
  of: Description,
  how: Respelling,
  path: readonly (string | number)[] = [],
  holder: Record<string, unknown> = {},
): unknown {
  if (typeof input !== 'object' || input === null) return input;
  const inner = (value: unknown, type: Description, step: string | number): unknown =>
    respelled(value, type, how, [...path, step]);
  if (Array.isArray(input)) {
    const item = of.is === 'list' || of.is === 'links' ? of.of?.description : undefined;
    return item === undefined ? input : input.map((one, i) => inner(one, item, i));
  }
  const object = input as Record<string, unknown>;
  switch (of.is) {
    case 'object':
      return membersOf(object, of.fields, how, path);
    case 'map': {
      const type = of.of.description;
      return Object.fromEntries(
        Object.entries(object).map(([key, value]) => [key, inner(value, type, key)]),
      );
    }
    case 'list':
      // one item may stand for a list of it
      return respelled(object, of.of.description, how, path);
    case 'free': {
      const type = of.shapeOf?.(object, holder);
      return type === undefined ? object : respelled(object, type, how, path);
    }
    default:
      return object;
  }
}

function membersOf(
  object: Record<string, unknown>,
  fields: Fields,
  how: Respelling,
  path: readonly (string | number)[],
): Record<string, unknown> {
  const names = namesOf(fields);
  const keys = new Map<string, string>();
  for (const key of Object.keys(object)) {
    const name = nameOf(names, key, how);
    const before = keys.get(name);
    if (before !== undefined) how.twice(path, before, key);
    keys.set(name, key);
  }
  const holder = Object.fromEntries([...keys].map(([name, key]) => [name, object[key]]));
  for (const [name, value] of Object.entries(holder)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) continue;
    holder[name] = respelled(value, field.type.description, how, [...path, name], holder);
  }
  return holder;
}
