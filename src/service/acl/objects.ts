/**
 * The use cases that ACL objects share, derived from their definitions: list, read by id, read by
 * name, create, update, delete. What is special about an object is in its hooks.
 */
import { randomUUID } from 'node:crypto';
import { isUuid } from '../../acl/names.js';
import { reject } from '../../base/errors.js';
import { bodyOf, type Fields, type Sent, type Type } from '../../languages/fields.js';
import type { Link } from '../../state/links.js';
import { deletedIndex, keysBelow, stored } from '../../state/lists.js';
import {
  ADDED,
  type ObjectDefinition,
  type ObjectSet,
  type StoredObject,
} from '../../state/object.js';
import { type Answer, type Command, keyOf, type View } from '../../state/types.js';
import type { FilterOf } from '../common/filters.js';
import {
  HIDDEN,
  Links,
  listedNamespaces,
  listPosition,
  modifyIndexOf,
  mustBeUuid,
  mustRead,
  nearestKey,
  readNamed,
} from '../common/reading.js';
import type { ReadContext, ReadUseCase, Requester, Service } from '../common/types.js';
import { maySomewhere, mayWrite, mustMatchPath, type Write } from '../common/writing.js';
import type { AuthMethodTypes } from '../login/index.js';
import type { LoginLogger } from '../login/types.js';
import type { ListPlan } from '../reads/list-plan.js';
import { planOf } from '../reads/list-rendering.js';

/** Whether writes of policies and binding rules are linted; `strict` refuses what has warnings. */
export type LintMode = 'off' | 'warn' | 'strict';

export interface ObjectParts {
  readonly service: Service;
  readonly methodTypes: AuthMethodTypes;
  readonly logger: LoginLogger;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  readonly lint: LintMode;
  /** What an expanded read of a token shows of the node that answers it. */
  readonly nodeName: string;
  readonly defaultPolicy: 'deny' | 'allow';
}

/** What a list is narrowed by: a filter, and links to other objects. */
export interface ListQuery {
  readonly filter: FilterOf;
  readonly policy?: string | undefined;
  readonly role?: string | undefined;
  readonly servicename?: string | undefined;
  readonly authmethod?: string | undefined;
  /** The identity behind tokens of logins. */
  readonly subject?: { readonly method: string; readonly subject: string } | undefined;
  /** The namespace of the auth method; that of the list if absent. */
  readonly authmethodNs?: string | undefined;
}

/** The use cases of an object. Writes return JSON text and throw ApiError. */
export interface ObjectUseCases<B> {
  readonly definition: ObjectDefinition;
  readonly body: Type<unknown, B>;
  /** Permits a write before its body is read. `id` is that of the path. Throws ApiError 403. */
  admit(requester: Requester, id: string | undefined): Promise<unknown>;
  list(ns: string, query: ListQuery): ReadUseCase<ListPlan>;
  /** Reads by id. `expanded` adds what the object links and implies, for tokens. */
  read(ns: string, id: string, expanded?: boolean): ReadUseCase<string | undefined>;
  readonly readByName?: (ns: string, name: string) => ReadUseCase<string | undefined>;
  /**
   * Returns the name in a namespace that is closest to one that does not exist; undefined if none
   * is close, or the object is not known by names. For callers who may read all of them.
   */
  nearest?(ns: string, name: string): string | undefined;
  /** Creates an object (`id` undefined) or replaces one. Returns it as it is answered. */
  write(write: Write, id: string | undefined, body: B): Promise<string>;
  /** Deletes an object. Returns `true` or `false`. */
  remove(write: Write, id: string): Promise<string>;
}

/** The content of a command, and further members of the command. */
interface Prepared {
  readonly content: object;
  readonly more?: object;
}

/** What is special about an object. */
export interface ObjectHooks<F extends Fields> {
  /** The refusal of a body with an ID that is to be created. */
  readonly createdWithId?: string;
  /** Checks and normalises what was sent. By default the content is what was sent. */
  prepare?(write: Write, body: Sent<F>, id: string | undefined): Prepared | Promise<Prepared>;
  /** Returns the text of one object as it is answered. `isWriter`: may the caller write it? */
  shownText?(text: string, isWriter: () => boolean): string;
  /** Returns a list item as it is answered. */
  listItem?(item: object): object;
  /** Returns the keys of a narrowed list: of names if the object has a name index. */
  narrow?(query: ListQuery): ((view: View, ns: string) => readonly string[]) | undefined;
}

/** Returns the use cases of an object in namespaces. */
export function objectUseCases<F extends Fields>(
  service: Service,
  definition: ObjectDefinition<StoredObject, F>,
  hooks: ObjectHooks<F> = {},
): ObjectUseCases<Sent<F>> {
  const { idLabel, identity, nameKey, table } = definition;
  const idOf = (id: string): string =>
    identity === 'Name' ? id : mustBeUuid(id, `${idLabel}: index error`);

  const readById = (view: View, ns: string, id: string, isWriter: () => boolean) => {
    const key = definition.key(ns, id);
    const text = view.get(key);
    if (text === undefined) {
      return { value: undefined, index: deletedIndex(view, table, ns), keys: [key] };
    }
    const links = new Links(view);
    const value = shownObject(definition, hooks, text, links, isWriter);
    const index = Math.max(modifyIndexOf(text), links.index);
    return { value, index, keys: [key, ...links.keys] } satisfies Answer<string>;
  };
  const reading =
    (ns: string, read: (view: View, isWriter: () => boolean) => Answer<string | undefined>) =>
    ({ view, authorizer }: ReadContext) => {
      mustRead(authorizer, ns);
      return read(view, () => authorizer.allowed('acl', 'write', undefined, ns));
    };

  return {
    definition,
    body: bodyOf(definition.fields),
    admit: (request) => maySomewhere(service, request, 'acl', 'write'),
    list: (ns, query) => listOf(definition, hooks, ns, query),
    read: (ns, id) => reading(ns, (view, isWriter) => readById(view, ns, idOf(id), isWriter)),
    ...(nameKey !== undefined && {
      readByName: (ns: string, name: string) =>
        reading(ns, (view, isWriter) =>
          readNamed(view, nameKey(ns, name), { table, ns }, (id) =>
            readById(view, ns, id, isWriter),
          ),
        ),
    }),
    ...((nameKey !== undefined || identity === 'Name') && {
      nearest: (ns: string, name: string) => nearestName(service.view, definition, ns, name),
    }),
    write: (request, id, body) => writeObject(service, definition, hooks, { request, id, body }),
    async remove(request, id) {
      await mayWrite(service, request);
      const which = identity === 'Name' ? { name: id } : { id: idOf(id) };
      const head: Command = { type: `${table}.delete`, v: 1 };
      return service.write(request, Object.assign(head, { ns: request.ns, ...which }));
    },
  };
}

function nearestName(
  view: View,
  definition: ObjectDefinition,
  ns: string,
  name: string,
): string | undefined {
  const { nameKey, table } = definition;
  if (nameKey !== undefined && isUuid(name)) return undefined;
  const names = nameKey === undefined ? table : `${table}-name`;
  const near = nearestKey(view, keyOf(names, ns, ''), name);
  const isKey = near === undefined || nameKey === undefined;
  const key = isKey ? near : keyOfNamed(view, definition, near);
  return key === undefined ? undefined : stored<StoredObject>(view, key)?.Name;
}

/** Creates or replaces an object. Returns it as it is answered. Throws ApiError. */
async function writeObject<F extends Fields>(
  service: Service,
  definition: ObjectDefinition<StoredObject, F>,
  hooks: ObjectHooks<F>,
  given: { readonly request: Write; readonly id: string | undefined; readonly body: Sent<F> },
): Promise<string> {
  const { request, id, body } = given;
  const { table, title } = definition;
  const sent = body as Readonly<Record<string, unknown>>;
  const name = sent['Name'] as string | undefined;
  if (id === undefined && hooks.createdWithId !== undefined && (sent['ID'] ?? '') !== '') {
    reject('invalid', hooks.createdWithId, { pointer: '/ID' });
  }
  mustMatchPath(sent['ID'] as string | undefined, id, title.replace(' ', ''));
  await mayWrite(service, request);
  const problem = definition.nameProblem?.(name ?? '');
  if (problem !== undefined) reject('invalid', problem, { pointer: '/Name' });
  const invalid = `${title} ID invalid UUID`;
  const own = id === undefined ? undefined : mustBeUuid(id, invalid);
  const prepared = await hooks.prepare?.(request, body, own);
  const { content, more } = prepared ?? { content: contentOf(definition, sent) };
  const command: ObjectSet = {
    type: `${table}.set`,
    v: 1,
    ns: request.ns,
    id: own ?? randomUUID(),
    create: own === undefined,
    [table]: content,
    ...more,
  };
  const text = await service.write(request, command);
  return shownObject(definition, hooks, text, new Links(service.view), () => true);
}

/** Returns the content of a body in the order of the declaration. */
export function contentOf(
  { fields, linkFields }: ObjectDefinition,
  sent: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const content: Record<string, unknown> = {};
  for (const [name, { type, mode }] of Object.entries(fields)) {
    if (ADDED.has(name) || mode === 'never' || type.computed !== undefined) continue;
    const value = sent[name];
    const isLinks = linkFields.some(({ path }) => path[0] === name);
    if (value === undefined && mode !== 'always' && !isLinks) continue;
    if (mode === 'nonEmpty' && !isLinks && type.isEmpty(value)) continue;
    content[name] = value ?? type.zero();
  }
  return content;
}

/** Returns the text of an object with the present names of its links. */
function shownObject<F extends Fields>(
  definition: ObjectDefinition,
  hooks: ObjectHooks<F>,
  text: string,
  links: Links,
  isWriter: () => boolean,
): string {
  const isHiding = definition.secrets.length > 0 && !isWriter();
  const shown =
    isHiding || hasLinks(definition, text)
      ? JSON.stringify(withNames(definition, JSON.parse(text) as object, links, !isHiding))
      : text;
  return hooks.shownText?.(shown, isWriter) ?? shown;
}

/** Whether a stored object may hold links. An object may be as long as a body: parsing it costs. */
const hasLinks = ({ linkFields }: ObjectDefinition, text: string): boolean =>
  linkFields.some(({ path }) => text.includes(`"${path.at(-1)}":[`));

/** Returns an object with the present names of its links. Only writers see its secrets. */
export function withNames<T extends object>(
  { linkFields, secrets }: Pick<ObjectDefinition, 'linkFields' | 'secrets'>,
  object: T,
  links: Links,
  isWriter: boolean,
): object {
  const shown = { ...object } as Record<string, unknown>;
  for (const { path, to } of linkFields) {
    const name = path[0]!;
    if (!(name in shown)) continue;
    // The state stores links in such a field, and nothing else.
    const named = links.named(to, shown[name] as readonly Link[]);
    if (named.length > 0) shown[name] = named;
    else delete shown[name];
  }
  if (!isWriter) for (const name of secrets) if (name in shown) shown[name] = HIDDEN;
  return shown;
}

/** The objects of a namespace (`*`: of all), by name or by id. */
function listOf<F extends Fields>(
  definition: ObjectDefinition,
  hooks: ObjectHooks<F>,
  ns: string,
  query: ListQuery,
): ReadUseCase<ListPlan> {
  const { nameKey, secrets, table, unlisted } = definition;
  return ({ view, authorizer }) => {
    const places = listedNamespaces(view, authorizer, ns);
    const { shown, filtered } = places;
    const narrow = hooks.narrow?.(query);
    const matching = query.filter(table);
    const all = nameKey === undefined ? table : `${table}-name`;
    const candidates = () =>
      shown.flatMap((each) =>
        narrow === undefined ? [...keysBelow(view, all, each)] : narrow(view, each),
      );
    const isWriter = (each: string): boolean => authorizer.allowed('acl', 'write', undefined, each);
    const inClear = new Set(secrets.length === 0 ? shown : shown.filter(isWriter));
    const textOf = (of: View, candidate: string): string | undefined => {
      const key = nameKey === undefined ? candidate : keyOfNamed(of, definition, candidate);
      return key === undefined ? undefined : of.get(key);
    };
    const isPlain = (text: string, candidate: string): boolean =>
      inClear.has(namespaceOf(candidate)) && !hasLinks(definition, text);
    const objectOf = (text: string, candidate: string, links: Links): object => {
      const object = without(JSON.parse(text) as Record<string, unknown>, unlisted);
      const isClear = inClear.has(namespaceOf(candidate));
      const isWhole = isPlain(text, candidate);
      const item = isWhole ? object : withNames(definition, object, links, isClear);
      return hooks.listItem?.(item) ?? item;
    };
    const render: ListPlan['render'] = (of, candidate, links) => {
      const text = textOf(of, candidate);
      if (text === undefined) return undefined;
      const isWhole = unlisted.length === 0 && isPlain(text, candidate);
      return isWhole ? text : JSON.stringify(objectOf(text, candidate, links));
    };
    const itemOf = (of: View, candidate: string, links: Links): object | undefined => {
      const text = textOf(of, candidate);
      return text === undefined ? undefined : objectOf(text, candidate, links);
    };
    const isDescribed = nameKey === undefined && definition.identity !== 'Name';
    const value = { ...planOf(candidates, itemOf, matching), render, textOf, isDescribed };
    return { value, filtered, ...listPosition(view, table, places) };
  };
}

function without(object: Record<string, unknown>, names: readonly string[]): object {
  if (names.length === 0) return object;
  const rest: Record<string, unknown> = {};
  for (const name in object) if (!names.includes(name)) rest[name] = object[name];
  return rest;
}

/** Returns the key of the object with the name of a name key. */
function keyOfNamed(view: View, definition: ObjectDefinition, key: string): string | undefined {
  const id = view.get(key);
  return id === undefined ? undefined : definition.key(namespaceOf(key), id);
}

/** Returns the namespace in a key of an object or of a name. */
const namespaceOf = (key: string): string => key.split('\u0000', 2)[1]!;
