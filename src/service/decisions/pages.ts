/** Pages of what a search finds (decisions.md 4.4). */
import { hash } from 'node:crypto';
import { reject } from '../../base/errors.js';
import type { Search } from './requests.js';

/** A result with what it is sorted by. */
export interface Found {
  readonly key: string;
  readonly result: object;
}

/** A page as it is answered. */
export interface Page {
  readonly page: { readonly next_token: string; readonly count: number; readonly total?: number };
  readonly results: readonly object[];
}

/** Milliseconds for which a token is valid. */
const TOKEN_MS = 10 * 60_000;
/** Hex digits of a check: enough to notice damage. */
const CHECK_DIGITS = 16;

/**
 * Returns a page of sorted results: those after the place of the token. Throws ApiError 400 for a
 * token of another request, or one that is damaged or old.
 */
export function pageOf(
  found: readonly Found[],
  search: Search,
  { nowMs, isTruncated }: { readonly nowMs: number; readonly isTruncated: boolean },
): Page {
  const of = requestOf(search);
  const after = search.token === '' ? undefined : placeIn(search.token, of, nowMs);
  const rest = after === undefined ? found : found.filter(({ key }) => inBytes(key, after) > 0);
  const shown = rest.slice(0, search.limit);
  const last = shown.at(-1);
  const hasMore = last !== undefined && shown.length < rest.length;
  return {
    page: {
      next_token: hasMore ? tokenOf(last.key, of, nowMs + TOKEN_MS) : '',
      count: shown.length,
      ...(!isTruncated && { total: found.length }),
    },
    results: shown.map(({ result }) => result),
  };
}

/** Compares two texts by the bytes of their UTF-8. */
export const inBytes = (a: string, b: string): number =>
  a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Returns a hash of what is searched. It reveals no credential. */
const requestOf = ({ subject, action, resource }: Search): string =>
  hash('sha256', JSON.stringify([subject, action, resource]));

const checkOf = (place: string, until: number, request: string): string =>
  hash('sha256', JSON.stringify([place, until, request])).slice(0, CHECK_DIGITS);

const tokenOf = (place: string, until: number | string, untilMs: number): string =>
  Buffer.from(JSON.stringify([place, untilMs, checkOf(place, untilMs, String(until))])).toString(
    'base64url',
  );

function placeIn(token: string, request: string, nowMs: number): string {
  const wrong = (): never => reject('invalid', 'page.token does not belong to this request');
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(token, 'base64url').toString());
  } catch {
    return wrong();
  }
  if (!Array.isArray(parsed)) return wrong();
  const [place, untilMs, check] = parsed as unknown[];
  if (typeof place !== 'string' || typeof untilMs !== 'number') return wrong();
  const isOwn = check === checkOf(place, untilMs, request) && untilMs > nowMs;
  return isOwn ? place : wrong();
}
