/** The resources of a node's process, as `preload.ts` writes them. */
import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalNode } from '../../src/dev/local.js';

/** Environment variable that names the file. */
export const FIGURES_VARIABLE = 'FUZZ_FIGURES';

export interface Figures {
  readonly residentBytes: number;
  /** JavaScript objects and buffers in use, after a garbage collection. */
  readonly heapBytes: number;
  /** Open descriptors that are sockets, and all others. */
  readonly sockets: number;
  readonly files: number;
  /** What keeps the event loop busy, by kind. */
  readonly handles: Readonly<Record<string, number>>;
}

/**
 * How much more a node may use than after the warm-up, once every client is gone. Its caches may
 * fill: 16 MB of log entries, 8 MB of recent values and 16 MB of long values. Code takes about 8
 * MB.
 */
export const GROWTH = { residentMb: 60, heapMb: 48, sockets: 8, files: 64, handles: 24 } as const;

const POLL_MS = 20;
const ANSWER_MS = 10_000;

/** Queries a node. Throws if it does not respond. */
export async function figuresOf(node: LocalNode, file: string): Promise<Figures> {
  rmSync(file, { force: true });
  await node.kill('SIGUSR2');
  for (const until = performance.now() + ANSWER_MS; performance.now() < until; ) {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Figures;
    } catch {
      await sleep(POLL_MS);
    }
  }
  throw new Error(`node ${node.name} does not tell its figures`);
}

const handlesOf = ({ handles }: Figures): number =>
  Object.values(handles).reduce((sum, count) => sum + count, 0);

/** The figures that have grown beyond their limits. */
export function growth(before: Figures, after: Figures): string[] {
  const megabytes = (of: (one: Figures) => number): number =>
    Math.round((of(after) - of(before)) / 2 ** 20);
  const found: [string, number, number][] = [
    ['MB of resident memory', megabytes((one) => one.residentBytes), GROWTH.residentMb],
    ['MB of objects and buffers', megabytes((one) => one.heapBytes), GROWTH.heapMb],
    ['sockets', after.sockets - before.sockets, GROWTH.sockets],
    ['open files', after.files - before.files, GROWTH.files],
    ['active handles', handlesOf(after) - handlesOf(before), GROWTH.handles],
  ];
  return found
    .filter(([, more, most]) => more > most)
    .map(
      ([what, more, most]) => `${more} ${what} more than after the warm-up, ${most} are allowed`,
    );
}

/** Resident memory of each node, and the part of it in use. */
export const memoryOf = (all: readonly Figures[]): string =>
  all
    .map(({ residentBytes, heapBytes }) =>
      [residentBytes, heapBytes].map((bytes) => (bytes / 2 ** 20).toFixed(0)).join('/'),
    )
    .join(' ')
    .concat(' MB');
