/** ACL objects and namespaces: what they are called, how people see them, how they are found. */
import { isUuid } from '../../acl/names.js';
import type { Link } from '../../api/links.js';
import { OBJECTS, type ObjectName, type ObjectTable, type Shown } from '../../api/objects.js';
import { nearestOf } from '../../languages/suggest.js';
import type { Call } from '../cli.js';
import type { Ask } from '../client/http.js';
import { CliError, isMissing, misused } from '../print/error.js';
import type { Column, Shape } from '../print/output.js';
import { lines, localTime } from '../print/text.js';
import { identityTexts, type Links, linkNames } from './links.js';

/** An object as the API answers it. Its table says which members it has. */
export interface Stored extends Links {
  readonly Name?: string;
  readonly Description?: string;
  readonly SecretID?: string;
  readonly Namespace?: string;
  readonly ModifyIndex?: number;
  readonly [member: string]: unknown;
}

/** A type of objects. */
export interface ObjectType extends ObjectTable {
  readonly key: ObjectName;
  readonly shape: Shape<Stored>;
}

/** What the user calls an object. */
export interface Called {
  readonly text: string;
  /** Undefined if the text may be a name, an ID, or the beginning of an ID. */
  readonly by?: 'id' | 'name';
}

export interface OneOptions {
  readonly id?: string | undefined;
  /** Consul's name of `id`, for tokens. */
  readonly accessorId?: string;
  readonly name?: string;
}

/** The shortest beginning of an ID that is looked for. */
const PREFIX = /^[0-9a-f][0-9a-f-]{3,35}$/i;

/** Returns a member by its name, in which a dot leads into a member. */
export const memberAt = (item: Stored, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], item);

/** Returns what a column or a line shows of an object, as one text or several. */
function textsOf({ members }: ObjectTable, { of }: Shown, item: Stored): string[] {
  const texts = of.flatMap((name) => memberTexts(members[name]!.is, name, memberAt(item, name)));
  return members[of[0]!]!.is === 'text' ? [texts.join(' ')] : texts;
}

function memberTexts(is: string, name: string, value: unknown): string[] {
  if (value === undefined || value === null || value === false) return [];
  if (is === 'time') return [localTime(String(value))];
  if (is === 'links') return linkNames(value as readonly Link[]);
  if (is === 'texts') return [(value as readonly string[]).join(', ')];
  if (is === 'pairs') return Object.entries(value).map(([key, one]) => `${key}=${one}`);
  if (is !== 'objects') return [String(value)];
  const identities = identityTexts({ [name]: value as readonly never[] });
  return identities.length > 0
    ? identities
    : (value as readonly object[]).map((one) => JSON.stringify(one));
}

function columnOf(table: ObjectTable, shown: Shown): Column<Stored> {
  const { label, of, isWhole, isMinor } = shown;
  return {
    head: label.toUpperCase(),
    ...(isWhole && { isWhole }),
    ...(isMinor && { isMinor }),
    cell(item) {
      if (of[0] === 'Datacenters' && !item['Datacenters']) return 'all';
      const text = textsOf(table, shown, item).join(', ');
      return isWhole && isMinor ? { text, paint: 'dim' } : text;
    },
  };
}

function typeOf(key: ObjectName): ObjectType {
  const table = OBJECTS[key];
  const { below, columns, identity, slug } = table;
  const hasNamespace = identity !== 'AccessorID' && key !== 'namespace';
  return {
    ...table,
    key,
    shape: {
      columns: columns.map((shown) => columnOf(table, shown)),
      fields: (item) => table.lines.map((line) => [line.label, textsOf(table, line, item)]),
      ref: (item) =>
        [
          slug,
          ...(hasNamespace ? [item.Namespace ?? 'default'] : []),
          item.Name ?? item[identity],
        ].join('/'),
      text(item) {
        const value = below && item[below];
        if (value === undefined || typeof value === 'string') return lines(value ?? '');
        return lines(`${below} ${JSON.stringify(value, null, 2)}`);
      },
    },
  };
}

export const TYPE = {
  policy: typeOf('policy'),
  role: typeOf('role'),
  token: typeOf('token'),
  method: typeOf('method'),
  rule: typeOf('rule'),
  namespace: typeOf('namespace'),
} as const satisfies Readonly<Record<ObjectName, ObjectType>>;

/** Returns the ID of an object, or the name if that is its identity. */
export const idIn = ({ identity }: ObjectType, item: Stored): string => String(item[identity]);
/** Returns the name by which people know an object, or its ID if it has none. */
export const nameIn = (type: ObjectType, item: Stored): string => item.Name ?? idIn(type, item);

/** Returns an object without its secrets. */
export const hidden = ({ secrets }: ObjectType, item: Stored): Stored =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name,
      secrets.includes(name) && value !== undefined ? '<hidden>' : value,
    ]),
  );

/** Returns the path of an object by the last part of it. */
export const pathOf = ({ path }: ObjectType, id: string): string =>
  `${path}/${encodeURIComponent(id)}`;

/** Returns what the user calls the object: an argument, `--id` or `--name`. */
export function wanted(
  { noun, identity, isReadByName }: ObjectType,
  argument: string | undefined,
  { id, accessorId, name }: OneOptions,
): Called {
  const byId = id ?? accessorId;
  const given: readonly Called[] = [
    ...(argument === undefined ? [] : [{ text: argument }]),
    ...(byId === undefined ? [] : [{ text: byId, by: 'id' as const }]),
    ...(name === undefined ? [] : [{ text: name, by: 'name' as const }]),
  ];
  if (given.length === 1) return given[0]!;
  const how = [
    ...(isReadByName || identity === 'Name' ? ['its name'] : []),
    ...(identity === 'Name' ? [] : ['its ID or a unique prefix of it']),
  ];
  return misused(
    given.length === 0 ? `no ${noun} given: use ${how.join(', ')}` : `more than one ${noun} given`,
  );
}

/** Finds an object. Throws if there is none, or if the beginning of an ID fits several. */
export async function find(
  call: Call<object>,
  type: ObjectType,
  called: Called,
  ask: Pick<Ask, 'isCurrent'> = {},
): Promise<Stored> {
  const { api } = call;
  const { text, by } = called;
  const read = async (path: string): Promise<Stored | undefined> => {
    try {
      return (await api.get(path, ask)).json<Stored>();
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };
  if (type.identity === 'Name' || (by !== 'name' && isUuid(text)))
    return (await read(pathOf(type, text))) ?? missing(call, type, called);
  if (by !== 'id' && type.isReadByName) {
    const found = await read(`${type.path}/name/${encodeURIComponent(text)}`);
    if (found !== undefined) return found;
  }
  if (by === 'name' || !PREFIX.test(text))
    return missing(call, type, called, by !== 'id' && type.isReadByName === true);
  const all = (await api.get(type.listPath, ask)).json<Stored[]>();
  const begins = all.filter((one) => idIn(type, one).startsWith(text.toLowerCase()));
  if (begins.length > 1)
    throw new CliError(
      `"${text}" is ambiguous: the IDs of ${begins.length} ${type.plural} begin with it`,
    );
  // A list leaves out some members.
  const found = begins.length === 0 ? undefined : await read(pathOf(type, idIn(type, begins[0]!)));
  return found ?? missing(call, type, called);
}

/**
 * Throws the error of an object that does not exist, with the nearest name as a suggestion.
 * `isKnown`: the server has said that it does not exist.
 */
async function missing(
  { api }: Call<object>,
  type: ObjectType,
  { text, by }: Called,
  isKnown = true,
): Promise<never> {
  let all: readonly Stored[] = [];
  try {
    all = (await api.get(type.listPath)).json<Stored[]>();
  } catch (error) {
    // What is missing can be told without a suggestion.
    if (!(error instanceof CliError && isKnown)) throw error;
  }
  const near = nearestOf(
    text,
    all.map((one) => (by === 'id' ? idIn(type, one) : nameIn(type, one))),
  );
  throw new CliError(`there is no ${type.noun} "${text}"`, {
    code: 'not_found',
    hint: near && `did you mean "${near}"?`,
  });
}

/** Returns the ID of what an option names, by name or ID; undefined without the option. */
export const idOf = async (
  call: Call<object>,
  type: ObjectType,
  text: string | undefined,
): Promise<string | undefined> =>
  text === undefined || isUuid(text) ? text : idIn(type, await find(call, type, { text }));

/**
 * Says after an empty list that its namespace may not exist: the answer is the same for one in
 * which the token has no right.
 */
export async function noteNamespace({ api, print }: Call<object>): Promise<void> {
  const { namespace } = api;
  if (namespace === undefined || namespace === '*' || namespace === 'default') return;
  try {
    await api.get(pathOf(TYPE.namespace, namespace));
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    print.note(`the namespace "${namespace}" does not exist, or this token has no right in it`);
  }
}
