/**
 * Which records contain secrets. After such a record is removed, its remains on disk are erased.
 */
import { definitionOf, isKind } from '../kinds/definitions.js';
import { tableOf } from './checksum.js';
import { OBJECTS } from './objects.js';

/** When the secrets of an object leave the state, by its table. */
const LEAVING = new Map<string, 'when removed' | 'when changed'>(
  Object.values(OBJECTS).flatMap(({ table, secretLeaves }) =>
    secretLeaves === undefined ? [] : [[table, secretLeaves] as const],
  ),
);

/**
 * Tables whose values may contain a secret: SecretIDs, service account tokens, private keys, and
 * copies of these.
 */
export const SECRET_TABLES: readonly string[] = [...LEAVING.keys(), 'config', 'request', 'restore'];

/**
 * Whether a change removes a secret from the state, so that only remains of it are on disk.
 * Remembered requests are dropped by a command of their own (`request.forget`).
 */
export function leavesSecret(
  key: string,
  before: string | undefined,
  after: string | undefined,
): boolean {
  const table = tableOf(key);
  if (table === 'config') {
    return isReplaced(before, after) && hasSecrets(key.split('\u0000', 3)[2]!);
  }
  const leaving = table === 'restore' ? 'when removed' : LEAVING.get(table);
  if (leaving === 'when changed') return isReplaced(before, after);
  return leaving === 'when removed' && after === undefined && before !== undefined;
}

const hasSecrets = (kind: string): boolean => isKind(kind) && definitionOf(kind).secrets.length > 0;

const isReplaced = (before: string | undefined, after: string | undefined): boolean =>
  before !== undefined && before !== after;
