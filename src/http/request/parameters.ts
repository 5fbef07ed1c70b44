/**
 * Parameters: query strings, durations, indexes, names of namespaces, how to read. Functions that
 * refuse throw ApiError 400.
 */
import { reject } from '../../base/errors.js';
import { parseDuration } from '../../languages/duration.js';
import type { ReadOptions } from '../../service/common/types.js';
import { isReason, REASON_BYTES_MAX } from '../../service/common/writing.js';

/** Query parameters by name; the first of a name counts. */
export interface Query extends ReadonlyMap<string, string> {
  /** The name of a parameter that is sent again with another value. */
  readonly repeated?: string;
}
/** An empty query string. */
export const NO_QUERY: Query = new Map();

/** Returns the value of a parameter; undefined if it is absent or empty. */
export const parameterOf = (query: Query, name: string): string | undefined =>
  query.get(name) || undefined;

/** Decodes a percent-encoded text once; undefined if an escape is broken or is not UTF-8. */
export function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Reads a query string, without `?`. */
export function parseQuery(text: string): Query {
  if (text === '') return NO_QUERY;
  const query: Parsed = new Map<string, string>();
  for (let start = 0; start <= text.length; ) {
    const next = text.indexOf('&', start);
    const end = next < 0 ? text.length : next;
    if (end > start) addPair(query, text.slice(start, end));
    start = end + 1;
  }
  return query;
}

type Parsed = Map<string, string> & { repeated?: string };

function addPair(query: Parsed, pair: string): void {
  if (pair.includes(';'))
    reject('invalid', 'Invalid query string: ";" does not separate parameters, write "&" or %3B');
  const equals = pair.indexOf('=');
  const name = unescapeQuery(equals < 0 ? pair : pair.slice(0, equals));
  const value = equals < 0 ? '' : unescapeQuery(pair.slice(equals + 1));
  if (!query.has(name)) query.set(name, value);
  else if (query.get(name) !== value) query.repeated ??= name;
}

function unescapeQuery(text: string): string {
  const plain = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!plain.includes('%')) return plain;
  return (
    decode(plain) ??
    reject(
      'invalid',
      `Invalid query string: ${JSON.stringify(text.slice(0, 60))} is not percent-encoded UTF-8`,
    )
  );
}

/** Reads a duration with units (`1h0m0.2s`, `300ms`) as milliseconds; undefined if it is none. */
function parseWait(text: string): number | undefined {
  const parsed = parseDuration(text);
  return parsed.ok ? parsed.nanoseconds / 1e6 : undefined;
}

const UINT64_MAX = '18446744073709551615';

/** Reads an unsigned 64-bit decimal, at most as 2^53 - 1; undefined if it is none. */
export function parseIndex(text: string): number | undefined {
  if (!/^\d+$/.test(text)) return undefined;
  const digits = text.replace(/^0+(?=\d)/, '');
  if (digits.length > 20 || (digits.length === 20 && digits > UINT64_MAX)) return undefined;
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
}

const NAMESPACE = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/**
 * Returns the reason in a header: percent-encoded UTF-8. Node reads the bytes of a header as
 * characters. `name` is that of the header, for the message. Throws 400.
 */
export function reasonOf(header: string, name: string): string {
  const escaped = (byte: string): string => `%${byte.charCodeAt(0).toString(16)}`;
  const text = decode(header.replace(/[\x80-\xff]/g, escaped));
  if (text !== undefined && isReason(text)) return text;
  const why = `expected at most ${REASON_BYTES_MAX} bytes of percent-encoded UTF-8`;
  return reject('invalid', `Invalid header "${name}": ${why}, without control characters`);
}

/** Returns a namespace's name in lower case. `where` names the place for the message. */
export function namespaceName(name: string, where: string): string {
  if (NAMESPACE.test(name)) return name.toLowerCase();
  if (name === '*')
    reject(
      'invalid',
      `Invalid ${where}: "*" names all namespaces, which only lists of ACL objects can show`,
    );
  const shown = JSON.stringify(name.slice(0, 80));
  const rule = 'whose name is a DNS label of at most 63 letters, digits and "-"';
  reject('invalid', `Invalid ${where}: ${shown} cannot be a namespace, ${rule}`);
}

/** Refuses every admin partition except `default`, which has no effect. `what` names the place. */
export function checkPartition(name: string | undefined, what: () => string): void {
  if (name === undefined || name === 'default') return;
  reject('invalid', `Invalid ${what()} - this server has no admin partitions but "default"`);
}

/** Checks a Cache-Control header. It has no effect here, but clients rely on the check. */
export function checkCacheControl(header: string): void {
  for (const directive of header.split(',')) {
    const [name, value] = directive.trim().split('=', 2);
    if (name !== 'max-age' && name !== 'stale-if-error') continue;
    if (value === undefined || !/^"?\d+"?$/.test(value))
      reject('invalid', `Invalid Cache-Control header. ${name} takes a number of seconds`);
  }
}

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

/** Reads the options of a read from its query string. With `index` 0 it never waits. Throws 400. */
export function readOptionsOf(query: Query, timeoutMs: number): ReadOptions {
  if (query.size === 0) return { mode: 'default', index: 0, waitMs: 0, timeoutMs };
  const mode = modeOf(query);
  const waitText = parameterOf(query, 'wait');
  const waitAsked = waitText === undefined ? 0 : parseWait(waitText);
  if (waitAsked === undefined)
    reject('invalid', `Invalid wait time: ${quoted(waitText!)} is not a duration (example: 30s)`);
  const indexText = parameterOf(query, 'index');
  const index = indexText === undefined ? 0 : parseIndex(indexText);
  if (index === undefined)
    reject('invalid', `Invalid index: ${quoted(indexText!)} is not an unsigned 64-bit integer`);
  if (index === 0) return { mode, index: 0, waitMs: 0, timeoutMs };
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
    reject(
      'invalid',
      `Invalid max_stale value ${quoted(boundText!)}: not a duration (example: 10s)`,
    );
  if (isConsistent && bound > 0) reject('invalid', conflicting('max_stale'));
  if (isConsistent) return 'consistent';
  return isStale || bound > 0 ? 'stale' : 'default';
}

const conflicting = (other: string): string =>
  `Cannot specify ?${other} with ?consistent, conflicting semantics.`;

const quoted = (text: string): string => JSON.stringify(text.slice(0, 60));
