/** Small JSON files with a checksum, which are replaced atomically. */
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { settled, writeAll } from './calls.js';
import type { DiskFile, DiskFolder } from './disk.js';
import { StorageError } from './errors.js';

/**
 * Replaces a JSON file atomically and adds a checksum. After a crash the file is either the old one
 * or the new one.
 */
export async function writeSealed(
  folder: DiskFolder,
  name: string,
  content: object,
): Promise<void> {
  const sealed = { ...content, crc32: crc32(JSON.stringify(content)) };
  const bytes = Buffer.from(`${JSON.stringify(sealed, null, 2)}\n`);
  const unfinished = `${name}.new`;
  if (folder.names().includes(unfinished)) {
    await settled((done) => folder.remove(unfinished, done));
  }
  const file = await settled<DiskFile>((done) => folder.open(unfinished, done));
  try {
    await settled((done) => writeAll(file, bytes, 0, done));
  } finally {
    file.close();
  }
  await settled((done) => folder.rename(unfinished, name, done));
  await settled((done) => folder.sync(done));
}

/** Returns the content of a file; undefined if there is none. */
async function readFile(folder: DiskFolder, name: string): Promise<Buffer | undefined> {
  if (!folder.names().includes(name)) return undefined;
  const file = await settled<DiskFile>((done) => folder.open(name, done));
  try {
    return file.read(0, file.size());
  } finally {
    file.close();
  }
}

/**
 * Returns what `writeSealed` wrote, undefined if there is no such file. Throws StorageError
 * `failed`, or `damaged` if the checksum does not match.
 */
export async function readSealed(
  folder: DiskFolder,
  name: string,
): Promise<Record<string, unknown> | undefined> {
  let text: string | undefined;
  try {
    text = (await readFile(folder, name))?.toString();
  } catch (error) {
    const why = (error as Error).message;
    throw new StorageError('failed', `${join(folder.path, name)} cannot be read: ${why}`, error);
  }
  if (text === undefined) return undefined;
  try {
    const { crc32: sum, ...content } = JSON.parse(text) as Record<string, unknown>;
    if (sum === crc32(JSON.stringify(content))) return content;
  } catch {
    // Not JSON: reported below.
  }
  throw new StorageError(
    'damaged',
    `${join(folder.path, name)} is damaged: it is not what this server wrote`,
  );
}
