/** The operations that every ACL object has, derived from its definition. */

import { COMMAND_LEVELS } from '../../state/levels.js';
import type { ObjectTable } from '../../state/object.js';
import { OBJECTS } from '../../state/objects.js';
import { DELETED, type Operations, ok, PATCH_SCHEMA, read, tagged, write } from './operation.js';
import { PAGES, type QueryName } from './parameters.js';

/** By table: one path each for writes of new objects, lists, and single objects. */
export const OBJECT_PATHS = {
  token: { one: '/v1/acl/token', all: '/v1/acl/tokens', each: '/v1/acl/token/:accessor' },
  rule: {
    one: '/v1/acl/binding-rule',
    all: '/v1/acl/binding-rules',
    each: '/v1/acl/binding-rule/:id',
  },
  method: {
    one: '/v1/acl/auth-method',
    all: '/v1/acl/auth-methods',
    each: '/v1/acl/auth-method/:name',
  },
  role: { one: '/v1/acl/role', all: '/v1/acl/roles', each: '/v1/acl/role/:id' },
  policy: { one: '/v1/acl/policy', all: '/v1/acl/policies', each: '/v1/acl/policy/:id' },
  namespace: { one: '/v1/namespace', all: '/v1/namespaces', each: '/v1/namespace/:name' },
} as const;

/** The paths of objects that are read by name too. */
export const NAMED_PATHS = {
  role: '/v1/acl/role/name/:name',
  policy: '/v1/acl/policy/name/:name',
} as const;

type PathOf<K extends 'one' | 'all' | 'each'> = (typeof OBJECT_PATHS)[ObjectTable][K];

/** The methods and paths of objects. */
export type ObjectKeys =
  | `PUT ${PathOf<'one' | 'each'>}`
  | `GET ${PathOf<'all' | 'each'> | (typeof NAMED_PATHS)[keyof typeof NAMED_PATHS]}`
  | `${'PATCH' | 'DELETE'} ${PathOf<'each'>}`;

/** Parameters that narrow the list of an object. */
const NARROWING: { readonly [T in ObjectTable]?: readonly QueryName[] } = {
  token: ['policy', 'role', 'servicename', 'authmethod', 'authmethod-ns', 'subject'],
  role: ['policy'],
  rule: ['authmethod'],
};

/** The name of an object in names of operations and schemas: `AuthMethod`. */
export const titleOf = (table: ObjectTable): string => OBJECTS[table].title.replace(' ', '');

/** Returns the operations of all objects. */
export const objectOperations = (): Operations =>
  Object.assign({}, ...Object.keys(OBJECTS).map((table) => operationsOf(table as ObjectTable)));

function operationsOf(table: ObjectTable): Operations {
  const { noun, plural, resource, identity } = OBJECTS[table];
  const { one, all, each } = OBJECT_PATHS[table];
  const title = titleOf(table);
  const a = /^[aeiou]/.test(noun) ? 'an' : 'a';
  const common = { refuses: [404, 409, 412], rights: [`${resource}:write`] };
  const reads = { rights: [`${resource}:read`], blocks: true } as const;
  const query: readonly QueryName[] = table === 'token' ? ['expanded'] : [];
  const reading = { query, answers: ok(`The ${noun}.`, title, 'index'), refuses: [404], ...reads };
  const writing = { body: `${title}Body`, answers: ok(`The ${noun}.`, title, 'lint'), ...common };
  // Objects that their names identify are replaced by the same path.
  const creates = identity === 'Name' ? 'Creates or replaces' : 'Creates';
  const items = { type: 'array', items: { $ref: `#/components/schemas/${title}Item` } };
  const named = Object.entries(NAMED_PATHS).find(([of]) => of === table)?.[1];
  return tagged('acl', {
    [`PUT ${one}`]: write(`create${title}`, {
      description: `${creates} ${a} ${noun}.`,
      ...writing,
    }),
    [`GET ${all}`]: read(`list${pluralTitle(plural)}`, {
      description: `Lists the ${plural}.`,
      query: ['filter', ...(NARROWING[table] ?? []), ...PAGES],
      answers: ok(`The ${plural}.`, { schema: items }, 'index', 'page'),
      ...reads,
    }),
    ...(named !== undefined && {
      [`GET ${named}`]: read(`read${title}ByName`, {
        description: `Reads ${a} ${noun} by its name.`,
        ...reading,
      }),
    }),
    [`GET ${each}`]: read(`read${title}`, { description: `Reads ${a} ${noun}.`, ...reading }),
    [`PUT ${each}`]: write(`update${title}`, { description: `Replaces ${a} ${noun}.`, ...writing }),
    [`PATCH ${each}`]: write(`patch${title}`, {
      level: COMMAND_LEVELS['*/match']!,
      description: `Changes the given fields of ${a} ${noun}.`,
      body: { schema: PATCH_SCHEMA },
      bodyMedia: 'application/merge-patch+json',
      answers: ok(`The ${noun}.`, title, 'lint', 'etag'),
      ...common,
      refuses: [...common.refuses, 415],
    }),
    [`DELETE ${each}`]: write(`delete${title}`, {
      description: `Deletes ${a} ${noun}.`,
      answers: DELETED,
      ...common,
    }),
  });
}

const pluralTitle = (plural: string): string =>
  plural.replace(/(?:^| )([a-z])/g, (_, letter: string) => letter.toUpperCase());
