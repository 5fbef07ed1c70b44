/** Lists that are held until what the caller sees of them is another. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadOptions } from './types.js';

/** A list that was read, and what tells it from others; no digest: it shows all there is, so every change is one to it. */
export interface Made<T> {
  readonly outcome: T;
  readonly digest?: string | undefined;
}
/** Reads a list once, or when its index is greater than the one of the options. */
export type Make<T> = (options: ReadOptions, withDigest: boolean) => Promise<Made<T>>;

/**
 * Answers a list at once if its index is greater than the one asked for, else when what it shows has changed: a change of
 * items that are hidden from the caller, or that the request leaves out, is none to it.
 */
export async function readList<T extends { readonly index: number }>(
  options: ReadOptions,
  make: Make<T>,
): Promise<T> {
  const first = await make({ ...options, index: 0 }, options.index > 0);
  if (options.index === 0 || first.outcome.index > options.index) return first.outcome;
  // of what the caller has seen only the digest is kept while it waits
  return hold(options, make, first.digest);
}

/** A list of which only the hidden part changes, write after write, is not made anew at every one. */
const REST_MS = 50;

const rest = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);

async function hold<T extends { readonly index: number }>(
  options: ReadOptions,
  make: Make<T>,
  seen: string | undefined,
): Promise<T> {
  const until = performance.now() + options.waitMs;
  for (let { index } = options; ; ) {
    const waitMs = until - performance.now();
    const how = { ...options, mode: 'stale' as const, index, waitMs };
    const { outcome, digest } = await make(how, seen !== undefined);
    const isOver = outcome.index <= index;
    if (isOver || seen === undefined || digest !== seen) return outcome;
    index = outcome.index;
    await rest(Math.min(REST_MS, until - performance.now()), options.signal);
  }
}
