/** Opens the log of a node. */
import { type LogOptions, openLogIn, type SegmentLog } from './log.js';
import { openLogFolder } from './take-over.js';

/**
 * Opens the log in `dir`, and creates it if it is missing. A log of an earlier release is taken
 * over. Throws StorageError `locked`, `failed`, or `damaged` if the vote may be lost.
 */
export async function openLog(dir: string, options: LogOptions): Promise<SegmentLog> {
  return openLogIn(await openLogFolder(dir), options);
}
