/**
 * A node's data folder before any database in it is opened: whether it belongs to this server, and
 * small files that are replaced atomically.
 */
import { chmod, lstat, mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
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
      `${dir} holds other files (${names[0]}) and no ${marker}: it is not a data folder of this server. ` +
        'Configure an empty folder, or the right one',
    );
  }
  await closeToOthers(dir);
}

/**
 * Removes the permissions of everybody but the owner from a folder and its content. Skips symbolic
 * links.
 */
async function closeToOthers(dir: string): Promise<void> {
  await chmod(dir, 0o700);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    if (entry.name === 'lost+found') continue;
    const path = join(dir, entry.name);
    if (entry.isDirectory()) await closeToOthers(path);
    else if (entry.isFile()) {
      const { mode } = await lstat(path);
      if ((mode & OTHERS) !== 0) await chmod(path, 0o600);
    }
  }
}

/**
 * Replaces a JSON file atomically and adds a checksum. After a crash the file is either the old one
 * or the new one.
 */
export async function writeSealed(path: string, content: object): Promise<void> {
  const sealed = { ...content, crc32: crc32(JSON.stringify(content)) };
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(sealed, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * Returns what `writeSealed` wrote, undefined if there is no such file. Throws StorageError
 * `failed`, or `damaged` if the checksum does not match.
 */
export async function readSealed(path: string): Promise<Record<string, unknown> | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new StorageError('failed', `${path} cannot be read: ${(error as Error).message}`, error);
  }
  try {
    const { crc32: sum, ...content } = JSON.parse(text) as Record<string, unknown>;
    if (sum === crc32(JSON.stringify(content))) return content;
  } catch {
    // Not JSON: reported below.
  }
  throw new StorageError('damaged', `${path} is damaged: it is not what this server wrote`);
}
