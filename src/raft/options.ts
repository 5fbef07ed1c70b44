import type { RaftOptions } from './types.js';

type Timing = Pick<RaftOptions, 'electionTicks' | 'tickMs'>;

/**
 * Part of the followers' silence that a lease may fill: the rest is for clocks that run at
 * different speeds.
 */
const LEASE_SHARE = 0.9;

/**
 * How long a follower refuses votes after it heard its leader (§4.2.3), at least, in whole
 * milliseconds. It counts electionTicks; the first may come at once, and one more may have been
 * late before it.
 */
export function silenceMsOf({ electionTicks, tickMs }: Timing): number {
  return Math.max(0, Math.floor((electionTicks - 2) * tickMs));
}

/**
 * How many ticks without a vote keep a silence of so many milliseconds: the inverse of
 * `silenceMsOf`.
 */
export function ticksOfSilence(silenceMs: number, tickMs: number): number {
  return Math.ceil(silenceMs / tickMs) + 2;
}

/**
 * How long a lease may rest on the silence of a follower, in milliseconds from when its round was
 * sent (§6.4.1).
 */
export function leaseMsOver(silenceMs: number): number {
  return silenceMs * LEASE_SHARE;
}

/** The longest lease that followers with the same timing cover, in milliseconds. */
export function leaseMsMax(timing: Timing): number {
  return leaseMsOver(silenceMsOf(timing));
}

/** Says what is wrong with the options, with the figures; undefined when they fit together. */
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
