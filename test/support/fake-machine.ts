/** A machine with a disk in memory, in real time: for tests of what runs on it. */
import { Random } from '../../cluster/checker/random.js';
import type { Disk } from '../../src/storage/disk.js';
import { LEVEL_DISK } from '../../src/storage/level-disk.js';
import { FakeDisk } from './fake-disk.js';

/** What a test does with such a machine. */
export interface FakeMachine {
  readonly disk: FakeDisk;
  /** Returns the disk as a new process has it. */
  start(): Disk;
  /** A machine with the same files, which `change` may spoil. */
  copy(change?: (files: Map<string, Buffer>) => void): FakeMachine;
}

/** Syncs take a turn of the event loop. */
export function fakeMachine(seed = 1): FakeMachine {
  const disk = new FakeDisk({ after: (_ms, run) => setImmediate(run) }, new Random(seed));
  return {
    disk,
    start: () => disk.attach(LEVEL_DISK.clock),
    copy: (change = () => {}) => {
      const files = disk.files.content();
      change(files);
      const copied = fakeMachine(seed);
      copied.disk.files.restore(files);
      return copied;
    },
  };
}
