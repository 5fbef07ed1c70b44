/** Deliberate faults of tokens from elsewhere and of owners, for `mutations.ts`. */
import { type Mutation, one, unit } from './mutation.js';

const IMPORT = 'state/token-import.js';
const SERVICE = 'service/acl/token-import.js';
const SUITES = 'service/token-import';

const faults: readonly Mutation[] = [
  one(
    'an imported token whose secret another token has',
    'state/token-content.js',
    'view.get(keys.tokenSecret(secretKeyOf(id))) !== undefined',
    'false',
  ),
  one('a known token that an import takes from whoever owns it', IMPORT, 'takeOver ? ', 'true ? '),
  one(
    'a token of another source that an import deletes',
    IMPORT,
    'if (owner === ownerOfSource(source))',
    "if (owner.startsWith('migrate/'))",
  ),
  one(
    'a known token that an import takes for one with another secret',
    IMPORT,
    'if (before.SecretID !== secret)',
    'if (false)',
  ),
  one(
    'an import that moves the end of a token',
    IMPORT,
    'if (before.ExpirationTime !== expirationTime)',
    'if (false)',
  ),
  one(
    'an import that is applied although a part of it is refused',
    IMPORT,
    'if (first !== undefined)',
    'if (false)',
  ),
  one(
    'an imported token that has expired',
    SERVICE,
    'Date.parse(ExpirationTime) <= this.#nowMs + ENDING_MS',
    'false',
  ),
  one('an import of what is there already that is proposed', SERVICE, 'if (isIdle)', 'if (false)'),
  one(
    'an import by who may not write in the namespace of a token',
    IMPORT,
    "authorizer.denial('acl', 'write', undefined, ns)",
    "authorizer.denial('acl', 'write')",
  ),
  one(
    'a release that takes the names of other owners',
    'state/owner-release.js',
    'if (before?.Owner !== owner)',
    'if (before === undefined)',
  ),
];

export const importMutations: readonly Mutation[] = faults.map((fault) => unit(fault, SUITES));
