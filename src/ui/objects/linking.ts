/** Which objects link another one, by the lists that choose them. */
import { OBJECTS, type ObjectName } from '../../api/objects.js';
import type { Ask } from '../api/client.js';
import type { Stored } from '../api/types.js';
import { type ListPage, type Part, readFirst } from '../lists/page.js';
import type { Need } from '../parts/rights.js';
import { TEXT } from '../texts.js';

/** A list of objects that link another one. */
export interface Linking {
  readonly title: string;
  readonly list: string;
  /** The first segment of the pages of these objects. */
  readonly slug: string;
  /** The parameter of the list that chooses by the linked object, and its member that is sent. */
  readonly by: readonly [parameter: string, member: string];
  /** The field of these objects that links the other one by its name. */
  readonly field: string;
  /** What one of these objects is called. */
  readonly noun: string;
  nameOf(object: Stored): string;
}

/** Returns the first segment of the pages of objects, `auth-methods`, their title and noun. */
export function pageOf(name: ObjectName): Pick<Linking, 'slug' | 'title' | 'noun'> {
  const { plural, noun } = OBJECTS[name];
  const title = plural.charAt(0).toUpperCase() + plural.slice(1);
  return { slug: plural.replaceAll(' ', '-'), title, noun };
}

/**
 * Returns the segments of an object's ID, as paths have them: two for config entries. `type` is its
 * name in references: `auth-method`.
 */
export function idParts(type: string, id: string): readonly string[] {
  const at = id.indexOf('/');
  return type === 'config' && at > 0 ? [id.slice(0, at), id.slice(at + 1)] : [id];
}

/** Returns the right to write a namespace; none where its name is not known yet. */
export const namespaceRight = (id: readonly string[] | undefined): Need =>
  id === undefined ? { right: '' } : { right: 'namespace:write', on: id[0] };

/** Returns the page of an object by its type in references; undefined if there is none. */
export function objectPage(type: string, id: readonly string[]): readonly string[] | undefined {
  if (type === 'config') return ['config', ...id];
  const found = Object.entries(OBJECTS).find(([, { slug }]) => slug === type);
  return found && [pageOf(found[0] as ObjectName).slug, ...id];
}

/** The tokens that name an object by a parameter. */
export const tokensBy = (parameter: string, member = 'ID'): Linking => ({
  ...pageOf('token'),
  title: TEXT.beside.tokens,
  list: OBJECTS.token.listPath,
  by: [parameter, member],
  field: { policy: 'Policies', role: 'Roles' }[parameter] ?? '',
  nameOf: (token) => String(token['Description'] || token['AccessorID']),
});
/** The roles that link a policy. */
export const ROLES: Linking = {
  ...pageOf('role'),
  title: TEXT.beside.roles,
  list: OBJECTS.role.listPath,
  by: ['policy', 'ID'],
  field: 'Policies',
  nameOf: (role) => String(role['Name']),
};
/** The binding rules of an auth method. */
export const RULES: Linking = {
  ...pageOf('rule'),
  list: OBJECTS.rule.listPath,
  by: ['authmethod', 'Name'],
  field: 'AuthMethod',
  nameOf: (rule) => `${rule['BindType']} ${rule['BindName']}`,
};

/** Reads the first objects that link another one. Throws `Problem`. */
export const linkedTo = (
  { list, by: [parameter, member] }: Linking,
  object: Readonly<Record<string, unknown>>,
  how: Part & Ask,
): Promise<ListPage<Stored>> =>
  readFirst<Stored>(list, { ...how, query: { [parameter]: String(object[member]) } });
