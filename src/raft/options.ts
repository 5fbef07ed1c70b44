/** The options of the core, and how long leases and silences last. */
import type { Trace } from './decisions.js';
import type { NodeId } from './types.js';

/**
 * Options of the core. Timing is in ticks, limits are in bytes. `checkOptions` checks them at
 * construction.
 */
export interface RaftOptions {
  readonly id: NodeId;
  /** Minimum election timeout. The actual one is random in [electionTicks, 2 * electionTicks). */
  readonly electionTicks: number;
  /** Ticks between heartbeats, at most half of electionTicks. */
  readonly heartbeatTicks: number;
  /**
   * Minimum milliseconds between two ticks of the driver. Used only for the silence that leases
   * rest on.
   */
  readonly tickMs: number;
  /**
   * Maximum length of a lease, in milliseconds of the clock of `step` since its quorum round was
   * *sent*; 0 for no leases. A lease is shorter if followers keep a shorter silence; see
   * `silenceMsOf` and `leaseMsOver`.
   */
  readonly leaseMs: number;
  /**
   * Ticks of silence that an earlier run may have promised to a leader (§6.4.1). The server keeps
   * them after the start if they exceed electionTicks. Absent: the earlier run had the same timing.
   */
  readonly promisedTicks?: number;
  /** Bytes of entries in one append message. */
  readonly maxAppendBytes: number;
  /** Bytes of entries in flight to one follower. */
  readonly maxInflightBytes: number;
  /** Bytes of uncommitted entries, beyond which proposals are dropped as overloaded. */
  readonly maxUncommittedBytes: number;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  /** Gets each decision, for a log or a test. Absent: decisions cost nothing. */
  readonly trace?: Trace | undefined;
}

type Timing = Pick<RaftOptions, 'electionTicks' | 'tickMs'>;

/**
 * Fraction of the followers' silence that a lease may use. The rest is for clocks that run at
 * different speeds.
 */
const LEASE_SHARE = 0.9;

/**
 * Returns the minimum time for which a follower refuses votes after it heard its leader (§4.2.3),
 * in whole milliseconds. The follower counts electionTicks, but the first tick may follow
 * immediately, and the one before may have been late.
 */
export function silenceMsOf({ electionTicks, tickMs }: Timing): number {
  return Math.max(0, Math.floor((electionTicks - 2) * tickMs));
}

/**
 * Returns the number of ticks that keep a silence of `silenceMs`: the inverse of `silenceMsOf`.
 */
export function ticksOfSilence(silenceMs: number, tickMs: number): number {
  return Math.ceil(silenceMs / tickMs) + 2;
}

/**
 * Returns how long a lease may rest on the silence of a follower, in milliseconds since its round
 * was sent (§6.4.1).
 */
export function leaseMsOver(silenceMs: number): number {
  return silenceMs * LEASE_SHARE;
}

/** Returns the longest lease that followers with the same timing allow, in milliseconds. */
export function leaseMsMax(timing: Timing): number {
  return leaseMsOver(silenceMsOf(timing));
}

/** Returns what is wrong with the options, with the values; undefined if they are consistent. */
export function checkOptions(options: RaftOptions): string | undefined {
  const { heartbeatTicks, electionTicks, leaseMs } = options;
  if (options.id === '') return 'id must not be empty';
  for (const name of [
    'electionTicks',
    'heartbeatTicks',
    'maxAppendBytes',
    'maxInflightBytes',
    'maxUncommittedBytes',
  ] as const) {
    const value = options[name];
    if (!Number.isSafeInteger(value) || value < 1) {
      return `${name} must be a whole number of at least 1, not ${value}`;
    }
  }
  if (!Number.isFinite(options.tickMs) || options.tickMs <= 0) {
    return `tickMs must be a positive number, not ${options.tickMs}`;
  }
  if (2 * heartbeatTicks > electionTicks) {
    return `heartbeatTicks (${heartbeatTicks}) must be at most half of electionTicks (${electionTicks})`;
  }
  if (options.maxInflightBytes < options.maxAppendBytes) {
    return `maxInflightBytes (${options.maxInflightBytes}) must be at least maxAppendBytes (${options.maxAppendBytes})`;
  }
  const longest = leaseMsMax(options);
  if (!(leaseMs >= 0 && leaseMs <= longest)) {
    return (
      `leaseMs (${leaseMs}) must be between 0 and ${longest}, nine tenths of ` +
      `(electionTicks ${electionTicks} - 2) * tickMs ${options.tickMs}: followers refuse votes only that long`
    );
  }
  return undefined;
}
