/** Whether a data folder belongs to this server, before anything in it is opened. */
import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from './errors.js';

/**
 * Names that an unused folder may hold: those that a file system creates, and what a crash in the
 * middle of `writeSealed` leaves.
 */
const HARMLESS = /^lost\+found$|\.new$/;

/** Permission bits of the group and of others. */
const OTHERS = 0o077;

/**
 * Creates the folder if it is missing, and makes it and its content accessible to the owner alone.
 * Throws StorageError `foreign` if the folder holds other files but not our file `marker`: the
 * server must not write to a folder that was configured by mistake.
 */
export async function claimFolder(dir: string, marker: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const names = (await readdir(dir)).filter((name) => !HARMLESS.test(name));
  if (names.length > 0 && !names.includes(marker)) {
    throw new StorageError(
      'foreign',
      `${dir} contains other files (${names[0]}) but no ${marker}: it is not a data folder of this server. ` +
        'Configure an empty folder, or the right one',
    );
  }
  closeToOthers(dir);
}

/**
 * Removes the permissions of everybody but the owner from a folder and its content. Skips symbolic
 * links. Synchronous: only a start does this, and would wait for another thread once a file.
 */
function closeToOthers(dir: string): void {
  chmodSync(dir, 0o700);
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    if (entry.name === 'lost+found') continue;
    const path = join(dir, entry.name);
    if (entry.isDirectory()) closeToOthers(path);
    else if (entry.isFile() && (lstatSync(path).mode & OTHERS) !== 0) chmodSync(path, 0o600);
  }
}
