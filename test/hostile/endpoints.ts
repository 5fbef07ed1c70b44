/** Every endpoint with valid, or nearly valid, requests: the seeds of hostile requests. */
import { readFileSync } from 'node:fs';

export interface Endpoint {
  readonly method: 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE';
  /** `*` stands for a value that a test may choose. */
  readonly path: string;
  readonly bodies: readonly unknown[];
  /** Headers without which every request is refused. */
  readonly headers?: Readonly<Record<string, string>>;
}

const UUID = '0f0f0f0f-1111-4222-8333-444444444444';
const grants = {
  ServiceIdentities: [{ ServiceName: 'web', Datacenters: ['dc1'] }],
  NodeIdentities: [{ NodeName: 'n', Datacenter: 'dc1' }],
  TemplatedPolicies: [
    { TemplateName: 'builtin/service', TemplateVariables: { Name: 'web' }, Datacenters: ['dc1'] },
  ],
};
const policy = {
  Name: 'p',
  Description: 'd',
  Rules: 'key "a" { policy = "read" } service_prefix "" { policy = "write" }',
  Datacenters: ['dc1'],
};
const role = { Name: 'r', Description: 'd', Policies: [{ Name: 'p' }], ...grants };
const token = {
  AccessorID: UUID,
  SecretID: '0f0f0f0f-1111-4222-8333-555555555555',
  Description: 'd',
  Policies: [{ Name: 'p' }],
  Roles: [{ Name: 'r' }],
  ...grants,
  Local: false,
  ExpirationTTL: '1h',
};
const method = {
  Name: 'm',
  Type: 'jwt',
  DisplayName: 'd',
  Description: 'd',
  MaxTokenTTL: '5m',
  TokenLocality: 'local',
  NamespaceRules: [{ Selector: 'value.name == a', BindNamespace: 'ns-${value.name}' }],
  Config: {
    JWTValidationPubKeys: [
      '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqRpGmmzvm8YlBnMAfdGvzoaB7ugR\ncsj5v1pQlMOllerstsi0VQb5nDYQHD7iwnjmy/wdSWAeK0DDNOLWyUUEgg==\n-----END PUBLIC KEY-----\n',
    ],
    BoundAudiences: ['conclave'],
    BoundIssuer: 'https://issuer.example',
    ClaimMappings: { name: 'name' },
    ListClaimMappings: { groups: 'groups' },
    ClockSkewLeeway: 60_000_000_000,
  },
};
const rule = {
  Description: 'd',
  AuthMethod: 'm',
  Selector: 'value.name == "a" and "g" in list.groups',
  BindType: 'templated-policy',
  BindName: 'builtin/service',
  BindVars: { Name: 'svc-${value.name}' },
};
const namespace = {
  Name: 'team',
  Description: 'd',
  ACLs: { PolicyDefaults: [{ Name: 'p' }], RoleDefaults: [{ Name: 'r' }] },
  Meta: { a: 'b' },
};
const autopilot = {
  CleanupDeadServers: true,
  LastContactThreshold: '200ms',
  MaxTrailingLogs: 250,
  MinQuorum: 1,
  ServerStabilizationTime: '10s',
};
const aclConfiguration = {
  LoginTokenTTL: '1h',
  LoginTokenTTLMax: '24h',
  TokensPerIdentity: 10,
  OnTokenLimit: 'replace',
};
const questions = [
  { Resource: 'service', Access: 'write', Segment: 'web', Namespace: 'default' },
  { Resource: 'key', Access: 'write-prefix', Segment: 'a' },
];
const explanations = [
  { AccessorID: '00000000-0000-0000-0000-000000000002', Requests: questions },
  { Draft: { Policies: [], Roles: [], ...grants, Rules: policy.Rules }, Requests: questions },
];
const loginExplanations = [
  { AuthMethod: 'm', BearerToken: 'a.b.c' },
  { AuthMethod: 'm', Claims: { name: 'a', groups: ['g'] }, Namespace: 'default' },
];
const entries = (): unknown[] =>
  (
    JSON.parse(readFileSync('test/tables/config-decode.json', 'utf8')) as {
      accepted: boolean;
      input: unknown;
    }[]
  ).flatMap(({ accepted, input }) => (accepted ? [input] : []));

const reads = [
  ...['roles', 'policies', 'tokens', 'auth-methods', 'binding-rules'].map((name) => `acl/${name}`),
  ...['acl/role/*', 'acl/role/name/*', 'acl/policy/*', 'acl/policy/name/*', 'acl/token/*'],
  ...['acl/decision/*', 'acl/token/self/effective', 'acl/token/*/effective'],
  ...['acl/token/self/rights', 'acl/token/*/rights'],
  ...['acl/token/self', 'acl/auth-method/*', 'acl/binding-rule/*', 'acl/replication'],
  ...['acl/templated-policies', 'acl/templated-policy/name/*', 'namespaces', 'namespace/*'],
  ...[
    'config/*',
    'config/service-defaults/*',
    'config/*/*',
    'discovery-chain/*',
    'acl/tokens/import',
    'owners',
    'export',
    'refs/policy/*',
    'refs/config/service-defaults/*',
    'refs/*/*',
    'acl/lint',
    'status/leader',
    'status/peers',
  ],
  ...['operator/raft/configuration', 'operator/autopilot/configuration', 'agent/members'],
  ...[
    'operator/level',
    'operator/history/configuration',
    'history',
    'history/*/*',
    'history/config/service-defaults/*',
    'operator/acl/configuration',
    'operator/raft/joining',
    'operator/autopilot/health',
    'operator/autopilot/state',
    'agent/self',
    'agent/version',
    'agent/metrics',
    'agent/history',
  ],
  ...[
    'health/live',
    'health/ready',
    'acl/bootstrap',
    'openapi.json',
    'schema/*',
    'schema/config/*',
    'nothing',
    '*',
    'acl/*',
  ],
];
const deletes = [
  ...['acl/role/*', 'acl/policy/*', 'acl/token/*', 'acl/auth-method/*', 'acl/binding-rule/*'],
  ...['namespace/*', 'config/*/*', 'operator/raft/peer'],
];
/** The objects of a set. */
export const SET_OBJECTS = [
  { Type: 'policy', Namespace: 'default', Object: policy },
  { Type: 'role', Object: role },
  { Type: 'auth-method', Object: method },
  { Type: 'binding-rule', Handle: 'h', Object: rule },
  { Type: 'namespace', Object: namespace },
  { Type: 'config', Object: { Kind: 'service-defaults', Name: 'web', Protocol: 'http' } },
];
const sets = [
  {
    Owner: 'gitops/a',
    Prune: true,
    TakeOver: true,
    Reason: 'why',
    Objects: [...SET_OBJECTS, { Type: 'token', Object: { AccessorID: UUID, Description: 'd' } }],
    Delete: [
      { Type: 'role', Name: 'old', IfUnused: true },
      { Type: 'config', Name: 'service-router/old' },
      { Type: 'policy', ID: UUID },
      { Type: 'binding-rule', Handle: 'old' },
    ],
    Assert: [
      { Name: 'n', Subject: { Role: 'r' }, Resource: 'acl', Access: 'write', Expect: 'deny' },
      {
        Subject: { Rules: policy.Rules },
        Resource: 'key',
        Access: 'read',
        Segment: 'a',
        Expect: 'allow',
      },
      {
        Subject: { Draft: { Policies: [{ Name: 'p' }] } },
        Resource: 'acl',
        Access: 'read',
        Expect: 'deny',
      },
    ],
    Expected: { 'policy/default/p': 0 },
    Digest: 'sha256:00',
  },
  { Objects: [{ Type: 'policy', Object: policy }] },
  { Delete: [{ Type: 'namespace', Name: 'x' }] },
  { Assert: [{ Subject: { Anonymous: true }, Resource: 'acl', Access: 'read', Expect: 'deny' }] },
];
const imports = [
  {
    Source: 'dc1',
    DryRun: false,
    TakeOver: true,
    Reason: 'why',
    Tokens: [
      {
        AccessorID: UUID,
        SecretID: '0f0f0f0f-1111-4222-8333-666666666666',
        Description: 'd',
        Policies: [{ Name: 'p' }],
        ...grants,
        Local: false,
        Namespace: 'default',
        AuthMethod: 'm',
        AuthMethodNamespace: 'default',
        Identity: { Subject: 'web' },
        ExpirationTime: '2130-01-01T00:00:00Z',
        CreateTime: '2020-01-01T00:00:00Z',
      },
    ],
    Delete: ['8a2d0000-1111-4222-8333-000000000001'],
  },
];
const writes: readonly [Endpoint['method'], string, readonly unknown[]][] = [
  ['PUT', 'acl/policy', [policy]],
  ['PUT', 'acl/policy/*', [policy]],
  ['POST', 'acl/policy/lint', [{ Rules: policy.Rules, Namespace: 'default' }, { ID: UUID }]],
  ['PUT', 'acl/role', [role]],
  ['PUT', 'acl/role/*', [role]],
  ['PUT', 'acl/token', [token]],
  ['PUT', 'acl/token/*', [token]],
  ['PUT', 'acl/token/*/clone', [{ Description: 'd' }]],
  ['PUT', 'acl/auth-method', [method]],
  ['PUT', 'acl/auth-method/*', [method]],
  ['PUT', 'acl/binding-rule', [rule]],
  ['PUT', 'acl/binding-rule/*', [rule]],
  ['POST', 'acl/binding-rule/lint', [rule, { ID: UUID }]],
  ['PUT', 'acl/bootstrap', [{ BootstrapSecret: UUID }]],
  ['POST', 'acl/login', [{ AuthMethod: 'm', BearerToken: 'a.b.c', Meta: { a: 'b' } }]],
  ['POST', 'acl/logout', [{}]],
  ['POST', 'acl/templated-policy/preview/*', [{ Name: 'web' }]],
  ['POST', 'acl/authorize/explain', explanations],
  ['POST', 'acl/login/explain', loginExplanations],
  ['POST', 'acl/who-can', questions],
  ['POST', 'internal/acl/authorize', [[{ Resource: 'key', Access: 'read', Segment: 'a' }]]],
  ['POST', 'acl/tokens/import', imports],
  ['POST', 'owners/release', [{ Owner: 'migrate/dc1', Reason: 'why' }]],
  ['POST', 'plan', sets],
  ['POST', 'apply', sets],
  ['PUT', 'namespace', [namespace]],
  ['PUT', 'namespace/*', [namespace]],
  ['PUT', 'config', entries()],
  ['POST', 'config/validate', [...entries(), { Entries: entries() }]],
  ['PATCH', 'acl/policy/*', [{ Rules: policy.Rules, Description: null }]],
  ['PATCH', 'acl/role/*', [{ Policies: role.Policies, ServiceIdentities: null }]],
  ['PATCH', 'acl/token/*', [{ Description: 'd', Roles: token.Roles }]],
  ['PATCH', 'acl/auth-method/*', [{ Config: { BoundIssuer: null, IdentityClaim: 'sub' } }]],
  ['PATCH', 'acl/binding-rule/*', [{ Selector: rule.Selector }]],
  ['PATCH', 'namespace/*', [{ ACLs: namespace.ACLs, Meta: { a: null, b: 'c' } }]],
  ['PATCH', 'config/*/*', [{ Protocol: 'http', Meta: { a: null } }]],
  ['PUT', 'operator/autopilot/configuration', [autopilot]],
  ['PUT', 'operator/acl/configuration', [aclConfiguration]],
  ['PUT', 'operator/history/configuration', [{ VersionsPerObject: 5, MaxAge: '48h' }]],
  ['POST', 'undo', [{ Index: 5, Reason: 'r', DryRun: true, Expected: { 'policy/default/p': 4 } }]],
  ['PUT', 'snapshot', [{}]],
];

const question = {
  subject: { type: 'token', id: 'self' },
  action: { name: 'approve', properties: { a: 1 } },
  resource: { type: 'orders', id: '17', properties: { namespace: 'default' } },
  context: { time: 'now' },
};
const subjects = [
  { type: 'token_secret', id: '0f0f0f0f-1111-4222-8333-555555555555' },
  { type: 'jwt', id: 'a.b.c', properties: { auth_method: 'm', namespace: 'default' } },
  { type: 'identity', id: 'm/web' },
  { type: 'role', id: 'r' },
  { type: 'user', id: 'ann', properties: { groups: ['g'] } },
];
const evaluations = [
  question,
  ...subjects.map((subject) => ({ ...question, subject })),
  { ...question, resource: { type: 'app:service', id: 'a/b' } },
  { ...question, action: { name: 'write-prefix' }, resource: { type: 'key', id: 'a' } },
];
const page = { limit: 2, token: '', properties: {} };
/** Those of the Authorization API, which ignores what it does not know. */
const access: readonly (readonly [path: string, bodies: readonly unknown[]])[] = [
  ['evaluation', evaluations],
  [
    'evaluations',
    [
      { evaluations, options: { evaluations_semantic: 'deny_on_first_deny' } },
      { ...question, evaluations: [{}, { action: { name: 'ship' } }, { subject: subjects[1] }] },
    ],
  ],
  ...['subject', 'resource', 'action'].map((what) => {
    const asked = [question, { ...question, subject: { type: 'role', id: 'r' } }];
    return [`search/${what}`, asked.map((one) => ({ ...one, page }))] as const;
  }),
];

export const ENDPOINTS: readonly Endpoint[] = [
  ...reads.map((path) => ({ method: 'GET' as const, path: `/v1/${path}`, bodies: [] })),
  ...deletes.map((path) => ({ method: 'DELETE' as const, path: `/v1/${path}`, bodies: [] })),
  ...writes.map(([method, path, bodies]) => ({ method, path: `/v1/${path}`, bodies })),
  { method: 'GET', path: '/.well-known/authzen-configuration', bodies: [] },
  ...access.map(([path, bodies]) => ({
    method: 'POST' as const,
    path: `/access/v1/${path}`,
    bodies,
    headers: { 'content-type': 'application/json' },
  })),
];
/** Endpoints that read a JSON body, and refuse one that is wrong: validation judges it. */
export const WRITES: readonly Endpoint[] = ENDPOINTS.filter(
  ({ path, bodies }) => bodies.length > 0 && !/access|snapshot|logout|clone|validate/.test(path),
);
/** An object to create for each path that patches one. */
export const PATCHED: readonly (readonly [path: string, body: unknown])[] = [
  ['/v1/acl/policy/*', { ...policy, Name: 'patched' }],
  ['/v1/acl/role/*', { Name: 'patched', ...grants }],
  ['/v1/acl/token/*', { Description: 'patched', ...grants }],
  ['/v1/acl/auth-method/*', { ...method, Name: 'patched' }],
  ['/v1/acl/binding-rule/*', { ...rule, AuthMethod: 'patched' }],
  ['/v1/namespace/*', { Name: 'patched', Meta: namespace.Meta }],
  ['/v1/config/*/*', { Kind: 'service-defaults', Name: 'patched', Protocol: 'http' }],
];
