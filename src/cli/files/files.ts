/** Files that a command reads and writes. */
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Io } from '../io.js';
import { CliError, misused } from '../print/error.js';

/** Reads a file that an option or argument names. `what` names it in the error. */
export function readNamed(what: string, path: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    return misused(`${what}: ${reasonOf(error, path)}`);
  }
  return textOf(bytes, `${what}: ${path}`);
}

/**
 * Returns bytes as text, without a byte order mark. Throws for other encodings, whose letters would
 * be lost. `what` names the bytes in the error.
 */
export function textOf(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return misused(`${what} is not text in UTF-8`);
  }
}

/** Opens a file that an argument names. `what` names it in the error. */
export async function mustOpen(what: string, path: string): Promise<FileHandle> {
  const file = await open(path).catch((error: unknown) =>
    misused(`${what}: ${reasonOf(error, path)}`),
  );
  if (!(await file.stat()).isDirectory()) return file;
  await file.close();
  return misused(`${what}: ${reasonOf({ code: 'EISDIR' }, path)}`);
}

/** Returns a file error in words: `ENOENT` is "does not exist". */
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

/**
 * Replaces a file, or the one that a symbolic link leads to, by one that only the user may read,
 * completely or not at all. `fill` writes a file beside it, whose name no other process uses; that
 * file is removed if anything fails.
 */
export async function replaceFile(
  path: string,
  fill: (file: FileHandle, part: string) => Promise<void>,
): Promise<void> {
  const target = existsSync(path) ? realpathSync(path) : path;
  if (lstatSync(target, { throwIfNoEntry: false })?.isFile() === false)
    throw new CliError(`${path} exists and is not a regular file`);
  const part = `${target}.${randomBytes(6).toString('hex')}.part`;
  const file = await open(part, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    // The name of the temporary file would mean nothing to the user.
    throw new CliError(`the folder ${dirname(target)} does not exist`);
  });
  try {
    try {
      await fill(file, part);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, target);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/**
 * Replaces a file by text that only the user may read, completely or not at all. Text that is made
 * by a function is made only if the file can be written.
 */
export async function writePrivate(
  path: string,
  text: string | (() => Promise<string>),
): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await replaceFile(path, async (file) =>
    file.writeFile(typeof text === 'string' ? text : await text()),
  );
}
