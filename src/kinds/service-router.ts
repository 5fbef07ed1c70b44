/** `service-router`: routes of requests to a service, by path, header, query and method. */

import {
  always,
  boolean,
  durationText,
  ifSent,
  list,
  type Normal,
  neededText,
  nonEmpty,
  object,
  type Rule,
  text,
  uint32,
} from '../languages/fields.js';
import { any, exactlyOne, inside, rule, ruled, set, when } from '../languages/rules.js';
import {
  headerChanges,
  headerMatch,
  httpMethod,
  metaField,
  metaProblems,
  methodProblems,
  nameProblems,
  onePath,
  type Path,
  pathMatch,
  pathMatchProblems,
} from './common.js';
import { defineKind, type EntryContext } from './definition.js';
import { destinationEditionProblems } from './destinations.js';
import { OF_SERVICE } from './permissions.js';
import { type Problem, problem } from './problems.js';

const RETRY_CONDITIONS = [
  '5xx',
  'gateway-error',
  'reset',
  'connect-failure',
  'envoy-ratelimited',
  'retriable-4xx',
  'refused-stream',
  'cancelled',
  'deadline-exceeded',
  'internal',
  'resource-exhausted',
  'unavailable',
];

const oneHeaderComparison = exactlyOne('Present', 'Exact', 'Prefix', 'Suffix', 'Regex');
const header = object({
  ...headerMatch,
  Regex: nonEmpty('A regular expression for the value.', text()),
  Invert: nonEmpty('Whether the condition is negated.', boolean),
});
const oneParamComparison = exactlyOne('Present', 'Exact', 'Regex');
const queryParam = object({
  Name: always('The name of the query parameter.', neededText),
  Present: nonEmpty('Whether the parameter is present.', boolean),
  Exact: nonEmpty('The exact value.', text()),
  Regex: nonEmpty('A regular expression for the value.', text()),
});
const httpMatch = object({
  ...pathMatch,
  CaseInsensitive: nonEmpty(
    'Whether the letter case of the path is ignored.',
    boolean,
    'case_insensitive',
  ),
  Header: nonEmpty(
    'Conditions on headers. All must be met.',
    list(ruled(header, oneHeaderComparison)),
  ),
  QueryParam: nonEmpty(
    'Conditions on query parameters. All must be met.',
    list(ruled(queryParam, oneParamComparison)),
    'query_param',
  ),
  Methods: nonEmpty(
    'The HTTP methods of the requests. Empty means all.',
    list(httpMethod, { unique: true }),
  ),
});
const destination = object({
  Service: nonEmpty('The service. Defaults to the service of the entry.', text()),
  ServiceSubset: nonEmpty('A subset of the service.', text(), 'service_subset'),
  Namespace: nonEmpty('The namespace of the entry. A chain stays within it.', text()),
  Partition: nonEmpty('The admin partition. Only default is supported.', text()),
  PrefixRewrite: nonEmpty(
    'The path that replaces the matched path or prefix.',
    text(),
    'prefix_rewrite',
  ),
  RequestTimeout: nonEmpty('How long a response may take.', durationText, 'request_timeout'),
  IdleTimeout: nonEmpty(
    'How long a request may remain idle, with nothing sent.',
    durationText,
    'idle_timeout',
  ),
  NumRetries: nonEmpty('How many times a failed request is retried.', uint32, 'num_retries'),
  RetryOnConnectFailure: nonEmpty(
    'Whether a request is retried if no connection could be established.',
    boolean,
    'retry_on_connect_failure',
  ),
  RetryOn: nonEmpty(
    'The conditions under which a request is retried.',
    list(text({ values: RETRY_CONDITIONS })),
    'retry_on',
  ),
  RetryOnStatusCodes: nonEmpty(
    'The response status codes on which a request is retried.',
    list(uint32),
    'retry_on_status_codes',
  ),
  RequestHeaders: ifSent('Changes to the headers of requests.', headerChanges, 'request_headers'),
  ResponseHeaders: ifSent(
    'Changes to the headers of responses.',
    headerChanges,
    'response_headers',
  ),
});
const rewrittenPath = rule(
  'Destination.PrefixRewrite needs PathExact or PathPrefix.',
  when(
    inside('Destination', set('PrefixRewrite')),
    inside('Match', inside('HTTP', any(set('PathExact'), set('PathPrefix')))),
  ),
);
const route = object({
  Match: ifSent(
    'Which requests take the route. Absent means all.',
    object({
      HTTP: ifSent('Conditions on HTTP requests. All must be met.', ruled(httpMatch, onePath)),
    }),
  ),
  Destination: ifSent('Where the requests go. Defaults to the service of the entry.', destination),
});
type Match = Normal<typeof httpMatch>;

export const serviceRouter = defineKind(
  'service-router',
  {
    Routes: always(
      'The routes. A request takes the first one that matches.',
      list(ruled(route, rewrittenPath)),
    ),
    Meta: metaField,
  },
  {
    description: 'Routes for the requests to a service, by path, header, query and method.',
    permissions: OF_SERVICE,
    *forwardsTo(entry): Iterable<string | undefined> {
      for (const { Destination: to } of entry.Routes ?? []) yield to?.Service;
    },
    *validate(entry, context) {
      yield* nameProblems(entry.Name);
      yield* metaProblems(entry.Meta);
      for (const [i, one] of (entry.Routes ?? []).entries()) {
        yield* routeProblems(one, context, i);
      }
    },
  },
);
export type ServiceRouter = Normal<typeof serviceRouter.type>;

function* routeProblems(
  one: Normal<typeof route>,
  context: EntryContext,
  i: number,
): Iterable<Problem> {
  const at = `Route[${i}]`;
  const match = one.Match?.HTTP;
  if (match !== undefined) yield* matchProblems(match, at, 'Routes', i, 'Match', 'HTTP');
  const target = one.Destination;
  if (target === undefined) return;
  const path: Path = ['Routes', i, 'Destination'];
  if (!rewrittenPath.holds(one)) {
    yield problem(
      `${at} cannot make use of PrefixRewrite without configuring either PathExact or PathPrefix`,
      ...path,
      'PrefixRewrite',
    );
  }
  for (const [j, condition] of (target.RetryOn ?? []).entries()) {
    if (RETRY_CONDITIONS.includes(condition)) continue;
    yield problem(
      `${at} contains an invalid retry condition: ${JSON.stringify(condition)}`,
      ...path,
      'RetryOn',
      j,
    );
  }
  yield* destinationEditionProblems(target, context, `${at} Destination`, ...path);
}

function* matchProblems(match: Match, at: string, ...path: Path): Iterable<Problem> {
  yield* pathMatchProblems(match, { field: `${at} `, whole: at }, ...path);
  for (const [j, one] of (match.Header ?? []).entries()) {
    const words = 'Present, Exact, Prefix, Suffix, or Regex';
    const place = { at: `${at} Header[${j}]`, rule: oneHeaderComparison, words };
    yield* namedMatchProblems(one, place, ...path, 'Header', j);
  }
  for (const [j, one] of (match.QueryParam ?? []).entries()) {
    const words = 'Present, Exact, or Regex';
    const place = { at: `${at} QueryParam[${j}]`, rule: oneParamComparison, words };
    yield* namedMatchProblems(one, place, ...path, 'QueryParam', j);
  }
  yield* methodProblems(match.Methods, `${at} `, ...path);
}

function* namedMatchProblems(
  match: { readonly Name: string },
  { at, rule, words }: { readonly at: string; readonly rule: Rule; readonly words: string },
  ...path: Path
): Iterable<Problem> {
  if (match.Name === '') yield problem(`${at} missing required Name field`, ...path, 'Name');
  if (!rule.holds(match)) yield problem(`${at} should only contain one of ${words}`, ...path);
}
