/** `service-router`: routes of requests to a service, by path, header, query and method. */

import {
  boolean,
  durationText,
  given,
  keep,
  list,
  type Normal,
  object,
  omit,
  text,
  uint32,
} from '../languages/fields.js';
import {
  countGiven,
  headerChanges,
  meta,
  metaProblems,
  methodProblems,
  nameProblems,
  type Path,
  pathMatch,
  pathMatchProblems,
  upperText,
} from './common.js';
import { defineKind, type EntryContext } from './definition.js';
import { destinationEditionProblems } from './destinations.js';
import { OF_SERVICE } from './permissions.js';
import { type Problem, problem } from './problems.js';

const RETRY_CONDITIONS = new Set([
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
]);

const header = object({
  Name: keep(text()),
  Present: omit(boolean),
  Exact: omit(text()),
  Prefix: omit(text()),
  Suffix: omit(text()),
  Regex: omit(text()),
  Invert: omit(boolean),
});
const queryParam = object({
  Name: keep(text()),
  Present: omit(boolean),
  Exact: omit(text()),
  Regex: omit(text()),
});
const httpMatch = object({
  ...pathMatch,
  CaseInsensitive: omit(boolean, 'case_insensitive'),
  Header: omit(list(header)),
  QueryParam: omit(list(queryParam), 'query_param'),
  Methods: omit(list(upperText)),
});
const destination = object({
  Service: omit(text()),
  ServiceSubset: omit(text(), 'service_subset'),
  Namespace: omit(text()),
  Partition: omit(text()),
  PrefixRewrite: omit(text(), 'prefix_rewrite'),
  RequestTimeout: omit(durationText, 'request_timeout'),
  IdleTimeout: omit(durationText, 'idle_timeout'),
  NumRetries: omit(uint32, 'num_retries'),
  RetryOnConnectFailure: omit(boolean, 'retry_on_connect_failure'),
  RetryOn: omit(list(text()), 'retry_on'),
  RetryOnStatusCodes: omit(list(uint32), 'retry_on_status_codes'),
  RequestHeaders: given(headerChanges, 'request_headers'),
  ResponseHeaders: given(headerChanges, 'response_headers'),
});
const route = object({
  Match: given(object({ HTTP: given(httpMatch) })),
  Destination: given(destination),
});
type Match = Normal<typeof httpMatch>;

/** The kind `service-router`. */
export const serviceRouter = defineKind(
  'service-router',
  { Routes: keep(list(route)), Meta: omit(meta) },
  {
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
    if (RETRY_CONDITIONS.has(condition)) continue;
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
