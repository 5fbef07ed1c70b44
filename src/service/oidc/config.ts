/** The Config of auth methods of type oidc. */
import { OIDC_CONFIG } from '../../api/auth-methods.js';
import { isObject } from '../../languages/fields.js';
import { ConfigFault, ConfigReader, checkCertificate } from '../login/config-reader.js';
import { httpUrl } from '../login/exchange.js';
import {
  type JwtConfig,
  type Remote,
  readAlgorithms,
  readClaims,
  remote,
} from '../login/jwt-config.js';

/** A checked Config. What it says of ID tokens is that of a method of type jwt with discovery. */
export interface OidcConfig extends JwtConfig {
  readonly source: Remote;
  readonly clientId: string;
  /** Empty for a public client. */
  readonly clientSecret: string;
  readonly redirectUris: readonly string[];
  readonly postLogoutUri: string | undefined;
  /** `openid` and those of the Config. */
  readonly scopes: readonly string[];
}

/** Milliseconds by which the clocks of a provider and of this node may differ. */
const CLOCK_SKEW_MS = 60_000;

/** Reads and checks a Config without using the network. Throws ConfigFault. */
export function readOidcConfig(config: unknown): OidcConfig {
  refuseAcr(config);
  const reader = new ConfigReader(config, OIDC_CONFIG.fields);
  const needed = (key: 'OIDCDiscoveryURL' | 'OIDCClientID'): string => {
    const value = reader.text(key);
    if (value === '') throw new ConfigFault(`'${key}' must be set for type "oidc"`, key);
    return value;
  };
  const issuer = needed('OIDCDiscoveryURL');
  const ca = reader.text('OIDCDiscoveryCACert');
  if (ca !== '') checkCertificate(ca, 'OIDCDiscoveryCACert', 'OIDCDiscoveryCACert');
  const clientId = needed('OIDCClientID');
  const redirectUris = reader.list('AllowedRedirectURIs');
  if (redirectUris.length === 0) {
    const why = '\'AllowedRedirectURIs\' must be set for type "oidc"';
    throw new ConfigFault(why, 'AllowedRedirectURIs');
  }
  for (const [i, uri] of redirectUris.entries()) checkUri(uri, `AllowedRedirectURIs/${i}`);
  const postLogoutUri = reader.text('PostLogoutRedirectURI');
  if (postLogoutUri !== '') checkUri(postLogoutUri, 'PostLogoutRedirectURI');
  const scopes = reader.list('OIDCScopes');
  for (const scope of scopes) {
    if (!SCOPE.test(scope)) {
      const shown = JSON.stringify(scope.slice(0, SHOWN_MAX));
      throw new ConfigFault(`OIDCScopes: ${shown} is not a scope`, 'OIDCScopes');
    }
  }
  reader.boolean('VerboseOIDCLogging');
  return {
    source: remote('oidc', 'OIDCDiscoveryURL', issuer, ca === '' ? undefined : ca),
    clientId,
    clientSecret: reader.text('OIDCClientSecret'),
    redirectUris,
    postLogoutUri: postLogoutUri === '' ? undefined : postLogoutUri,
    scopes: [...new Set(['openid', ...scopes])],
    algorithms: readAlgorithms(reader),
    boundAudiences: reader.list('BoundAudiences'),
    boundIssuer: '',
    ...readClaims(reader),
    expirationLeewayMs: 0,
    notBeforeLeewayMs: 0,
    clockSkewMs: CLOCK_SKEW_MS,
  };
}

/** Throws ConfigFault for a key that Consul has, and that would promise what is not checked. */
function refuseAcr(config: unknown): void {
  const name = 'OIDCACRValues';
  if (!isObject(config)) return;
  if (!Object.keys(config).some((key) => key.toLowerCase() === name.toLowerCase())) return;
  throw new ConfigFault(`${name} is not supported: bind on the claim acr with a selector`, name);
}

/** A scope of OAuth (RFC 6749, section 3.3). */
const SCOPE = /^[!#-[\]-~]+$/;
/** Characters of a scope that an error shows. */
const SHOWN_MAX = 60;

/** Throws ConfigFault unless a browser can be sent to a URI. */
function checkUri(uri: string, key: string): void {
  const url = httpUrl(uri);
  if (url !== undefined && !uri.includes('#')) return;
  const why = 'not an http or https URL without credentials and fragment';
  throw new ConfigFault(`error checking ${key}: ${why}`, key);
}
