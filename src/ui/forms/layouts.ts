/** The layouts of forms: what of a JSON text has a field. */
import { TEXT } from '../texts.js';
import { type FieldPart, type Layout, wordsOf } from './layout.js';

const T = TEXT.layout;
const text = (at: string, label?: string): FieldPart => ({
  is: 'text',
  at,
  ...(label && { label }),
});
const number = (at: string, label?: string): FieldPart => ({ ...text(at, label), is: 'number' });
const nanoseconds = (at: string): FieldPart => number(at, T.nanoseconds(wordsOf(at)));
const select = (at: string, ...options: string[]): FieldPart => ({ is: 'select', at, options });

/** What the claims of a login become, in the Config of an auth method. */
const CLAIMS: Layout = [
  { is: 'pairs', at: 'ClaimMappings', columns: [T.claim, T.value] },
  { is: 'pairs', at: 'ListClaimMappings', columns: [T.claim, T.list] },
  text('IdentityClaim'),
];
const AUDIENCES: Layout = [
  { is: 'list', at: 'BoundAudiences' },
  { is: 'list', at: 'JWTSupportedAlgs', label: T.algorithms },
];
const DISCOVERY: readonly FieldPart[] = [
  text('OIDCDiscoveryURL', T.discoveryUrl),
  { is: 'area', at: 'OIDCDiscoveryCACert', label: T.caCert },
];

const META = { is: 'pairs', at: 'Meta', columns: [T.name, T.value] } as const;
const GATEWAY = select('MeshGateway.Mode', 'local', 'remote', 'none');

/** The Config of auth methods, by type. */
export const METHOD_LAYOUTS: Readonly<Record<string, Layout>> = {
  jwt: [
    {
      is: 'choice',
      label: T.keys,
      choices: [
        {
          label: T.ownKeys,
          parts: [{ is: 'blocks', at: 'JWTValidationPubKeys', label: T.publicKey }],
        },
        {
          label: T.jwks,
          parts: [text('JWKSURL', T.jwks), { is: 'area', at: 'JWKSCACert', label: T.caCert }],
        },
        {
          label: T.discovery,
          parts: DISCOVERY,
        },
      ],
    },
    text('BoundIssuer'),
    ...AUDIENCES,
    ...CLAIMS,
    nanoseconds('ExpirationLeeway'),
    nanoseconds('NotBeforeLeeway'),
    nanoseconds('ClockSkewLeeway'),
  ],
  oidc: [
    ...DISCOVERY,
    text('OIDCClientID', T.clientId),
    text('OIDCClientSecret', T.clientSecret),
    { is: 'list', at: 'AllowedRedirectURIs', label: T.redirectUris },
    text('PostLogoutRedirectURI', T.afterLogout),
    { is: 'list', at: 'OIDCScopes', label: T.scopes },
    ...AUDIENCES,
    ...CLAIMS,
  ],
  kubernetes: [text('Host'), { is: 'area', at: 'CACert' }, { is: 'area', at: 'ServiceAccountJWT' }],
};

/** Config entries, by kind. */
export const ENTRY_LAYOUTS: Readonly<Record<string, Layout>> = {
  'proxy-defaults': [
    select('Mode', 'transparent', 'direct'),
    GATEWAY,
    select('AccessLogs.Type', 'stdout', 'stderr', 'file'),
    { is: 'check', at: 'AccessLogs.Enabled', label: T.accessLogs },
    META,
  ],
  'service-defaults': [
    select('Protocol', 'tcp', 'http', 'http2', 'grpc'),
    GATEWAY,
    number('MaxInboundConnections'),
    number('LocalConnectTimeoutMs'),
    number('LocalRequestTimeoutMs'),
    text('ExternalSNI'),
    META,
  ],
  'service-resolver': [
    text('DefaultSubset'),
    text('ConnectTimeout'),
    text('RequestTimeout'),
    {
      is: 'rows',
      at: 'Subsets',
      noun: T.subset,
      key: T.subsetName,
      columns: [text('Filter'), { is: 'check', at: 'OnlyPassing' }],
    },
    text('Redirect.Service', T.redirectService),
    text('Redirect.ServiceSubset', T.redirectSubset),
    {
      is: 'rows',
      at: 'Failover',
      noun: T.failover,
      key: T.failoverOf,
      columns: [text('Service'), text('ServiceSubset'), { is: 'list', at: 'Datacenters' }],
    },
  ],
  'service-splitter': [
    {
      is: 'rows',
      at: 'Splits',
      noun: T.split,
      percent: 'Weight',
      columns: [number('Weight'), text('Service'), text('ServiceSubset')],
    },
  ],
  'service-router': [
    {
      is: 'rows',
      at: 'Routes',
      noun: T.route,
      isOrdered: true,
      columns: [
        text('Match.HTTP.PathPrefix'),
        text('Match.HTTP.PathExact'),
        { is: 'list', at: 'Match.HTTP.Methods' },
        text('Destination.Service', T.toService),
        text('Destination.ServiceSubset', T.toSubset),
        text('Destination.PrefixRewrite'),
      ],
    },
  ],
  'service-intentions': [
    {
      is: 'rows',
      at: 'Sources',
      noun: T.source,
      counted: 'Permissions',
      columns: [text('Name'), select('Action', 'allow', 'deny'), text('Description')],
    },
  ],
};
