import type { RaftOptions } from './types.js';

/** Part of the sticky period that a lease may fill: the rest is for clocks that run at different speeds. */
const LEASE_SHARE = 0.9;

/** The longest lease that followers' silence covers (§6.4.1), in milliseconds; see `RaftOptions.leaseMs`. */
export function leaseMsMax(options: Pick<RaftOptions, 'electionTicks' | 'tickMs'>): number {
  return Math.max(0, (options.electionTicks - 2) * options.tickMs * LEASE_SHARE);
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
