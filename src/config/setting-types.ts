/** Types and bounds that several settings share. */

/** A TCP port; 0 for a free one. */
export const PORT = { type: 'integer', min: 0, max: 65_535 } as const;
/** Milliseconds, up to an hour. */
export const MS = { type: 'integer', min: 1, max: 3_600_000 } as const;
/** A number of things. */
export const COUNT = { type: 'integer', min: 1, max: 1_000_000 } as const;
/** Things per second; 0 for no limit. */
export const RATE = { type: 'integer', min: 0, max: 10_000_000 } as const;
export const TEXT = { type: 'text' } as const;
