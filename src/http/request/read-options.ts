/** Consistency mode and blocking parameters of a read. */
import { reject } from '../../base/errors.js';
import type { ReadOptions } from '../../service/common/types.js';
import { parameterOf, parseIndex, parseWait, type Query } from './parameters.js';

/** How long a blocking query waits by default, and at most: as long as in Consul. */
const WAIT_DEFAULT_MS = 300_000;
const WAIT_MAX_MS = 600_000;
/**
 * Up to 1/16 of the wait is added at random, so that watchers that came together do not leave
 * together.
 */
const JITTER = 1 / 16;
/** The longest that a blocking query waits. */
export const HELD_MS_MAX = WAIT_MAX_MS * (1 + JITTER);

/**
 * Reads the options of a read from its query string. Throws 400. An `index` of 0 does not block;
 * without `blocking` every index is checked and then counts as 0.
 */
export function readOptionsOf(query: Query, timeoutMs: number, blocking: boolean): ReadOptions {
  if (query.size === 0) return { mode: 'default', index: 0, waitMs: 0, timeoutMs };
  const mode = modeOf(query);
  const waitText = parameterOf(query, 'wait');
  const waitAsked = waitText === undefined ? 0 : parseWait(waitText);
  if (waitAsked === undefined)
    reject('invalid', `Invalid wait time: ${quoted(waitText!)} is no duration such as 30s or 5m`);
  const indexText = parameterOf(query, 'index');
  const index = indexText === undefined ? 0 : parseIndex(indexText);
  if (index === undefined)
    reject('invalid', `Invalid index: ${quoted(indexText!)} is no unsigned 64-bit number`);
  if (!blocking || index === 0) return { mode, index: 0, waitMs: 0, timeoutMs };
  const wait = waitAsked <= 0 ? WAIT_DEFAULT_MS : Math.min(waitAsked, WAIT_MAX_MS);
  return { mode, index, waitMs: wait + Math.random() * wait * JITTER, timeoutMs };
}

function modeOf(query: Query): ReadOptions['mode'] {
  const isConsistent = query.has('consistent');
  const isStale = query.has('stale');
  if (isConsistent && isStale) reject('invalid', conflicting('stale'));
  if (isConsistent && query.has('cached')) reject('invalid', conflicting('cached'));
  const boundText = parameterOf(query, 'max_stale');
  const bound = boundText === undefined ? 0 : parseWait(boundText);
  if (bound === undefined)
    reject('invalid', `Invalid max_stale value ${quoted(boundText!)}: no duration such as 10s`);
  if (isConsistent && bound > 0) reject('invalid', conflicting('max_stale'));
  if (isConsistent) return 'consistent';
  return isStale || bound > 0 ? 'stale' : 'default';
}

const conflicting = (other: string): string =>
  `Cannot specify ?${other} with ?consistent, conflicting semantics.`;

const quoted = (text: string): string => JSON.stringify(text.slice(0, 60));
