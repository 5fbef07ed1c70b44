/** V8's compiled code on disk, for the next start. Node has this from 22.10 on. */
import { rmSync, statSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';

/** The parts of `node:module` that the types of Node 20 lack. */
interface CompileCache {
  enableCompileCache?(dir: string): unknown;
  flushCompileCache?(): void;
}

const { enableCompileCache, flushCompileCache } = module as CompileCache;
/** The folder in a data folder. */
const FOLDER = 'compile-cache';
/** Permission bits with which others can write. */
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Uses the code that earlier starts with this data folder compiled, for all modules that are loaded
 * from now on. The code is executed, so a folder in which others can write is not trusted.
 */
export function useCompiledCode(dataDir: string): void {
  const folder = join(dataDir, FOLDER);
  const { uid, mode } = statSync(dataDir);
  const isPrivate = uid === process.geteuid?.() && (mode & WRITABLE_BY_OTHERS) === 0;
  if (isPrivate) enableCompileCache?.(folder);
  else rmSync(folder, { recursive: true, force: true });
}

/** Writes the code that was compiled so far. Node itself does so only at an orderly end. */
export function keepCompiledCode(): void {
  flushCompileCache?.();
}
