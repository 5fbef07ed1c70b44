/** TLS versions and cipher suites, and the rules between them. */

import { list, object, omit, text } from '../languages/fields.js';
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
  TLSMinVersion: omit('The lowest version of TLS.', tlsVersion, 'tls_min_version'),
  TLSMaxVersion: omit('The highest version of TLS.', tlsVersion, 'tls_max_version'),
  CipherSuites: omit(
    'The cipher suites, for TLS 1.2 and older.',
    list(text({ values: [...SUITES] })),
    'cipher_suites',
  ),
};
/** TLS settings of one direction of connections. */
export const tlsDirection = object(tlsFields);

/** TLS settings in one spelling for all kinds. */
export interface TlsSettings {
  readonly min?: string | undefined;
  readonly max?: string | undefined;
  readonly suites?: readonly string[] | null | undefined;
}

/** Returns the first problem of TLS settings, or undefined. `prefix` begins the message. */
export function tlsProblem(
  settings: TlsSettings | undefined,
  prefix: string,
  ...path: Path
): Problem | undefined {
  if (settings === undefined) return undefined;
  const { min = '', max = '' } = settings;
  const suites = settings.suites ?? [];
  const say = (message: string): Problem => problem(`${prefix}${message}`, ...path);
  for (const version of [min, max]) {
    if (version !== '' && !VERSIONS.includes(version)) {
      return say(
        `no matching TLS version found for ${version}, please specify one of [${VERSIONS.join(', ')}]`,
      );
    }
  }
  // TLS_AUTO is the first of the list. Like the empty text, it is not a concrete version.
  const rank = (version: string): number => Math.max(0, VERSIONS.indexOf(version));
  if (rank(max) > 0 && rank(min) > rank(max)) {
    return say(
      `configuring max version ${max} less than the configured min version ${min} is invalid`,
    );
  }
  if (suites.length === 0) return undefined;
  if (min === 'TLSv1_3') {
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
