/** Locks that keep two processes from writing one file. */
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { realpath, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';

/** A lock that is held. */
export interface FileLock {
  release(): Promise<void>;
}

/**
 * Locks a path, which need not exist, for this process. Rejects if another process on this machine
 * holds the lock. It is an abstract socket, which ends with its process however that ends; systems
 * other than Linux have none, and get no lock.
 */
export async function lockFile(path: string): Promise<FileLock> {
  if (process.platform !== 'linux') return { release: async () => {} };
  const target = await realpath(path).catch(() => path);
  // By its folder: a file gets another inode when it is rotated.
  const { dev, ino } = await stat(dirname(target));
  const name = hash('sha256', join(`${dev}:${ino}`, basename(target)));
  const socket = createServer().unref();
  socket.listen(`\0conclave-${name}`);
  try {
    await once(socket, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE') throw error;
    throw new Error(`${path} is in use by another process: each node needs a file of its own`);
  }
  return {
    release: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}
