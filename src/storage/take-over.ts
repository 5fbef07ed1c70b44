/**
 * Opens the folder of a log, and takes over the log of a release before 0.3.0, once:
 *
 *     log/CURRENT, log/*.ldb, log/witness, ...     the old log, a LevelDB
 *     log/segments.new/                            the new one while it is made
 *     log/segments/                                the new one, renamed once it is durable
 *
 * A crash before the renaming leaves the old log as it was; the next start begins again. A crash
 * after it leaves files of the old log, which the next start removes.
 */
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from './database.js';
import { LevelLogReader } from './level-log.js';
import { openLogIn } from './log.js';
import { DiskFolder, type SegmentFolder } from './segment-file.js';

const FOLDER = 'segments';
const UNFINISHED = 'segments.new';
/** The files of a LevelDB, and the witness beside it. */
const LEVEL_FILE = /^(CURRENT|LOCK|LOG(\.old)?|MANIFEST-\d+|\d+\.(log|ldb|sst|dbtmp)|witness)$/;

/**
 * Opens the folder of the log in `dir`, and creates it if it is missing. `step` is called after
 * each step that changes the disk, for tests. Throws StorageError `locked`, `failed` or `damaged`.
 */
export async function openLogFolder(
  dir: string,
  step: (name: string) => void = () => {},
): Promise<SegmentFolder> {
  // Node has no file locks. That of a LevelDB ends with the process.
  const lock = await openDatabase(join(dir, 'lock'), {});
  try {
    const names = await readdir(dir);
    if (!names.includes(FOLDER)) {
      const isOld = names.some((name) => LEVEL_FILE.test(name));
      if (isOld) await takeOver(dir, step);
      else await mkdir(join(dir, FOLDER), { mode: 0o700 });
      await syncFolder(dir);
      step('taken over');
    }
    for (const name of await readdir(dir)) {
      if (!LEVEL_FILE.test(name)) continue;
      await rm(join(dir, name));
      step(`removed ${name}`);
    }
    return new DiskFolder(join(dir, FOLDER), () => lock.close());
  } catch (error) {
    await lock.close();
    throw error;
  }
}

async function takeOver(dir: string, step: (name: string) => void): Promise<void> {
  const unfinished = join(dir, UNFINISHED);
  await rm(unfinished, { recursive: true, force: true });
  const old = await LevelLogReader.open(dir);
  try {
    step('opened');
    await mkdir(unfinished, { mode: 0o700 });
    step('made the folder');
    await copy(old, unfinished, step);
  } finally {
    await old.close();
  }
  await rename(unfinished, join(dir, FOLDER));
  step('renamed');
}

async function copy(old: LevelLogReader, to: string, step: (name: string) => void): Promise<void> {
  let failure: Error | undefined;
  const folder = new DiskFolder(to, async () => {});
  const log = await openLogIn(folder, {
    onFatal: (error) => {
      failure = error;
      fail(error);
    },
  });
  let fail = (_error: Error): void => {};
  const written = (write: (done: () => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      fail = reject;
      if (failure !== undefined) reject(failure);
      else write(resolve);
    });
  try {
    await written((done) => log.adopt(old.state, done));
    step('wrote the state');
    for await (const entries of old.entries()) {
      await written((done) => log.append({ entries }, done));
      step(`wrote entries up to ${log.lastIndex()}`);
    }
    if (old.state.damage !== undefined) await written((done) => log.adopt(old.state, done));
  } finally {
    await log.close();
  }
  if (failure !== undefined) throw failure;
  step('closed');
}

async function syncFolder(dir: string): Promise<void> {
  const folder = await open(dir, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
