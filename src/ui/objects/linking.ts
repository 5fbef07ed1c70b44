/** Which objects link another one, by the lists that choose them. */
import type { Stored } from '../api/types.js';
import type { ListPage } from '../lists/array-reader.js';
import { readItems } from '../lists/read-items.js';
import { TEXT } from '../texts.js';

/** A list of objects that link another one. */
export interface Linking {
  readonly title: string;
  readonly list: string;
  /** The first segment of the pages of these objects. */
  readonly slug: string;
  /** The parameter of the list that chooses by the linked object, and its member that is sent. */
  readonly by: readonly [parameter: string, member: string];
  nameOf(object: Stored): string;
}

/** The tokens that name an object by a parameter. */
export const tokensBy = (parameter: string, member = 'ID'): Linking => ({
  title: TEXT.beside.tokens,
  list: '/v1/acl/tokens',
  slug: 'tokens',
  by: [parameter, member],
  nameOf: (token) => String(token['Description'] || token['AccessorID']),
});
/** The roles that link a policy. */
export const ROLES: Linking = {
  title: TEXT.beside.roles,
  list: '/v1/acl/roles',
  slug: 'roles',
  by: ['policy', 'ID'],
  nameOf: (role) => String(role['Name']),
};
/** The binding rules of an auth method. */
export const RULES: Linking = {
  title: TEXT.page.bindingRules,
  list: '/v1/acl/binding-rules',
  slug: 'binding-rules',
  by: ['authmethod', 'Name'],
  nameOf: (rule) => `${rule['BindType']} ${rule['BindName']}`,
};

/** Reads the first objects that link another one. Throws `Problem`. */
export const linkedTo = (
  { list, by: [parameter, member] }: Linking,
  object: Stored,
  size: number,
  signal: AbortSignal,
): Promise<ListPage<Stored>> =>
  readItems<Stored>(list, { query: { [parameter]: String(object[member]) }, signal, size });
