/** The declarations of the Config of auth methods by type. */
import {
  always,
  boolean,
  list,
  map,
  neededList,
  neededText,
  nonEmpty,
  object,
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
  ClaimMappings: nonEmpty(
    'Maps claims, or JSON pointers to claims, to the names of values.',
    map(neededText),
  ),
  ListClaimMappings: nonEmpty('Maps claims to the names of lists.', map(neededText)),
  IdentityClaim: nonEmpty(
    'The claim, or a JSON pointer to it, that names who logs in. Empty means sub.',
    text(),
  ),
};

const jwtFields = {
  JWTValidationPubKeys: nonEmpty(
    'Public keys or certificates in PEM format, one of which must verify a token.',
    list(text(), { single: true, max: KEYS_MAX }),
  ),
  JWKSURL: nonEmpty('The URL from which the key set of the issuer is fetched.', text()),
  JWKSCACert: nonEmpty(
    'The certificate in PEM format used to verify the server of JWKSURL.',
    text(),
  ),
  OIDCDiscoveryURL: nonEmpty(
    'The issuer, whose discovery document says where its keys are.',
    text(),
  ),
  OIDCDiscoveryCACert: nonEmpty(
    'The certificate in PEM format used to verify the server of OIDCDiscoveryURL.',
    text(),
  ),
  BoundAudiences: nonEmpty('The accepted audiences. A token must name one of them.', texts),
  BoundIssuer: nonEmpty('The issuer that a token must name.', text()),
  JWTSupportedAlgs: nonEmpty(
    'The accepted signature algorithms. Empty means all.',
    list(text({ values: ALGORITHMS }), { single: true }),
  ),
  ...claimFields,
  ExpirationLeeway: nonEmpty(
    'How long a token is still accepted after it expires, in nanoseconds. 0 means 150 seconds.',
    whole(),
  ),
  NotBeforeLeeway: nonEmpty(
    'How long a token is already accepted before it becomes valid, in nanoseconds. 0 ' +
      'means 150 seconds.',
    whole(),
  ),
  ClockSkewLeeway: nonEmpty(
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
  OIDCDiscoveryURL: always('The issuer, whose discovery document lists its endpoints.', neededText),
  OIDCDiscoveryCACert: nonEmpty(
    'The certificate in PEM format used to verify the servers of the issuer.',
    text(),
  ),
  OIDCClientID: always('The client as which the cluster is known to the issuer.', neededText),
  OIDCClientSecret: nonEmpty(
    'The secret of the client; never shown. Empty for a public client.',
    text(),
  ),
  AllowedRedirectURIs: always(
    'The addresses to which the issuer may send a browser back, compared exactly.',
    neededList(text(), { single: true }),
  ),
  PostLogoutRedirectURI: nonEmpty('Where the issuer sends a browser after a logout.', text()),
  OIDCScopes: nonEmpty(
    'The scopes to ask for besides openid. With offline_access, logins can be renewed.',
    texts,
  ),
  BoundAudiences: nonEmpty(
    'Audiences, one of which an ID token must name besides the client.',
    texts,
  ),
  JWTSupportedAlgs: nonEmpty(
    'The accepted signature algorithms. Empty means those that the issuer lists.',
    list(text({ values: ALGORITHMS }), { single: true }),
  ),
  ...claimFields,
  VerboseOIDCLogging: nonEmpty('Without effect: explanations show the claims.', boolean),
});

/** The Config of the type kubernetes. */
export const KUBERNETES_CONFIG = object({
  Host: always('The https URL of the API server of the cluster.', neededText),
  CACert: always('The certificate in PEM format used to verify the API server.', neededText),
  ServiceAccountJWT: always(
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
