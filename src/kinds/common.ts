/** Fields and rules that kinds share. */
import {
  always,
  boolean,
  count,
  type Infer,
  ifSent,
  list,
  map,
  type Normal,
  nonEmpty,
  object,
  percentage,
  positiveDuration,
  text,
  textLike,
  uint32,
  whole,
} from '../languages/fields.js';
import { atMostOne } from '../languages/rules.js';
import { neededText } from '../languages/scalars.js';
import { type Problem, problem } from './problems.js';

/** The path of a field in an entry: member names and list positions. */
export type Path = readonly (string | number)[];

/** Text that is stored in lower case. */
export const lowerText = text({ change: (value) => value.toLowerCase() });
/** Text that defaults to `value` when it is empty. The kind checks that it is among `values`. */
export const textOr = (value: string, values: readonly string[]): ReturnType<typeof text> =>
  text({ change: (given) => given || value, values: ['', ...values] });

/**
 * An admin partition. The only one is `default`, which is stored as the empty text. The kinds
 * refuse any other.
 */
export const partition = text({
  change: (value) => (value === 'default' ? '' : value),
  values: ['', 'default'],
});

const META_LIMITS = { count: 64, key: 128, value: 512 };
/** `Meta`: free metadata. metaProblems checks its limits. */
const meta = map(text(), META_LIMITS);
/** The member `Meta` of an entry. */
export const metaField = nonEmpty('User-defined labels. They have no effect.', meta);

const encoder = new TextEncoder();
/** Whether a text is longer than `max` bytes of UTF-8. */
export const isLonger = (value: string, max: number): boolean =>
  value.length * 3 > max && encoder.encode(value).length > max;

/**
 * Maximum length of the name of an entry, in bytes of UTF-8. Names are parts of keys that stay in
 * memory.
 */
export const ENTRY_NAME_MAX = 1024;

/** Checks the limits of `Meta`, which are the same for every kind. */
export function* metaProblems(value: Normal<typeof meta> | undefined): Iterable<Problem> {
  const entries = Object.entries(value ?? {});
  if (entries.length > META_LIMITS.count) {
    yield problem(
      `Meta exceeds maximum element count ${META_LIMITS.count}, it has ${entries.length}`,
      'Meta',
    );
  }
  for (const [key, entry] of entries) {
    const name = JSON.stringify(key);
    if (isLonger(key, META_LIMITS.key)) {
      yield problem(`Meta key ${name} exceeds maximum length ${META_LIMITS.key}`, 'Meta', key);
    }
    if (isLonger(entry, META_LIMITS.value)) {
      yield problem(
        `Meta value for key ${name} exceeds maximum length ${META_LIMITS.value}`,
        'Meta',
        key,
      );
    }
  }
}

/** Whether a text is base64 in the standard alphabet, with padding. Line ends are skipped. */
export function isBase64(value = ''): boolean {
  const plain = value.replace(/[\r\n]/g, '');
  return plain.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(plain);
}

/** Checks that the name is not empty. */
export function* nameProblems(name: string): Iterable<Problem> {
  if (name === '') yield problem('Name is required', 'Name');
}

/** How a proxy uses mesh gateways. */
export const meshGateway = object({
  Mode: nonEmpty(
    'Whether connections go through a mesh gateway, and whether it is the local or the remote one.',
    text({ examples: ['none', 'local', 'remote'] }),
  ),
});
/** Settings of transparent proxy mode. */
export const transparentProxy = object({
  OutboundListenerPort: nonEmpty(
    'The port to which outbound connections are redirected.',
    whole(),
    'outbound_listener_port',
  ),
  DialedDirectly: nonEmpty(
    'Whether instances can also be reached at their own addresses.',
    boolean,
    'dialed_directly',
  ),
});
/** HTTP paths that a proxy exposes outside the mesh. */
export const expose = object({
  Checks: nonEmpty('Whether the paths of HTTP checks are exposed.', boolean),
  Paths: nonEmpty(
    'The paths that are exposed.',
    list(
      object({
        ListenerPort: nonEmpty(
          'The port on which the proxy exposes the path.',
          whole(),
          'listener_port',
        ),
        Path: nonEmpty('The path that is exposed.', text()),
        LocalPathPort: nonEmpty(
          'The port on which the service serves the path.',
          whole(),
          'local_path_port',
        ),
        Protocol: nonEmpty('The protocol of the listener.', text()),
        ParsedFromCheck: nonEmpty(
          'Whether the path comes from a check of the service.',
          boolean,
          'parsed_from_check',
        ),
      }),
    ),
  ),
});
/** The mode of a proxy. */
export const proxyMode = text({ examples: ['transparent', 'direct'] });

const MUTUAL_TLS_MODES = ['', 'strict', 'permissive'];
/** Whether a proxy accepts connections without mutual TLS. */
export const mutualTlsMode = text({ values: MUTUAL_TLS_MODES });
/** Checks a MutualTLSMode. */
export function* mutualTlsProblems(mode = ''): Iterable<Problem> {
  if (!MUTUAL_TLS_MODES.includes(mode)) {
    yield problem(
      `Invalid MutualTLSMode ${JSON.stringify(mode)}. Must be one of "", "strict", or "permissive".`,
      'MutualTLSMode',
    );
  }
}

/** Header changes: the headers to add, set and remove. */
export const headerChanges = object({
  Add: nonEmpty('Headers to add, with their values.', map(text())),
  Set: nonEmpty('Headers to set, replacing any existing values.', map(text())),
  Remove: nonEmpty('Headers to remove.', list(text())),
});
type HeaderChanges = Normal<typeof headerChanges>;
/** Whether any header is changed. */
export const changesHeaders = (changes: HeaderChanges | undefined): boolean =>
  changes !== undefined && Object.keys(changes).length > 0;

/** Outlier detection of an upstream. */
export const passiveHealthCheck = object({
  Interval: nonEmpty('How often instances are evaluated.', positiveDuration),
  MaxFailures: nonEmpty(
    'The number of consecutive failures after which an instance is ejected.',
    uint32,
    'max_failures',
  ),
  EnforcingConsecutive5xx: ifSent(
    'The probability, in percent, that an instance is ejected after consecutive 5xx responses.',
    percentage,
    'enforcing_consecutive_5xx',
  ),
  MaxEjectionPercent: ifSent(
    'The maximum percentage of instances that may be ejected at the same time.',
    percentage,
    'max_ejection_percent',
  ),
  BaseEjectionTime: ifSent(
    'How long an instance is ejected, multiplied by the number of times it has been ejected.',
    positiveDuration,
    'base_ejection_time',
  ),
});
/** Checks a passive health check; undefined is accepted. */
export function* healthCheckProblems(
  check: Normal<typeof passiveHealthCheck> | undefined,
  ...path: Path
): Iterable<Problem> {
  if (check === undefined) return;
  const say = (what: string, field: string): Problem =>
    problem(`passive health check ${what}`, ...path, field);
  if ((check.Interval ?? 0) < 0) yield say('interval cannot be negative', 'Interval');
  const percentage = 'must be a percentage between 0 and 100';
  if ((check.EnforcingConsecutive5xx ?? 0) > 100) {
    yield say(`enforcing_consecutive_5xx ${percentage}`, 'EnforcingConsecutive5xx');
  }
  if ((check.MaxEjectionPercent ?? 0) > 100) {
    yield say(`max_ejection_percent ${percentage}`, 'MaxEjectionPercent');
  }
  if ((check.BaseEjectionTime ?? 0) < 0) {
    yield say('base_ejection_time cannot be negative', 'BaseEjectionTime');
  }
}

const HTTP_METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
];
const upper = (value: string): string => value.toUpperCase();
/** An HTTP method, stored in upper case. */
export const httpMethod = text({ change: upper, values: HTTP_METHODS });
/** The same, or an empty text for any. */
export const httpMethodOrAny = text({ change: upper, values: ['', ...HTTP_METHODS] });
/** Whether the text is an HTTP method in upper case. */
export const isHttpMethod = (method: string): boolean => HTTP_METHODS.includes(method);
/** Checks that methods are known and not repeated. `at` precedes the word Methods in messages. */
export function* methodProblems(
  methods: readonly string[] | null | undefined,
  at: string,
  ...path: Path
): Iterable<Problem> {
  const seen = new Set<string>();
  for (const [i, method] of (methods ?? []).entries()) {
    const name = JSON.stringify(method);
    const where = [...path, 'Methods', i];
    if (!isHttpMethod(method)) {
      yield problem(`${at}Methods contains an invalid method ${name}`, ...where);
    }
    if (seen.has(method)) yield problem(`${at}Methods contains ${name} more than once`, ...where);
    seen.add(method);
  }
}

const path = textLike('^(/|$)');
/** The ways to match a header that all kinds have. */
export const headerMatch = {
  Name: always('The name of the header.', neededText),
  Present: nonEmpty('Whether the header is present.', boolean),
  Exact: nonEmpty('The exact value.', text()),
  Prefix: nonEmpty('The prefix of the value.', text()),
  Suffix: nonEmpty('The suffix of the value.', text()),
};

/** The three ways to match the path of a request. */
export const pathMatch = {
  PathExact: nonEmpty('The exact path of a request.', path, 'path_exact'),
  PathPrefix: nonEmpty('The prefix of the path of a request.', path, 'path_prefix'),
  PathRegex: nonEmpty('A regular expression for the path of a request.', text(), 'path_regex'),
};
/** At most one of the three is set. */
export const onePath = atMostOne('PathExact', 'PathPrefix', 'PathRegex');
/** Checks that at most one of the three is set, and that the first two start with a slash. */
export function* pathMatchProblems(
  match: Infer<typeof pathMatch>,
  at: { readonly field: string; readonly whole: string },
  ...place: Path
): Iterable<Problem> {
  const { PathExact: exact, PathPrefix: prefix } = match;
  if (exact !== undefined && !path.fits(exact)) {
    yield problem(
      `${at.field}PathExact doesn't start with '/': ${JSON.stringify(exact)}`,
      ...place,
      'PathExact',
    );
  }
  if (prefix !== undefined && !path.fits(prefix)) {
    yield problem(
      `${at.field}PathPrefix doesn't start with '/': ${JSON.stringify(prefix)}`,
      ...place,
      'PathPrefix',
    );
  }
  if (!onePath.holds(match)) {
    yield problem(
      `${at.whole} should only contain at most one of PathExact, PathPrefix, or PathRegex`,
      ...place,
    );
  }
}

/** Connection and request limits of an upstream. */
export const upstreamLimits = object({
  MaxConnections: ifSent('The maximum number of open connections.', count, 'max_connections'),
  MaxPendingRequests: ifSent(
    'The maximum number of requests that wait for a connection.',
    count,
    'max_pending_requests',
  ),
  MaxConcurrentRequests: ifSent(
    'The maximum number of concurrent requests.',
    count,
    'max_concurrent_requests',
  ),
});
