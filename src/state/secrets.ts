/** Which records hold secrets: what is left of them on disk when they go is to be erased. */
import { definitionOf, isKind } from '../kinds/definitions.js';
import { tableOf } from './checksum.js';

/** Tables whose values may hold a secret: SecretIDs, service account tokens, private keys, and copies of these. */
export const SECRET_TABLES = ['token', 'method', 'config', 'request', 'restore'] as const;

/** Whether a change leaves a secret behind that the state no longer shows. Remembered requests are forgotten apart. */
export function leavesSecret(
  key: string,
  before: () => string | undefined,
  after: string | undefined,
): boolean {
  switch (tableOf(key)) {
    case 'token':
    case 'restore':
      return after === undefined && before() !== undefined;
    case 'method':
      return isReplaced(before(), after);
    case 'config':
      return hasSecrets(key.split('\u0000', 3)[2]!) && isReplaced(before(), after);
    default:
      return false;
  }
}

const hasSecrets = (kind: string): boolean => isKind(kind) && definitionOf(kind).secrets.length > 0;

const isReplaced = (before: string | undefined, after: string | undefined): boolean =>
  before !== undefined && before !== after;
