/** Fields and rules that kinds share. */
import {
  boolean,
  duration,
  given,
  type Infer,
  list,
  map,
  type Normal,
  object,
  omit,
  text,
  uint32,
  whole,
} from '../languages/fields.js';
import { type Problem, problem } from './problems.js';

/** The path of a field in an entry: member names and list positions. */
export type Path = readonly (string | number)[];

/** Text that is stored in lower case. */
export const lowerText = text({ change: (value) => value.toLowerCase() });
/** Text that is stored in upper case. */
export const upperText = text({ change: (value) => value.toUpperCase() });
/** Text that defaults to `value` when it is empty. */
export const textOr = (value: string): ReturnType<typeof text> =>
  text({ change: (given) => given || value });

/**
 * An admin partition. The only one is `default`, which is stored as the empty text. The kinds
 * refuse any other.
 */
export const partition = text({ change: (value) => (value === 'default' ? '' : value) });

/** `Meta`: free metadata. metaProblems checks its limits. */
export const meta = map(text());
const META_LIMITS = { count: 64, key: 128, value: 512 };

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

/** Checks that the name is not empty. */
export function* nameProblems(name: string): Iterable<Problem> {
  if (name === '') yield problem('Name is required', 'Name');
}

/** How a proxy uses mesh gateways. */
export const meshGateway = object({
  Mode: omit(text({ values: ['', 'none', 'local', 'remote'] })),
});
/** Settings of transparent proxy mode. */
export const transparentProxy = object({
  OutboundListenerPort: omit(whole(), 'outbound_listener_port'),
  DialedDirectly: omit(boolean, 'dialed_directly'),
});
/** HTTP paths that a proxy exposes outside the mesh. */
export const expose = object({
  Checks: omit(boolean),
  Paths: omit(
    list(
      object({
        ListenerPort: omit(whole(), 'listener_port'),
        Path: omit(text()),
        LocalPathPort: omit(whole(), 'local_path_port'),
        Protocol: omit(text()),
        ParsedFromCheck: omit(boolean, 'parsed_from_check'),
      }),
    ),
  ),
});
/** The mode of a proxy. */
export const proxyMode = text({ values: ['', 'transparent', 'direct'] });

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
  Add: omit(map(text())),
  Set: omit(map(text())),
  Remove: omit(list(text())),
});
type HeaderChanges = Normal<typeof headerChanges>;
/** Whether any header is changed. */
export const changesHeaders = (changes: HeaderChanges | undefined): boolean =>
  changes !== undefined && Object.keys(changes).length > 0;

/** Outlier detection of an upstream. */
export const passiveHealthCheck = object({
  Interval: omit(duration),
  MaxFailures: omit(uint32, 'max_failures'),
  EnforcingConsecutive5xx: given(uint32, 'enforcing_consecutive_5xx'),
  MaxEjectionPercent: given(uint32, 'max_ejection_percent'),
  BaseEjectionTime: given(duration, 'base_ejection_time'),
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

const HTTP_METHODS = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
]);
/** Whether the text is an HTTP method in upper case. */
export const isHttpMethod = (method: string): boolean => HTTP_METHODS.has(method);
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

/** The three ways to match the path of a request. */
export const pathMatch = {
  PathExact: omit(text(), 'path_exact'),
  PathPrefix: omit(text(), 'path_prefix'),
  PathRegex: omit(text(), 'path_regex'),
};
/** Checks that at most one of the three is set, and that the first two start with a slash. */
export function* pathMatchProblems(
  match: Infer<typeof pathMatch>,
  at: { readonly field: string; readonly whole: string },
  ...path: Path
): Iterable<Problem> {
  const { PathExact: exact, PathPrefix: prefix, PathRegex: regex } = match;
  if (exact !== undefined && !exact.startsWith('/')) {
    yield problem(
      `${at.field}PathExact doesn't start with '/': ${JSON.stringify(exact)}`,
      ...path,
      'PathExact',
    );
  }
  if (prefix !== undefined && !prefix.startsWith('/')) {
    yield problem(
      `${at.field}PathPrefix doesn't start with '/': ${JSON.stringify(prefix)}`,
      ...path,
      'PathPrefix',
    );
  }
  if (countGiven(exact, prefix, regex) > 1) {
    yield problem(
      `${at.whole} should only contain at most one of PathExact, PathPrefix, or PathRegex`,
      ...path,
    );
  }
}

/** Counts the values that are not undefined. */
export const countGiven = (...values: unknown[]): number =>
  values.filter((value) => value !== undefined).length;

/**
 * Whether the text is a DNS name as gateways accept it: labels of letters, digits, `-`, `_` and
 * `*`. The caller checks where `*` stands.
 */
export function isDomainName(name: string): boolean {
  if (name.length === 0 || name.length > 254) return false;
  const labels = (name.endsWith('.') ? name.slice(0, -1) : name).split('.');
  return labels.every((label) => /^[A-Za-z0-9_*-]{1,63}$/.test(label));
}

/** Whether the text is an IPv4 or IPv6 address. */
export function isAddress(value: string): boolean {
  if (/^(\d{1,3}\.){3}\d{1,3}$/.test(value)) {
    return value.split('.').every((part) => Number(part) <= 255 && !/^0\d/.test(part));
  }
  return value.includes(':') && isIpv6(value);
}

function isIpv6(value: string): boolean {
  const halves = value.split('::');
  if (halves.length > 2) return false;
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const parts = halves.flatMap(groups);
  const last = parts.at(-1);
  let size = parts.length;
  if (last?.includes('.')) {
    if (!isAddress(last)) return false;
    parts.pop();
    size += 1;
  }
  if (!parts.every((part) => /^[0-9A-Fa-f]{1,4}$/.test(part))) return false;
  return halves.length === 2 ? size <= 7 : size === 8;
}

/** Connection and request limits of an upstream. */
export const upstreamLimits = object({
  MaxConnections: given(whole(), 'max_connections'),
  MaxPendingRequests: given(whole(), 'max_pending_requests'),
  MaxConcurrentRequests: given(whole(), 'max_concurrent_requests'),
});
