/** Deliberate faults of tokens from elsewhere and of owners, for `mutations.ts`. */
import { type Mutation, one, unit } from './mutation.js';

const IMPORT = 'state/token-import.js';
const SERVICE = 'service/acl/token-import.js';
const SUITES = 'service/token-import';
/** What only a change between check and entry shows. */
const LATE = 'state/imports';

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
];

/** Faults that a check before the entry hides. */
const late: readonly Mutation[] = [
  one(
    'an import that is applied although a part of it is refused',
    IMPORT,
    'if (first !== undefined)',
    'if (false)',
  ),
  one(
    'a release that takes the names of other owners',
    'state/owner-release.js',
    'if (before?.Owner !== owner)',
    'if (before === undefined)',
  ),
];

const MOVING = 'cli/migrate/migration.js';
const OBJECTS = 'cli/migrate/objects.js';

/** Each with the suite that holds it. */
const moving: readonly (readonly [fault: Mutation, suites: string])[] = [
  [
    one(
      'a migration that gives rights before it takes them',
      MOVING,
      'for (const Tokens of narrowed)',
      'for (const Tokens of [])',
    ),
    'migrate/follow',
  ],
  [
    one(
      'a migration that deletes what the source did not show',
      OBJECTS,
      '(info.Indexes[key] ?? 0) > 0 && !isCut',
      '(info.Indexes[key] ?? 0) > 0',
    ),
    'migrate/command',
  ],
  [
    one(
      'a migration that overwrites what was changed here',
      OBJECTS,
      'if (force)\n        return found;',
      'if (true)\n        return found;',
    ),
    'migrate/command',
  ],
  [
    one('a migration that forgets the secrets that it has made', MOVING, 'this.#made?.keep();', ''),
    'migrate/command',
  ],
  [
    one(
      'a migration that gives up ownership while rights differ',
      'cli/commands/migrate.js',
      'if (Rights?.Equal !== true)',
      'if (false)',
    ),
    'migrate/command',
  ],
];

export const importMutations: readonly Mutation[] = [
  ...faults.map((fault) => unit(fault, SUITES)),
  ...late.map((fault) => unit(fault, LATE)),
  ...moving.map(([fault, suites]) => unit(fault, suites)),
];
