/** Checks of the options, and how long leases and silences last. */
import type { RaftOptions } from './types.js';

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
