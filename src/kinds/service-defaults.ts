/** `service-defaults`: settings of a service that hold for all of its instances. */

import {
  always,
  ifSent,
  list,
  type Normal,
  neededList,
  nonEmpty,
  object,
  port,
  text,
  textLike,
  whole,
} from '../languages/fields.js';
import { among, atMostOne, not, rule, ruled, set } from '../languages/rules.js';
import {
  expose,
  healthCheckProblems,
  lowerText,
  meshGateway,
  metaField,
  metaProblems,
  mutualTlsMode,
  mutualTlsProblems,
  nameProblems,
  type Path,
  passiveHealthCheck,
  proxyMode,
  transparentProxy,
  upstreamLimits,
} from './common.js';
import { defineKind, type EntryOf } from './definition.js';
import { envoyExtensions, extensionProblems } from './extensions.js';
import { isAddress, isDomainName, NAME_OR_ADDRESS } from './host-names.js';
import { OF_SERVICE } from './permissions.js';
import { type Problem, problem } from './problems.js';

const PROTOCOLS = ['', 'tcp', 'http', 'http2', 'grpc'];
const BALANCES = ['', 'exact_balance'];

const noWildcard = rule('The name is not a wildcard.', not(among('Name', '*')));
const named = rule('An override has a Name.', set('Name'));
const unnamed = rule('The defaults have no Name.', not(set('Name')));
const upstream = object({
  Name: nonEmpty('The upstream service. Only overrides have a name.', text()),
  Peer: always('The peer from which the upstream is imported.', text()),
  EnvoyListenerJSON: nonEmpty(
    'A complete Envoy listener as JSON, instead of the one that a proxy would generate.',
    text(),
    'envoy_listener_json',
  ),
  EnvoyClusterJSON: nonEmpty(
    'A complete Envoy cluster as JSON, instead of the one that a proxy would generate.',
    text(),
    'envoy_cluster_json',
  ),
  Protocol: nonEmpty(
    'The protocol of the upstream, instead of the one in its own service-defaults.',
    lowerText,
  ),
  ConnectTimeoutMs: nonEmpty(
    'The time limit for establishing a connection, in milliseconds.',
    whole({ change: (ms) => Math.max(0, ms) }),
    'connect_timeout_ms',
  ),
  Limits: ifSent('Limits on concurrent connections and requests to the upstream.', upstreamLimits),
  PassiveHealthCheck: ifSent(
    'When a failing instance is temporarily ejected.',
    passiveHealthCheck,
    'passive_health_check',
  ),
  MeshGateway: always(
    'How connections to the upstream use mesh gateways.',
    meshGateway,
    'mesh_gateway',
  ),
  BalanceOutboundConnections: nonEmpty(
    'How connections are distributed across the threads of the proxy.',
    text({ values: BALANCES }),
    'balance_outbound_connections',
  ),
});
type Upstream = Normal<typeof upstream>;

const destination = object({
  Addresses: nonEmpty(
    'The IP addresses and host names of the destination.',
    neededList(textLike(NAME_OR_ADDRESS), { unique: true }),
  ),
  Port: nonEmpty('The port of the destination.', port),
});

const rate = {
  RequestsPerSecond: nonEmpty(
    'The average number of requests per second.',
    whole(),
    'requests_per_second',
  ),
  RequestsMaxBurst: nonEmpty(
    'How many requests may arrive at once.',
    whole(),
    'requests_max_burst',
  ),
};
const rateRoute = object({
  PathExact: nonEmpty('The exact path of the requests.', text(), 'path_exact'),
  PathPrefix: nonEmpty('The prefix of the path of the requests.', text(), 'path_prefix'),
  PathRegex: nonEmpty('A regular expression for the path of the requests.', text(), 'path_regex'),
  ...rate,
});
/** Declared only so that the refusal can say that rate limiting is not supported. */
const rateLimits = object({
  InstanceLevel: always(
    'Limits for each instance of the service.',
    object({
      ...rate,
      Routes: nonEmpty('Separate limits for specific paths.', list(rateRoute)),
    }),
    'instance_level',
  ),
});

const fields = {
  Protocol: always(
    'The protocol of the service. Routing by path or header requires an HTTP-based protocol.',
    text({ change: (value) => value.toLowerCase(), values: PROTOCOLS }),
  ),
  Mode: nonEmpty('How the proxies of the service receive its outbound connections.', proxyMode),
  TransparentProxy: always('Settings for transparent mode.', transparentProxy, 'transparent_proxy'),
  MutualTLSMode: nonEmpty(
    'Whether the service accepts connections without mutual TLS.',
    mutualTlsMode,
    'mutual_tls_mode',
  ),
  MeshGateway: always(
    'How connections of the service use mesh gateways.',
    meshGateway,
    'mesh_gateway',
  ),
  Expose: always('Paths that proxies expose outside the mesh.', expose),
  ExternalSNI: nonEmpty(
    'The TLS server name of a service outside the mesh.',
    text(),
    'external_sni',
  ),
  UpstreamConfig: ifSent(
    'Settings of the connections from this service to its upstreams.',
    object({
      Overrides: nonEmpty(
        'Settings for individual upstreams.',
        list(ruled(upstream, named, noWildcard)),
      ),
      Defaults: ifSent('Settings for all other upstreams.', ruled(upstream, unnamed)),
    }),
    'upstream_config',
  ),
  Destination: ifSent(
    'Where a service outside the mesh can be reached through a terminating gateway.',
    destination,
  ),
  MaxInboundConnections: nonEmpty(
    'The maximum number of concurrent connections to each instance.',
    whole(),
    'max_inbound_connections',
  ),
  LocalConnectTimeoutMs: nonEmpty(
    'The time limit for a proxy to connect to its own instance, in milliseconds.',
    whole(),
    'local_connect_timeout_ms',
  ),
  LocalRequestTimeoutMs: nonEmpty(
    'The time limit for an instance to answer a request, in milliseconds.',
    whole(),
    'local_request_timeout_ms',
  ),
  BalanceInboundConnections: nonEmpty(
    'How connections are distributed across the threads of the proxy.',
    text({ values: BALANCES }),
    'balance_inbound_connections',
  ),
  RateLimits: ifSent(
    'Request rate limits. They are not supported and are refused.',
    rateLimits,
    'rate_limits',
  ),
  EnvoyExtensions: nonEmpty(
    'Built-in extensions for the proxies of the service.',
    envoyExtensions,
    'envoy_extensions',
  ),
  Meta: metaField,
};
export type ServiceDefaults = EntryOf<typeof fields>;

const upstreamsOrDestination = atMostOne('UpstreamConfig', 'Destination');
export const serviceDefaults = defineKind('service-defaults', fields, {
  description: 'Settings of a service that apply to all of its instances.',
  permissions: OF_SERVICE,
  rules: [noWildcard, upstreamsOrDestination],
  reportsAll: true,
  validate(entry) {
    const alone = [...loneProblems(entry)];
    return alone.length > 0 ? alone.slice(0, 1) : allProblems(entry);
  },
});

/** Yields the problems that a refusal reports alone. */
function* loneProblems(entry: ServiceDefaults): Iterable<Problem> {
  yield* nameProblems(entry.Name);
  if (!noWildcard.holds(entry)) {
    yield problem(
      'service-defaults name must be the name of a service, and not a wildcard',
      'Name',
    );
  }
  yield* mutualTlsProblems(entry.MutualTLSMode);
}

function* allProblems(entry: ServiceDefaults): Iterable<Problem> {
  yield* metaProblems(entry.Meta);
  const balance = entry.BalanceInboundConnections ?? '';
  if (!BALANCES.includes(balance)) {
    yield problem(
      `invalid value for balance_inbound_connections: ${balance}`,
      'BalanceInboundConnections',
    );
  }
  if (!PROTOCOLS.includes(entry.Protocol)) {
    yield problem(
      `invalid value for protocol: ${entry.Protocol}; it may be tcp, http, http2, grpc or empty`,
      'Protocol',
    );
  }
  if (!upstreamsOrDestination.holds(entry)) {
    yield problem(
      'UpstreamConfig and Destination are mutually exclusive for service defaults',
      'Destination',
    );
    return;
  }
  for (const [i, override] of (entry.UpstreamConfig?.Overrides ?? []).entries()) {
    const prefix = `error in upstream override for ${override.Name ?? ':'}: `;
    yield* prefixed(prefix, overrideProblems(override, 'UpstreamConfig', 'Overrides', i));
  }
  const defaults = entry.UpstreamConfig?.Defaults;
  if (defaults !== undefined) {
    const path = ['UpstreamConfig', 'Defaults'];
    yield* prefixed('error in upstream defaults: ', defaultsProblems(defaults, ...path));
  }
  yield* destinationProblems(entry.Destination);
  if (entry.RateLimits !== undefined) {
    yield problem(
      'invalid rate_limits config. Rate limiting is a feature that this server does not have',
      'RateLimits',
    );
  }
  yield* extensionProblems(entry.EnvoyExtensions);
}

function* prefixed(prefix: string, problems: Iterable<Problem>): Iterable<Problem> {
  for (const found of problems) yield { ...found, message: prefix + found.message };
}

function* overrideProblems(override: Upstream, ...path: Path): Iterable<Problem> {
  if (!named.holds(override)) yield problem('Name is required', ...path, 'Name');
  if (!noWildcard.holds(override)) yield problem('Wildcard name is not supported', ...path, 'Name');
  yield* upstreamProblems(override, ...path);
}

function* defaultsProblems(defaults: Upstream, ...path: Path): Iterable<Problem> {
  if (!unnamed.holds(defaults)) yield problem('Name must be empty', ...path, 'Name');
  yield* upstreamProblems(defaults, ...path);
}

function* upstreamProblems(value: Upstream, ...path: Path): Iterable<Problem> {
  yield* healthCheckProblems(value.PassiveHealthCheck, ...path, 'PassiveHealthCheck');
  const limits = value.Limits ?? {};
  const words = [
    ['MaxConnections', 'max connections'],
    ['MaxPendingRequests', 'max pending requests'],
    ['MaxConcurrentRequests', 'max concurrent requests'],
  ] as const;
  for (const [field, word] of words) {
    if ((limits[field] ?? 0) < 0) {
      yield problem(`${word} cannot be negative`, ...path, 'Limits', field);
    }
  }
  const balance = value.BalanceOutboundConnections ?? '';
  if (!BALANCES.includes(balance)) {
    yield problem(
      `invalid value for balance_outbound_connections: ${balance}`,
      ...path,
      'BalanceOutboundConnections',
    );
  }
}

function* destinationProblems(value: Normal<typeof destination> | undefined): Iterable<Problem> {
  if (value === undefined) return;
  const addresses = value.Addresses ?? [];
  const path = ['Destination', 'Addresses'];
  if (addresses.length === 0) {
    yield problem('Destination must contain at least one valid address', ...path);
  }
  const seen = new Set<string>();
  for (const [i, address] of addresses.entries()) {
    if (seen.has(address)) {
      yield problem(`Duplicate address '${address}' is not allowed`, ...path, i);
    }
    seen.add(address);
    if (!isAddress(address) && (!isDomainName(address) || address.includes('*'))) {
      yield problem(
        `Destination address '${address}' is invalid Could not validate address ${address} as an IP or Hostname`,
        ...path,
        i,
      );
    }
  }
  const port = value.Port ?? 0;
  if (port < 1 || port > 65_535) {
    yield problem(`Invalid Port number ${port}`, 'Destination', 'Port');
  }
}
