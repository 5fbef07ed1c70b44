/**
 * Opens the log of a node:
 *
 *     log/segments/   the segments and their witness
 *     log/lock/       a LevelDB without records. Node has no file locks; the lock of a LevelDB ends
 *                     with the process
 */
import { join } from 'node:path';
import { settled } from './calls.js';
import type { Disk } from './disk.js';
import { StorageError } from './errors.js';
import { LEVEL_DISK } from './level-disk.js';
import { type LogOptions, openLogIn, type SegmentLog } from './log.js';

/** Options of a log, and the machine; by default the real one. */
export type OpenLogOptions = Omit<LogOptions, 'clock' | 'onClosed'> & {
  readonly disk?: Disk | undefined;
};

/**
 * Opens the log in `dir`, and creates it if it is missing. Throws StorageError `locked`, `failed`,
 * `foreign` for a log of release 0.1 or 0.2, or `damaged` if the vote may be lost.
 */
export async function openLog(dir: string, options: OpenLogOptions): Promise<SegmentLog> {
  const { disk = LEVEL_DISK } = options;
  // Before release 0.3.0 the log itself was a LevelDB.
  if (await disk.hasDatabase(dir)) {
    throw new StorageError(
      'foreign',
      `${dir} holds a log of release 0.1 or 0.2, which this release cannot read. ` +
        'Start the folder with release 0.3.0 first, or configure an empty one',
    );
  }
  const lock = await disk.openBytes(join(dir, 'lock'));
  try {
    const folder = disk.folder(join(dir, 'segments'));
    await settled((done) => folder.create(done));
    await settled((done) => disk.folder(dir).sync(done));
    return await openLogIn(folder, {
      ...options,
      clock: disk.clock,
      onClosed: () => lock.close(),
    });
  } catch (error) {
    await lock.close();
    throw error;
  }
}
