/**
 * Loaded into a node before its own code (`node --import`): on SIGUSR2 it collects garbage and
 * writes the resources of the process to a file. The node itself does not know of it.
 */
import { readdirSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { FIGURES_VARIABLE, type Figures } from './figures.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const file = process.env[FIGURES_VARIABLE]!;

process.on('SIGUSR2', () => {
  collect();
  const { rss, heapUsed, external } = process.memoryUsage();
  const figures: Figures = {
    residentBytes: rss,
    heapBytes: heapUsed + external,
    ...descriptors(),
    ...handles(),
  };
  writeFileSync(`${file}.part`, JSON.stringify(figures));
  renameSync(`${file}.part`, file);
});

/** Open descriptors; none are reported without /proc. */
function descriptors(): Pick<Figures, 'sockets' | 'files'> {
  const counts = { sockets: 0, files: 0 };
  try {
    for (const name of readdirSync('/proc/self/fd')) {
      const isSocket = targetOf(name).startsWith('socket:');
      counts[isSocket ? 'sockets' : 'files'] += 1;
    }
  } catch {
    // Not Linux.
  }
  return counts;
}

function targetOf(name: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${name}`);
  } catch {
    // Closed since the folder was read.
    return '';
  }
}

function handles(): Pick<Figures, 'handles'> {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  return { handles: counts };
}
