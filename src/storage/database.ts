/** Opening a LevelDB. */
import { mkdir } from 'node:fs/promises';
import type { ClassicLevel } from 'classic-level';
import { Level } from 'level';
import { rootMessage, StorageError } from './errors.js';

/**
 * Opens a LevelDB, and creates it if it is missing. Throws StorageError `locked` if another process
 * has it open, `failed` if it cannot be opened.
 */
export async function openDatabase<K, V>(
  dir: string,
  options: ConstructorParameters<typeof ClassicLevel<K, V>>[1],
): Promise<ClassicLevel<K, V>> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  // In Node, `level` is classic-level, but its types omit what only classic-level has (getSync).
  const db = new Level<K, V>(dir, options as never) as unknown as ClassicLevel<K, V>;
  try {
    await db.open();
  } catch (error) {
    const why = rootMessage(error);
    if ((error as { cause?: { code?: string } }).cause?.code === 'LEVEL_LOCKED') {
      throw new StorageError('locked', `${dir} is in use by another process (${why})`, error);
    }
    throw new StorageError('failed', `${dir} cannot be opened: ${why}`, error);
  }
  return db;
}
