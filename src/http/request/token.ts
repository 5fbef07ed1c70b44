/** The token of a request. */
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { ANONYMOUS_SECRET } from '../../acl/builtin.js';
import { reject } from '../../base/errors.js';
import type { Caller } from '../../service/common/types.js';
import type { HttpOptions } from '../options.js';
import type { Query } from './parameters.js';

/** Where a request may carry its token. */
export interface TokenPlaces {
  readonly options: Pick<HttpOptions, 'tokenInQuery' | 'headerPrefix'>;
  readonly incoming: { readonly token: readonly string[] };
}

/** Returns the secret of a request; null if it carries none. Throws as `secretIn` does. */
export function secretOf(
  request: IncomingMessage,
  query: Query,
  { options, incoming }: TokenPlaces,
): string | null {
  const inQuery = query.get('token') || undefined;
  if (inQuery !== undefined && !options.tokenInQuery) {
    const header = `${options.headerPrefix}-Token`;
    const why = 'A token in the URL is not accepted, because URLs end up in logs';
    reject('invalid', `${why}: send it in the header ${header}`);
  }
  return secretIn(request, incoming.token, inQuery);
}

/**
 * Returns the secret in the headers with these names and `Authorization`, or else `inQuery`. Throws
 * 400 if there are several that differ: a proxy may have set or checked another than the one that
 * would count.
 */
function secretIn(
  { headers, rawHeaders }: IncomingMessage,
  names: readonly string[],
  inQuery?: string,
): string | null {
  let secret = inQuery ?? null;
  for (const key of names) {
    const value = headers[key];
    if (typeof value === 'string' && value !== '') secret = single(value, secret);
  }
  if (headers.authorization === undefined) return secret;
  // Node keeps the first header of this name alone
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.toLowerCase() !== 'authorization') continue;
    const bearer = /^bearer +([^ ]+)/i.exec(rawHeaders[at + 1]!);
    if (bearer !== null) secret = same(secret, bearer[1]!);
  }
  return secret;
}

/**
 * Whether the headers of a request have no secret, or the one that everybody knows. Several that
 * differ are refused later, at once.
 */
export function isStranger(request: IncomingMessage, names: readonly string[]): boolean {
  try {
    const secret = secretIn(request, names);
    return secret === null || secret === ANONYMOUS_SECRET;
  } catch {
    return false;
  }
}

const ANONYMOUS: Caller = { tokenKey: null };
/**
 * The last token of each connection: most connections carry only one, and a hash costs 0.7 µs. The
 * secret is in memory as long as the connection is.
 */
const lastTokens = new WeakMap<Socket, { readonly secret: string; readonly caller: Caller }>();

/** Returns who asks with a secret over a connection. That of the anonymous token proves nothing. */
export function callerOf(socket: Socket, secret: string | null): Caller {
  if (secret === null || secret === ANONYMOUS_SECRET) return ANONYMOUS;
  const last = lastTokens.get(socket);
  if (last?.secret === secret) return last.caller;
  const caller = { tokenKey: hash('sha256', secret) };
  lastTokens.set(socket, { secret, caller });
  return caller;
}

function same(before: string | null, secret: string): string {
  if (before === null || before === secret) return secret;
  reject(
    'invalid',
    'The request carries more than one token, and they differ: send one, in one header',
  );
}

/**
 * Returns the token of a header, which must be the one found before. Node joins repeated headers
 * with commas.
 */
function single(value: string, before: string | null): string | null {
  if (!value.includes(',')) return same(before, value.trim());
  let secret = before;
  for (const part of value.split(',')) {
    const text = part.trim();
    if (text !== '') secret = same(secret, text);
  }
  return secret;
}
