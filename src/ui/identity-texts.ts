/** The texts about identities: revoking them, and blocks. */
import { plural } from './change-texts.js';

/** How long a block may last: the value for the API, and in words. */
export const BLOCK_FOR = ['no', '1h', '24h', '168h', 'forever'] as const;

export const IDENTITY_TEXT = {
  subject: 'Identity',
  revoke: 'Revoke identity',
  tokens: (count: number) => `${plural(count, 'token')} of this identity will end at once.`,
  whom: 'Who is meant',
  unknown: (count: number) =>
    `${plural(count, 'other token')} of the auth method ` +
    (count === 1
      ? 'has no identity, and is not affected.'
      : 'have no identity, and are not affected.'),
  blockFor: 'Block for',
  blockHelp: 'How long the identity cannot log in again. "no" lets it log in at once.',
  done: (count: number) => `${plural(count, 'token')} ended.`,
  blocks: 'Blocked identities',
  columns: ['Subject', 'Until', 'By', 'Reason', 'Lift'],
  prefix: (prefix: string) => `all that begin with "${prefix}"`,
  lifted: 'until lifted',
  lift: 'Lift block',
  liftOf: (whom: string) => `Lift block of ${whom}`,
} as const;
