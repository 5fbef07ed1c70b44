/** Identities of auth methods: how they are revoked, and which of them may not log in. */
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
import { author, orNone, rows, shape } from './shapes.js';

export const REVOKE = bodyOf({
  AuthMethod: ifSent('The auth method that knows the identity.', text()),
  Namespace: ifSent('The namespace of the auth method.', text()),
  Subject: ifSent('Whose tokens end: the Subject of their Identity.', text()),
  SubjectPrefix: ifSent(
    'Instead of Subject: all whose Subject begins with this. Empty means everybody.',
    text(),
  ),
  DryRun: ifSent('Whether only to show what would end. True unless it is false.', boolean),
  BlockFor: ifSent(
    'How long their logins are refused: a duration from 1m to 8760h, or forever. ' +
      'If absent, logins are not refused.',
    text(),
  ),
  Reason: ifSent('Why, for the history and the audit log.', text()),
});
export type RevokeBody = Sent<(typeof REVOKE)['fields']>;

const REVOKED = shape({
  DryRun: always('Whether nothing was done.', boolean),
  Total: always('How many tokens end.', whole64),
  Tokens: always(
    'The newest of them, at most 100.',
    rows({
      AccessorID: always('The AccessorID of the token.', text()),
      Description: always('Its description.', text()),
      Namespace: always('Its namespace.', text()),
      Subject: always('Who is behind it.', text()),
      CreateTime: always('When it was created.', text()),
    }),
  ),
  More: always('How many others.', whole64),
  Unknown: nonEmpty('How many tokens of the auth method do not tell who is behind them.', whole64),
  BlockID: always('The ID of the block. Empty if there is none.', text()),
  Index: always(
    'The index of the revocation, or of the state of a dry run. 0 if there was nothing to do.',
    whole64,
  ),
});
/** `POST /v1/acl/tokens/revoke`. */
export type Revoked = Normal<typeof REVOKED>;

const BLOCKS = rows({
  ID: always('The ID of the block.', text()),
  AuthMethod: always('The auth method.', text()),
  Namespace: always('The namespace of the auth method.', text()),
  Subject: nonEmpty('Whose logins are refused.', text()),
  SubjectPrefix: nonEmpty('Instead of Subject: all whose Subject begins with this.', text()),
  Until: always('When it ends by itself; null if it does not.', orNone(utcTime)),
  Author: always('Who made it.', orNone(author)),
  Time: always('When.', text()),
  Reason: always('Why.', text()),
  ModifyIndex: always('The index at which it was made.', whole64),
});
/** An item of `GET /v1/acl/identity-blocks`. */
export type BlockRow = Normal<typeof BLOCKS>[number];

export const IDENTITY_OPERATIONS = tagged('acl', {
  'POST /v1/acl/tokens/revoke': write('revokeIdentity', {
    level: COMMAND_LEVELS['identity.revoke']!,
    description:
      'Ends all tokens of an identity, and may refuse its logins. ' +
      'Only shows what would end unless DryRun is false.',
    body: 'TokensRevokeBody',
    answers: ok('What ends.', REVOKED),
    refuses: [404, 409],
    rights: ['acl:write', 'acl:read for a dry run'],
  }),
  'GET /v1/acl/identity-blocks': read('listIdentityBlocks', {
    description: 'Lists whose logins are refused.',
    query: ['authmethod'],
    answers: ok('The blocks.', BLOCKS, 'index'),
    blocks: true,
    rights: ['acl:read'],
  }),
  'DELETE /v1/acl/identity-block/:id': write('liftIdentityBlock', {
    level: COMMAND_LEVELS['identity.unblock']!,
    description: 'Permits the logins of an identity again.',
    answers: ok('The operation succeeded.', { schema: { type: 'boolean' } }),
    refuses: [404],
    rights: ['acl:write'],
  }),
});
