/** When tokens and auth methods were used last, and the clean-up of those that are not used. */
import {
  always,
  bodyOf,
  boolean,
  ifSent,
  type Normal,
  nonEmpty,
  type Sent,
  text,
  utcTime,
  whole64,
} from '../../languages/fields.js';
import { COMMAND_LEVELS } from '../../state/levels.js';
import { ok, read, tagged, write } from './operation.js';
import { IDENTITY, mapOf, oneOf, orNone, rows, shape } from './shapes.js';

const LAST_USED = always('The hour of the last use; null: none since Since.', orNone(utcTime));
const notes = {
  Since: always('The time from which on uses are known.', utcTime),
  Complete: always('Whether every member has recently reported its uses.', boolean),
};
const token = {
  AccessorID: always('The AccessorID of the token.', text()),
  Description: always('Its description.', text()),
  AuthMethod: always('The auth method whose login created it. Empty if none did.', text()),
  Identity: IDENTITY,
  Namespace: always('Its namespace.', text()),
};

const USE = shape({
  AccessorID: token.AccessorID,
  Identity: IDENTITY,
  LastUsed: LAST_USED,
  ...notes,
});
/** `GET /v1/acl/token/:accessor/usage`. */
export type TokenUse = Normal<typeof USE>;

const METHOD_USE = shape({
  Name: always('The name of the auth method.', text()),
  Namespace: always('Its namespace.', text()),
  LastUsed: always(
    'The hour of the last login or renewal; null: none since Since.',
    orNone(utcTime),
  ),
  ...notes,
});
/** `GET /v1/acl/auth-method/:name/usage`. */
export type MethodUse = Normal<typeof METHOD_USE>;

const UNUSED = shape({
  ...notes,
  Total: always('How many tokens there are.', whole64),
  Tokens: always(
    'The tokens, the longest unused first.',
    rows({
      ...token,
      CreateTime: always('When it was created.', text()),
      LastUsed: LAST_USED,
    }),
  ),
});
/** `GET /v1/acl/usage`. */
export type Unused = Normal<typeof UNUSED>;

export const CLEAN_UP = bodyOf({
  DryRun: ifSent('Whether only to show what would be deleted. True unless it is false.', boolean),
  UnusedFor: ifSent('Deletes tokens that were not used for this long.', text()),
  OlderThan: ifSent('Only tokens that were created at least this long ago.', text()),
  AuthMethod: ifSent('Only tokens of the logins of an auth method.', text()),
  Namespace: ifSent('Only tokens of this namespace; * for all.', text()),
  KeepPerIdentity: ifSent(
    'Deletes all but this many of the newest tokens of each identity.',
    whole64,
  ),
  Limit: ifSent('How many tokens to delete, 1,000 at most.', whole64),
  Reason: ifSent('Why, for the history and the audit log.', text()),
});
export type CleanUpBody = Sent<(typeof CLEAN_UP)['fields']>;

const CLEANED = shape({
  DryRun: always('Whether nothing was done.', boolean),
  Complete: nonEmpty('False: not every member has recently reported its uses.', boolean),
  Total: always('How many tokens there are to delete.', whole64),
  Tokens: always(
    'Those that are deleted now.',
    rows({
      ...token,
      LastUsed: LAST_USED,
      Why: always('Why it is deleted.', oneOf('unused', 'surplus')),
    }),
  ),
  Skipped: always('How many are never deleted like this, by the reason.', mapOf(whole64)),
  Index: always('The index of the deletion, or of the state of a dry run.', whole64),
});
/** `POST /v1/acl/tokens/gc`. */
export type Cleaned = Normal<typeof CLEANED>;

export const USAGE_OPERATIONS = tagged('acl', {
  'GET /v1/acl/token/:accessor/usage': read('readTokenUsage', {
    description: 'Tells when a token was used last, to the hour.',
    answers: ok('The use.', USE, 'index'),
    refuses: [404],
    rights: ['acl:read'],
  }),
  'GET /v1/acl/auth-method/:name/usage': read('readAuthMethodUsage', {
    description: 'Tells when a login by an auth method was accepted last, to the hour.',
    answers: ok('The use.', METHOD_USE),
    refuses: [404],
    rights: ['acl:read'],
  }),
  'GET /v1/acl/usage': read('listTokenUsage', {
    description: 'Lists tokens by their last use.',
    query: ['unused-for', 'authmethod', 'limit'],
    answers: ok('The tokens.', UNUSED),
    rights: ['acl:read'],
  }),
  'POST /v1/acl/tokens/gc': write('cleanUpTokens', {
    level: COMMAND_LEVELS['token.gc']!,
    description: 'Deletes tokens that are not used. Only shows them unless DryRun is false.',
    body: { members: CLEAN_UP.fields },
    answers: ok('What is deleted.', CLEANED),
    refuses: [409],
    rights: ['acl:write', 'acl:read for a dry run'],
  }),
});
