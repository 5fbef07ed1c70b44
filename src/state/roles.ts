/** ACL roles: named bundles of policy links, identities and templated policies. */
import { roleHash } from '../acl/hash.js';
import { isRoleName } from '../acl/names.js';
import { always, type Infer, nonEmpty, text } from '../languages/fields.js';
import { grants, IDENTITIES } from './grants.js';
import { keys } from './keys.js';
import { links } from './links.js';
import { contentHash, defineObject, indexes } from './object.js';

const fields = {
  ID: always('The ID of the role.', text()),
  Name: always('The name of the role.', text()),
  // Limited only by the size of a body, unlike other descriptions: clients write 600 kB.
  Description: always('A human-readable description of the role.', text()),
  Policies: nonEmpty('The policies of the role.', links('policy')),
  ...grants,
  Namespace: always('The namespace of the role.', text()),
  Hash: always('A hash of the content.', contentHash),
  ...indexes,
};

/** A role as it is stored. Answers add the names of the linked policies. */
export type Role = Readonly<Infer<typeof fields>>;

export const roles = defineObject<Role, typeof fields>({
  table: 'role',
  description: 'Policies, identities and templated policies under one name.',
  noun: 'role',
  identity: 'ID',
  columns: `Name, ID?, Policies, ${IDENTITIES}, Description`,
  lines: `Name, ID, Namespace, Description, Policies, ${IDENTITIES}`,
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
