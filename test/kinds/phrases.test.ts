/**
 * Rules of the kinds that the recorded table does not contain: a body, and the words that clients
 * match on.
 */
import { expect } from 'chai';
import { decodeEntry } from './decode-entry.js';

/** Bodies by kind and name, what is wrong with them, and the expected words. */
const defaults = (more: object) => ({ Kind: 'service-defaults', Name: 'n', ...more });
const upstream = (more: object) =>
  defaults({ UpstreamConfig: { Overrides: [{ Name: 'u', ...more }] } });
const extension = (Name: string, Arguments: object) =>
  defaults({ EnvoyExtensions: [{ Name, Arguments }] });
const intentions = (source: object, more: object = {}) => ({
  ...{ Kind: 'service-intentions', Name: 'n', Sources: [{ Name: 's', ...source }] },
  ...more,
});
const permission = (HTTP: object) => intentions({ Permissions: [{ Action: 'allow', HTTP }] });
const resolver = (more: object) => ({ Kind: 'service-resolver', Name: 'n', ...more });
const failover = (one: object) => resolver({ Subsets: { v1: {} }, Failover: { '*': one } });
const balancer = (LoadBalancer: object) => resolver({ LoadBalancer });
const hashing = (one: object) => balancer({ Policy: 'maglev', HashPolicies: [one] });
const router = (route: object) => ({ Kind: 'service-router', Name: 'n', Routes: [route] });
const matching = (HTTP: object) => router({ Match: { HTTP } });
const splitter = (...Splits: object[]) => ({ Kind: 'service-splitter', Name: 'n', Splits });
const ingress = (listener: object, more: object = {}) => ({
  ...{ Kind: 'ingress-gateway', Name: 'n' },
  Listeners: [{ Port: 8, Services: [{ Name: 's' }], ...listener }],
  ...more,
});
const gateway = (listener: object) => ({
  ...{ Kind: 'api-gateway', Name: 'n' },
  Listeners: [{ Name: 'l', Port: 8, Protocol: 'http', ...listener }],
});
const route = (match: object) => ({ Kind: 'http-route', Name: 'n', Rules: [{ Matches: [match] }] });
const mesh = (more: object) => ({ Kind: 'mesh', ...more });
const proxies = (more: object) => ({ Kind: 'proxy-defaults', ...more });
const exported = (Services: object[]) => ({ Kind: 'exported-services', Name: 'default', Services });

const CASES: readonly (readonly [object, string])[] = [
  [
    gateway({ Hostname: '*' }),
    'host "*" is not valid, a wildcard specifier is only allowed as the left-most label',
  ],
  [
    { Kind: 'tcp-route', Name: 'n', Parents: [{ Name: 'gw' }, { Name: 'GW' }] },
    'route parents must be unique',
  ],
  // service-defaults
  [
    defaults({ UpstreamConfig: {}, Destination: { Addresses: ['a'], Port: 1 } }),
    'UpstreamConfig and Destination are mutually exclusive',
  ],
  [
    defaults({ Destination: { Addresses: ['a.b', 'a.b'], Port: 1 } }),
    "Duplicate address 'a.b' is not allowed",
  ],
  [
    defaults({ Destination: { Addresses: ['999.1.1.1.'], Port: 65_536 } }),
    'Invalid Port number 65536',
  ],
  [defaults({ RateLimits: {} }), 'invalid rate_limits config. Rate limiting is a'],
  [
    upstream({ PassiveHealthCheck: { Interval: '-1s' } }),
    'error in upstream override for u: passive health check interval cannot be negative',
  ],
  [upstream({ Limits: { MaxPendingRequests: -1 } }), 'max pending requests cannot be negative'],
  [
    upstream({ BalanceOutboundConnections: 'x' }),
    'invalid value for balance_outbound_connections: x',
  ],
  [
    defaults({ UpstreamConfig: { Overrides: [{}] } }),
    'error in upstream override for :: Name is required',
  ],
  // extensions
  [
    extension('builtin/lua', { Script: 'x', Listener: 'inbound', ProxyType: 'y' }),
    'invalid EnvoyExtensions[0][builtin/lua]: unexpected ProxyType "y"',
  ],
  [extension('builtin/lua', { Script: 'x', Listener: 'both' }), 'unexpected Listener "both"'],
  [
    extension('builtin/aws/lambda', { ARN: 'a', InvocationMode: 'x' }),
    'unexpected InvocationMode "x"',
  ],
  [extension('builtin/property-override', {}), 'at least one patch is required'],
  [
    extension('builtin/property-override', {
      Patches: [
        {
          Op: 'add',
          Path: '/x',
          ResourceFilter: { ResourceType: 'route', TrafficDirection: 'inbound' },
        },
      ],
    }),
    'Value is required',
  ],
  [extension('builtin/wasm', { ListenerType: 'inbound' }), 'exactly one of Local or Remote'],
  [extension('builtin/ext-authz', { Config: {} }), 'exactly one of GrpcService or HttpService'],
  [extension('builtin/otel-access-logging', { Config: {} }), 'missing GrpcService value'],
  [
    defaults({ EnvoyExtensions: [{ Name: 'builtin/lua', ConsulVersion: '>= 1.x' }] }),
    'invalid EnvoyExtensions[0].ConsulVersion: Malformed constraint: >= 1.x',
  ],
  // service-intentions
  [
    intentions({ Name: 'a*', Action: 'allow' }),
    "Sources[0].Name: wildcard character '*' cannot be used with partial values",
  ],
  [
    intentions({ Action: 'allow', SamenessGroup: 'g' }),
    'Sources[0].SamenessGroup: Sameness groups are a',
  ],
  [
    { ...intentions({ Action: 'allow' }), Name: 'a*' },
    "Name: wildcard character '*' cannot be used with partial values",
  ],
  [
    { ...permission({ PathExact: '/' }), Name: '*' },
    'Sources[0].Permissions cannot be specified on intentions with wildcarded destinations',
  ],
  [
    permission({ Methods: ['get', 'GET'] }),
    'Sources[0].Permissions[0].HTTP.Methods contains "GET" more than once',
  ],
  [
    permission({ Header: [{ Name: 'h', Exact: 'a', Regex: 'b' }] }),
    'HTTP.Header[0] should only contain one of Present, Exact, Prefix, Suffix, Contains, or Regex',
  ],
  [
    permission({ Header: [{ Name: 'h', Present: true, IgnoreCase: true }] }),
    'should set one of Exact, Prefix, Suffix, or Contains when using IgnoreCase',
  ],
  // service-resolver
  [resolver({ Redirect: {} }), 'Redirect is empty'],
  [
    resolver({ Redirect: { Service: 'a', Partition: 'p' } }),
    'Redirect: Setting Partition requires',
  ],
  [
    resolver({ Redirect: { Service: 'a', Namespace: 'p' } }),
    'Redirect: Setting Namespace requires',
  ],
  [
    resolver({ Redirect: { Service: 'a', SamenessGroup: 'p' } }),
    'Redirect: Setting SamenessGroup requires',
  ],
  [
    resolver({ Redirect: { Service: 'a', Peer: 'p', ServiceSubset: 's' } }),
    'Redirect.Peer cannot be set with Redirect.ServiceSubset',
  ],
  [resolver({ PrioritizeByLocality: { Mode: 'failover' } }), 'Prioritize-by-locality requires'],
  [resolver({ ConnectTimeout: '-1s' }), "Bad ConnectTimeout '-1s', must be >= 0"],
  [
    resolver({ Failover: { v9: { Service: 'a' } } }),
    'Bad Failover["v9"]: not a valid subset subset',
  ],
  [failover({ Service: 'a', Namespace: 'n' }), 'Bad Failover["*"]: Setting Namespace requires'],
  [
    failover({ Service: 'a', SamenessGroup: 'n' }),
    'Bad Failover["*"]: Setting SamenessGroup requires',
  ],
  [
    failover({ Service: 'a', Policy: { Mode: 'x' } }),
    'Bad Failover["*"]: Setting failover policies requires',
  ],
  [
    failover({ Targets: [{}], Datacenters: ['d'] }),
    'Bad Failover["*"]: Targets cannot be set with Datacenters',
  ],
  [failover({ Targets: [{}], ServiceSubset: 'v1' }), 'Targets cannot be set with ServiceSubset'],
  [failover({ Targets: [{}], Service: 's' }), 'Targets cannot be set with Service'],
  [
    failover({ Targets: [{ Partition: 'p' }] }),
    'Bad Failover["*"].Targets[0]: Setting Partition requires',
  ],
  [
    failover({ Targets: [{ Namespace: 'p' }] }),
    'Bad Failover["*"].Targets[0]: Setting Namespace requires',
  ],
  [
    failover({ Targets: [{}, { Peer: 'p', Datacenter: 'd' }] }),
    'Bad Failover["*"].Targets[1]: Peer cannot be set with Datacenter',
  ],
  [balancer({ Policy: 'best' }), 'Bad LoadBalancer policy: "best" is not supported'],
  [
    balancer({ LeastRequestConfig: {} }),
    'LeastRequestConfig specified for incompatible load balancing policy ""',
  ],
  [
    hashing({ SourceIP: true, FieldValue: 'x' }),
    'Bad LoadBalancer HashPolicy[0]: A FieldValue cannot be specified when hashing SourceIP',
  ],
  // service-router
  [
    router({ Destination: { PrefixRewrite: '/' } }),
    'Route[0] cannot make use of PrefixRewrite without configuring either PathExact or PathPrefix',
  ],
  [
    router({ Destination: { RetryOn: ['5xx', 'often'] } }),
    'Route[0] contains an invalid retry condition: "often"',
  ],
  [
    router({ Destination: { Partition: 'p' } }),
    'partitions are a feature that this server does not have',
  ],
  [matching({ Methods: ['FETCH'] }), 'Route[0] Methods contains an invalid method "FETCH"'],
  [matching({ Header: [{ Exact: 'a' }] }), 'Route[0] Header[0] missing required Name field'],
  // service-splitter
  [splitter(), 'no splits configured'],
  [splitter({ Weight: 99.99 }), 'the sum of all split weights must be 100, not 99.989998'],
  [
    splitter({ Weight: 50 }, { Weight: 50, Service: 'n' }),
    'split destination occurs more than once: service="n"',
  ],
  [
    splitter({ Weight: 50 }, { Weight: 50, Service: 'N', Partition: 'default' }),
    'split destination occurs more than once: service="N"',
  ],
  [splitter({ Weight: 100, Namespace: 'other' }), 'stays within the namespace'],
  // ingress-gateway
  [{ Kind: 'ingress-gateway' }, 'object missing primary index'],
  [
    ingress(
      {},
      {
        Listeners: [
          { Port: 8, Services: [{ Name: 'a' }] },
          { Port: 8, Services: [{ Name: 'b' }] },
        ],
      },
    ),
    'port 8 declared on two listeners',
  ],
  [
    ingress({ Protocol: 'udp' }),
    "protocol must be 'tcp', 'http', 'http2', or 'grpc'. 'udp' is an unsupported protocol",
  ],
  [
    ingress({ Services: [{ Name: 'a' }, { Name: 'b' }] }),
    "Multiple services per listener are only supported for L7 protocols, 'http', 'grpc' and 'http2' (listener on port 8)",
  ],
  [
    ingress({ Services: [{ Name: 's', RequestHeaders: { Add: { a: 'b' } } }] }),
    'request headers only valid for http, http2 and grpc protocols (service "s" on listener on port 8)',
  ],
  [
    ingress({ Services: [{ Name: '*' }] }),
    "Wildcard service name is only valid for protocol = 'http' (listener on port 8)",
  ],
  [
    ingress({ Protocol: 'http' }, { TLS: { SDS: { ClusterName: 'c' } } }),
    'TLS.SDS.CertResource is required if ClusterName is set for gateway (listener on port 8)',
  ],
  [
    ingress({ Protocol: 'http', TLS: { SDS: { ClusterName: 'c' } } }),
    'TLS.SDS.CertResource is required if ClusterName is set for listener (listener on port 8)',
  ],
  [ingress({}, { TLS: { TLSMinVersion: 'x' } }), 'no matching TLS version found for x'],
  [
    ingress({}, { Defaults: { PassiveHealthCheck: { MaxEjectionPercent: 101 } } }),
    'max_ejection_percent must be a percentage',
  ],
  // api-gateway and routes
  [gateway({ Name: '' }), 'listener name "" is invalid'],
  [
    gateway({ Protocol: 'grpc' }),
    "unsupported listener protocol \"grpc\", must be one of 'tcp', or 'http'",
  ],
  [gateway({ Port: 65_536 }), 'listener port 65536 not in the range 1-65535'],
  [
    gateway({ TLS: { MinVersion: 'TLSv1_3', MaxVersion: 'TLSv1_2' } }),
    'configuring max version TLSv1_2 less than the configured min version TLSv1_3 is invalid',
  ],
  [route({ Query: [{}] }), 'Rule[0], Match[0], Query[0], missing required Name field'],
  [
    route({ Query: [{ Name: 'q', Match: 'prefix' }] }),
    'Query[0], match type should be one of present, exact, or regex',
  ],
  [route({ Headers: [{ Match: 'exact' }] }), 'Headers[0], missing required Name field'],
  [
    route({ Path: { Match: 'prefix', Value: 'x' } }),
    "Path, prefix type match doesn't start with '/': \"x\"",
  ],
  [
    route({ Path: { Match: 'suffix', Value: '/x' } }),
    'Path, match type should be one of exact, prefix, or regex',
  ],
  [
    { Kind: 'tcp-route', Name: 'n', Services: [{ Name: 'a' }, { Name: 'b' }] },
    'tcp-route currently only supports one service',
  ],
  // global kinds
  [
    mesh({ TLS: { Incoming: { CipherSuites: ['X', 'Y'] } } }),
    'no matching Envoy TLS cipher suite found for X,Y',
  ],
  [
    mesh({ HTTP: { Incoming: { RequestNormalization: { HeadersWithUnderscoresAction: 'x' } } } }),
    'no matching HeadersWithUnderscoresAction value found for x, please specify one of [ALLOW, REJECT_REQUEST, DROP_HEADER]',
  ],
  [
    proxies({ AccessLogs: { Type: 'file' } }),
    'path must be specified when using file type access logs',
  ],
  [
    proxies({ AccessLogs: { JSONFormat: '{}', TextFormat: 'x' } }),
    'cannot specify both access log JSONFormat and TextFormat',
  ],
  [
    proxies({ FailoverPolicy: { Mode: 'random' } }),
    "Failover-policy mode must be one of '', 'sequential', or 'order-by-locality'",
  ],
  [proxies({ Config: { protocol: { a: 1 } } }), "'protocol' expected type 'string'"],
  [
    exported([{ Name: 'a', Consumers: [{ SamenessGroup: 'g' }] }]),
    'Services[0].Consumers[0]: sameness-groups are an enterprise-only feature',
  ],
  [
    exported([{ Name: 'a', Consumers: [{ Peer: 'p', Partition: 'q' }] }]),
    'must define at most one of Peer, Partition, or SamenessGroup',
  ],
  [
    exported([{ Name: 'a', Consumers: [{ Partition: '*' }] }]),
    'exporting to all partitions (wildcard) is not supported',
  ],
  [
    exported([{ Name: 'a', Consumers: [{ Partition: 'q' }] }]),
    'partitions are a feature that this server does not have',
  ],
];

describe('kinds: rules and their error texts', () => {
  for (const [body, phrase] of CASES) {
    it(`${JSON.stringify(body).slice(0, 120)}: ${phrase.slice(0, 80)}`, () => {
      const decoded = decodeEntry(body, { namespace: 'default' });
      expect(decoded.ok ? 'accepted' : decoded.refusal.message).to.contain(phrase);
      if (!decoded.ok) expect(decoded.refusal.pointer).to.match(/^\//);
    });
  }

  it('an error in one of several items has a pointer to that item', () => {
    const decoded = decodeEntry(hashing({ Field: 'body', FieldValue: 'x' }), {
      namespace: 'default',
    });
    expect(decoded.ok ? '' : decoded.refusal.pointer).to.equal(
      '/LoadBalancer/HashPolicies/0/Field',
    );
  });

  it('a source is named by its place in the request, not by that in the entry', () => {
    const Sources = [
      { Name: '*', Action: 'permit' },
      { Name: 'a', Action: 'allow' },
    ];
    const body = { Kind: 'service-intentions', Name: 'n', Sources };
    const decoded = decodeEntry(body, { namespace: 'default' });
    const { message, pointer } = decoded.ok ? { message: '', pointer: '' } : decoded.refusal;
    expect(message).to.equal("Sources[0].Action must be set to 'allow' or 'deny'");
    expect(pointer).to.equal('/Sources/0/Action');
    Sources[0]!.Action = 'deny';
    const ordered = decodeEntry(body, { namespace: 'default' });
    const names = ordered.ok ? (ordered.entry['Sources'] as typeof Sources) : [];
    expect(names.map(({ Name }) => Name)).to.deep.equal(['a', '*']);
  });
});
