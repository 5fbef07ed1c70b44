/** V8's compiled code on disk, for the next start. Node has this from 22.1 on. */
import { readdirSync, rmSync, statSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';

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
 * folder in which others can write is not trusted.
 */
export function useCompiledCode(dataDir: string, release: string): void {
  const stat = attempt(() => statSync(dataDir));
  // The first start makes the folder later, or says why it cannot.
  if (stat === undefined) return;
  const isPrivate = stat.uid === process.geteuid?.() && (stat.mode & WRITABLE_BY_OTHERS) === 0;
  const folder = join(dataDir, FOLDER);
  for (const name of attempt(() => readdirSync(folder)) ?? []) {
    if (isPrivate && name === release) continue;
    attempt(() => rmSync(join(folder, name), { recursive: true, force: true }));
  }
  if (isPrivate) enableCompileCache?.(join(folder, release));
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
