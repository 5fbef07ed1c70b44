/** TLS versions and cipher suites, and the rules between them. */

import { list, nonEmpty, object, type Rule, text } from '../languages/fields.js';
import { all, among, not, rule, ruled, set, when } from '../languages/rules.js';
import type { Path } from './common.js';
import { type Problem, problem } from './problems.js';

const VERSIONS = ['TLS_AUTO', 'TLSv1_0', 'TLSv1_1', 'TLSv1_2', 'TLSv1_3'];
const SUITES = new Set([
  ...['ECDSA', 'RSA'].flatMap((key) =>
    [
      'CHACHA20_POLY1305_SHA256',
      'AES_128_GCM_SHA256',
      'AES_128_CBC_SHA',
      'AES_256_GCM_SHA384',
      'AES_256_CBC_SHA',
    ].map((cipher) => `TLS_ECDHE_${key}_WITH_${cipher}`),
  ),
  'TLS_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_RSA_WITH_AES_128_CBC_SHA',
  'TLS_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_RSA_WITH_AES_256_CBC_SHA',
]);

/** A TLS version as Envoy names it. */
export const tlsVersion = text({ values: ['', ...VERSIONS] });
/** TLS versions and cipher suites in the spelling of most kinds. */
export const tlsFields = {
  TLSMinVersion: nonEmpty('The minimum TLS version.', tlsVersion, 'tls_min_version'),
  TLSMaxVersion: nonEmpty('The maximum TLS version.', tlsVersion, 'tls_max_version'),
  CipherSuites: nonEmpty(
    'The cipher suites for TLS 1.2 and earlier.',
    list(text({ values: [...SUITES] })),
    'cipher_suites',
  ),
};

/** The rules between the versions and suites of an object, by the names of its members. */
interface TlsRules {
  readonly ordered: Rule;
  readonly oldSuites: Rule;
}

/** Returns the rules of TLS settings whose versions are these members. */
const tlsRulesOf = (min: string, max: string): TlsRules => ({
  ordered: rule(
    `${max} is not lower than ${min}.`,
    // TLS_AUTO is the first of the list. Like the empty text, it is not a concrete version.
    all(
      ...VERSIONS.slice(1).map((version, at) =>
        when(among(max, version), among(min, '', ...VERSIONS.slice(0, at + 2))),
      ),
    ),
  ),
  oldSuites: rule(
    `CipherSuites are for TLS 1.2 and older, so ${min} is not TLSv1_3.`,
    not(all(set('CipherSuites'), among(min, 'TLSv1_3'))),
  ),
});
const RULES = tlsRulesOf('TLSMinVersion', 'TLSMaxVersion');
/** The rules of `tlsFields`. */
export const tlsRules: readonly Rule[] = Object.values(RULES);
const GATEWAY_RULES = tlsRulesOf('MinVersion', 'MaxVersion');
/** The rules of the TLS settings of api-gateways, which have other names. */
export const gatewayTlsRules: readonly Rule[] = Object.values(GATEWAY_RULES);

/** TLS settings of one direction of connections. */
export const tlsDirection = ruled(object(tlsFields), ...tlsRules);

type Suites = readonly string[] | null | undefined;
/** TLS settings in the spelling of most kinds, or in that of api-gateways. */
type TlsSettings =
  | {
      readonly TLSMinVersion?: string;
      readonly TLSMaxVersion?: string;
      readonly CipherSuites?: Suites;
    }
  | { readonly MinVersion: string; readonly MaxVersion: string; readonly CipherSuites: Suites };

/** Returns the first problem of TLS settings, or undefined. `prefix` begins the message. */
export function tlsProblem(
  settings: TlsSettings | undefined,
  prefix: string,
  ...path: Path
): Problem | undefined {
  if (settings === undefined) return undefined;
  const [rules, min = '', max = ''] =
    'MinVersion' in settings
      ? [GATEWAY_RULES, settings.MinVersion, settings.MaxVersion]
      : [RULES, settings.TLSMinVersion, settings.TLSMaxVersion];
  const suites = settings.CipherSuites ?? [];
  const say = (message: string): Problem => problem(`${prefix}${message}`, ...path);
  for (const version of [min, max]) {
    if (version !== '' && !VERSIONS.includes(version)) {
      return say(
        `no matching TLS version found for ${version}, please specify one of [${VERSIONS.join(', ')}]`,
      );
    }
  }
  if (!rules.ordered.holds(settings)) {
    return say(
      `configuring max version ${max} less than the configured min version ${min} is invalid`,
    );
  }
  if (!rules.oldSuites.holds(settings)) {
    return say(
      'configuring CipherSuites is only applicable to connections negotiated with TLS 1.2 or earlier, TLSMinVersion is set to TLSv1_3',
    );
  }
  const unknown = suites.filter((suite) => !SUITES.has(suite));
  if (unknown.length === 0) return undefined;
  return say(
    `no matching Envoy TLS cipher suite found for ${unknown.slice(0, 10).join(',')}; known are ${[...SUITES].join(', ')}`,
  );
}
