/** Makes a damaged state again from the log. */
import type { Index } from '../raft/types.js';
import { Machine, type MachineLimits } from '../state/machine.js';
import { recordOf } from '../state/machine-record.js';
import type { Handlers } from '../state/types.js';
import type { Disk } from '../storage/disk.js';
import { installRecords, recordsOf } from '../storage/install.js';
import { LEVEL_DISK } from '../storage/level-disk.js';
import type { SegmentLog } from '../storage/log.js';
import { MemoryState } from '../storage/memory-state.js';
import type { LevelState } from '../storage/state.js';

/** Bytes of entries that are applied in one slice. */
const APPLY_BYTES = 2 ** 20;

/**
 * Returns the index up to which the log can make a damaged state again: the applied index of the
 * state, because what it applied was committed. Returns 0 if that index cannot be read; the entries
 * are then applied as they become known to be committed. Returns undefined if the log lacks an
 * entry.
 */
export function rebuildableTo(log: SegmentLog, { remains }: LevelState): Index | undefined {
  if (log.firstIndex() > 1) return undefined;
  const record = remains && recordOf(remains);
  if (record === undefined) return log.bar() === undefined ? 0 : undefined;
  return log.term(record.index) === record.term ? record.index : undefined;
}

export interface RebuildOptions {
  readonly upTo: Index;
  readonly handlers: Handlers;
  readonly levels?: { readonly supported: number } | undefined;
  /** See Machine. Only simulations set it. */
  readonly machineLimits?: MachineLimits | undefined;
  /** Absent: the real disk. Only simulations set it. */
  readonly disk?: Disk | undefined;
}

/**
 * Applies the log up to `upTo` to an empty state, and installs that in place of the damaged one.
 * The new state is made in memory, because a log that was never compacted is small.
 */
export async function rebuildState(
  log: SegmentLog,
  store: LevelState,
  { upTo, handlers, levels, machineLimits, disk = LEVEL_DISK }: RebuildOptions,
): Promise<void> {
  const state = new MemoryState(undefined, (run) => disk.clock.soon(run));
  const machine = new Machine(state, handlers, levels?.supported, machineLimits);
  await applyUpTo(upTo, log, machine, () => state.sync());
  await installRecords(store, recordsOf(state));
}

/** Applies entries up to `upTo`. Calls `applied` after each slice. */
export async function applyUpTo(
  upTo: Index,
  log: SegmentLog,
  machine: Machine,
  applied: () => void = () => {},
): Promise<void> {
  while (machine.appliedIndex() < upTo) {
    const entries = log.entries(machine.appliedIndex() + 1, upTo, APPLY_BYTES);
    await new Promise<void>((resolve) => {
      machine.apply(entries, () => resolve());
      if (!machine.isReplacing) resolve();
    });
    applied();
  }
}
