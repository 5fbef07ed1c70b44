/** ACL roles: named bundles of policy links, identities and templated policies. */
import { roleHash } from '../acl/hash.js';
import { isRoleName } from '../acl/names.js';
import { type Infer, keep, omit, text } from '../languages/fields.js';
import { grants } from './grants.js';
import { keys } from './keys.js';
import { links } from './links.js';
import { contentHash, defineObject, indexes } from './object.js';

const fields = {
  ID: keep(text()),
  Name: keep(text()),
  // Limited only by the size of a body, unlike other descriptions: clients write 600 kB.
  Description: keep(text()),
  Policies: omit(links('policy')),
  ...grants,
  Namespace: keep(text()),
  Hash: keep(contentHash),
  ...indexes,
};

/** A role as it is stored. Answers add the names of the linked policies. */
export type Role = Readonly<Infer<typeof fields>>;

/** Roles. */
export const roles = defineObject<Role, typeof fields>({
  table: 'role',
  noun: 'role',
  identity: 'ID',
  fields,
  linkedAs: 'role',
  key: keys.role,
  nameKey: keys.roleName,
  nameProblem(name) {
    if (name === '') return 'Invalid Role: no Name is set';
    return isRoleName(name)
      ? undefined
      : 'Invalid Role: invalid Name. ' +
          "Only 1 to 256 alphanumeric characters, '-' and '_' are allowed";
  },
  complete: (content) => ({ ...content, Hash: roleHash(content) }),
});
