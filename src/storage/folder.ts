/**
 * A node's data folder before any database in it is open: whose it is, and small files that are
 * whole or not there.
 */
import { chmod, lstat, mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { StorageError } from './errors.js';

/**
 * What may lie in a folder that is not used yet: what a file system or a crash in the middle of
 * `writeSealed` leaves.
 */
const HARMLESS = /^lost\+found$|\.new$/;

/** Bits of a mode that let others than the owner in. */
const OTHERS = 0o077;

/**
 * Makes the folder if need be, for its owner alone, and closes to others what is in it. Throws
 * StorageError `foreign` for a folder that holds other things but not the file `marker` of ours: a
 * path mistaken in the configuration must not be written to.
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
 * Takes the rights of all but the owner from a folder and everything in it. Symbolic links are left
 * alone.
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
 * Replaces a file of JSON as a whole, with a checksum: after a crash it is the old one or the new
 * one.
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
 * What `writeSealed` wrote; undefined when there is no such file. Throws StorageError: failed,
 * damaged.
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
    // Not JSON: said below.
  }
  throw new StorageError('damaged', `${path} is damaged: it is not what this server wrote`);
}
