/** The declarations of the Config of auth methods by type. */
import {
  boolean,
  keep,
  list,
  map,
  neededList,
  neededText,
  object,
  omit,
  text,
  whole,
} from '../languages/fields.js';
import { exactlyOne, needs, ruled } from '../languages/rules.js';
import type { MethodType } from '../state/methods.js';

/** A list of texts in a Config, or one text in its place. */
const texts = list(text(), { single: true });
/** The supported signature algorithms of JWTs. */
export const ALGORITHMS = ['RS', 'ES', 'PS'].flatMap((kind) =>
  ['256', '384', '512'].map((bits) => kind + bits),
);
/** Keys in a Config: a login may have to try each. */
export const KEYS_MAX = 32;

const claimFields = {
  ClaimMappings: omit(
    'Maps claims, or JSON pointers to claims, to the names of values.',
    map(neededText),
  ),
  ListClaimMappings: omit('Maps claims to the names of lists.', map(neededText)),
  IdentityClaim: omit(
    'The claim, or a JSON pointer to it, that names who logs in. Empty means sub.',
    text(),
  ),
};

const jwtFields = {
  JWTValidationPubKeys: omit(
    'Public keys or certificates in PEM format, one of which must verify a token.',
    list(text(), { single: true, max: KEYS_MAX }),
  ),
  JWKSURL: omit('The URL from which the key set of the issuer is fetched.', text()),
  JWKSCACert: omit('The certificate in PEM format used to verify the server of JWKSURL.', text()),
  OIDCDiscoveryURL: omit('The issuer, whose discovery document says where its keys are.', text()),
  OIDCDiscoveryCACert: omit(
    'The certificate in PEM format used to verify the server of OIDCDiscoveryURL.',
    text(),
  ),
  BoundAudiences: omit('The accepted audiences. A token must name one of them.', texts),
  BoundIssuer: omit('The issuer that a token must name.', text()),
  JWTSupportedAlgs: omit(
    'The accepted signature algorithms. Empty means all.',
    list(text({ values: ALGORITHMS }), { single: true }),
  ),
  ...claimFields,
  ExpirationLeeway: omit(
    'How long a token is still accepted after it expires, in nanoseconds. 0 means 150 seconds.',
    whole(),
  ),
  NotBeforeLeeway: omit(
    'How long a token is already accepted before it becomes valid, in nanoseconds. 0 ' +
      'means 150 seconds.',
    whole(),
  ),
  ClockSkewLeeway: omit(
    'The maximum difference between the clocks of the issuer and the node, in ' +
      'nanoseconds. 0 means 60 seconds.',
    whole(),
  ),
};
/** A Config says in one way where the keys are. */
export const ONE_SOURCE = exactlyOne('JWTValidationPubKeys', 'JWKSURL', 'OIDCDiscoveryURL');
/** What the certificate of an endpoint needs beside it. */
export const JWKS_OF_CA = needs('JWKSCACert', 'JWKSURL');
/** The same for discovery. */
export const OIDC_OF_CA = needs('OIDCDiscoveryCACert', 'OIDCDiscoveryURL');
/** The Config of the type jwt. */
export const JWT_CONFIG = ruled(object(jwtFields), ONE_SOURCE, JWKS_OF_CA, OIDC_OF_CA);

/** The Config of the type oidc. */
export const OIDC_CONFIG = object({
  OIDCDiscoveryURL: keep('The issuer, whose discovery document lists its endpoints.', neededText),
  OIDCDiscoveryCACert: omit(
    'The certificate in PEM format used to verify the servers of the issuer.',
    text(),
  ),
  OIDCClientID: keep('The client as which the cluster is known to the issuer.', neededText),
  OIDCClientSecret: omit(
    'The secret of the client; never shown. Empty for a public client.',
    text(),
  ),
  AllowedRedirectURIs: keep(
    'The addresses to which the issuer may send a browser back, compared exactly.',
    neededList(text(), { single: true }),
  ),
  PostLogoutRedirectURI: omit('Where the issuer sends a browser after a logout.', text()),
  OIDCScopes: omit(
    'The scopes to ask for besides openid. With offline_access, logins can be renewed.',
    texts,
  ),
  BoundAudiences: omit('Audiences, one of which an ID token must name besides the client.', texts),
  JWTSupportedAlgs: omit(
    'The accepted signature algorithms. Empty means those that the issuer lists.',
    list(text({ values: ALGORITHMS }), { single: true }),
  ),
  ...claimFields,
  VerboseOIDCLogging: omit('Without effect: explanations show the claims.', boolean),
});

/** The Config of the type kubernetes. */
export const KUBERNETES_CONFIG = object({
  Host: keep('The https URL of the API server of the cluster.', neededText),
  CACert: keep('The certificate in PEM format used to verify the API server.', neededText),
  ServiceAccountJWT: keep(
    'The token with which the node authenticates to the API server.',
    neededText,
  ),
});

/** The Config of each type. Its keys match in any letter case. */
export const METHOD_CONFIGS = {
  jwt: JWT_CONFIG,
  kubernetes: KUBERNETES_CONFIG,
  oidc: OIDC_CONFIG,
} as const satisfies Record<MethodType, unknown>;
