/** `http-route` and `tcp-route`: traffic from an api-gateway to services. */

import {
  boolean,
  drop,
  duration,
  free,
  keep,
  later,
  list,
  map,
  type Normal,
  nullable,
  object,
  omit,
  text,
  uint32,
  whole,
} from '../languages/fields.js';
import {
  isDomainName,
  isHttpMethod,
  meta,
  metaProblems,
  type Path,
  textOr,
  upperText,
} from './common.js';
import { defineKind } from './definition.js';
import { gatewayJwt, gatewayJwtProblems, providersOf } from './jwt.js';
import { OF_MESH } from './permissions.js';
import { type Problem, problem } from './problems.js';
import { target } from './targets.js';
import type { ConfigEntry } from './types.js';

const parent = object({
  Kind: keep(textOr('api-gateway')),
  Name: keep(text()),
  SectionName: keep(text()),
});
type Parent = Normal<typeof parent>;

const headerFilters = list(
  object({
    Add: keep(map(text())),
    Remove: keep(list(text())),
    Set: keep(map(text())),
  }),
);
const filters = object({
  Headers: keep(headerFilters),
  URLRewrite: keep(nullable(object({ Path: keep(text()) }))),
  RetryFilter: keep(
    nullable(
      object({
        NumRetries: keep(uint32),
        RetryOn: keep(list(text())),
        RetryOnStatusCodes: keep(list(uint32)),
        RetryOnConnectFailure: keep(boolean),
      }),
    ),
  ),
  TimeoutFilter: keep(
    nullable(object({ RequestTimeout: keep(duration), IdleTimeout: keep(duration) })),
  ),
  JWT: keep(nullable(gatewayJwt)),
  ExtProc: drop(later),
  ExtAuthz: drop(later),
});
const responseFilters = object({ Headers: keep(headerFilters) });

const HEADER_MATCHES = ['present', 'exact', 'prefix', 'suffix', 'regex'];
const PATH_MATCHES = ['exact', 'prefix', 'regex'];
const QUERY_MATCHES = ['present', 'exact', 'regex'];
const match = object({
  Headers: keep(
    list(
      object({
        Match: keep(text({ values: HEADER_MATCHES })),
        Name: keep(text()),
        Value: keep(text()),
      }),
    ),
  ),
  Method: keep(upperText),
  Path: keep(
    object(
      { Match: keep(text({ values: ['', ...PATH_MATCHES] })), Value: keep(text()) },
      // A path without a match type matches every path.
      (path) => (path.Match === '' ? { Match: 'prefix', Value: '/' } : path),
    ),
  ),
  Query: keep(
    list(
      object({
        Match: keep(text({ values: QUERY_MATCHES })),
        Name: keep(text()),
        Value: keep(text()),
      }),
    ),
  ),
});
const routedService = object({
  Name: keep(text()),
  Weight: keep(whole({ change: (weight) => (weight <= 0 ? 1 : weight) })),
  Filters: keep(filters),
  ResponseFilters: keep(responseFilters),
});
const rule = object({
  Filters: keep(filters),
  ResponseFilters: keep(responseFilters),
  Matches: keep(list(match)),
  Services: keep(list(routedService)),
});

/** The kind `http-route`. */
export const httpRoute = defineKind(
  'http-route',
  {
    Parents: keep(list(parent)),
    Rules: keep(list(rule)),
    Hostnames: keep(list(text())),
    Meta: omit(meta),
    Status: drop(free()),
  },
  {
    permissions: OF_MESH,
    hasStatus: true,
    names: (entry): Iterable<string> => routeTargets(servicesOfHttp(entry), entry.Parents),
    *providers(entry) {
      for (const [{ JWT: jwt }] of filtersOf(entry)) yield* providersOf(jwt);
    },
    *validate(entry) {
      if (entry.Name === '') yield problem('Name is empty: serviceName is required', 'Name');
      for (const [i, host] of (entry.Hostnames ?? []).entries()) {
        const quoted = JSON.stringify(host);
        if (!isDomainName(host)) {
          yield problem(`host ${quoted} must be a valid DNS hostname`, 'Hostnames', i);
        }
        if (host.includes('*')) {
          yield problem(`host ${quoted} must not be a wildcard`, 'Hostnames', i);
        }
      }
      yield* parentProblems(entry.Parents ?? []);
      yield* metaProblems(entry.Meta);
      for (const [{ JWT: jwt }, path] of filtersOf(entry)) {
        yield* gatewayJwtProblems(jwt, ...path, 'Filters', 'JWT');
      }
      for (const [i, { Matches: matches }] of (entry.Rules ?? []).entries()) {
        for (const [j, one] of (matches ?? []).entries()) {
          for (const [message, ...path] of matchFaults(one)) {
            const at = `Rule[${i}], Match[${j}], `;
            yield problem(at + message, 'Rules', i, 'Matches', j, ...path);
          }
        }
      }
    },
  },
);
/** A normalised `http-route` entry. */
export type HttpRoute = Normal<typeof httpRoute.type>;

/** The kind `tcp-route`. */
export const tcpRoute = defineKind(
  'tcp-route',
  {
    Parents: keep(list(parent)),
    Services: keep(list(object({ Name: keep(text()) }))),
    Meta: omit(meta),
    Status: drop(free()),
  },
  {
    permissions: OF_MESH,
    hasStatus: true,
    names: (entry): Iterable<string> => routeTargets(servicesOfTcp(entry), entry.Parents),
    *validate(entry) {
      if (entry.Name === '') yield problem('Name is empty: serviceName is required', 'Name');
      yield* metaProblems(entry.Meta);
      if ((entry.Services ?? []).length > 1) {
        yield problem('tcp-route currently only supports one service', 'Services');
      }
      yield* parentProblems(entry.Parents ?? []);
    },
  },
);
/** A normalised `tcp-route` entry. */
export type TcpRoute = Normal<typeof tcpRoute.type>;

/** Yields the filters of the rules and of their services, each with the path of its owner. */
function* filtersOf({
  Rules: rules,
}: {
  readonly Rules: readonly Normal<typeof rule>[] | null;
}): Iterable<[Normal<typeof filters>, Path]> {
  for (const [i, { Filters: own, Services: services }] of (rules ?? []).entries()) {
    yield [own, ['Rules', i]];
    for (const [j, one] of (services ?? []).entries()) {
      yield [one.Filters, ['Rules', i, 'Services', j]];
    }
  }
}

type Named = { readonly Name: string };

const namesOf = (services: readonly Named[]): string[] => [
  ...new Set(services.map(({ Name: name }) => name)),
];
const servicesOfTcp = ({ Services }: { readonly Services: readonly Named[] | null }): string[] =>
  namesOf(Services ?? []);
const servicesOfHttp = ({
  Rules,
}: {
  readonly Rules: readonly { readonly Services: readonly Named[] | null }[] | null;
}): string[] => namesOf((Rules ?? []).flatMap(({ Services }) => Services ?? []));

/** Returns the targets of a route: its services, and the gateways to which it asks to bind. */
function routeTargets(services: readonly string[], parents: readonly Named[] | null): string[] {
  const gateways = (parents ?? []).map(({ Name: name }) => target.gateway(name));
  return [...services.map(target.service), ...gateways];
}

/** Returns the services of an http-route or tcp-route, each once, in order. */
export const routedServices = (route: ConfigEntry): string[] =>
  route.Kind === 'tcp-route'
    ? servicesOfTcp(route as unknown as TcpRoute)
    : servicesOfHttp(route as unknown as HttpRoute);

/** Returns the gateways and listeners to which a route asks to bind. */
export const parentsOf = (route: ConfigEntry): readonly Parent[] =>
  (route as unknown as TcpRoute).Parents ?? [];

function* parentProblems(parents: readonly Parent[]): Iterable<Problem> {
  const seen = new Set<string>();
  for (const [i, one] of parents.entries()) {
    if (one.Kind !== 'api-gateway') {
      yield problem(
        `unsupported parent kind: ${JSON.stringify(one.Kind)}, must be 'api-gateway'`,
        ...['Parents', i, 'Kind'],
      );
    }
    const key = JSON.stringify([one.Name, one.SectionName]);
    if (seen.has(key)) yield problem('route parents must be unique', 'Parents', i);
    seen.add(key);
  }
}

/** Yields the message and path of each problem of a match. */
function* matchFaults(one: Normal<typeof match>): Iterable<[string, ...Path]> {
  if (one.Method !== '' && !isHttpMethod(one.Method)) {
    yield [`Method contains an invalid method ${JSON.stringify(one.Method)}`, 'Method'];
  }
  for (const [k, { Name: name, Match: way }] of (one.Query ?? []).entries()) {
    if (name === '') yield [`Query[${k}], missing required Name field`, 'Query', k, 'Name'];
    if (!QUERY_MATCHES.includes(way)) {
      const message = `Query[${k}], match type should be one of present, exact, or regex`;
      yield [message, 'Query', k, 'Match'];
    }
  }
  for (const [k, { Name: name, Match: way }] of (one.Headers ?? []).entries()) {
    if (name === '') yield [`Headers[${k}], missing required Name field`, 'Headers', k, 'Name'];
    if (!HEADER_MATCHES.includes(way)) {
      const message = `Headers[${k}], match type should be one of present, exact, prefix, suffix, or regex`;
      yield [message, 'Headers', k, 'Match'];
    }
  }
  const { Match: way, Value: value } = one.Path;
  if (!PATH_MATCHES.includes(way)) {
    yield ['Path, match type should be one of exact, prefix, or regex', 'Path', 'Match'];
  } else if (way !== 'regex' && !value.startsWith('/')) {
    const message = `Path, ${way} type match doesn't start with '/': ${JSON.stringify(value)}`;
    yield [message, 'Path', 'Value'];
  }
}
