/** Pages of what a search finds (decisions.md 4.4). */
import { hash } from 'node:crypto';
import { reject } from '../../base/errors.js';
import { compareCodePoints } from '../../base/text.js';
import type { Search } from './requests.js';

/** A result with its sort key. */
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
  const rest =
    after === undefined ? found : found.filter(({ key }) => compareCodePoints(key, after) > 0);
  const shown = rest.slice(0, search.limit);
  const last = shown.at(-1);
  const hasMore = last !== undefined && shown.length < rest.length;
  return {
    page: {
      next_token: hasMore ? tokenOf(last.key, nowMs + TOKEN_MS, of) : '',
      count: shown.length,
      ...(!isTruncated && { total: found.length }),
    },
    results: shown.map(({ result }) => result),
  };
}

/** Returns a hash of what is searched. It reveals no credential. */
const requestOf = ({ subject, action, resource, ns }: Search): string =>
  hash('sha256', JSON.stringify([subject, action, resource, ns]));

function tokenOf(place: string, untilMs: number, request: string): string {
  const check = hash('sha256', JSON.stringify([place, untilMs, request])).slice(0, CHECK_DIGITS);
  return Buffer.from(JSON.stringify([place, untilMs, check])).toString('base64url');
}

/** Returns the place that a token of the request holds. Throws ApiError 400. */
function placeIn(token: string, request: string, nowMs: number): string {
  const wrong = (): never => reject('invalid', 'page.token does not belong to this request');
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(token, 'base64url').toString());
  } catch {
    return wrong();
  }
  const [place, untilMs] = Array.isArray(parsed) ? (parsed as unknown[]) : [];
  if (typeof place !== 'string' || typeof untilMs !== 'number') return wrong();
  return untilMs > nowMs && token === tokenOf(place, untilMs, request) ? place : wrong();
}
