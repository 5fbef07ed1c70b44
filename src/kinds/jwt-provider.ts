/**
 * `jwt-provider`: where a proxy finds the keys of a token issuer, and the token in a request. The
 * server stores and checks it, and fetches nothing.
 */
import {
  boolean,
  duration,
  given,
  keep,
  list,
  type Normal,
  object,
  omit,
  text,
  whole,
  whole64,
} from '../languages/fields.js';
import { countGiven, meta, metaProblems, nameProblems, type Path } from './common.js';
import { defineKind } from './definition.js';
import { OF_JWT_PROVIDER } from './permissions.js';
import { type Problem, problem } from './problems.js';
import { requestUriFault } from './request-uri.js';

const DISCOVERY_TYPES = ['STRICT_DNS', 'STATIC', 'LOGICAL_DNS', 'EDS', 'ORIGINAL_DST'];
/** Seconds by which the clocks of issuer and proxy may differ by default, as in Envoy. */
const CLOCK_SKEW_S = 30;

const trustedCa = object({
  Filename: omit(text()),
  EnvironmentVariable: omit(text(), 'environment_variable'),
  InlineString: omit(text(), 'inline_string'),
  // base64
  InlineBytes: omit(text(), 'inline_bytes'),
});
const tlsCertificates = object({
  CaCertificateProviderInstance: given(
    object({
      InstanceName: omit(text(), 'instance_name'),
      CertificateName: omit(text(), 'certificate_name'),
    }),
    'ca_certificate_provider_instance',
  ),
  TrustedCA: given(trustedCa, 'trusted_ca'),
});
const remoteKeys = object({
  URI: omit(text()),
  RequestTimeoutMs: omit(whole64, 'request_timeout_ms'),
  CacheDuration: omit(duration, 'cache_duration'),
  FetchAsynchronously: omit(boolean, 'fetch_asynchronously'),
  UseSNI: omit(boolean, 'use_sni'),
  RetryPolicy: given(
    object({
      NumRetries: omit(whole64, 'num_retries'),
      RetryPolicyBackOff: given(
        object({
          BaseInterval: omit(duration, 'base_interval'),
          MaxInterval: omit(duration, 'max_interval'),
        }),
        'retry_policy_back_off',
      ),
    }),
    'retry_policy',
  ),
  JWKSCluster: given(
    object({
      DiscoveryType: omit(text({ values: ['', ...DISCOVERY_TYPES] }), 'discovery_type'),
      TLSCertificates: given(tlsCertificates, 'tls_certificates'),
      ConnectTimeout: omit(duration, 'connect_timeout'),
    }),
    'jwks_cluster',
  ),
});
const keySet = object({
  Local: given(object({ JWKS: omit(text()), Filename: omit(text()) })),
  Remote: given(remoteKeys),
});
const location = object({
  Header: given(
    object({
      Name: omit(text()),
      ValuePrefix: omit(text(), 'value_prefix'),
      Forward: omit(boolean),
    }),
  ),
  QueryParam: given(object({ Name: omit(text()) }), 'query_param'),
  Cookie: given(object({ Name: omit(text()) })),
});

/** The kind `jwt-provider`. Entries of all namespaces may name its entries. */
export const jwtProvider = defineKind(
  'jwt-provider',
  {
    JSONWebKeySet: given(keySet, 'json_web_key_set'),
    Issuer: omit(text()),
    Audiences: omit(list(text())),
    Locations: omit(list(location)),
    Forwarding: given(
      object({
        HeaderName: omit(text(), 'header_name'),
        PadForwardPayloadHeader: keep(boolean, 'pad_forward_payload_header'),
      }),
    ),
    ClockSkewSeconds: keep(
      whole({ min: 0, change: (seconds) => seconds || CLOCK_SKEW_S }),
      'clock_skew_seconds',
    ),
    CacheConfig: given(object({ Size: omit(whole64) }), 'cache_config'),
    Meta: omit(meta),
  },
  {
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
  if (countGiven(local, remote) !== 1) {
    yield problem('must specify exactly one of Local or Remote JSON Web key set', ...path);
  }
  if (local !== undefined) {
    if (countGiven(local.JWKS, local.Filename) !== 1) {
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
  { CaCertificateProviderInstance: instance, TrustedCA: ca }: Normal<typeof tlsCertificates>,
  ...path: Path
): Iterable<Problem> {
  if (countGiven(instance, ca) !== 1) {
    yield problem(
      'must specify exactly one of: CaCertificateProviderInstance or TrustedCA ' +
        "for JWKS' TLSCertificates",
      ...path,
    );
  }
  if (ca === undefined) return;
  const { Filename, EnvironmentVariable, InlineString, InlineBytes } = ca;
  if (countGiven(Filename, EnvironmentVariable, InlineString, InlineBytes) !== 1) {
    yield problem(
      'must specify exactly one of: Filename, EnvironmentVariable, InlineString or InlineBytes ' +
        "for JWKS' TrustedCA",
      ...[...path, 'TrustedCA'],
    );
  }
  if (!isBase64(InlineBytes)) {
    const message = 'InlineBytes must be valid base64 encoded string';
    yield problem(message, ...path, 'TrustedCA', 'InlineBytes');
  }
}

/** Whether a text is base64 in the standard alphabet, with padding. Line ends are skipped. */
function isBase64(value = ''): boolean {
  const plain = value.replace(/[\r\n]/g, '');
  return plain.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(plain);
}

function* locationProblems(
  { Header, QueryParam, Cookie }: Normal<typeof location>,
  i: number,
): Iterable<Problem> {
  const places = [
    ['Header', 'header', Header],
    ['QueryParam', 'query param', QueryParam],
    ['Cookie', 'cookie', Cookie],
  ] as const;
  const used = places.filter(([, , place]) => place !== undefined);
  if (used.length !== 1) {
    const message = 'must set exactly one of: JWT location header, query param or cookie';
    yield problem(message, 'Locations', i);
    return;
  }
  for (const [member, what, place] of used) {
    if (place?.Name !== undefined) continue;
    yield problem(`JWT location ${what} name must be specified`, 'Locations', i, member, 'Name');
  }
}
