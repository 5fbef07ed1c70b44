/** Blocking queries of lists of which a caller sees only a part. */
import type { CallEnd } from '../common/call-end.js';
import type { ReadOptions } from '../common/types.js';

/**
 * A list that was read, and a digest of what it shows. A list that shows every item needs no
 * digest: each change of the index changes it.
 */
export interface ListRead<T> {
  readonly outcome: T;
  readonly digest?: string | undefined;
}
/** Reads a list once, or when its index is greater than that of the options. */
export type ReadList<T> = (options: ReadOptions, withDigest: boolean) => Promise<ListRead<T>>;

/**
 * Returns a list at once if its index is greater than the requested one, otherwise when what it
 * shows has changed. A change of items that are hidden from the caller, or excluded by the request,
 * does not count.
 */
export async function readList<T extends { readonly index: number }>(
  options: ReadOptions,
  read: ReadList<T>,
): Promise<T> {
  const first = await read({ ...options, index: 0 }, options.index > 0);
  if (options.index === 0 || first.outcome.index > options.index) return first.outcome;
  // Only the digest is kept in memory while the caller waits.
  return hold(options, read, first.digest);
}

/**
 * Milliseconds to pause after a change of hidden items alone. A burst of such writes then does not
 * read the list each time.
 */
const REST_MS = 50;

function rest(ms: number, end: CallEnd | undefined): Promise<void> {
  if (end?.isOver) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    if (end === undefined) return;
    end.wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

async function hold<T extends { readonly index: number }>(
  options: ReadOptions,
  read: ReadList<T>,
  lastDigest: string | undefined,
): Promise<T> {
  const until = performance.now() + options.waitMs;
  for (let { index } = options; ; ) {
    const waitMs = until - performance.now();
    const how = { ...options, mode: 'stale' as const, index, waitMs };
    const { outcome, digest } = await read(how, lastDigest !== undefined);
    const isOver = outcome.index <= index;
    if (isOver || lastDigest === undefined || digest !== lastDigest) return outcome;
    index = outcome.index;
    await rest(Math.min(REST_MS, until - performance.now()), options.end);
  }
}
