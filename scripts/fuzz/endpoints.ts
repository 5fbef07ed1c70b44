/**
 * What is fuzzed: every method of every route in the code, so that a new route needs no entry here.
 */
import { allRoutes, type RouteParts } from '../../src/http/routes/routes.js';
import type { Method, Route } from '../../src/http/routes/types.js';
import { ENDPOINTS, type Endpoint } from '../../test/hostile/endpoints.js';

const METHODS: readonly Method[] = ['GET', 'PUT', 'PATCH', 'POST', 'DELETE'];
/** Bodies for an endpoint that reads one and for which none were written. */
const ANY_BODIES: readonly unknown[] = [{}, [], { Name: 'a', ID: 'b' }, null];

export interface Fuzzed extends Endpoint {
  /** The name of the route in the node's metrics. */
  readonly route: string;
}

export const labelOf = ({ method, route }: Pick<Fuzzed, 'method' | 'route'>): string =>
  `${method} ${route}`;

/** The endpoints of some routes. */
export const endpointsOf = (routes: readonly Route[]): readonly Fuzzed[] =>
  routes.flatMap((route) =>
    METHODS.filter((method) => route[method] !== undefined).map((method) => {
      const path = route.path.replaceAll(/:\w+/g, '*');
      const known = ENDPOINTS.find((one) => one.method === method && one.path === path);
      const takesBody = method !== 'GET' && method !== 'DELETE';
      const bodies = known?.bodies ?? (takesBody ? ANY_BODIES : []);
      const { headers = {} } = known ?? {};
      return { method, route: route.path, path, bodies, headers };
    }),
  );

/** The endpoints of this build. */
export function allEndpoints(): readonly Fuzzed[] {
  // No handler is called, so the parts are never used.
  const parts = { acl: {}, cluster: {}, snapshot: {} } as unknown as RouteParts;
  return endpointsOf(allRoutes(parts));
}
