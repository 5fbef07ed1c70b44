/** The Koa application: finds the route of a path, checks what all endpoints share, turns refusals into answers. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { METHODS } from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import { ApiError, ERROR_STATUS, type Refusal, refusal } from '../errors.js';
import { headerNames, headerOf, refusalBody, send } from './answers.js';
import { bodyReader } from './body.js';
import { BrowserCheck } from './browsers.js';
import { HeldCalls, Streams } from './held.js';
import type { HttpOptions } from './options.js';
import { decode, NO_QUERY, parseQuery } from './parameters.js';
import { Rates, Refused } from './rates.js';
import { Refusals } from './refusals.js';
import { HttpRequest, type Shared } from './request.js';
import type { Endpoint, Method, Route } from './types.js';

const NOT_AN_ENDPOINT = 'Invalid URL path: not a recognized HTTP API endpoint\n';
const NOT_THE_API =
  "Invalid URL path: if attempting to use the HTTP API, ensure the path starts with '/v1/'\n";
const WELCOME = 'Conclave: access control and central configuration; the API is under /v1/\n';

interface Groups {
  readonly byTwo: Map<string, Koa.Middleware>;
  readonly byOne: Map<string, Koa.Middleware>;
}

/** The application and what it counts. */
export interface HttpApp {
  readonly handler: (req: IncomingMessage, res: ServerResponse) => void;
  readonly held: HeldCalls;
  /** What was refused for being too much. */
  readonly refused: Refused;
  /** From here on every answer ends its connection. */
  drain(): void;
}

/**
 * Koa without its own way of answering. Answers are written by answers.ts: bytes from the store to the socket, with no pass
 * through Koa's body types and no listeners on each response.
 */
class FrontEnd extends Koa {
  // Koa's types do not show what its documentation calls the way to take a request over
  handleRequest(context: Koa.Context, run: (context: Koa.Context) => Promise<void>): Promise<void> {
    return run(context).catch((error) => void this.emit('error', error));
  }
}

export function createApp(options: HttpOptions): HttpApp {
  const prefixes = [...new Set([options.headerPrefix.toLowerCase(), 'x-consul'])];
  const under = (name: string): string[] => prefixes.map((prefix) => `${prefix}-${name}`);
  const refused = new Refused();
  const shared: Shared = {
    options,
    names: headerNames(options),
    incoming: {
      token: under('token'),
      namespace: under('namespace'),
      partition: under('partition'),
    },
    held: new HeldCalls(options.limits, refused),
    streams: new Streams(options.limits.streamsPerToken, refused),
    rates: new Rates(options.limits, refused),
    refusals: new Refusals(options.limits, refused),
    readBody: bodyReader({ bytes: options.limits.bodyBytes, setting: 'limits.bodyBytes' }),
    readSmallBody: bodyReader({
      bytes: Math.min(options.limits.anonymousBodyBytes, options.limits.bodyBytes),
      setting: 'limits.anonymousBodyBytes',
    }),
  };
  const koa = new FrontEnd();
  // the router asks for both with each request and uses neither here (paths come decoded, hosts are not told apart)
  Object.defineProperty(koa.context, 'host', { value: '' });
  Object.defineProperty(koa.context, 'path', { value: '' });
  const groups = groupRoutes(shared);
  const browsers = new BrowserCheck({
    allowedHosts: options.allowedHosts,
    allowedOrigin: headerOf(options.responseHeaders, 'access-control-allow-origin'),
  });
  koa.use((context, next) => {
    const { req, res } = context;
    const why = browsers.problem(req);
    if (why !== undefined) return refuseEarly(shared, req, res, why);
    const path = pathOf(req.url ?? '/');
    if (path === undefined) return refusePath(shared, req, res);
    const group = groupOf(groups, path);
    if (group === undefined) return unknownPath(shared, req, res, path);
    (context as { newRouterPath?: string }).newRouterPath = path;
    return group(context as never, next);
  });
  koa.use(({ req, res, newRouterPath }) => unknownPath(shared, req, res, newRouterPath));
  koa.on('error', (error: unknown) => options.report({ code: 'internal', path: '', error }));
  return {
    handler: koa.callback() as HttpApp['handler'],
    held: shared.held,
    refused,
    drain: () => shared.names.base.push('Connection', 'close'),
  };
}

/** The decoded path; undefined when it cannot be one. */
function pathOf(url: string): string | undefined {
  const path = rawPath(url);
  if (path.includes('%')) {
    const decoded = decode(path);
    if (decoded === undefined || /[\u0000-\u001f\u007f]/.test(decoded)) return undefined;
    return decoded;
  }
  return /[^\u0021-\u007e]/.test(path) ? undefined : path;
}

/** The path as it was sent. */
function rawPath(url: string): string {
  const end = url.indexOf('?');
  const path = end < 0 ? url : url.slice(0, end);
  return path.startsWith('/') ? path : (/^https?:\/\/[^/]*(\/.*)$/i.exec(path)?.[1] ?? '/');
}

/** Routes share a router where they share the static one or two segments after /v1. */
function groupRoutes(shared: Shared): Groups {
  const groups: Groups = { byTwo: new Map(), byOne: new Map() };
  const routers = new Map<string, Router>();
  for (const route of shared.options.routes) {
    const [, version, one, two] = route.path.split('/');
    if (version !== 'v1' || one === undefined) throw new Error(`route ${route.path} is not in /v1`);
    const narrow = two !== undefined && two !== '' && !two.startsWith(':');
    const key = narrow ? `${one}/${two}` : one;
    let router = routers.get(key);
    if (router === undefined) {
      router = new Router({ exclusive: false });
      routers.set(key, router);
      (narrow ? groups.byTwo : groups.byOne).set(key, router.routes() as Koa.Middleware);
    }
    router.register(pattern(route.path), METHODS, endpointOf(shared, route) as never, {
      pathAsRegExp: true,
    });
  }
  return groups;
}

function groupOf(groups: Groups, path: string): Koa.Middleware | undefined {
  if (!path.startsWith('/v1/')) return undefined;
  const one = path.indexOf('/', 4);
  if (one < 0) return groups.byOne.get(path.slice(4));
  const two = path.indexOf('/', one + 1);
  return (
    groups.byTwo.get(two < 0 ? path.slice(4) : path.slice(4, two)) ??
    groups.byOne.get(path.slice(4, one))
  );
}

/** The last parameter takes the rest of the path, others one segment. */
function pattern(path: string): RegExp {
  const parts = path.split(/(:\w+)/).map((part, at, all) => {
    if (!part.startsWith(':')) return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    return at >= all.length - 2 && all[at + 1] === '' ? '(.*)' : '([^/]*)';
  });
  return new RegExp(`^${parts.join('')}$`);
}

/**
 * Whether the parts of the path that are the route's own stand in the URL as they are, and no encoded slash parts two of
 * its segments: what a proxy sees in a path before it is decoded must be what is done.
 */
function isSpelledOut(route: Route, url: string, path: string): boolean {
  if (!url.includes('%')) return true;
  const [raw, decoded] = [rawPath(url).split('/'), path.split('/')];
  const parts = route.path.split('/');
  const last = parts.length - 1;
  return parts.every((part, at) => {
    if (!part.startsWith(':')) return raw[at] === part;
    return at === last || decode(raw[at] ?? '') === decoded[at];
  });
}

/** What Koa calls for a route, whatever the method. */
function endpointOf(shared: Shared, route: Route): Koa.Middleware {
  const methods = (['GET', 'PUT', 'POST', 'DELETE'] as const).filter((method) => route[method]);
  const allow = ['OPTIONS', ...methods, ...(route.GET ? ['HEAD'] : [])].join(',');
  const { blockedPaths } = shared.options;
  const isBlocked = (path: string): boolean =>
    blockedPaths.some((prefix) => route.path.startsWith(prefix) || path.startsWith(prefix));
  return async (context) => {
    const { req, res } = context;
    const captures = (context as unknown as { captures: readonly string[] }).captures;
    const path = (context as unknown as { newRouterPath: string }).newRouterPath;
    const isClean = !/\/\/|\/\.\.?(?:\/|$)/.test(path) && isSpelledOut(route, req.url!, path);
    if (!isClean) return unknownPath(shared, req, res, path);
    if (isBlocked(path))
      return refuseEarly(shared, req, res, {
        code: 'permission_denied',
        message: 'Endpoint is blocked by agent configuration',
      });
    const method = (req.method === 'HEAD' ? 'GET' : req.method) as Method;
    const endpoint = route[method];
    if (endpoint === undefined) return otherMethod(shared, route, req, res, allow);
    await answer(shared, route, method, endpoint, { req, res, captures });
  };
}

async function answer(
  shared: Shared,
  route: Route,
  method: Method,
  endpoint: Endpoint,
  message: { req: IncomingMessage; res: ServerResponse; captures: readonly string[] },
): Promise<void> {
  const { req, res } = message;
  let request: HttpRequest | undefined;
  try {
    const at = req.url!.indexOf('?');
    const query = at < 0 ? NO_QUERY : parseQuery(req.url!.slice(at + 1));
    request = new HttpRequest(shared, message, { route, method, values: message.captures, query });
    request.spend();
    const ready = request.prepare();
    if (ready !== undefined) await ready;
    await endpoint(request);
  } catch (error) {
    if (res.headersSent || res.destroyed) {
      // an answer in pieces failed on its way: cut it, so that the client does not take it for whole
      if (!res.destroyed) res.destroy();
      if (!(error instanceof ApiError))
        shared.options.report({ code: 'internal', path: route.path, error });
      return;
    }
    const why = refusalOf(error);
    if (why.code === 'internal')
      shared.options.report({ code: 'internal', path: route.path, error });
    if (request === undefined) refuseEarly(shared, req, res, why, { route });
    else request.refuse(why);
  }
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof ApiError) return error.refusal;
  return refusal('internal', 'Internal error: the server log says more');
}

function otherMethod(
  shared: Shared,
  route: Route,
  req: IncomingMessage,
  res: ServerResponse,
  allow: string,
): void {
  if (req.method === 'OPTIONS') {
    send(req, res, 200, [...shared.names.base, 'Allow', allow], '');
    return;
  }
  const message = `method ${req.method} not allowed`;
  const extra = ['Allow', allow];
  refuseEarly(shared, req, res, { code: 'method_not_allowed', message }, { extra, route });
}

/** Answers an error for which there is no request yet. */
function refuseEarly(
  shared: Shared,
  req: IncomingMessage,
  res: ServerResponse,
  why: Refusal,
  { extra = [], route }: { readonly extra?: readonly string[]; readonly route?: Route } = {},
): void {
  const { type, body } = refusalBody(req, why, route?.parameters !== undefined);
  const { names, refusals } = shared;
  const headers = ['Content-Type', type, ...names.base, ...names.unkept, ...extra];
  refusals.answerStranger(req, res, { status: ERROR_STATUS[why.code], headers, body });
}

function refusePath(shared: Shared, req: IncomingMessage, res: ServerResponse): void {
  refuseEarly(shared, req, res, {
    code: 'invalid',
    message: 'Invalid URL path: it must be percent-encoded UTF-8 without control characters',
  });
}

function unknownPath(
  shared: Shared,
  req: IncomingMessage,
  res: ServerResponse,
  path: string,
): void {
  if (path === '/') {
    const headers = ['Content-Type', 'text/plain; charset=utf-8', ...shared.names.base];
    send(req, res, 200, headers, WELCOME);
    return;
  }
  const message = path.includes('/v1/') ? NOT_AN_ENDPOINT : NOT_THE_API;
  refuseEarly(shared, req, res, { code: 'not_found', message });
}
