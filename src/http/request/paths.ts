/**
 * Paths of requests. A path is decoded once, and routed as it is decoded:
 *
 *   /v1/acl/role/a%2Fb    the role a/b
 *   /v1/acl/%72ole/a      no endpoint: a proxy in front sees the path before it is decoded, and
 *                         must not take it for another one
 */

import { UNCLEAN } from '../../kinds/decode.js';
import { changesBetween, nearestOf } from '../../languages/suggest.js';
import type { Front } from '../front.js';
import { refuseEarly } from '../response/error-handling.js';
import { PreparedResponse } from '../response/prepared-response.js';
import { send } from '../response/send.js';
import type { Route } from '../routes/types.js';
import type { Context, Middleware } from './context.js';
import { decode } from './parameters.js';

const NOT_AN_ENDPOINT = 'Invalid URL path: not a recognized HTTP API endpoint';
const NOT_THE_API =
  "Invalid URL path: if attempting to use the HTTP API, ensure the path starts with '/v1/'";
const WELCOME = 'Conclave: access control and central configuration; the API is under /v1/\n';

/** URLs whose path is routed as it was sent: nothing to decode, and no parser rewrites it. */
const PLAIN = /^\/(?!\/)[\w\-.~!$&()*+,;=:@/]*(?:\?|$)/;

/**
 * Decodes the path. Routes it in its canonical spelling, with the query as it was sent; the whole
 * original stays in `originalUrl`.
 */
export const pathDecoding =
  (front: Front): Middleware =>
  (context, next) => {
    const url = context.req.url!;
    if (!PLAIN.test(url)) {
      const path = decodedPath(url);
      if (path === undefined) {
        return refuseEarly(front, context, {
          code: 'invalid',
          message: 'Invalid URL path: it must be percent-encoded UTF-8 without control characters',
        });
      }
      context.state.path = path;
      const query = /\?.*/s.exec(url)?.[0] ?? '';
      context.url = encodeURI(path).replace(/[?#]/g, encodeURIComponent) + query;
    } else context.state.path = context.path;
    return UNCLEAN.test(context.state.path) ? unknownPath(front, context) : next();
  };

/** The path as it was sent. A target may be a path or, for proxies, a whole URL. */
function sentPath(url: string): string {
  const end = url.indexOf('?');
  const path = end < 0 ? url : url.slice(0, end);
  return path.startsWith('/') ? path : (/^https?:\/\/[^/]*(\/.*)$/i.exec(path)?.[1] ?? '/');
}

/** The decoded path; undefined if it is not percent-encoded UTF-8 without control characters. */
function decodedPath(url: string): string | undefined {
  const path = sentPath(url);
  if (!path.includes('%')) return /[^\u0021-\u007e]/.test(path) ? undefined : path;
  const decoded = decode(path);
  return decoded === undefined || /[\u0000-\u001f\u007f]/.test(decoded) ? undefined : decoded;
}

/**
 * Whether the segments that are the route's own were sent as they are, and no encoded slash
 * separates two of its parameters. The last parameter may hold any character but U+2028 and U+2029.
 */
export function isSpelledOut(route: Route, { originalUrl, state }: Context): boolean {
  if (!originalUrl.includes('%')) return true;
  const [sent, decoded] = [sentPath(originalUrl).split('/'), state.path.split('/')];
  const parts = route.path.split('/');
  const last = parts.length - 1;
  return parts.every((part, at) => {
    if (!part.startsWith(':')) return sent[at] === part;
    if (at === last) return !/[\u2028\u2029]/.test(decoded.slice(at).join('/'));
    return decode(sent[at] ?? '') === decoded[at];
  });
}

/** Answers a path that is no endpoint: `/` with a welcome, others with 404. */
export function unknownPath(front: Front, context: Context): void {
  const { path } = context.state;
  if (path === '/') {
    const headers = ['Content-Type', 'text/plain; charset=utf-8', ...front.names.base];
    send(context.req, context.res, new PreparedResponse(200, headers, WELCOME));
    return;
  }
  const message = path.includes('/v1/') ? NOT_AN_ENDPOINT : NOT_THE_API;
  const hint = UNCLEAN.test(path) ? undefined : pathHint(path, front.options.routes);
  refuseEarly(front, context, { code: 'not_found', message, ...(hint !== undefined && { hint }) });
}

/** Parts of Consul's API that this server does not have, by the segment after `/v1/`. */
const ABSENT: Readonly<Record<string, string>> = {
  agent: "the services and checks of Consul's agents do not exist here",
  catalog: 'the catalog of Consul does not exist here',
  connect: 'the certificate authority of Consul does not exist here; intentions are config entries',
  coordinate: 'the network coordinates of Consul do not exist here',
  event: 'the user events of Consul do not exist here',
  'exported-services': 'exported services are the config entry exported-services/default here',
  health: 'the health checks of Consul do not exist here',
  'imported-services': 'the cluster peering of Consul does not exist here',
  internal: 'the catalog of Consul does not exist here',
  kv: 'the key-value store of Consul does not exist here',
  partition: 'the admin partitions of Consul do not exist here',
  partitions: 'the admin partitions of Consul do not exist here',
  peering: 'the cluster peering of Consul does not exist here',
  peerings: 'the cluster peering of Consul does not exist here',
  query: 'the prepared queries of Consul do not exist here',
  session: 'the sessions of Consul do not exist here',
  txn: 'the transactions of Consul do not exist here',
};

/** Longer paths are compared with no endpoint: none of them is a slip of the keyboard. */
const LENGTH_MAX = 200;

/**
 * Returns the endpoint that a path may mean, or that Consul has it and this server does not;
 * undefined if neither is so. Quotes nothing of the path.
 */
function pathHint(path: string, routes: readonly Route[]): string | undefined {
  if (path.length > LENGTH_MAX) return undefined;
  const sent = path.split('/');
  let nearest: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const route of routes) {
    const changes = changesTo(route.path, sent);
    if (changes >= fewest) continue;
    fewest = changes;
    nearest = route.path;
  }
  if (nearest !== undefined) return `did you mean ${nearest}?`;
  const part = sent[1] === 'v1' ? sent[2] : undefined;
  return part !== undefined && Object.hasOwn(ABSENT, part) ? ABSENT[part] : undefined;
}

/**
 * Returns the changes that make the segments of a path those of a route, whose parameters take any;
 * infinity if a segment is another word. A slash at the end is one change.
 */
function changesTo(path: string, sent: readonly string[]): number {
  const parts = path.split('/');
  const isClosed = sent.length === parts.length + 1 && sent.at(-1) === '';
  const takesRest = parts.at(-1)!.startsWith(':') && sent.length > parts.length;
  if (sent.length !== parts.length && !isClosed && !takesRest) return Number.POSITIVE_INFINITY;
  let changes = isClosed ? 1 : 0;
  for (const [at, part] of parts.entries()) {
    const word = sent[at]!;
    if (part === word) continue;
    const isParameter = part.startsWith(':');
    if (isParameter && word !== '') continue;
    if (isParameter || nearestOf(word, [part]) === undefined) return Number.POSITIVE_INFINITY;
    // another letter case is the smallest difference
    changes += changesBetween(word, part) || 0.5;
  }
  return changes;
}
