/** The parameters of pages of lists. */
import { createHash } from 'node:crypto';
import { reject } from '../../base/errors.js';
import { type PageQuery, SORTS, type Sort } from '../../service/reads/list-plan.js';
import { parseIndex } from '../request/parameters.js';
import type { ApiRequest } from './types.js';

/** Items of an answer at most. */
const LIMIT_MAX = 1000;

/** What distinguishes a list from others, besides its path. */
const NARROWING = [
  'ns',
  'filter',
  'search',
  'policy',
  'role',
  'servicename',
  'authmethod',
  'authmethod-ns',
  'subject',
] as const;

/** Returns the identity that a request names as METHOD/SUBJECT. Throws 400. */
export function subjectIn(
  request: ApiRequest,
): { readonly method: string; readonly subject: string } | undefined {
  const named = request.query('subject');
  if (named === undefined) return undefined;
  const slash = named.indexOf('/');
  if (slash < 0) refuseParameter('subject', named, 'should be METHOD/SUBJECT');
  return { method: named.slice(0, slash), subject: named.slice(slash + 1) };
}

/** Returns which page of a list is asked for; undefined for the whole list. Throws 400. */
export function pageOf(request: ApiRequest): PageQuery | undefined {
  const [sort, after] = [request.query('sort'), request.query('after')];
  const limit = limitOf(request, Number.POSITIVE_INFINITY);
  if (sort === undefined && after === undefined && limit > LIMIT_MAX) return undefined;
  if (request.query('index') !== undefined) {
    const what = 'Parameter "index" cannot be sent with limit, after or sort';
    reject('invalid', `${what}: pages do not block`);
  }
  const order = sort ?? 'name';
  return {
    limit,
    sort: sortOf(order),
    isDescending: order.startsWith('-'),
    after: after === undefined ? undefined : afterOf(order, after),
    list: listOf(request),
  };
}

const sortIn = (order: string): Sort | undefined =>
  SORTS.find((each) => each === order.replace(/^-/, ''));

const sortOf = (order: string): Sort =>
  sortIn(order) ??
  refuseParameter('sort', order, `should be one of ${SORTS.join(', ')}, or one of them after "-"`);

/** Returns where a page begins: behind a place, given the header of the page before, or an item. */
function afterOf(order: string, after: string): PageQuery['after'] {
  const text = Buffer.from(after, 'base64url').toString();
  const [sortedBy = '', place] = text.split(/:(.*)/s, 2);
  // a name may be base64 of other bytes
  if (sortIn(sortedBy) === undefined || !place?.includes('\u0000')) return { item: after };
  if (sortedBy === order) return { place };
  return refuseParameter('after', after, 'is the header Next of a page with another sort');
}

/** Returns how the next page is asked for: the value of a header. */
export const nextOf = (request: ApiRequest, place: string): string =>
  Buffer.from(`${request.query('sort') ?? 'name'}:${place}`).toString('base64url');

function listOf(request: ApiRequest): string {
  const hash = createHash('sha256').update(request.incoming.url!.split('?', 1)[0]!);
  hash.update(`\u0000${request.namespaceOrAll()}`);
  for (const name of NARROWING) hash.update(`\u0000${request.query(name) ?? ''}`);
  return hash.digest('base64');
}

/** Returns an index of the query; undefined if there is none. Throws 400. */
export function indexOf(request: ApiRequest, name: string): number | undefined {
  const text = request.query(name);
  if (text === undefined) return undefined;
  return parseIndex(text) ?? refuseParameter(name, text, 'should be an index');
}

/** Returns the parameter `limit`, or `otherwise` without one. Throws 400. */
export function limitOf(request: ApiRequest, otherwise: number): number {
  const text = request.query('limit');
  if (text === undefined) return otherwise;
  const limit = parseIndex(text) ?? 0;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  return refuseParameter('limit', text, `should be from 1 to ${LIMIT_MAX}`);
}

/**
 * Returns a parameter that is one of some words, the first where it is absent. Throws ApiError 400,
 * also for one without a value.
 */
export function wordOf<W extends string>(
  request: ApiRequest,
  name: string,
  words: readonly [W, ...W[]],
): W {
  if (!request.flag(name)) return words[0];
  const sent = request.query(name) ?? '';
  const word = words.find((each) => each === sent);
  return word ?? refuseParameter(name, sent, `should be ${words.join(' or ')}`);
}

/** Returns whether a parameter is `true`. Throws ApiError 400 if it is neither that nor `false`. */
export const switchOf = (request: ApiRequest, name: string): boolean =>
  wordOf(request, name, ['false', 'true']) === 'true';

/** Refuses the value of a parameter. `expected` says what it should be. */
function refuseParameter(name: string, text: string, expected: string): never {
  const shown = JSON.stringify(text.slice(0, 60));
  return reject('invalid', `Invalid parameter "${name}": ${shown} ${expected}`);
}
