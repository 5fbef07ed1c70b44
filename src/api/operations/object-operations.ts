/** The operations that every ACL object has, derived from its definition. */
import type { ObjectTable } from '../../state/object.js';
import { OBJECTS } from '../../state/objects.js';
import { BLOCKING, DELETED } from './common.js';
import { NAMED_PATHS, OBJECT_PATHS } from './object-paths.js';
import type { QueryName } from './parameters.js';
import type { Content, Method, Operation, Operations } from './types.js';

type Paths = typeof OBJECT_PATHS;
type PathOf<K extends keyof Paths[ObjectTable]> = Paths[ObjectTable][K];

/** The methods of the paths of objects. */
export type ObjectMethods = { readonly [P in PathOf<'one'>]: 'PUT' } & {
  readonly [P in PathOf<'all'>]: 'GET';
} & { readonly [P in PathOf<'each'>]: 'GET' | 'PUT' | 'DELETE' } & {
  readonly [P in (typeof NAMED_PATHS)[keyof typeof NAMED_PATHS]]: 'GET';
};

/** Parameters that narrow the list of an object. */
const NARROWING: { readonly [T in ObjectTable]?: readonly QueryName[] } = {
  token: ['policy', 'role', 'servicename', 'authmethod', 'authmethod-ns'],
  role: ['policy'],
  rule: ['authmethod'],
};

/** The name of an object in names of operations and schemas: `AuthMethod`. */
export const titleOf = (table: ObjectTable): string => OBJECTS[table].title.replace(' ', '');

/** Returns the operations of all objects by path. */
export function objectOperations(): Operations {
  const all = Object.keys(OBJECTS).map((table) => operationsOf(table as ObjectTable));
  return Object.assign({}, ...all) as Operations;
}

function operationsOf(table: ObjectTable): Operations {
  const { noun, plural, resource } = OBJECTS[table];
  const { one, all, each } = OBJECT_PATHS[table];
  const title = titleOf(table);
  const [reads, writes] = [[`${resource}:read`], [`${resource}:write`]];
  const a = /^[aeiou]/.test(noun) ? 'an' : 'a';
  const read = (id: string, says: string): Operation => ({
    id,
    tag: 'acl',
    says,
    does: 'read',
    query: table === 'token' ? [...BLOCKING, 'expanded'] : BLOCKING,
    answers: { 200: { says: `The ${noun}.`, content: { ref: title }, headers: ['index'] } },
    refuses: [404],
    rights: reads,
    blocks: true,
  });
  const write = (id: string, says: string): Operation => ({
    id,
    tag: 'acl',
    says,
    does: 'write',
    body: { content: { ref: `${title}Body` } },
    answers: { 200: { says: `The ${noun}.`, content: { ref: title }, headers: ['lint'] } },
    refuses: [404, 409],
    rights: writes,
  });
  const list: Operation = {
    id: `list${pluralTitle(plural)}`,
    tag: 'acl',
    says: `Lists the ${plural}.`,
    does: 'read',
    query: [...BLOCKING, 'filter', ...(NARROWING[table] ?? [])],
    answers: { 200: { says: `The ${plural}.`, content: listOfItems(title), headers: ['index'] } },
    rights: reads,
    blocks: true,
  };
  const remove: Operation = {
    id: `delete${title}`,
    tag: 'acl',
    says: `Deletes ${a} ${noun}.`,
    does: 'write',
    answers: DELETED,
    refuses: [404, 409],
    rights: writes,
  };
  const named = Object.entries(NAMED_PATHS).find(([of]) => of === table)?.[1];
  return {
    [one]: { PUT: write(`create${title}`, createsOf(table, noun, a)) },
    [all]: { GET: list },
    ...(named !== undefined && {
      [named]: { GET: read(`read${title}ByName`, `Reads ${a} ${noun} by its name.`) },
    }),
    [each]: {
      GET: read(`read${title}`, `Reads ${a} ${noun}.`),
      PUT: write(`update${title}`, `Replaces ${a} ${noun}.`),
      DELETE: remove,
    } satisfies Record<Exclude<Method, 'POST'>, Operation>,
  };
}

const listOfItems = (title: string): Content => ({
  schema: { type: 'array', items: { $ref: `#/components/schemas/${title}Item` } },
});

/** Objects that their names identify are replaced by the same path. */
const createsOf = (table: ObjectTable, noun: string, a: string): string =>
  OBJECTS[table].identity === 'Name'
    ? `Creates or replaces ${a} ${noun}.`
    : `Creates ${a} ${noun}.`;

const pluralTitle = (plural: string): string =>
  plural.replace(/(?:^| )([a-z])/g, (_, letter: string) => letter.toUpperCase());
