/** A machine with a disk in memory, in real time: for tests of what runs on it. */
import { Random } from '../../cluster/checker/random.js';
import type { Disk } from '../../src/storage/disk.js';
import { LEVEL_DISK } from '../../src/storage/level-disk.js';
import { FakeDisk } from './fake-disk.js';

/** Syncs take a turn of the event loop. `start` returns the disk as a new process has it. */
export function fakeMachine(seed = 1): { readonly disk: FakeDisk; start(): Disk } {
  const disk = new FakeDisk({ after: (_ms, run) => setImmediate(run) }, new Random(seed));
  return { disk, start: () => disk.attach(LEVEL_DISK.clock) };
}
