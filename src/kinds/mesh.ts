/** `mesh`: settings of the whole mesh. */

import { always, boolean, ifSent, nonEmpty, object, text } from '../languages/fields.js';
import { metaField, metaProblems } from './common.js';
import { defineKind } from './definition.js';
import { OPEN_TO_READ } from './permissions.js';
import { type Problem, problem } from './problems.js';
import { tlsDirection, tlsProblem } from './tls.js';

const SLASH_ACTIONS = [
  'IMPLEMENTATION_SPECIFIC_DEFAULT',
  'KEEP_UNCHANGED',
  'REJECT_REQUEST',
  'UNESCAPE_AND_REDIRECT',
  'UNESCAPE_AND_FORWARD',
];
const UNDERSCORE_ACTIONS = ['ALLOW', 'REJECT_REQUEST', 'DROP_HEADER'];

const requestNormalization = object({
  InsecureDisablePathNormalization: always(
    'Whether paths are compared as they were sent. Path-based rules can then be bypassed.',
    boolean,
    'insecure_disable_path_normalization',
  ),
  MergeSlashes: always('Whether consecutive slashes count as one.', boolean, 'merge_slashes'),
  PathWithEscapedSlashesAction: always(
    'What happens to a path with escaped slashes.',
    text({ values: ['', ...SLASH_ACTIONS] }),
    'path_with_escaped_slashes_action',
  ),
  HeadersWithUnderscoresAction: always(
    'What happens to headers with underscores in their names.',
    text({ values: ['', ...UNDERSCORE_ACTIONS] }),
    'headers_with_underscores_action',
  ),
});

export const mesh = defineKind(
  'mesh',
  {
    TransparentProxy: always(
      'Settings for transparent mode.',
      object({
        MeshDestinationsOnly: always(
          'Whether proxies refuse connections to anything outside the mesh.',
          boolean,
          'mesh_destinations_only',
        ),
      }),
      'transparent_proxy',
    ),
    AllowEnablingPermissiveMutualTLS: nonEmpty(
      'Whether services may accept connections without mutual TLS.',
      boolean,
      'allow_enabling_permissive_mutual_tls',
    ),
    ValidateClusters: nonEmpty(
      'Whether Envoy checks that the clusters of its routes exist.',
      boolean,
      'validate_clusters',
    ),
    TLS: ifSent(
      'Settings for TLS between proxies.',
      object({
        Incoming: ifSent('TLS settings for connections to services.', tlsDirection),
        Outgoing: ifSent('TLS settings for connections from services.', tlsDirection),
      }),
    ),
    HTTP: ifSent(
      'Settings for HTTP between proxies.',
      object({
        SanitizeXForwardedClientCert: always(
          'Whether proxies drop the header x-forwarded-client-cert.',
          boolean,
          'sanitize_x_forwarded_client_cert',
        ),
        Incoming: ifSent(
          'Settings for requests to services.',
          object({
            RequestNormalization: ifSent(
              'How requests are normalised before rules are applied to them.',
              requestNormalization,
              'request_normalization',
            ),
          }),
        ),
      }),
    ),
    Peering: ifSent(
      'Settings for connections between peers.',
      object({
        PeerThroughMeshGateways: always(
          'Whether the peering traffic itself goes through mesh gateways.',
          boolean,
          'peer_through_mesh_gateways',
        ),
      }),
    ),
    Meta: metaField,
  },
  {
    description: 'Settings for the whole mesh.',
    permissions: OPEN_TO_READ,
    scope: 'cluster',
    onlyName: 'mesh',
    *validate(entry) {
      if (entry.Name !== 'mesh') {
        yield problem(
          `invalid name (${JSON.stringify(entry.Name)}), only "mesh" is supported`,
          'Name',
        );
      }
      yield* metaProblems(entry.Meta);
      const directions = [
        ['Incoming', 'error in incoming TLS configuration: '],
        ['Outgoing', 'error in outgoing TLS configuration: '],
      ] as const;
      for (const [direction, prefix] of directions) {
        const fault = tlsProblem(entry.TLS?.[direction], prefix, 'TLS', direction);
        if (fault !== undefined) yield fault;
      }
      const actions = entry.HTTP?.Incoming?.RequestNormalization;
      yield* actionProblems('PathWithEscapedSlashesAction', SLASH_ACTIONS, actions);
      yield* actionProblems('HeadersWithUnderscoresAction', UNDERSCORE_ACTIONS, actions);
    },
  },
);
type ActionField = 'PathWithEscapedSlashesAction' | 'HeadersWithUnderscoresAction';
function* actionProblems(
  field: ActionField,
  known: readonly string[],
  actions: Readonly<Record<ActionField, string>> | undefined,
): Iterable<Problem> {
  const action = actions?.[field] ?? '';
  if (action === '' || known.includes(action)) return;
  yield problem(
    `error in HTTP incoming request normalization configuration: no matching ${field} value found for ${action}, please specify one of [${known.join(', ')}]`,
    'HTTP',
    'Incoming',
    'RequestNormalization',
    field,
  );
}
