/** Files that a command reads and writes. */
import { readFileSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { misused } from './fault.js';
import type { Io } from './io.js';

/** Reads a file that an option or argument names. `what` names it in the fault. */
export function readNamed(what: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return misused(`${what}: ${reasonOf(error, path)}`);
  }
}

/** Returns a file fault in words: `ENOENT` is "does not exist". */
function reasonOf(error: unknown, path: string): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const known: Record<string, string> = {
    ENOENT: 'does not exist',
    EACCES: 'cannot be read: permission denied',
    EISDIR: 'is a folder',
  };
  return `${path} ${known[code ?? ''] ?? message}`;
}

/** Reads a file, or the standard input for `-`. */
export async function readInput(io: Io, what: string, path: string): Promise<string> {
  return path === '-' ? io.input() : readNamed(what, path);
}

/** Returns the value of an option that is a text, `@FILE`, or `-` for the standard input. */
export async function textOption(io: Io, what: string, value: string): Promise<string> {
  if (value === '-') return io.input();
  return value.startsWith('@') ? readNamed(what, value.slice(1)) : value;
}

/** Replaces a file by text that only the user may read, completely or not at all. */
export async function writePrivate(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const part = `${path}.part`;
  await rm(part, { force: true });
  const file = await open(part, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(part, path);
}
