/** Ports for nodes that are stopped and started again. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

export const HOST = '127.0.0.1';
/**
 * Below what Linux (32768 up) and others take for outgoing connections: such a one would keep a
 * node from coming back.
 */
const LOWEST = 10_240;
const HIGHEST = 32_767;

/**
 * So many different ports that nobody listens on at present, and that no outgoing connection takes
 * later.
 */
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
