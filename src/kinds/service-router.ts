/** `service-router`: routes of requests to a service, by path, header, query and method. */

import {
  boolean,
  durationText,
  given,
  keep,
  list,
  type Normal,
  neededText,
  object,
  omit,
  text,
  uint32,
} from '../languages/fields.js';
import {
  countGiven,
  headerChanges,
  httpMethod,
  metaField,
  metaProblems,
  methodProblems,
  nameProblems,
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

const header = object({
  Name: keep('The name of the header.', neededText),
  Present: omit('Whether the header is there.', boolean),
  Exact: omit('The whole value.', text()),
  Prefix: omit('The beginning of the value.', text()),
  Suffix: omit('The end of the value.', text()),
  Regex: omit('A regular expression for the value.', text()),
  Invert: omit('Whether the condition is negated.', boolean),
});
const queryParam = object({
  Name: keep('The name of the query parameter.', neededText),
  Present: omit('Whether the parameter is there.', boolean),
  Exact: omit('The whole value.', text()),
  Regex: omit('A regular expression for the value.', text()),
});
const httpMatch = object({
  ...pathMatch,
  CaseInsensitive: omit(
    'Whether the letter case of the path is ignored.',
    boolean,
    'case_insensitive',
  ),
  Header: omit('Conditions on headers. All must hold.', list(header)),
  QueryParam: omit(
    'Conditions on query parameters. All must hold.',
    list(queryParam),
    'query_param',
  ),
  Methods: omit('The HTTP methods of the requests. Empty means all.', list(httpMethod)),
});
const destination = object({
  Service: omit('The service. By default the one of the entry.', text()),
  ServiceSubset: omit('A subset of the service.', text(), 'service_subset'),
  Namespace: omit('The namespace of the entry. A chain stays within it.', text()),
  Partition: omit('An admin partition. The only one is default.', text()),
  PrefixRewrite: omit(
    'What takes the place of the matched path or prefix.',
    text(),
    'prefix_rewrite',
  ),
  RequestTimeout: omit('How long an answer may take.', durationText, 'request_timeout'),
  IdleTimeout: omit('How long nothing may be sent.', durationText, 'idle_timeout'),
  NumRetries: omit('How many times a failed request is sent again.', uint32, 'num_retries'),
  RetryOnConnectFailure: omit(
    'Whether a request is sent again when no connection could be made.',
    boolean,
    'retry_on_connect_failure',
  ),
  RetryOn: omit(
    'The conditions on which a request is sent again.',
    list(text({ values: RETRY_CONDITIONS })),
    'retry_on',
  ),
  RetryOnStatusCodes: omit(
    'The statuses on which a request is sent again.',
    list(uint32),
    'retry_on_status_codes',
  ),
  RequestHeaders: given('Changes to the headers of requests.', headerChanges, 'request_headers'),
  ResponseHeaders: given('Changes to the headers of responses.', headerChanges, 'response_headers'),
});
const route = object({
  Match: given(
    'Which requests take the route. Absent means all.',
    object({ HTTP: given('Conditions on HTTP requests. All must hold.', httpMatch) }),
  ),
  Destination: given('Where the requests go. Absent means the service of the entry.', destination),
});
type Match = Normal<typeof httpMatch>;

/** The kind `service-router`. */
export const serviceRouter = defineKind(
  'service-router',
  {
    Routes: keep('The routes. The first one that matches takes a request.', list(route)),
    Meta: metaField,
  },
  {
    says: 'Routes of the requests to a service, by path, header, query and method.',
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
/** A normalised `service-router` entry. */
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
  if (
    target.PrefixRewrite !== undefined &&
    match?.PathExact === undefined &&
    match?.PathPrefix === undefined
  ) {
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
    const given = countGiven(one.Present, one.Exact, one.Prefix, one.Suffix, one.Regex);
    const rule = { at: `${at} Header[${j}]`, one: 'Present, Exact, Prefix, Suffix, or Regex' };
    yield* namedMatchProblems(one.Name, given, rule, ...path, 'Header', j);
  }
  for (const [j, one] of (match.QueryParam ?? []).entries()) {
    const given = countGiven(one.Present, one.Exact, one.Regex);
    const rule = { at: `${at} QueryParam[${j}]`, one: 'Present, Exact, or Regex' };
    yield* namedMatchProblems(one.Name, given, rule, ...path, 'QueryParam', j);
  }
  yield* methodProblems(match.Methods, `${at} `, ...path);
}

function* namedMatchProblems(
  name: string,
  given: number,
  rule: { readonly at: string; readonly one: string },
  ...path: Path
): Iterable<Problem> {
  if (name === '') yield problem(`${rule.at} missing required Name field`, ...path, 'Name');
  if (given !== 1) yield problem(`${rule.at} should only contain one of ${rule.one}`, ...path);
}
