/**
 * Definitions of ACL objects, as kinds define config entries. From one definition follow the stored
 * form and its type, the records derived from an object, the commands that write and delete it with
 * their rights, and the checks of a snapshot. The layers above derive the decoder of bodies, the
 * shape of filters, the use cases (service/acl/objects.ts) and the routes
 * (http/routes/acl.ts).
 *
 *     export const roles = defineObject<Role, typeof fields>({
 *       table: 'role', noun: 'role', identity: 'ID', fields, key: keys.role, …
 *     });
 *
 * The list of all objects is in objects.ts.
 */
import type { Authorizer } from '../acl/types.js';
import type { Refusal } from '../base/errors.js';
import {
  always,
  bodyOf,
  computed,
  type Fields,
  type Type,
  text,
  whole64,
} from '../languages/fields.js';
import type { Table } from './keys.js';
import {
  dropUnused,
  type HolderKey,
  holderKeyOf,
  type Link,
  type LinkTarget,
  nameLink,
  removeLinked,
} from './links.js';
import { noteChange, noteDeletion } from './lists.js';
import { forgetOwnership } from './owners.js';
import type { ApplyContext, Command, Draft, Handlers, StateRecord, View } from './types.js';

/** The namespace that always exists. Lists show the objects of the whole cluster in it. */
export const DEFAULT_NAMESPACE = 'default';

/** The tables of objects. */
export type ObjectTable = Exclude<Table, 'config'>;

/** The members that the layers share across all stored objects. */
export interface StoredObject {
  readonly ID?: string;
  readonly AccessorID?: string;
  readonly Name?: string;
  readonly Namespace?: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** The indexes at which an object was created and last changed. */
export const indexes = {
  CreateIndex: always('The index at which the object was created.', whole64),
  ModifyIndex: always('The index at which the object was last changed.', whole64),
};
/** Members that are not content: the identity, and what the state adds. */
export const ADDED: ReadonlySet<string> = new Set(['ID', 'Namespace', ...Object.keys(indexes)]);
/** The hash of the content. */
export const contentHash = computed(text());

/** Maximum number of bytes of a description, because it is replicated and part of every list. */
const DESCRIPTION_BYTES_MAX = 8192;
/** A text for people. The longest one that the server writes itself, at login, fits. */
export const description = text({ bytesMax: DESCRIPTION_BYTES_MAX });

/** Returns the 403 of a caller who may not send the command. */
export type CommandCheck = (
  authorizer: Authorizer,
  command: Command,
  view: View,
) => Refusal | undefined;
/** Who may send a command. `open`: anyone; the handler decides. `internal`: only the server. */
export type CommandRight = CommandCheck | 'open' | 'internal';
/** A command: who may send it, and how it is applied. */
export interface CommandDefinition {
  readonly right: CommandRight;
  readonly apply: Handlers[string];
}
/** Commands by type. */
export type Commands = Readonly<Record<string, CommandDefinition>>;

/**
 * Creates an object under a new id, or replaces one. A member named like the table has its content.
 */
export interface ObjectSet extends Command {
  readonly ns: string;
  /** Absent for objects identified by their Name. */
  readonly id?: string;
  readonly create?: boolean;
  /** Whether the id may be that of a deleted object to which links are left. In sets alone. */
  readonly revives?: true;
}
/** The content of an object: the members that a client writes. */
export type Content<T> = Omit<T, 'ID' | 'Hash' | 'Namespace' | keyof typeof indexes>;

interface ObjectRules<T, F extends Fields = Fields> {
  readonly table: ObjectTable;
  /** What the object is, in one sentence or two for people. */
  readonly description: string;
  /** Used in messages and paths: `cannot find binding rule …`, `/v1/acl/binding-rule`. */
  readonly noun: string;
  /** The plural of the noun. Absent: the noun with an s. */
  readonly plural?: string;
  readonly fields: F;
  /**
   * The members that a list shows to people, in order: `Name, ID?, AuthMethod as Method`. Where
   * there is a question mark, a narrow list leaves the member out first. A dot leads into a member,
   * and names with a blank between them share a column. The build writes it into api/objects.js.
   */
  readonly columns: string;
  /** The same for the lines of one object. Its indexes follow. */
  readonly lines: string;
  /** The member whose text stands below the lines. */
  readonly below?: string;
  /** The member that identifies an object in its namespace. IDs are UUIDs. */
  readonly identity: 'ID' | 'AccessorID' | 'Name';
  /** Names the identity in messages. Absent: the noun and the member, such as `policy ID`. */
  readonly idLabel?: string;
  /** The resource of the permission: acl in the object's namespace, or namespace by its name. */
  readonly resource?: 'acl' | 'namespace';
  /** Fields that lists omit and filters cannot select. */
  readonly unlisted?: readonly (keyof T & string)[];
  /** Fields shown only to callers who may write the object. Filters cannot select them. */
  readonly secrets?: readonly (keyof T & string)[];
  /** The secrets in free objects: their keys in lower case, in any letter case, by field. */
  readonly secretKeys?: { readonly [K in keyof T & string]?: ReadonlySet<string> };
  /**
   * When a secret leaves the state: only with its object, or with any change of the object. Absent:
   * the objects contain no secrets.
   */
  readonly secretLeaves?: 'when removed' | 'when changed';
  /** Set if other objects link to it. A record under its ID then has what the links show. */
  readonly linkedAs?: LinkTarget;
  readonly recordTables?: readonly string[];
  key(ns: string, id: string): string;
  /** Returns the key of the record that leads from a name to an ID. */
  nameKey?(ns: string, name: string): string;
  /** Returns why a name is invalid; undefined if it is valid. */
  nameProblem?(name: string): string | undefined;
  /** Returns the records derived from an object, except those of its name and links. */
  records?(object: T): readonly StateRecord[];
  /** Returns why a write is refused. Absent: names must be unique in a namespace. */
  decide?(context: ApplyContext, command: ObjectSet, before: T | undefined): Refusal | undefined;
  /** Adds to the content what the server computes from it. */
  complete?(content: Content<T>, command: ObjectSet): object;
  /** Returns why an object cannot be deleted; undefined if it can. */
  keeps?(object: T): Refusal | undefined;
  /** Removes what else belongs to a removed object. */
  removed?(context: ApplyContext, object: T): void;
}

/** A field of links: its path in an object, and the table of the targets. */
export interface LinkField {
  readonly path: readonly string[];
  readonly to: LinkTarget;
  readonly holderKey: HolderKey;
}

/** The definition of an object, with all defaults filled in. */
export interface ObjectDefinition<T extends StoredObject = StoredObject, F extends Fields = Fields>
  extends Omit<ObjectRules<T, F>, 'unlisted' | 'secrets' | 'secretKeys' | 'complete'> {
  complete?(content: object, command: ObjectSet): object;
  readonly unlisted: readonly string[];
  readonly secrets: readonly string[];
  readonly secretKeys: Readonly<Record<string, ReadonlySet<string>>>;
  readonly idLabel: string;
  /** The noun in title case: `Binding Rule`. */
  readonly title: string;
  readonly plural: string;
  readonly resource: 'acl' | 'namespace';
  readonly linkFields: readonly LinkField[];
  readonly storedType: Type<unknown>;
  /** The tables of all records derived from objects of this table. */
  readonly recordTables: readonly string[];
}

/** Defines an object: see the top of this file. */
export function defineObject<T extends StoredObject, F extends Fields>(
  rules: ObjectRules<T, F>,
): ObjectDefinition<T, F> {
  const { table } = rules;
  const linkFields = [...linkFieldsOf(table, rules.fields, [])];
  return {
    ...rules,
    title: rules.noun.replace(/\b[a-z]/g, (letter) => letter.toUpperCase()),
    plural: rules.plural ?? `${rules.noun}s`,
    resource: rules.resource ?? 'acl',
    idLabel: rules.idLabel ?? `${rules.noun} ${rules.identity}`,
    unlisted: rules.unlisted ?? [],
    secrets: rules.secrets ?? [],
    secretKeys: (rules.secretKeys ?? {}) as Readonly<Record<string, ReadonlySet<string>>>,
    linkFields,
    storedType: storedTypeOf(rules.fields),
    recordTables: [
      ...(rules.nameKey === undefined ? [] : [`${table}-name`]),
      ...linkFields.map(({ to }) => `${table}-by-${to}`),
      ...(rules.recordTables ?? []),
    ],
  };
}

function* linkFieldsOf(
  table: ObjectTable,
  fields: Fields,
  above: readonly string[],
): Iterable<LinkField> {
  for (const [name, { type }] of Object.entries(fields)) {
    const path = [...above, name];
    const { description: of } = type;
    if (of.is === 'links') {
      const to = of.to as LinkTarget;
      yield { path, to, holderKey: holderKeyOf(table, to) };
    }
    if (of.is === 'object') yield* linkFieldsOf(table, of.fields, path);
  }
}

/** Returns the type of stored objects, which contain the members that the server computes. */
function storedTypeOf(fields: Fields): Type<unknown> {
  const stored = Object.entries(fields).map(([name, { description, type, mode }]) => [
    name,
    { description, mode, type: type.computed ?? type },
  ]);
  return bodyOf(Object.fromEntries(stored));
}

const idOf = (definition: ObjectDefinition, object: StoredObject): string =>
  object[definition.identity]!;
/** Returns the namespace in which an object is listed. */
const homeOf = (object: StoredObject): string => object.Namespace ?? DEFAULT_NAMESPACE;
/** Returns the key of an object. */
export const objectKey = (definition: ObjectDefinition, object: StoredObject): string =>
  definition.key(homeOf(object), idOf(definition, object));

/** Returns the links of a field. */
export function linksAt(object: StoredObject, { path }: LinkField): readonly Link[] {
  let value: unknown = object;
  for (const name of path) value = (value as Record<string, unknown> | undefined)?.[name];
  return (value as readonly Link[] | undefined) ?? [];
}

/** Returns all records derived from an object. */
export function recordsOf<T extends StoredObject>(
  definition: ObjectDefinition<T>,
  object: T,
): readonly StateRecord[] {
  const { nameKey, linkFields } = definition;
  const [ns, id] = [homeOf(object), idOf(definition, object)];
  const records: StateRecord[] = [];
  if (definition.records !== undefined) records.push(...definition.records(object));
  if (nameKey !== undefined) records.push([nameKey(ns, object.Name!), id]);
  for (const field of linkFields) {
    for (const { ID } of linksAt(object, field)) records.push([field.holderKey(ID, ns, id), '']);
  }
  return records;
}

/** Replaces the records derived from an object by those derived from its new content. */
function moveRecords(
  draft: Draft,
  past: readonly StateRecord[],
  present: readonly StateRecord[],
): void {
  const before = new Map(past);
  for (const [key, value] of present) {
    if (before.get(key) !== value) draft.put(key, value);
    before.delete(key);
  }
  // Another object may have taken a name in the same entry.
  for (const [key, value] of before) if (draft.get(key) === value) draft.del(key);
}

/**
 * Writes an object and its derived records in place of `before`. Returns the object as JSON text.
 */
export function putObject<T extends StoredObject>(
  context: ApplyContext,
  definition: ObjectDefinition<T>,
  object: T,
  before: T | undefined,
): string {
  const { draft } = context;
  const { table, linkedAs } = definition;
  const [ns, id] = [homeOf(object), idOf(definition, object)];
  const records = recordsOf(definition, object);
  if (before === undefined) for (const [key, value] of records) draft.put(key, value);
  else moveRecords(draft, recordsOf(definition, before), records);
  if (definition.nameKey !== undefined && before?.Name !== object.Name) {
    if (before !== undefined) noteDeletion(context, table, ns);
    if (linkedAs !== undefined) nameLink(context, { target: linkedAs, ns, id }, object.Name!);
  }
  if (before !== undefined) forgetLinks(context, definition, before);
  noteChange(context, table, ns);
  const content = JSON.stringify(object);
  draft.put(definition.key(ns, id), content);
  return content;
}

/** Removes an object and its derived records. */
export function removeObject<T extends StoredObject>(
  context: ApplyContext,
  definition: ObjectDefinition<T>,
  object: T,
): void {
  const { draft } = context;
  const { table, linkedAs } = definition;
  const [ns, id] = [homeOf(object), idOf(definition, object)];
  draft.del(definition.key(ns, id));
  for (const [key] of recordsOf(definition, object)) draft.del(key);
  forgetOwnership(context, { table, ns, id });
  forgetLinks(context, definition, object);
  if (linkedAs !== undefined) removeLinked(context, { target: linkedAs, ns, id });
  noteDeletion(context, table, ns);
  definition.removed?.(context, object);
}

/** Drops what links to deleted objects show, if `object` was the last one to link to them. */
function forgetLinks(
  context: ApplyContext,
  definition: ObjectDefinition,
  object: StoredObject,
): void {
  for (const field of definition.linkFields) {
    for (const { ID } of linksAt(object, field)) dropUnused(context, field.to, ID);
  }
}
