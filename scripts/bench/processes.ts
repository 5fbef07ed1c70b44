/** Programs of others that are measured beside a node, and what they use. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Clock ticks of Linux in a second, in which /proc counts CPU time. */
const TICKS_PER_SECOND = 100;
const POLL_MS = 50;
const READY_MS = 60_000;

/** Starts a program, and waits until `isReady` says so or stops throwing. */
export async function startProgram(
  program: string,
  args: readonly string[],
  isReady: () => Promise<boolean>,
): Promise<ChildProcess> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    await until(`${program} is ready`, async () => {
      if (child.exitCode !== null) throw new Error(`${program} exited with ${child.exitCode}`);
      return isReady().catch(() => false);
    });
    return child;
  } catch (error) {
    await end(child);
    throw error;
  }
}

/** Waits until something holds; throws after a minute, or after `limitMs`. */
export async function until(
  what: string,
  holds: () => Promise<boolean>,
  limitMs = READY_MS,
): Promise<void> {
  const begin = performance.now();
  while (!(await holds())) {
    if (performance.now() - begin > limitMs) throw new Error(`not so in ${limitMs} ms: ${what}`);
    await sleep(POLL_MS);
  }
}

/** Runs a program to its end and returns what it printed. Throws if it fails. */
export function outputOf(program: string, args: readonly string[]): string {
  const { error, status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${program} exited with ${status}: ${stderr}`);
  return `${stdout}${stderr}`;
}

/** Seconds of CPU time that processes have used. */
export function cpuSecondsOf(processes: readonly Pick<ChildProcess, 'pid'>[]): number {
  const ticks = processes.map(({ pid }) => {
    // the name of the program, which may hold blanks, ends with the last parenthesis
    const [, fields] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?!.*\) )/s);
    const [user, system] = fields!.split(' ').slice(11, 13).map(Number);
    return user! + system!;
  });
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND;
}

/** Resident megabytes of a process. */
export function residentMbOf({ pid }: ChildProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** The most resident megabytes of a process so far; undefined if it is gone. */
export function peakMbOf({ pid }: ChildProcess): number | undefined {
  const file = `/proc/${pid}/status`;
  const status = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  return peak === undefined ? undefined : Number(peak) / 1024;
}

/** Ends a process, and waits until it is gone. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill();
  await exit;
}
