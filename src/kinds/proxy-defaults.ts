/** `proxy-defaults`: the defaults of every proxy. */

import {
  always,
  boolean,
  free,
  ifSent,
  jsonKind,
  list,
  type Normal,
  nonEmpty,
  object,
  text,
} from '../languages/fields.js';
import { among, atMostOne, rule, ruled, set, when } from '../languages/rules.js';
import {
  expose,
  meshGateway,
  metaField,
  metaProblems,
  mutualTlsMode,
  mutualTlsProblems,
  proxyMode,
  transparentProxy,
} from './common.js';
import { defineKind, type EntryOf } from './definition.js';
import { envoyExtensions, extensionProblems } from './extensions.js';
import { OPEN_TO_READ } from './permissions.js';
import { type Problem, problem } from './problems.js';

const LOG_TYPES = ['', 'file', 'stderr', 'stdout'];
const FAILOVER_MODES = ['', 'sequential', 'order-by-locality'];
const SOCKET_DIRECTORY = 'envoy_hcp_metrics_bind_socket_dir';
/** Maximum number of characters, as in Consul: operating systems limit the path of a socket. */
const SOCKET_DIRECTORY_MAX = 70;

const fileNeedsPath = rule('Type file needs Path.', when(among('Type', 'file'), set('Path')));
const pathNeedsFile = rule('Path needs Type file.', when(set('Path'), among('Type', 'file')));
const oneLogFormat = atMostOne('JSONFormat', 'TextFormat');
const accessLogs = object({
  Enabled: nonEmpty('Whether proxies log connections and requests.', boolean),
  DisableListenerLogs: nonEmpty(
    'Whether connections that no listener accepts are omitted.',
    boolean,
    'disable_listener_logs',
  ),
  Type: nonEmpty('Where the logs go. Defaults to standard output.', text({ values: LOG_TYPES })),
  Path: nonEmpty('The log file. Set only if the type is file.', text()),
  JSONFormat: nonEmpty('The format of a line, as a JSON object.', text(), 'json_format'),
  TextFormat: nonEmpty('The format of a line, as text.', text(), 'text_format'),
});
/** The field `PrioritizeByLocality`, which localityProblems refuses unless it is empty. */
export const prioritizeByLocality = object({
  Mode: nonEmpty('The preference. It is not supported.', text()),
});

/**
 * Replaces a list of one item by the item: HCL, the usual source of this Config, makes such lists.
 */
function withoutLonelyLists(config: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(config)) {
    let item = value;
    while (Array.isArray(item) && item.length === 1) item = item[0];
    config[name] = item;
  }
  return config;
}

const fields = {
  Config: always(
    'Settings that proxies read by name, such as protocol.',
    free(withoutLonelyLists, { [SOCKET_DIRECTORY]: SOCKET_DIRECTORY_MAX }),
  ),
  Mode: nonEmpty('How proxies receive the outbound connections of their services.', proxyMode),
  TransparentProxy: always('Settings for transparent mode.', transparentProxy, 'transparent_proxy'),
  MutualTLSMode: nonEmpty(
    'Whether services accept connections without mutual TLS.',
    mutualTlsMode,
    'mutual_tls_mode',
  ),
  MeshGateway: always('How connections use mesh gateways.', meshGateway, 'mesh_gateway'),
  Expose: always('Paths that proxies expose outside the mesh.', expose),
  AccessLogs: always(
    'The logs of connections and requests.',
    ruled(accessLogs, fileNeedsPath, pathNeedsFile, oneLogFormat),
    'access_logs',
  ),
  EnvoyExtensions: nonEmpty(
    'Built-in extensions for all proxies.',
    envoyExtensions,
    'envoy_extensions',
  ),
  FailoverPolicy: ifSent(
    'The order in which failover tries its targets.',
    object({
      Mode: nonEmpty('The order of targets.', text({ values: FAILOVER_MODES })),
      Regions: nonEmpty('The regions to try, in order.', list(text())),
    }),
    'failover_policy',
  ),
  PrioritizeByLocality: ifSent(
    'A preference for nearby instances. It is not supported.',
    prioritizeByLocality,
    'prioritize_by_locality',
  ),
  Meta: metaField,
};
export type ProxyDefaults = EntryOf<typeof fields>;

export const proxyDefaults = defineKind('proxy-defaults', fields, {
  description: 'The default settings of all proxies.',
  permissions: OPEN_TO_READ,
  scope: 'cluster',
  onlyName: 'global',
  *nameProblems(name): Iterable<Problem> {
    if (name !== 'global') {
      yield problem(`invalid name (${JSON.stringify(name)}), only "global" is supported`, 'Name');
    }
  },
  validate,
});

function* validate(entry: ProxyDefaults): Iterable<Problem> {
  const protocol = entry.Config?.['protocol'];
  if (
    protocol !== undefined &&
    !['string', 'float64', 'bool', 'null'].includes(jsonKind(protocol))
  ) {
    yield problem(
      `'protocol' expected type 'string', got '${jsonKind(protocol)}'`,
      'Config',
      'protocol',
    );
  }
  yield* accessLogProblems(entry.AccessLogs);
  yield* metaProblems(entry.Meta);
  const directory = entry.Config?.[SOCKET_DIRECTORY];
  if (typeof directory === 'string' && directory.length > SOCKET_DIRECTORY_MAX) {
    yield problem(
      `Config: ${SOCKET_DIRECTORY} length ${directory.length} exceeds max ${SOCKET_DIRECTORY_MAX}`,
      'Config',
      SOCKET_DIRECTORY,
    );
  }
  yield* extensionProblems(entry.EnvoyExtensions);
  if (!FAILOVER_MODES.includes(entry.FailoverPolicy?.Mode ?? '')) {
    yield problem(
      "Failover-policy mode must be one of '', 'sequential', or 'order-by-locality'",
      'FailoverPolicy',
      'Mode',
    );
  }
  yield* localityProblems(entry.PrioritizeByLocality);
  yield* mutualTlsProblems(entry.MutualTLSMode);
}

/** Refuses a locality mode, which is a feature of another edition of the API. */
export function* localityProblems(
  value: Normal<typeof prioritizeByLocality> | undefined,
): Iterable<Problem> {
  if (value?.Mode !== undefined) {
    yield problem(
      'Prioritize-by-locality requires an edition of this API that knows localities; this server does not',
      'PrioritizeByLocality',
      'Mode',
    );
  }
}

function* accessLogProblems(logs: Normal<typeof accessLogs>): Iterable<Problem> {
  const { Type: type = '', JSONFormat: json } = logs;
  if (!LOG_TYPES.includes(type)) {
    yield problem(`invalid access log type: ${type}`, 'AccessLogs', 'Type');
  }
  if (!fileNeedsPath.holds(logs)) {
    yield problem('path must be specified when using file type access logs', 'AccessLogs', 'Path');
  }
  if (!oneLogFormat.holds(logs)) {
    yield problem(
      'cannot specify both access log JSONFormat and TextFormat',
      'AccessLogs',
      'TextFormat',
    );
  }
  if (!pathNeedsFile.holds(logs)) {
    yield problem('path is only valid for file type access logs', 'AccessLogs', 'Path');
  }
  const why = json === undefined ? undefined : jsonFault(json);
  if (why !== undefined) {
    yield problem(`invalid access log json for JSON format: ${why}`, 'AccessLogs', 'JSONFormat');
  }
}

/** Returns why a format is not a JSON object, or undefined. */
function jsonFault(value: string): string | undefined {
  try {
    return jsonKind(JSON.parse(value)) === 'map' ? undefined : 'it is not an object';
  } catch {
    return 'it is not JSON';
  }
}
