/**
 * The errors of a node's disk. All but `invalid` stop the node, with the message as the reason.
 */

/**
 * `damaged`: a read returned other bytes than were written. `locked`: another process has the
 * folder open. `foreign`: the folder holds no data of this server, or of another version. `failed`:
 * a write or a read failed. `invalid`: input from outside (an archive, a snapshot chunk) is not
 * what it claims to be; it changed nothing.
 */
export type StorageErrorCode = 'damaged' | 'locked' | 'foreign' | 'failed' | 'invalid';

/** An error of the storage layer. `message` says what is wrong and what to do about it. */
export class StorageError extends Error {
  readonly code: StorageErrorCode;
  constructor(code: StorageErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StorageError';
    this.code = code;
  }
}

/** What is said of a log that may have lost a vote. */
export const FORGOTTEN =
  'This node no longer knows how it voted and must not take part again under its name: ' +
  'remove it from the cluster, empty its data folder, and add it as a new server';

/** What to do about a state that is damaged. */
export const REPLACE_STATE =
  "move this server's state folder away and restart it, so that it gets the state from its log " +
  'or its peers';

/** Returns the error of a record of the state that is damaged. */
export const unreadableRecord = (table: string): StorageError =>
  new StorageError(
    'damaged',
    `a record of the state (table ${table}) cannot be read as it was written; ${REPLACE_STATE}`,
  );

/**
 * Returns the innermost message of an error chain: LevelDB puts the reason into `cause`. `advice`
 * is added if LevelDB says that its files are damaged.
 */
export function rootMessage(error: unknown, advice?: string): string {
  let at = error;
  while (at instanceof Error && at.cause !== undefined) at = at.cause;
  if (!(at instanceof Error)) return String(at);
  const isDamaged = (at as NodeJS.ErrnoException).code === 'LEVEL_CORRUPTION';
  return isDamaged && advice !== undefined ? `${at.message}; ${advice}` : at.message;
}
