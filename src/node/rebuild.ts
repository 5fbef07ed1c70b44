/** Makes a damaged state again from the log, beside what is left of it. */
import type { Index } from '../raft/types.js';
import { type Handlers, Machine, type MachineLimits, recordOf } from '../state/machine.js';
import type { Disk } from '../storage/disk.js';
import { installRecords, recordsOf } from '../storage/install.js';
import { LEVEL_DISK } from '../storage/level-disk.js';
import type { SegmentLog } from '../storage/log.js';
import { MemoryState } from '../storage/memory-state.js';
import type { LevelState } from '../storage/state.js';

/** Bytes of entries applied in one piece. */
const APPLY_BYTES = 2 ** 20;

/**
 * Up to where the log can make a damaged state again: what the state had applied, and so was committed, if the log holds
 * all of it from the beginning. 0 when that cannot be read any more: then all of the log is applied once it is known to be
 * committed. Undefined when the log lacks something.
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
  /** Given by simulations alone; see Machine. */
  readonly machineLimits?: MachineLimits | undefined;
  /** The machine; by default the real one. */
  readonly disk?: Disk | undefined;
}

/**
 * Applies the log up to `upTo` to an empty state, and puts that in the place of the damaged one. It is made in memory: a
 * log that was never cut is small.
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

/** Applies entries up to `upTo`; calls `applied` after each slice of them. */
export async function applyUpTo(
  upTo: Index,
  log: SegmentLog,
  machine: Machine,
  applied: () => void = () => {},
): Promise<void> {
  while (machine.appliedIndex() < upTo) {
    const entries = log.entries(machine.appliedIndex() + 1, upTo, APPLY_BYTES);
    await new Promise<void>((resolve) => {
      const results = machine.apply(entries, () => resolve());
      if (results.length === entries.length) resolve();
    });
    applied();
  }
}
