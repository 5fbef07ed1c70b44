/** Tokens that come from elsewhere with their secrets, and the owners of objects. */
import {
  always,
  bodyOf,
  boolean,
  ifSent,
  items,
  type Normal,
  nonEmpty,
  type Sent,
  text,
  utcTime,
  whole64,
} from '../../languages/fields.js';
import { COMMAND_LEVELS } from '../../state/levels.js';
import { IMPORTED_MAX } from '../../state/token-import.js';
import { tokens } from '../../state/tokens.js';
import { ok, read, tagged, write } from './operation.js';
import { INDEX, oneOf, rows, shape } from './shapes.js';

/** More are decoded, so that the refusal can say how many there are. */
const DECODED_MAX = 2 * IMPORTED_MAX;

const { Description, Policies, Roles, Local, AuthMethod, ExpirationTime, Namespace } =
  tokens.fields;
const { ServiceIdentities, NodeIdentities, TemplatedPolicies } = tokens.fields;

const IMPORTED = bodyOf({
  AccessorID: ifSent('The public ID of the token, a UUID.', text()),
  SecretID: ifSent('Its secret: up to 256 printable characters without spaces.', text()),
  Description,
  Policies,
  Roles,
  ServiceIdentities,
  NodeIdentities,
  TemplatedPolicies,
  Local,
  Namespace,
  AuthMethod,
  AuthMethodNamespace: ifSent('The namespace of that auth method.', text()),
  Identity: ifSent(
    'Who is behind the token, if a login created it.',
    bodyOf({ Subject: ifSent('Whom the auth method knows.', text()) }),
  ),
  ExpirationTime,
  CreateTime: ifSent('When the token was created. Defaults to now.', utcTime),
});
export type SentToken = Sent<(typeof IMPORTED)['fields']>;

export const IMPORT = bodyOf({
  Source: ifSent('Where the tokens come from, such as dc1. Their owner is migrate/dc1.', text()),
  DryRun: ifSent('Whether only to judge the import. Nothing is written.', boolean),
  TakeOver: ifSent('Whether tokens that are not of this source may be taken.', boolean),
  Reason: ifSent('Why, for the history.', text()),
  Tokens: ifSent('The tokens. At most 500 with those of Delete.', items(IMPORTED, DECODED_MAX)),
  Delete: ifSent('AccessorIDs of tokens of this source that end.', items(text(), DECODED_MAX)),
});
export type ImportBody = Sent<(typeof IMPORT)['fields']>;

const accessor = always('The AccessorID of the token.', text());
const IMPORT_ANSWER = shape({
  Index: always(
    'The index of the entry, or of the state of a dry run. 0 if there was nothing to do.',
    whole64,
  ),
  Created: always('How many tokens were created.', whole64),
  Updated: always('How many were changed.', whole64),
  Deleted: always('How many were deleted.', whole64),
  Unchanged: always('How many were as they should be.', whole64),
  Skipped: always(
    'Tokens that were left out.',
    rows({ AccessorID: accessor, Why: always('Why.', oneOf('expired')) }),
  ),
  Warnings: always(
    'Tokens with something to know.',
    rows({ AccessorID: accessor, Code: always('What it is.', oneOf('weak_secret')) }),
  ),
});
/** `POST /v1/acl/tokens/import`. */
export type Imported = Normal<typeof IMPORT_ANSWER>;

const IMPORTS = shape({
  Index: INDEX,
  Tokens: always(
    'The tokens of the source, by AccessorID.',
    rows({
      AccessorID: accessor,
      Namespace: always('The namespace of the token.', text()),
      Hash: always('A hash of the content.', text()),
      ExpirationTime: nonEmpty('When the token expires.', utcTime),
    }),
  ),
});
/** `GET /v1/acl/tokens/import`. */
export type Imports = Normal<typeof IMPORTS>;

export const RELEASE = bodyOf({
  Owner: ifSent('The owner whose name is taken from all its objects.', text()),
  Reason: ifSent('Why, for the history.', text()),
});

const RELEASED = shape({
  Released: always('How many objects and tokens had this owner.', whole64),
  Index: always('The index of the last entry. 0 if there was nothing to do.', whole64),
});
/** `POST /v1/owners/release`. */
export type Released = Normal<typeof RELEASED>;

const OWNERS = rows({
  Owner: always('The owner.', text()),
  Objects: always('How many objects and tokens it has that the caller may read.', whole64),
});
/** `GET /v1/owners`. */
export type Owners = Normal<typeof OWNERS>;

export const IMPORT_OPERATIONS = tagged('acl', {
  'POST /v1/acl/tokens/import': write('importTokens', {
    level: COMMAND_LEVELS['tokens.import']!,
    description:
      'Creates, changes and deletes tokens of a source with their IDs, secrets and times.',
    body: 'TokensImportBody',
    answers: ok('What was done. No secret is in it.', IMPORT_ANSWER),
    refuses: [409, 413],
    rights: ['operator:write', 'acl:write in the namespace of each token'],
  }),
  'GET /v1/acl/tokens/import': read('listImportedTokens', {
    description: 'Lists the tokens that were imported from a source, without their secrets.',
    query: ['source'],
    answers: ok('The tokens.', IMPORTS),
    rights: ['acl:read'],
  }),
  'GET /v1/owners': read('listOwners', {
    description: 'Lists the owners of objects.',
    tag: 'sets',
    answers: ok('The owners by name.', OWNERS, 'index'),
    rights: ['acl:read'],
  }),
  'POST /v1/owners/release': write('releaseOwner', {
    level: COMMAND_LEVELS['owner.release']!,
    description: 'Takes the name of an owner from all its objects, and changes nothing else.',
    tag: 'sets',
    body: { members: RELEASE.fields },
    answers: ok('How many there were.', RELEASED),
    rights: ['operator:write', 'acl:write'],
  }),
});
