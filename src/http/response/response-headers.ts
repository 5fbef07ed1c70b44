/** Headers of responses: their names under each prefix, and those of queries. */
import type { IncomingMessage } from 'node:http';
import type { QueryMeta } from '../../service/common/types.js';

/** Content types of the API. */
export const contentTypes = {
  json: 'application/json',
  text: 'text/plain; charset=utf-8',
  events: 'text/event-stream',
} as const;

/**
 * Names of the response headers, each under every prefix, and the constant headers as flat lists of
 * names and values.
 */
export interface HeaderNames {
  /** On every response; grows when the server stops. */
  readonly base: string[];
  /** Lets caches keep a response if they ask about it before each use. */
  readonly asked: readonly string[];
  /** Forbids caches to keep a response, which may be meant for its caller alone. */
  readonly unkept: readonly string[];
  /** The same for responses with an index: clients of this API expect no Cache-Control on them. */
  readonly expired: readonly string[];
  readonly index: readonly string[];
  readonly knownLeader: readonly string[];
  readonly lastContact: readonly string[];
  readonly filtered: readonly string[];
  /** How many items the whole list has, and where its next page begins. */
  readonly total: readonly string[];
  readonly next: readonly string[];
  /** Milliseconds until a token expires. */
  readonly expiresIn: readonly string[];
  /** What lint finds in what was written. */
  readonly lint: readonly string[];
  /** Who owns what was written. */
  readonly owner: readonly string[];
  /** The parts of the request that were ignored. */
  readonly warning: readonly string[];
  /** The id of the decision that refused a request. */
  readonly decision: readonly string[];
}

/** Returns a header by its name in any letter case. */
export const headerOf = (
  headers: Readonly<Record<string, string>>,
  name: string,
): string | undefined =>
  Object.entries(headers).find(([each]) => each.toLowerCase() === name.toLowerCase())?.[1];

/** Prepares the names and the constant headers of one front end. */
export function headerNames(options: {
  headerPrefix: string;
  defaultPolicy: string;
  responseHeaders: Readonly<Record<string, string>>;
}): HeaderNames {
  const prefixes = [...new Set([options.headerPrefix, 'X-Consul'])];
  const under = (name: string): string[] => prefixes.map((prefix) => `${prefix}-${name}`);
  const isSet = (name: string): boolean => headerOf(options.responseHeaders, name) !== undefined;
  const controlsCaches = isSet('Cache-Control');
  return {
    asked: controlsCaches ? [] : ['Cache-Control', 'no-cache'],
    unkept: controlsCaches ? [] : ['Cache-Control', 'no-store'],
    expired: controlsCaches || isSet('Expires') ? [] : ['Expires', '0'],
    base: [
      'Vary',
      'Accept-Encoding',
      ...under('Default-ACL-Policy').flatMap((name) => [name, options.defaultPolicy]),
      ...(isSet('X-Content-Type-Options') ? [] : ['X-Content-Type-Options', 'nosniff']),
      ...Object.entries(options.responseHeaders).flat(),
    ],
    index: under('Index'),
    knownLeader: under('KnownLeader'),
    lastContact: under('LastContact'),
    filtered: under('Results-Filtered-By-ACLs'),
    total: under('Total'),
    next: under('Next'),
    expiresIn: under('Expires-In-Ms'),
    lint: under('Lint'),
    owner: under('Owner'),
    warning: under('Warning'),
    decision: under('Decision'),
  };
}

/** Adds the id of a decision to a flat list. */
export function addDecision(headers: string[], names: HeaderNames, id: string | undefined): void {
  if (id !== undefined) for (const name of names.decision) headers.push(name, id);
}

/** The longest X-Request-ID that is sent back, in bytes. */
export const REQUEST_ID_MAX = 1024;

/** Adds the client's X-Request-ID to a flat list. */
export function addRequestId(headers: string[], { headers: sent }: IncomingMessage): void {
  const id = sent['x-request-id'];
  if (typeof id === 'string' && id.length <= REQUEST_ID_MAX) headers.push('X-Request-ID', id);
}

/** Adds the headers of a query to a flat list. */
export function addQueryHeaders(headers: string[], names: HeaderNames, meta: QueryMeta): void {
  const index = String(Math.max(1, meta.index));
  const contact = String(Math.max(0, Math.round(meta.lastContactMs)));
  const known = meta.knownLeader ? 'true' : 'false';
  headers.push(...names.expired);
  for (const name of names.index) headers.push(name, index);
  for (const name of names.knownLeader) headers.push(name, known);
  for (const name of names.lastContact) headers.push(name, contact);
  if (meta.filtered) for (const name of names.filtered) headers.push(name, 'true');
  if (meta.expiresInMs !== undefined)
    for (const name of names.expiresIn) headers.push(name, String(meta.expiresInMs));
  if (meta.page === undefined) return;
  const { total, next } = meta.page;
  for (const name of names.total) headers.push(name, String(total));
  if (next !== undefined) for (const name of names.next) headers.push(name, next);
}

/** Whether a parameter of an accepted type or coding says that it is not accepted. */
export const isNever = (parameter: string): boolean => /^\s*q=0(?:\.0*)?\s*$/.test(parameter);
