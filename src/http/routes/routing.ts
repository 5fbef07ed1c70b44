/** Routes as routers of Koa: which endpoint answers, and what is checked before it does. */
import { createRequire } from 'node:module';
import type Router from '@koa/router';
import type { Refusal } from '../../base/errors.js';
import type { Front } from '../front.js';
import type { Additions, Context, Middleware, State } from '../request/context.js';
import { isSpelledOut, unknownPath } from '../request/paths.js';
import { HttpRequest } from '../request/request.js';
import { refuseEarly } from '../response/error-handling.js';
import { PreparedResponse } from '../response/prepared-response.js';
import { send } from '../response/send.js';
import type { Method, Route, Target } from './types.js';

/**
 * The router's own build for `import` imports `node:http`: see node-http.ts. The cast gives what
 * `require` returns its type.
 */
const required = createRequire(import.meta.url)('@koa/router') as typeof import('@koa/router');
const METHODS: readonly Method[] = ['GET', 'PUT', 'PATCH', 'POST', 'DELETE'];
const BLOCKED: Refusal = {
  code: 'permission_denied',
  message: 'Endpoint is blocked by agent configuration',
};

/**
 * Returns the middleware of all routes. A path without parameters leads to its route at once, as
 * all outside /v1 do. Every other one leads to the router of its part of the API (the segment after
 * `/v1/`): a router tests all of its patterns with each request that reaches it.
 */
export function routing(front: Front): Middleware {
  const { routes } = front.options;
  const routers = new Map<string, Router<State, Additions>>();
  const fixed = new Map<string, Middleware>();
  for (const route of routes) {
    const [, version, part] = route.path.split('/');
    if (version !== 'v1' || part === undefined) {
      if (route.path.includes(':')) throw new Error(`route ${route.path} is not in /v1`);
      fixed.set(route.path, answering(front, route));
      continue;
    }
    let router = routers.get(part);
    if (router === undefined) {
      router = new required.Router<State, Additions>();
      routers.set(part, router);
    }
    // every method: others than the route's own are answered by the first route of the path
    const answer = answering(front, route);
    router.all(patternOf(route.path), answer);
    if (route.path.includes(':') || route.adds === true) continue;
    const isFirst = routes.find(({ path }) => patternOf(path).test(route.path)) === route;
    if (isFirst) fixed.set(route.path, answer);
  }
  const parts = new Map<string, Middleware>();
  // a router itself adds to the context what its type says that it needs
  for (const [part, router] of routers) parts.set(part, router.routes() as Middleware);
  return (context, next) => {
    const { path } = context;
    const middleware = fixed.get(path) ?? parts.get(path.split('/', 3)[2] ?? '');
    return middleware === undefined ? next() : middleware(context, next);
  };
}

/**
 * The last parameter takes the rest of the path, others take one segment. All may be empty, which
 * the router's own language of patterns does not allow.
 */
const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/:\w+$/, '(.*)').replace(/:\w+/g, '([^/]*)')}$`);

/**
 * Returns the middleware of a route. It checks path and method, reads token and query string,
 * counts the request against the rates of its client, checks what all endpoints take, and calls
 * the endpoint. One function, because the router composes its middlewares for each request.
 */
function answering(front: Front, route: Route): Middleware {
  const targets = targetsOf(route);
  const { blockedPaths } = front.options;
  const isBlocked = (path: string): boolean =>
    blockedPaths.some((prefix) => route.path.startsWith(prefix) || path.startsWith(prefix));
  return (context, next) => {
    const { req, state } = context;
    if (route.adds === true && !targets.has(req.method!)) {
      state.added = [...(state.added ?? []), ...targets.keys()];
      return next();
    }
    if (!isSpelledOut(route, context)) return unknownPath(front, context);
    if (isBlocked(state.path)) return refuseEarly(front, context, BLOCKED);
    state.route = route;
    const target = targets.get(req.method!);
    if (target === undefined) return otherMethod(front, context, targets);
    const { captures } = context as Context & { readonly captures?: readonly string[] };
    const request = new HttpRequest(front, target, context, captures);
    // from here on the request answers errors
    state.request = request;
    request.beginAudit();
    request.countAgainstRates();
    const ready = request.prepare();
    if (ready === undefined) return target.endpoint(request);
    return ready.then(() => target.endpoint(request));
  };
}

function targetsOf(route: Route): ReadonlyMap<string, Target> {
  const targets = new Map<string, Target>();
  const params = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  for (const method of METHODS) {
    const endpoint = route[method];
    if (endpoint !== undefined) targets.set(method, { route, method, endpoint, params });
  }
  const get = targets.get('GET');
  if (get !== undefined) targets.set('HEAD', get);
  return targets;
}

/** Answers OPTIONS, and refuses a method that the path does not have. */
function otherMethod(front: Front, context: Context, targets: ReadonlyMap<string, Target>): void {
  const { req, res, state } = context;
  const allow = [...new Set(['OPTIONS', ...targets.keys(), ...(state.added ?? [])])].join(',');
  if (req.method === 'OPTIONS') {
    send(req, res, new PreparedResponse(200, [...front.names.base, 'Allow', allow], ''));
    return;
  }
  const message = `method ${req.method} not allowed`;
  const hint = `this path takes ${allow.replace('OPTIONS,', '').replaceAll(',', ', ')}`;
  refuseEarly(front, context, { code: 'method_not_allowed', message, hint }, ['Allow', allow]);
}
