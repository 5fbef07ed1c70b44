/** Small JSON files with a checksum, which are replaced atomically. */
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Files } from './disk.js';
import { StorageError } from './errors.js';
import { LEVEL_DISK } from './level-disk.js';

/**
 * Replaces a JSON file atomically and adds a checksum. After a crash the file is either the old one
 * or the new one.
 */
export async function writeSealed(
  path: string,
  content: object,
  files: Files = LEVEL_DISK.files,
): Promise<void> {
  const sealed = { ...content, crc32: crc32(JSON.stringify(content)) };
  const file = await files.open(`${path}.new`, { empty: true });
  try {
    await file.write(Buffer.from(`${JSON.stringify(sealed, null, 2)}\n`), 0);
    await file.sync();
  } finally {
    await file.close();
  }
  await files.rename(`${path}.new`, path);
  await files.syncFolder(dirname(path));
}

/**
 * Returns what `writeSealed` wrote, undefined if there is no such file. Throws StorageError
 * `failed`, or `damaged` if the checksum does not match.
 */
export async function readSealed(
  path: string,
  files: Files = LEVEL_DISK.files,
): Promise<Record<string, unknown> | undefined> {
  let text: string | undefined;
  try {
    text = (await files.read(path))?.toString();
  } catch (error) {
    throw new StorageError('failed', `${path} cannot be read: ${(error as Error).message}`, error);
  }
  if (text === undefined) return undefined;
  try {
    const { crc32: sum, ...content } = JSON.parse(text) as Record<string, unknown>;
    if (sum === crc32(JSON.stringify(content))) return content;
  } catch {
    // Not JSON: reported below.
  }
  throw new StorageError('damaged', `${path} is damaged: it is not what this server wrote`);
}
