/** Free ports for nodes that are stopped and started again. */
import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/** The address of all local nodes. */
export const HOST = '127.0.0.1';
/**
 * The range is below the ephemeral ports of Linux (from 32768) and other systems. An outgoing
 * connection on its port would keep a stopped node from starting again.
 */
const LOWEST = 10_240;
const HIGHEST = 32_767;
/**
 * A process takes its ports from blocks that it owns: it listens on the first port of a block as
 * long as it runs. Ports are free before their node listens and while it is down, and two processes
 * that chose among all free ports would sometimes choose the same one.
 */
const BLOCK = 256;
const BLOCKS = (HIGHEST + 1 - LOWEST) / BLOCK;

/** The ports of the owned blocks that no caller has, in ascending order within a block. */
const left: number[] = [];
/** The block that is being taken, if one is. */
let taking: Promise<void> | undefined;

/**
 * Returns `count` ports that are free now and outside the ephemeral range, and that no other call
 * returns, in this process or in another one. Throws if other processes own all ports.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = left.shift();
    if (port === undefined) {
      taking ??= takeBlock();
      await taking;
    } else if (await isFree(port)) ports.push(port);
  }
  return ports;
}

async function takeBlock(): Promise<void> {
  const first = randomInt(BLOCKS);
  for (let step = 0; step < BLOCKS; step += 1) {
    const guard = LOWEST + ((first + step) % BLOCKS) * BLOCK;
    const server = await listen(guard);
    if (server === undefined) continue;
    server.unref();
    left.push(...Array.from({ length: BLOCK - 1 }, (_, at) => guard + 1 + at));
    taking = undefined;
    return;
  }
  throw new Error(`no ports are left from ${LOWEST} to ${HIGHEST}`);
}

async function isFree(port: number): Promise<boolean> {
  const server = await listen(port);
  if (server === undefined) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
}

/** Listens on a port. Resolves to undefined if it is in use. */
function listen(port: number): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen(port, HOST, () => resolve(server));
  });
}
