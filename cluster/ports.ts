/** Free ports for nodes that are stopped and started again. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** The address of all local nodes. */
export const HOST = '127.0.0.1';
/**
 * The range is below the ephemeral ports of Linux (from 32768) and other systems. An outgoing
 * connection on its port would keep a stopped node from starting again.
 */
const LOWEST = 10_240;
const HIGHEST = 32_767;

/** Returns `count` distinct ports that are free now and outside the ephemeral range. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(LOWEST, HIGHEST + 1);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, HOST, () => server.close(() => resolve(true)));
  });
}
