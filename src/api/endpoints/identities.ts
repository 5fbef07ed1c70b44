/** Identities of auth methods: how they are revoked, and which of them may not log in. */
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
import { author, orNone, rows, shape } from './shapes.js';

export const REVOKE = bodyOf({
  AuthMethod: given('The auth method that knows the identity.', text()),
  Namespace: given('The namespace of the auth method.', text()),
  Subject: given('Whose tokens end: the Subject of their Identity.', text()),
  SubjectPrefix: given(
    'Instead of Subject: all whose Subject begins with this. Empty means everybody.',
    text(),
  ),
  DryRun: given('Whether only to show what would end. True unless it is false.', boolean),
  BlockFor: given(
    'How long their logins are refused: a duration from 1m to 8760h, or forever. ' +
      'If absent, logins are not refused.',
    text(),
  ),
  Reason: given('Why, for the history and the audit log.', text()),
});
export type RevokeBody = Sent<(typeof REVOKE)['fields']>;

const REVOKED = shape({
  DryRun: keep('Whether nothing was done.', boolean),
  Total: keep('How many tokens end.', whole64),
  Tokens: keep(
    'The newest of them, at most 100.',
    rows({
      AccessorID: keep('The AccessorID of the token.', text()),
      Description: keep('Its description.', text()),
      Namespace: keep('Its namespace.', text()),
      Subject: keep('Who is behind it.', text()),
      CreateTime: keep('When it was created.', text()),
    }),
  ),
  More: keep('How many others.', whole64),
  Unknown: omit('How many tokens of the auth method do not tell who is behind them.', whole64),
  BlockID: keep('The ID of the block. Empty if there is none.', text()),
  Index: keep(
    'The index of the revocation, or of the state of a dry run. 0 if there was nothing to do.',
    whole64,
  ),
});
/** `POST /v1/acl/tokens/revoke`. */
export type Revoked = Normal<typeof REVOKED>;

const BLOCKS = rows({
  ID: keep('The ID of the block.', text()),
  AuthMethod: keep('The auth method.', text()),
  Namespace: keep('The namespace of the auth method.', text()),
  Subject: omit('Whose logins are refused.', text()),
  SubjectPrefix: omit('Instead of Subject: all whose Subject begins with this.', text()),
  Until: keep('When it ends by itself; null if it does not.', orNone(utcTime)),
  Author: keep('Who made it.', orNone(author)),
  Time: keep('When.', text()),
  Reason: keep('Why.', text()),
  ModifyIndex: keep('The index at which it was made.', whole64),
});
/** An item of `GET /v1/acl/identity-blocks`. */
export type BlockRow = Normal<typeof BLOCKS>[number];

export const IDENTITY_OPERATIONS = tagged('acl', {
  'POST /v1/acl/tokens/revoke': write('revokeIdentity', {
    level: COMMAND_LEVELS['identity.revoke']!,
    says:
      'Ends all tokens of an identity, and may refuse its logins. ' +
      'Only shows what would end unless DryRun is false.',
    body: 'TokensRevokeBody',
    answers: ok('What ends.', REVOKED),
    refuses: [404, 409],
    rights: ['acl:write', 'acl:read for a dry run'],
  }),
  'GET /v1/acl/identity-blocks': read('listIdentityBlocks', {
    says: 'Lists whose logins are refused.',
    query: ['authmethod'],
    answers: ok('The blocks.', BLOCKS, 'index'),
    blocks: true,
    rights: ['acl:read'],
  }),
  'DELETE /v1/acl/identity-block/:id': write('liftIdentityBlock', {
    level: COMMAND_LEVELS['identity.unblock']!,
    says: 'Permits the logins of an identity again.',
    answers: ok('The operation succeeded.', { schema: { type: 'boolean' } }),
    refuses: [404],
    rights: ['acl:write'],
  }),
});
