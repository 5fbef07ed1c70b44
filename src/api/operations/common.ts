/** Parts that operations share. */
import type { Answer } from './types.js';

/** Parameters of reads that block. */
export const BLOCKING = ['index', 'wait'] as const;

/** The answer of a deletion. */
export const DELETED = {
  200: {
    says: 'Whether there was one.',
    content: { schema: { type: 'boolean' } },
  },
} as const satisfies Record<number, Answer>;

/** An empty answer. */
export const DONE = {
  200: { says: 'The operation succeeded.', media: 'text/plain; charset=utf-8' },
} as const satisfies Record<number, Answer>;
