/** `http-route` and `tcp-route`: traffic from an api-gateway to services. */

import {
  always,
  boolean,
  duration,
  free,
  later,
  list,
  map,
  type Normal,
  neededText,
  never,
  nullable,
  object,
  text,
  textLike,
  uint32,
  whole,
} from '../languages/fields.js';
import { among, any, like, rule, ruled } from '../languages/rules.js';
import {
  httpMethodOrAny,
  isHttpMethod,
  metaField,
  metaProblems,
  type Path,
  textOr,
} from './common.js';
import { defineKind } from './definition.js';
import { isDomainName, PLAIN_NAME } from './host-names.js';
import { gatewayJwt, gatewayJwtProblems, providersOf } from './jwt.js';
import { OF_MESH } from './permissions.js';
import { type Problem, problem } from './problems.js';
import { target } from './targets.js';

const parent = object({
  Kind: always('The kind of the gateway.', textOr('api-gateway', ['api-gateway'])),
  Name: always('The name of the gateway.', text()),
  SectionName: always('The listener of the gateway. Defaults to all listeners that fit.', text()),
});
/** A gateway, or a listener of it, to which a route asks to bind. */
export type Parent = Normal<typeof parent>;

const headerFilters = list(
  object({
    Add: always('Headers to add, with their values.', map(text())),
    Remove: always('Headers to remove.', list(text())),
    Set: always('Headers to set, replacing any existing values.', map(text())),
  }),
);
const filters = object({
  Headers: always('Changes to the headers of requests.', headerFilters),
  URLRewrite: always(
    'A rewrite of the request path.',
    nullable(object({ Path: always('The path that replaces the matched prefix.', text()) })),
  ),
  RetryFilter: always(
    'When a failed request is retried.',
    nullable(
      object({
        NumRetries: always('How many times a request is retried.', uint32),
        RetryOn: always('The conditions under which a request is retried.', list(text())),
        RetryOnStatusCodes: always(
          'The response status codes on which a request is retried.',
          list(uint32),
        ),
        RetryOnConnectFailure: always(
          'Whether a request is retried if no connection could be established.',
          boolean,
        ),
      }),
    ),
  ),
  TimeoutFilter: always(
    'How long requests may take.',
    nullable(
      object({
        RequestTimeout: always('How long a response may take.', duration),
        IdleTimeout: always('How long a request may remain idle, with nothing sent.', duration),
      }),
    ),
  ),
  JWT: always('The JSON Web Token that a request must carry.', nullable(gatewayJwt)),
  ExtProc: never('External processing, a feature of later releases that is not supported.', later),
  ExtAuthz: never(
    'External authorization, a feature of later releases that is not supported.',
    later,
  ),
});
const responseFilters = object({
  Headers: always('Changes to the headers of responses.', headerFilters),
});

const HEADER_MATCHES = ['present', 'exact', 'prefix', 'suffix', 'regex'];
const PATH_MATCHES = ['exact', 'prefix', 'regex'];
const QUERY_MATCHES = ['present', 'exact', 'regex'];
const absolutePath = rule(
  'Value starts with a slash if Match is exact or prefix.',
  any(among('Match', '', 'regex'), like('Value', '^/')),
);
const comparisons = (noun: string, values: readonly string[]) =>
  list(
    object({
      Match: always('How the value is compared.', text({ values, limits: { needed: true } })),
      Name: always(`The name of the ${noun}.`, neededText),
      Value: always('The value to compare with.', text()),
    }),
  );
const match = object({
  Headers: always('Conditions on headers.', comparisons('header', HEADER_MATCHES)),
  Method: always('The HTTP method. Empty means all.', httpMethodOrAny),
  Path: always(
    'A condition on the path.',
    ruled(
      object(
        {
          Match: always(
            'How the path is compared. Empty matches every path.',
            text({ values: ['', ...PATH_MATCHES] }),
          ),
          Value: always('The path to compare with.', text()),
        },
        // A path without a match type matches every path.
        (path) => (path.Match === '' ? { Match: 'prefix', Value: '/' } : path),
      ),
      absolutePath,
    ),
  ),
  Query: always('Conditions on query parameters.', comparisons('query parameter', QUERY_MATCHES)),
});
const routedService = object({
  Name: always('The name of the service.', text()),
  Weight: always(
    'The share of requests, relative to the other services of the rule.',
    whole({ change: (weight) => (weight <= 0 ? 1 : weight) }),
  ),
  Filters: always('Filters applied to requests sent to the service.', filters),
  ResponseFilters: always('Filters applied to responses from the service.', responseFilters),
});
const routeRule = object({
  Filters: always('Filters applied to requests that match the rule.', filters),
  ResponseFilters: always(
    'Filters applied to responses to requests that match the rule.',
    responseFilters,
  ),
  Matches: always(
    'The requests to which the rule applies. A request needs to satisfy only one match.',
    list(match),
  ),
  Services: always('The services that receive the requests.', list(routedService)),
});

export const httpRoute = defineKind(
  'http-route',
  {
    Parents: always('The gateways to which the route binds.', list(parent, { unique: true })),
    Rules: always('The rules that route requests to services.', list(routeRule)),
    Hostnames: always(
      'The host names of the requests. Defaults to all host names of the listener.',
      list(textLike(PLAIN_NAME)),
    ),
    Meta: metaField,
    Status: never(
      'The status that the server reports for the route. It is accepted but not stored.',
      free(),
    ),
  },
  {
    description: 'A route for HTTP requests from an api-gateway to services.',
    permissions: OF_MESH,
    hasStatus: true,
    names: (entry): Iterable<string> => routeTargets(servicesOf(entry.Rules), entry.Parents),
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
export const tcpRoute = defineKind(
  'tcp-route',
  {
    Parents: always('The gateways to which the route binds.', list(parent, { unique: true })),
    Services: always(
      'The service that receives the connections.',
      list(object({ Name: always('The name of the service.', text()) }), { max: 1 }),
    ),
    Meta: metaField,
    Status: never(
      'The status that the server reports for the route. It is accepted but not stored.',
      free(),
    ),
  },
  {
    description: 'A route for connections from an api-gateway to a service.',
    permissions: OF_MESH,
    hasStatus: true,
    names: (entry): Iterable<string> => routeTargets(namesOf(entry.Services), entry.Parents),
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
/** Yields the filters of the rules and of their services, each with the path of its owner. */
function* filtersOf({
  Rules: rules,
}: {
  readonly Rules: readonly Normal<typeof routeRule>[] | null;
}): Iterable<[Normal<typeof filters>, Path]> {
  for (const [i, { Filters: own, Services: services }] of (rules ?? []).entries()) {
    yield [own, ['Rules', i]];
    for (const [j, one] of (services ?? []).entries()) {
      yield [one.Filters, ['Rules', i, 'Services', j]];
    }
  }
}

type Named = { readonly Name: string };

/** Returns the names of services, each once, in order. */
export const namesOf = (services: readonly Named[] | null | undefined): string[] => [
  ...new Set((services ?? []).map(({ Name: name }) => name)),
];
type Rules = readonly { readonly Services: readonly Named[] | null }[] | null | undefined;
/** Returns the services of rules, each once, in order. */
export const servicesOf = (rules: Rules): string[] =>
  namesOf((rules ?? []).flatMap(({ Services }) => Services ?? []));

/** Returns the targets of a route: its services, and the gateways to which it asks to bind. */
function routeTargets(services: readonly string[], parents: readonly Named[] | null): string[] {
  const gateways = (parents ?? []).map(({ Name: name }) => target.gateway(name));
  return [...services.map(target.service), ...gateways];
}

function* parentProblems(parents: readonly Parent[]): Iterable<Problem> {
  const seen = new Set<string>();
  for (const [i, one] of parents.entries()) {
    if (one.Kind !== 'api-gateway') {
      yield problem(
        `unsupported parent kind: ${JSON.stringify(one.Kind)}, must be 'api-gateway'`,
        'Parents',
        i,
        'Kind',
      );
    }
    const key = JSON.stringify([one.Name.toLowerCase(), one.SectionName]);
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
  } else if (!absolutePath.holds(one.Path)) {
    const message = `Path, ${way} type match doesn't start with '/': ${JSON.stringify(value)}`;
    yield [message, 'Path', 'Value'];
  }
}
