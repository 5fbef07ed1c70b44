/**
 * Applies committed entries to the state machine, a bounded number in each turn of the loop, so
 * that a long log does not delay messages. Applying rests while the disk of the state is behind,
 * and is paused while the whole state is replaced.
 */
import { invariant } from '../../raft/assert.js';
import type { Entry, Index } from '../../raft/types.js';
import type { Result } from '../../state/types.js';
import type { DiskWatch } from '../disk-watch.js';
import type { ClockPort, LogPort, MachinePort } from '../ports.js';

/** How much one turn applies. */
export interface ApplyLimits {
  /**
   * Entries and bytes applied in one turn. Messages are handled between turns, so applying does not
   * delay them for long.
   */
  readonly applyEntriesMax: number;
  readonly applyBytesMax: number;
}

export interface ApplierParts {
  readonly log: LogPort;
  readonly machine: MachinePort;
  readonly clock: Pick<ClockPort, 'after' | 'now'>;
  readonly disks: DiskWatch;
  readonly limits: ApplyLimits & { readonly tickMs: number };
  /** See LoopParts. */
  readonly isBehind: () => boolean;
  /** Entries were applied, with their results by position. */
  readonly applied: (entries: readonly Entry[], results: readonly (Result | undefined)[]) => void;
  /** Requests a turn of the loop. */
  readonly wake: () => void;
  /** Gets the milliseconds that it took to apply the entries of a turn. */
  readonly measure?: ((ms: number) => void) | undefined;
}

/** Applies committed entries. Only the Raft loop calls it. */
export class Applier {
  readonly #parts: ApplierParts;
  #isPaused = false;
  /** Resting until the next tick, because the disk of the state is behind. */
  #isResting = false;
  /** An entry is being applied that takes many turns. */
  #isApplyingLong = false;
  /** See MachinePort.replacingTurns. */
  #turns = 0;
  #stopped = false;

  constructor(parts: ApplierParts) {
    this.#parts = parts;
  }

  /** Whether the state is being replaced. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Applies nothing until `resume`. */
  pause(): void {
    this.#isPaused = true;
    this.#parts.disks.stateProgressed();
  }

  /** Applies again from the next turn on. What was waited for meanwhile is part of the past. */
  resume(): void {
    this.#isPaused = false;
    this.#parts.disks.stateProgressed();
  }

  /** While an entry takes many turns, it is the disk of the state that they wait for. */
  tick(): void {
    const { disks, machine } = this.#parts;
    if (!this.#isApplyingLong || this.#isPaused) return;
    if (machine.replacingTurns !== this.#turns) disks.stateProgressed();
    this.#turns = machine.replacingTurns;
    disks.isStateBehind = true;
  }

  /** Stops for good: what is still being applied is not reported. */
  stop(): void {
    this.#stopped = true;
  }

  /** Applies the next entries up to `upTo`, as many as one turn may. The rest waits. */
  applyUpTo(upTo: Index): void {
    const { log, machine, limits, disks, isBehind, clock, measure } = this.#parts;
    if (this.#isPaused || this.#isResting || this.#isApplyingLong) return;
    const from = machine.appliedIndex() + 1;
    if (from > upTo) return;
    if (isBehind()) {
      this.#rest();
      return;
    }
    const hi = Math.min(upTo, from + limits.applyEntriesMax - 1);
    const entries = log.entries(from, hi, limits.applyBytesMax);
    const found = entries[0]?.index;
    invariant(found === from, 'the log lacks the entry to apply', { from, found, upTo });
    disks.stateProgressed();
    const since = measure === undefined ? 0 : clock.now();
    const results = machine.apply(entries, (result) =>
      this.#appliedLong(entries[results.length]!, result),
    );
    measure?.(clock.now() - since);
    const applied = machine.appliedIndex();
    const expected = from - 1 + results.length;
    invariant(applied === expected, 'applied other entries than given', { applied, expected });
    this.#isApplyingLong = machine.isReplacing;
    if (results.length > 0) this.#parts.applied(entries.slice(0, results.length), results);
  }

  #appliedLong(entry: Entry, result: Result | undefined): void {
    this.#isApplyingLong = false;
    this.#parts.disks.stateProgressed();
    if (this.#stopped) return;
    if (result === undefined) this.#rest();
    else this.#parts.applied([entry], [result]);
  }

  /** Rests for a tick, because the disk of the state does not keep up: its backlog is bounded. */
  #rest(): void {
    const { clock, disks, limits, wake } = this.#parts;
    disks.isStateBehind = true;
    this.#isResting = true;
    clock.after(limits.tickMs, () => {
      this.#isResting = false;
      wake();
    });
  }
}
