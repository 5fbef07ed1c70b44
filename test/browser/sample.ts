/** Objects for the suites and pictures of the web UI. */
import type { Stage } from './stage.js';

/** A name that would be a script if it were no text. */
export const HOSTILE = '<img src=x onerror="document.title=1"><script>alert(1)</script>';

/** Keys and claims of an auth method that needs no server. */
const PUBLIC_KEY = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs/o5+uQbTjL3chynL4wXgUg2R9
q9UU8I5mEovUf86QZ7kOBIjJwqnzD1omageEHWwHdBO6B+dFabmdT9POxg==
-----END PUBLIC KEY-----`;

/** What was made. */
export interface Sample {
  readonly policy: { readonly ID: string };
  readonly role: { readonly ID: string };
  readonly token: { readonly AccessorID: string; readonly SecretID: string };
  readonly rule: { readonly ID: string };
}

/** Makes a policy, a role, a token, a login and a discovery chain. */
export async function makeSample(stage: Stage): Promise<Sample> {
  const put = <T>(path: string, body: unknown): Promise<T> => stage.api<T>(`PUT ${path}`, body);
  const policy = await put<Sample['policy']>('/v1/acl/policy', {
    Name: 'team-blue',
    Description: 'What team blue does',
    Rules: 'service_prefix "" {\n  policy = "read"\n}\nservice "web" {\n  policy = "write"\n}\n',
  });
  const role = await put<Sample['role']>('/v1/acl/role', {
    Name: 'blue',
    Description: HOSTILE,
    Policies: [{ Name: 'team-blue' }],
  });
  const token = await put<Sample['token']>('/v1/acl/token', {
    Description: 'deploys of team blue',
    Roles: [{ Name: 'blue' }],
  });
  await put('/v1/acl/auth-method', {
    Name: 'builds',
    Type: 'jwt',
    Description: 'CI builds',
    MaxTokenTTL: '1h',
    Config: {
      JWTValidationPubKeys: [PUBLIC_KEY],
      ClaimMappings: { name: 'name', team: 'team' },
      ListClaimMappings: { groups: 'groups' },
    },
  });
  const rule = await put<Sample['rule']>('/v1/acl/binding-rule', {
    AuthMethod: 'builds',
    Selector: '"team" in value and value.team == "blue"',
    BindType: 'role',
    BindName: 'blue',
  });
  await put('/v1/namespace', { Name: 'team-a', Description: 'A namespace of its own' });
  await makeChain(put);
  return { policy, role, token, rule };
}

async function makeChain(put: (path: string, body: unknown) => Promise<unknown>): Promise<void> {
  const entries = [
    { Kind: 'service-defaults', Name: 'web', Protocol: 'http' },
    { Kind: 'service-defaults', Name: 'admin', Protocol: 'http' },
    {
      Kind: 'service-resolver',
      Name: 'web',
      DefaultSubset: 'v1',
      Subsets: { v1: { Filter: 'Service.Meta.version == 1' }, v2: {} },
      Failover: { '*': { Service: 'admin' } },
    },
    {
      Kind: 'service-splitter',
      Name: 'web',
      Splits: [{ Weight: 90 }, { Weight: 10, ServiceSubset: 'v2' }],
    },
    {
      Kind: 'service-router',
      Name: 'web',
      Routes: [
        {
          Match: { HTTP: { PathPrefix: '/admin' } },
          Destination: { Service: 'admin' },
        },
      ],
    },
  ];
  for (const entry of entries) await put('/v1/config', entry);
}

/** A page of each kind. */
export const pathsOf = ({ policy, role, token, rule }: Sample): readonly string[] => [
  ...['/', '/policies', '/policies?new', `/policies/${policy.ID}`, '/roles', `/roles/${role.ID}`],
  ...['/tokens', `/tokens/${token.AccessorID}`, '/auth-methods', '/auth-methods/builds'],
  ...['/binding-rules', `/binding-rules/${rule.ID}`, '/login-explain', '/who-can', '/config'],
  '/decisions',
  `/explain?resource=service&access=write&accessor=${token.AccessorID}`,
  ...['/config/service-router/web', '/chains', '/chains/web', '/intentions'],
  ...['/namespaces', '/namespaces/team-a'],
  ...['/history', `/history/policy/${policy.ID}`, '/audit', '/plan', '/settings', '/nowhere'],
];
