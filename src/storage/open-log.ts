/** Opens the log of a node. */
import type { Disk } from './disk.js';
import { LEVEL_DISK } from './level-disk.js';
import { type LogOptions, openLogIn, type SegmentLog } from './log.js';
import { openLogFolder } from './take-over.js';

/** Options of a log, and the machine; by default the real one. */
export type OpenLogOptions = Omit<LogOptions, 'clock' | 'onClosed'> & {
  readonly disk?: Disk | undefined;
};

/**
 * Opens the log in `dir`, and creates it if it is missing. A log of an earlier release is taken
 * over. Throws StorageError `locked`, `failed`, or `damaged` if the vote may be lost.
 */
export async function openLog(dir: string, options: OpenLogOptions): Promise<SegmentLog> {
  const { disk = LEVEL_DISK, segmentBytes } = options;
  const { folder, unlock } = await openLogFolder(dir, disk, segmentBytes);
  try {
    return await openLogIn(folder, { ...options, clock: disk.clock, onClosed: unlock });
  } catch (error) {
    await unlock();
    throw error;
  }
}
