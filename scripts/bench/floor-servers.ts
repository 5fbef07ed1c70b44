/** Starts the three servers of `floor.ts`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePorts, HOST } from '../../src/dev/ports.js';
import { FIGURES_PATH, type FloorFigures } from './floor-state.js';
import { Line, type Target } from './line.js';

const PROGRAM = fileURLToPath(new URL('./floor.js', import.meta.url));
const SERVERS = 3;
const POLL_MS = 20;

/** The running servers. The first one leads. */
export class Floor {
  readonly targets: readonly Target[];

  constructor(urls: readonly string[]) {
    this.targets = urls.map((url) => ({ url, token: '' }));
  }

  /** Seconds of CPU time that all of them have used. */
  async cpuSeconds(): Promise<number> {
    const all = await Promise.all(this.targets.map((target) => figuresOf(target)));
    return all.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  }

  /** The reads that a server holds; server 0 leads. */
  async held(server = 0): Promise<number> {
    return (await figuresOf(this.targets[server]!)).held;
  }

  /** Resident megabytes of a server. */
  async residentMb(server = 0): Promise<number> {
    return (await figuresOf(this.targets[server]!)).residentMb;
  }
}

async function figuresOf(target: Target): Promise<FloorFigures> {
  const line = new Line(target);
  const ask = { method: 'GET', path: FIGURES_PATH } as const;
  const { body } = await line.ask(ask).finally(() => line.close());
  return JSON.parse(body.toString()) as FloorFigures;
}

/** Runs `measure` with three new servers, and ends them in any case. */
export async function withFloor(measure: (floor: Floor) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'conclave-floor-'));
  const ports = await freePorts(2 * SERVERS);
  const httpPorts = ports.slice(0, SERVERS);
  const servers: ChildProcess[] = [];
  try {
    const floor = new Floor(httpPorts.map((port) => `http://${HOST}:${port}`));
    // One after the other: the others connect to the leader when they start.
    for (const [position, target] of floor.targets.entries()) {
      const lists = [httpPorts.join(), ports.slice(SERVERS).join()];
      const values = [String(position), ...lists, join(dir, `log-${position}`)];
      servers.push(
        spawn(process.execPath, [PROGRAM, ...values], {
          stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        }),
      );
      await answers(target, servers.at(-1)!);
    }
    await measure(floor);
  } finally {
    await Promise.all(servers.map(end));
    await rm(dir, { recursive: true, force: true });
  }
}

async function answers(target: Target, server: ChildProcess): Promise<void> {
  while (!(await figuresOf(target).then(Boolean, () => false))) {
    if (server.exitCode !== null) throw new Error(`the server of ${target.url} ended`);
    await sleep(POLL_MS);
  }
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exit = once(server, 'exit');
  server.kill();
  await exit;
}
