/**
 * Opens the folder of a log, and takes over the log of a release before 0.3.0, once:
 *
 *     log/CURRENT, log/*.ldb, log/witness, ...     the old log, a LevelDB
 *     log/segments/                                the new one
 *     log/lock/                                    a LevelDB without records: see `openLogFolder`
 *
 * As long as there is a LevelDB in `log/`, it is the log, and what is in `segments/` was left by a
 * take-over that did not end: the next one begins again. Retiring the LevelDB is one step. It is
 * done once all segments are durable, so each crash leaves one whole log:
 *
 *     crash while entries are copied      the LevelDB, untouched
 *     crash before it is retired          the LevelDB; the segments are made again
 *     crash after it                      the segments; the next start removes what LevelDB left
 */
import { join } from 'node:path';
import { settled } from './calls.js';
import type { Disk, DiskFolder } from './disk.js';
import { LevelLogReader } from './level-log.js';
import { type LogOptions, openLogIn } from './log.js';

/** The folder of a log that no other process has open. */
export interface LogFolder {
  readonly folder: DiskFolder;
  readonly unlock: () => Promise<void>;
}

/**
 * Opens the folder of the log in `dir`, and creates it if it is missing. `segmentBytes` is that of
 * a log that is made of an old one. Throws StorageError `locked`, `failed` or `damaged`.
 */
export async function openLogFolder(
  dir: string,
  disk: Disk,
  segmentBytes?: number,
): Promise<LogFolder> {
  // Node has no file locks. The lock of a LevelDB ends with the process.
  const lock = await disk.openBytes(join(dir, 'lock'));
  try {
    const folder = disk.folder(join(dir, 'segments'));
    await settled((done) => folder.create(done));
    if (await disk.hasDatabase(dir)) {
      const old = await LevelLogReader.open(dir, disk);
      try {
        await empty(folder);
        await copy(old, folder, { clock: disk.clock, segmentBytes });
      } finally {
        await old.close();
      }
    }
    await settled((done) => disk.folder(dir).sync(done));
    await disk.retireDatabase(dir);
    return { folder, unlock: () => lock.close() };
  } catch (error) {
    await lock.close();
    throw error;
  }
}

async function empty(folder: DiskFolder): Promise<void> {
  for (const name of folder.names()) await settled((done) => folder.remove(name, done));
  await settled((done) => folder.sync(done));
}

async function copy(
  old: LevelLogReader,
  folder: DiskFolder,
  options: Omit<LogOptions, 'onFatal'>,
): Promise<void> {
  let failure: Error | undefined;
  let fail = (_error: Error): void => {};
  const onFatal = (error: Error): void => {
    failure = error;
    fail(error);
  };
  const log = await openLogIn(folder, { ...options, onFatal });
  const written = (write: (done: () => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      fail = reject;
      if (failure === undefined) write(resolve);
      else reject(failure);
    });
  try {
    await written((done) => log.adopt(old.state, done));
    for await (const entries of old.entries()) {
      await written((done) => log.append({ entries }, done));
    }
    // Only now it is known what is damaged.
    if (old.state.damage !== undefined) await written((done) => log.adopt(old.state, done));
  } finally {
    await log.close();
  }
  // The last write of a log is that of its witness when it is closed.
  if (failure !== undefined) throw failure;
}
