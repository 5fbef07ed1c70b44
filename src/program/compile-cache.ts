/** V8's compiled code on disk, for the next start. Node has this from 22.1 on. */
import { existsSync, lstatSync, readdirSync, rmSync, type Stats, statSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { IDENTITY_FILE } from '../base/data-folder.js';

/** The parts of `node:module` that the types of Node 20 lack. */
interface CompileCache {
  enableCompileCache?(dir: string): unknown;
  flushCompileCache?(): void;
}

const { enableCompileCache, flushCompileCache } = module as CompileCache;
/** The folder in a data folder. It has a folder for each release, of which one stays. */
const FOLDER = 'compile-cache';
/** Permission bits with which others can write. */
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Uses the code that earlier starts of this release with this data folder compiled, for all modules
 * that are loaded from now on, and removes that of other releases. The code is executed, so a
 * folder in which others could write is not trusted.
 */
export function useCompiledCode(dataDir: string, release: string): void {
  // The first start makes the folder, or takes an empty one, or says why it cannot. Until then it
  // may be anybody's: nothing is removed from it, nor put into it.
  if (!existsSync(join(dataDir, IDENTITY_FILE))) return;
  const folder = join(dataDir, FOLDER);
  const own = join(folder, release);
  const isTrusted = attempt(
    () => isPrivate(statSync(dataDir)) && [folder, own].every(isAbsentOrPrivate),
  );
  if (isTrusted !== true) {
    // Of a symbolic link this removes the link, and nothing of what it leads to.
    remove(folder);
    return;
  }
  for (const name of attempt(() => readdirSync(folder)) ?? [])
    if (name !== release) remove(join(folder, name));
  enableCompileCache?.(own);
}

/** Whether this user alone can write in a folder. */
const isPrivate = (stat: Stats): boolean =>
  stat.isDirectory() && stat.uid === process.geteuid?.() && (stat.mode & WRITABLE_BY_OTHERS) === 0;

function isAbsentOrPrivate(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat === undefined || isPrivate(stat);
}

function remove(path: string): void {
  attempt(() => rmSync(path, { recursive: true, force: true }));
}

/** Writes the code that was compiled so far. Node itself does so only at an orderly end. */
export function keepCompiledCode(): void {
  flushCompileCache?.();
}

/** A cache must not keep a node from starting. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
