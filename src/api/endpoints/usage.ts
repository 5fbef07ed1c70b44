/** When tokens and auth methods were used last, and the clean-up of those that are not used. */
import {
  bodyOf,
  boolean,
  given,
  keep,
  type Normal,
  omit,
  type Sent,
  text,
  utcTime,
  whole64,
} from '../../languages/fields.js';
import { COMMAND_LEVELS } from '../../state/levels.js';
import { ok, read, tagged, write } from './operation.js';
import { IDENTITY, mapOf, oneOf, orNone, rows, shape } from './shapes.js';

const LAST_USED = keep('The hour of the last use; null: none since Since.', orNone(utcTime));
const notes = {
  Since: keep('The time from which on uses are known.', utcTime),
  Complete: keep('Whether every member has told of what it has seen lately.', boolean),
};
const token = {
  AccessorID: keep('The AccessorID of the token.', text()),
  Description: keep('Its description.', text()),
  AuthMethod: keep('The auth method whose login created it. Empty if none did.', text()),
  Identity: IDENTITY,
  Namespace: keep('Its namespace.', text()),
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
  Name: keep('The name of the auth method.', text()),
  Namespace: keep('Its namespace.', text()),
  LastUsed: keep('The hour of the last login or renewal; null: none since Since.', orNone(utcTime)),
  ...notes,
});
/** `GET /v1/acl/auth-method/:name/usage`. */
export type MethodUse = Normal<typeof METHOD_USE>;

const UNUSED = shape({
  ...notes,
  Total: keep('How many tokens there are.', whole64),
  Tokens: keep(
    'The tokens, the longest unused first.',
    rows({
      ...token,
      CreateTime: keep('When it was created.', text()),
      LastUsed: LAST_USED,
    }),
  ),
});
/** `GET /v1/acl/usage`. */
export type Unused = Normal<typeof UNUSED>;

export const CLEAN_UP = bodyOf({
  DryRun: given('Whether only to show what would be deleted. True unless it is false.', boolean),
  UnusedFor: given('Deletes tokens that were not used for this long.', text()),
  OlderThan: given('Only tokens that were created at least this long ago.', text()),
  AuthMethod: given('Only tokens of the logins of an auth method.', text()),
  Namespace: given('Only tokens of this namespace; * for all.', text()),
  KeepPerIdentity: given(
    'Deletes all but this many of the newest tokens of each identity.',
    whole64,
  ),
  Limit: given('How many tokens to delete, 1,000 at most.', whole64),
  Reason: given('Why, for the history and the audit log.', text()),
});
export type CleanUpBody = Sent<(typeof CLEAN_UP)['fields']>;

const CLEANED = shape({
  DryRun: keep('Whether nothing was done.', boolean),
  Complete: omit('False: not every member has told of what it has seen lately.', boolean),
  Total: keep('How many tokens there are to delete.', whole64),
  Tokens: keep(
    'Those that are deleted now.',
    rows({
      ...token,
      LastUsed: LAST_USED,
      Why: keep('Why it is deleted.', oneOf('unused', 'surplus')),
    }),
  ),
  Skipped: keep('How many are never deleted like this, by the reason.', mapOf(whole64)),
  Index: keep('The index of the deletion, or of the state of a dry run.', whole64),
});
/** `POST /v1/acl/tokens/gc`. */
export type Cleaned = Normal<typeof CLEANED>;

export const USAGE_OPERATIONS = tagged('acl', {
  'GET /v1/acl/token/:accessor/usage': read('readTokenUsage', {
    says: 'Tells when a token was used last, to the hour.',
    answers: ok('The use.', USE, 'index'),
    refuses: [404],
    rights: ['acl:read'],
  }),
  'GET /v1/acl/auth-method/:name/usage': read('readAuthMethodUsage', {
    says: 'Tells when a login by an auth method was accepted last, to the hour.',
    answers: ok('The use.', METHOD_USE),
    refuses: [404],
    rights: ['acl:read'],
  }),
  'GET /v1/acl/usage': read('listTokenUsage', {
    says: 'Lists tokens by their last use.',
    query: ['unused-for', 'authmethod', 'limit'],
    answers: ok('The tokens.', UNUSED),
    rights: ['acl:read'],
  }),
  'POST /v1/acl/tokens/gc': write('cleanUpTokens', {
    level: COMMAND_LEVELS['token.gc']!,
    says: 'Deletes tokens that are not used. Only shows them unless DryRun is false.',
    body: { members: CLEAN_UP.fields },
    answers: ok('What is deleted.', CLEANED),
    refuses: [409],
    rights: ['acl:write', 'acl:read for a dry run'],
  }),
});
