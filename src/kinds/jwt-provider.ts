/**
 * `jwt-provider`: where a proxy finds the keys of a token issuer, and the token in a request. The
 * server stores and checks it, and fetches nothing.
 */
import {
  always,
  boolean,
  ifSent,
  list,
  type Normal,
  neededText,
  nonEmpty,
  object,
  positiveDuration,
  text,
  whole,
  whole64,
} from '../languages/fields.js';
import { exactlyOne, ruled } from '../languages/rules.js';
import { isBase64, metaField, metaProblems, nameProblems, type Path } from './common.js';
import { defineKind } from './definition.js';
import { OF_JWT_PROVIDER } from './permissions.js';
import { type Problem, problem } from './problems.js';
import { requestUriFault } from './request-uri.js';

const DISCOVERY_TYPES = ['STRICT_DNS', 'STATIC', 'LOGICAL_DNS', 'EDS', 'ORIGINAL_DST'];
/** Seconds by which the clocks of issuer and proxy may differ by default, as in Envoy. */
const CLOCK_SKEW_S = 30;

const oneAuthority = exactlyOne('Filename', 'EnvironmentVariable', 'InlineString', 'InlineBytes');
const trustedCa = object({
  Filename: nonEmpty('The file that contains the certificates.', text()),
  EnvironmentVariable: nonEmpty(
    'The environment variable that holds the certificates.',
    text(),
    'environment_variable',
  ),
  InlineString: nonEmpty('The certificates as text.', text(), 'inline_string'),
  // base64
  InlineBytes: nonEmpty('The certificates in base64.', text(), 'inline_bytes'),
});
const oneCertificateSource = exactlyOne('CaCertificateProviderInstance', 'TrustedCA');
const tlsCertificates = object({
  CaCertificateProviderInstance: ifSent(
    'A certificate provider known to Envoy.',
    object({
      InstanceName: nonEmpty('The name of the provider.', text(), 'instance_name'),
      CertificateName: nonEmpty(
        'The name of the certificate at the provider.',
        text(),
        'certificate_name',
      ),
    }),
    'ca_certificate_provider_instance',
  ),
  TrustedCA: ifSent(
    'The certificates themselves, from one source.',
    ruled(trustedCa, oneAuthority),
    'trusted_ca',
  ),
});
const remoteKeys = object({
  URI: nonEmpty('The URI from which the key set is fetched.', neededText),
  RequestTimeoutMs: nonEmpty(
    'The time limit for fetching the key set, in milliseconds.',
    whole64,
    'request_timeout_ms',
  ),
  CacheDuration: nonEmpty(
    'How long a fetched key set is used.',
    positiveDuration,
    'cache_duration',
  ),
  FetchAsynchronously: nonEmpty(
    'Whether a listener starts before the key set is fetched.',
    boolean,
    'fetch_asynchronously',
  ),
  UseSNI: nonEmpty(
    'Whether the host of the URI is sent as the TLS server name.',
    boolean,
    'use_sni',
  ),
  RetryPolicy: ifSent(
    'How a failed fetch is retried.',
    object({
      NumRetries: nonEmpty('How many times a fetch is retried.', whole64, 'num_retries'),
      RetryPolicyBackOff: ifSent(
        'The pauses between attempts.',
        object({
          BaseInterval: nonEmpty('The first pause.', positiveDuration, 'base_interval'),
          MaxInterval: nonEmpty('The longest pause.', positiveDuration, 'max_interval'),
        }),
        'retry_policy_back_off',
      ),
    }),
    'retry_policy',
  ),
  JWKSCluster: ifSent(
    'How the server of the key set is reached.',
    object({
      DiscoveryType: nonEmpty(
        'How the addresses of the server are found.',
        text({ values: ['', ...DISCOVERY_TYPES] }),
        'discovery_type',
      ),
      TLSCertificates: ifSent(
        'The certificates used to verify the server.',
        ruled(tlsCertificates, oneCertificateSource),
        'tls_certificates',
      ),
      ConnectTimeout: nonEmpty(
        'The time limit for connecting to the server.',
        positiveDuration,
        'connect_timeout',
      ),
    }),
    'jwks_cluster',
  ),
});
const oneLocation = exactlyOne('Local', 'Remote');
const oneLocalSource = exactlyOne('JWKS', 'Filename');
const keySet = object({
  Local: ifSent(
    'A key set that proxies already have.',
    ruled(
      object({
        JWKS: nonEmpty('The key set in base64.', text()),
        Filename: nonEmpty('The file on the proxies that contains the key set.', text()),
      }),
      oneLocalSource,
    ),
  ),
  Remote: ifSent('A key set that proxies fetch.', remoteKeys),
});
const oneCarrier = exactlyOne('Header', 'QueryParam', 'Cookie');
const location = object({
  Header: ifSent(
    'A header that carries the token.',
    object({
      Name: nonEmpty('The name of the header.', neededText),
      ValuePrefix: nonEmpty('Text before the token, such as "Bearer ".', text(), 'value_prefix'),
      Forward: nonEmpty('Whether the header is kept in requests to the service.', boolean),
    }),
  ),
  QueryParam: ifSent(
    'A query parameter that carries the token.',
    object({ Name: nonEmpty('The name of the query parameter.', neededText) }),
    'query_param',
  ),
  Cookie: ifSent(
    'A cookie that carries the token.',
    object({ Name: nonEmpty('The name of the cookie.', neededText) }),
  ),
});

/** The kind `jwt-provider`. Entries of all namespaces may name its entries. */
export const jwtProvider = defineKind(
  'jwt-provider',
  {
    JSONWebKeySet: ifSent(
      'The keys used to verify tokens.',
      ruled(keySet, oneLocation),
      'json_web_key_set',
    ),
    Issuer: nonEmpty('The issuer that tokens must name.', text()),
    Audiences: nonEmpty('The accepted audiences. A token must name one of them.', list(text())),
    Locations: nonEmpty(
      'Where requests carry the token. Defaults to the Authorization header.',
      list(ruled(location, oneCarrier)),
    ),
    Forwarding: ifSent(
      'A header in which the payload of a token is forwarded.',
      object({
        HeaderName: nonEmpty('The name of the header.', neededText, 'header_name'),
        PadForwardPayloadHeader: always(
          'Whether the base64 encoding of the payload is padded.',
          boolean,
          'pad_forward_payload_header',
        ),
      }),
    ),
    ClockSkewSeconds: always(
      'The maximum difference between the clocks of the issuer and the proxy, in seconds.',
      whole({ min: 0, change: (seconds) => seconds || CLOCK_SKEW_S }),
      'clock_skew_seconds',
    ),
    CacheConfig: ifSent(
      'A cache of verified tokens.',
      object({ Size: nonEmpty('The number of tokens in the cache.', whole64) }),
      'cache_config',
    ),
    Meta: metaField,
  },
  {
    description: 'An issuer of JSON Web Tokens: its keys, and where requests carry a token.',
    permissions: OF_JWT_PROVIDER,
    scope: 'cluster',
    reportsAll: true,
    *validate(entry) {
      const groups = [
        nameProblems(entry.Name),
        metaProblems(entry.Meta),
        keySetProblems(entry.JSONWebKeySet),
      ];
      for (const group of groups) {
        for (const first of group) {
          yield first;
          return;
        }
      }
      const misplaced = (entry.Locations ?? []).flatMap((one, i) => [...locationProblems(one, i)]);
      yield* misplaced;
      const { Forwarding: forwarding } = entry;
      if (misplaced.length > 0 || forwarding === undefined) return;
      if (forwarding.HeaderName === undefined) {
        yield problem('Header name required for forwarding config', 'Forwarding', 'HeaderName');
      }
    },
  },
);

function* keySetProblems(keys: Normal<typeof keySet> | undefined): Iterable<Problem> {
  const path = ['JSONWebKeySet'];
  if (keys === undefined) {
    yield problem('JSONWebKeySet is required', ...path);
    return;
  }
  const { Local: local, Remote: remote } = keys;
  if (!oneLocation.holds(keys)) {
    yield problem('must specify exactly one of Local or Remote JSON Web key set', ...path);
  }
  if (local !== undefined) {
    if (!oneLocalSource.holds(local)) {
      const message = 'must specify exactly one of String or filename for local keyset';
      yield problem(message, ...path, 'Local');
    }
    if (!isBase64(local.JWKS)) {
      yield problem('JWKS must be valid base64 encoded string', ...path, 'Local', 'JWKS');
    }
  }
  if (remote !== undefined) yield* remoteProblems(remote, ...path, 'Remote');
}

function* remoteProblems(
  { URI: uri, CacheDuration, RetryPolicy: retry, JWKSCluster: cluster }: Normal<typeof remoteKeys>,
  ...path: Path
): Iterable<Problem> {
  if (uri === undefined) {
    yield problem('Remote JWKS URI is required', ...path, 'URI');
    return;
  }
  const fault = requestUriFault(uri);
  if (fault !== undefined) {
    yield problem(`Remote JWKS URI is invalid: ${fault}, uri: ${uri}`, ...path, 'URI');
  }
  yield* negativeProblems({ CacheDuration }, ...path);
  const backOff = retry?.RetryPolicyBackOff;
  if (backOff !== undefined) {
    const place = [...path, 'RetryPolicy', 'RetryPolicyBackOff'];
    const { BaseInterval = 0, MaxInterval = 0 } = backOff;
    yield* negativeProblems({ BaseInterval, MaxInterval }, ...place);
    if (MaxInterval !== 0 && MaxInterval < BaseInterval) {
      const message =
        "retry policy backoff's MaxInterval should be greater or equal to BaseInterval";
      yield problem(message, ...place, 'MaxInterval');
    }
  }
  if (cluster === undefined) return;
  const place = [...path, 'JWKSCluster'];
  const { DiscoveryType: type, TLSCertificates: certificates, ConnectTimeout } = cluster;
  if (type !== undefined && !DISCOVERY_TYPES.includes(type)) {
    const message = `unsupported jwks cluster discovery type: ${JSON.stringify(type)}`;
    yield problem(message, ...place, 'DiscoveryType');
  }
  yield* negativeProblems({ ConnectTimeout }, ...place);
  if (certificates !== undefined) {
    yield* certificateProblems(certificates, ...place, 'TLSCertificates');
  }
}

function* negativeProblems(
  durations: Readonly<Record<string, number | undefined>>,
  ...path: Path
): Iterable<Problem> {
  for (const [name, nanoseconds = 0] of Object.entries(durations)) {
    if (nanoseconds < 0) yield problem(`${name} cannot be negative`, ...path, name);
  }
}

function* certificateProblems(
  certificates: Normal<typeof tlsCertificates>,
  ...path: Path
): Iterable<Problem> {
  if (!oneCertificateSource.holds(certificates)) {
    yield problem(
      'must specify exactly one of: CaCertificateProviderInstance or TrustedCA ' +
        "for JWKS' TLSCertificates",
      ...path,
    );
  }
  const { TrustedCA: ca } = certificates;
  if (ca === undefined) return;
  if (!oneAuthority.holds(ca)) {
    yield problem(
      'must specify exactly one of: Filename, EnvironmentVariable, InlineString or InlineBytes ' +
        "for JWKS' TrustedCA",
      ...[...path, 'TrustedCA'],
    );
  }
  if (!isBase64(ca.InlineBytes)) {
    const message = 'InlineBytes must be valid base64 encoded string';
    yield problem(message, ...path, 'TrustedCA', 'InlineBytes');
  }
}

function* locationProblems(one: Normal<typeof location>, i: number): Iterable<Problem> {
  if (!oneCarrier.holds(one)) {
    const message = 'must set exactly one of: JWT location header, query param or cookie';
    yield problem(message, 'Locations', i);
    return;
  }
  const places = [
    ['Header', 'header'],
    ['QueryParam', 'query param'],
    ['Cookie', 'cookie'],
  ] as const;
  for (const [member, what] of places) {
    if (one[member] === undefined || one[member].Name !== undefined) continue;
    yield problem(`JWT location ${what} name must be specified`, 'Locations', i, member, 'Name');
  }
}
