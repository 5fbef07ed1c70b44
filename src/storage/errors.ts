/**
 * What can be wrong with a node's disk. Every one of these stops the node, with its message as the
 * reason.
 */

/**
 * `damaged`: what was read is not what was written. `locked`: another process has the folder open.
 * `foreign`: the folder is not (or not this version's) data. `failed`: the disk refused a write or
 * a read. `invalid`: bytes from outside (archive, snapshot chunk) are not what they claim to be;
 * nothing was changed because of them.
 */
export type StorageErrorCode = 'damaged' | 'locked' | 'foreign' | 'failed' | 'invalid';

/** An error of the storage layer. `message` says what is wrong and what can be done about it. */
export class StorageError extends Error {
  readonly code: StorageErrorCode;
  constructor(code: StorageErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StorageError';
    this.code = code;
  }
}

/** The innermost message of an error chain: LevelDB puts what happened into `cause`. */
export function rootMessage(error: unknown): string {
  let at = error;
  while (at instanceof Error && at.cause !== undefined) at = at.cause;
  return at instanceof Error ? at.message : String(at);
}
